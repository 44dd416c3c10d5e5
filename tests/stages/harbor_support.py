"""Attempts of a Harbor job, made by hand."""

from flows.schema.harbor import (
    CriterionVerdict,
    Fault,
    ReportState,
    Trial,
)


def a_trial(**changes):
    fields = {
        "name": "t__1",
        "task": "t",
        "task_name": "demo/t",
        "task_checksum": None,
        "attempt": 1,
        "agent": "a",
        "agent_version": None,
        "model": "m",
        "effort": None,
        "dataset": "d",
        "started_at": None,
        "has_result": True,
        "is_finished": True,
        "agent_ran": True,
        "verifier_ran": True,
        "reward": None,
        "reward_source": "",
        "faults": (),
        "criteria": (),
        "judges": (),
        "report": None,
        "report_state": ReportState.readable,
    }
    if changes.get("reward") is not None:
        fields["reward_source"] = "result.json"
    return Trial(**{**fields, **changes})


def a_criterion(name, points, *, met, **more):
    penalty = None if points is None else points < 0
    fields = {"is_penalty": penalty, "text": "", "reason": "", "file": "verifier/judgment.json", **more}
    return CriterionVerdict(criterion_id=name, met=met, points=points, **fields)


def a_fault(kind, *, voids):
    return Fault(kind, "said", voids)
