"""Read a `Trial` from the undamaged files of its folder."""

from pathlib import Path
from typing import Any

from flows.adapters.harbor_jobs.atif import TRAJECTORY
from flows.adapters.harbor_jobs.criteria import read_criteria
from flows.adapters.harbor_jobs.origins import Judgment, read_judgment
from flows.adapters.harbor_jobs.report import find_report
from flows.adapters.harbor_jobs.rewards import read_reward
from flows.adapters.harbor_jobs.tree import Tree, as_dict, as_list, as_text, nested
from flows.schema.harbor import VERIFIER_FAULTS, Fault, Trial

_EFFORTS = ("reasoning_effort", "effort", "thinking_effort")
_MARKS = ("result.json", "config.json", "lock.json", "trial.log")
"""A folder with one of these is a trial, even if damaged."""

_VOIDING_FAULTS = VERIFIER_FAULTS | {
    *("APIConnectionError", "APIError", "APIResponseValidationError", "AgentAuthenticationError"),
    *("AgentSetupTimeoutError", "ApiConnectionClosedError", "ApiConnectionError", "ApiError"),
    *("ApiInternalServerError", "ApiOverloadedError", "ApiProviderResourceNotFoundError"),
    *("ApiRateLimitError", "ApiResponseStalledError", "ApiUsageLimitError", "AuthenticationError"),
    *("BadRequestError", "BudgetExceededError", "CancelledError", "DspyImportError"),
    *("EnvironmentStartTimeoutError", "GKEExecStreamClosedError", "GKEPodNotFoundError"),
    *("HealthcheckError", "InternalServerError", "MemoryLimitExceededError", "MissingExtraError"),
    *("ModelNotFoundError", "NetworkConnectionError", "NotFoundError", "PermissionDeniedError"),
    *("RateLimitError", "RegradeError", "RuntimeRequestError", "SSHAccessError", "SandboxBuildFailedError"),
    *("SandboxLikelyOutOfMemoryError", "ServiceOperationsUnsupportedError", "ServiceUnavailableError"),
    *("Timeout", "UnknownApiError", "UnprocessableEntityError", "UnsupportedModelParametersError"),
    *("UnsupportedParamsError", "VercelScopeError"),
}
"""Exceptions that void a reward (error policy of Harbor 0.26.0, installed package).

0.26 records the policy with each exception, and a run may override it: the recorded policy takes precedence
over this list, which is for trees of 0.25.
"""


def read_trial(tree: Tree, folder: Path) -> tuple[Trial, Judgment] | None:
    """Return a trial with attempt 0 and our verifier's record; None if it is not a trial."""
    if not any(tree.file(folder, name) for name in _MARKS):
        tree.note(folder, "no trial: none of " + ", ".join(_MARKS))
        return None
    result_file = tree.file(folder, "result.json")
    result = tree.mapping(result_file)
    if result_file is None:
        tree.note(folder, "no result.json; read from its other files")
    elif not result:
        tree.note(result_file, "not usable; the trial is read from its other files")
    own = as_dict(result.get("config")) or tree.mapping(tree.file(folder, "config.json"))
    locked = tree.mapping(tree.file(folder, "lock.json")) if not result else {}
    steps = [as_dict(step) for step in as_list(result.get("step_results"))]
    folders = _step_folders(tree, folder, steps)
    reward, source = read_reward(tree, folder, result, folders)
    criteria, judges, format_error = read_criteria(tree, folder, [place / "verifier" for place in folders])
    judgment = read_judgment(tree, folders)
    report, state, detail = find_report(tree, folders, format_error, judgment.file)
    agent = as_dict(own.get("agent")) or as_dict(locked.get("agent"))
    info = as_dict(result.get("agent_info"))
    kwargs = as_dict(agent.get("kwargs"))
    task = (
        as_text(result.get("task_name"))
        or _task(as_dict(own.get("task")))
        or _task(as_dict(locked.get("task")))
        or folder.name.rpartition("__")[0]
        or folder.name
    )
    trial = Trial(
        name=as_text(folder.name) or folder.name,
        task=task.replace("\\", "/").rstrip("/").rpartition("/")[2] or task,
        task_name=task,
        task_checksum=as_text(result.get("task_checksum")),
        attempt=0,
        agent=as_text(info.get("name")) or as_text(agent.get("name")),
        agent_version=as_text(info.get("version")),
        model=as_text(nested(info, "model_info").get("name")) or as_text(agent.get("model_name")),
        effort=next((found for key in _EFFORTS if (found := as_text(kwargs.get(key)))), None),
        dataset=as_text(result.get("source")) or as_text(as_dict(own.get("task")).get("source")),
        started_at=as_text(result.get("started_at")),
        has_result=bool(result),
        is_finished=as_text(result.get("finished_at")) is not None,
        agent_ran=any(_started(phase, "agent_execution") for phase in (result, *steps)),
        verifier_ran=any(_started(phase, "verifier") for phase in (result, *steps)),
        reward=reward,
        reward_source=source,
        faults=_faults(result, steps),
        criteria=criteria,
        judges=judges,
        report=report,
        report_state=state,
        report_detail=detail,
        trajectories=tuple(
            path.relative_to(tree.root).as_posix()
            for place in folders
            if (path := tree.file(place, TRAJECTORY)) is not None
        ),
    )
    return trial, judgment


def config_agent(tree: Tree, folder: Path) -> tuple[str, str]:
    """Return agent and model as configured: results name the agent differently."""
    agent = nested(tree.mapping(tree.file(folder, "config.json")), "agent")
    return as_text(agent.get("name")) or "", as_text(agent.get("model_name")) or ""


def _faults(result: dict[str, Any], steps: list[dict[str, Any]]) -> tuple[Fault, ...]:
    found: list[Fault] = []
    for phase in (result, *steps):
        info = as_dict(phase.get("exception_info"))
        if not info:
            continue
        kind = as_text(info.get("exception_type")) or "unnamed exception"
        recorded = nested(info, "policy").get("has_valid_reward")
        voids = not recorded if isinstance(recorded, bool) else kind in _VOIDING_FAULTS
        message = as_text(info.get("exception_message")) or ""
        found.append(Fault(kind, message, voids))
    return tuple(found)


def _step_folders(tree: Tree, folder: Path, steps: list[dict[str, Any]]) -> list[Path]:
    """Return the folder of each step, or the trial's folder without steps."""
    if not steps:
        # Without a usable result.json the order of steps is unknown: sort by name.
        inside = tree.folder(folder, "steps")
        return (tree.folders(inside) if inside else []) or [folder]
    named: list[Path] = []
    for step in steps:
        name = as_text(step.get("step_name"))
        if name is None or "/" in name:
            tree.note(folder, f"the step name {name!r} is no plain name; its files are not read")
            continue
        found = tree.folder(folder, f"steps/{name}")
        if found is not None:
            named.append(found)
    return named


def _started(phase: dict[str, Any], name: str) -> bool:
    return as_text(nested(phase, name).get("started_at")) is not None


def _task(task: dict[str, Any]) -> str | None:
    return as_text(task.get("name")) or as_text(task.get("path"))
