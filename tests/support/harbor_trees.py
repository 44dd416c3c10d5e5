"""Copies of the real job trees of Harbor, to be read whole or damaged first."""

import json
import shutil
from pathlib import Path

from flows.adapters.harbor_jobs import read_job

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "harbor_jobs"

# The second job's reports have the texts of the first one's; the fixtures hold them once.
_SAME_REPORT = {
    "memo-01__DvhAAmK/steps/answer": "memo-01__GGemPUp/steps/answer",
    "memo-01__HmN3C3G/steps/answer": "memo-01__Z43SFr4/steps/answer",
    "memo-01__iu2ftd4/steps/answer": "memo-01__zTHzF6G/steps/answer",
    "memo-02__3NREJCo": "memo-02__gjDVFmk",
    "memo-02__C8LjdZR": "memo-02__Ao2fYo9",
    "memo-02__NvJ3fG2": "memo-02__VaipWbk",
}
REPORT = "artifacts/app/outputs/report.docx"
BRIEF = "artifacts/app/outputs/brief.md"
STEPS = {
    "0.25.0": ["memo-01__GGemPUp", "memo-01__Z43SFr4", "memo-01__z3HTPmu", "memo-01__zTHzF6G"],
    "0.26.0": ["memo-01__DvhAAmK", "memo-01__HmN3C3G", "memo-01__XnFbaJY", "memo-01__iu2ftd4"],
}
"""The trials whose files lie under steps/answer, as those of an exported scenario do; in order."""
PLAIN = {
    "0.25.0": ["memo-02__Ao2fYo9", "memo-02__VaipWbk", "memo-02__MrbpFSY", "memo-02__gjDVFmk"],
    "0.26.0": ["memo-02__C8LjdZR", "memo-02__NvJ3fG2", "memo-02__YQEjaVW", "memo-02__3NREJCo"],
}
"""The trials without steps."""


def copy_job(version: str, folder: Path) -> Path:
    """A whole copy of the job that Harbor `version` wrote, in `folder`."""
    job = folder / f"scripted-{version}"
    shutil.copytree(FIXTURES / job.name, job)
    for trial, same in _SAME_REPORT.items() if version == "0.26.0" else ():
        (job / trial / REPORT).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FIXTURES / "scripted-0.25.0" / same / REPORT, job / trial / REPORT)
    return job


def make_brief(trial: Path, task: str, brief: str | None, verifier: Path | None) -> None:
    """Turn a trial into an attempt at an exported scenario of MA-Bench.

    Args:
        trial: its folder, as Harbor wrote it.
        task: name of the exported scenario.
        brief: what the agent handed in; None for nothing.
        verifier: folder with what the verifier left; None where it left nothing at all.
    """
    inner = trial / "steps" / "answer" if (trial / "steps").is_dir() else trial
    shutil.rmtree(inner / "artifacts" / "app", ignore_errors=True)
    shutil.rmtree(inner / "verifier", ignore_errors=True)
    if verifier is not None:
        shutil.copytree(verifier, inner / "verifier")
    if brief is not None:
        (inner / BRIEF).parent.mkdir(parents=True)
        (inner / BRIEF).write_text(brief, encoding="utf-8")
    reward = None
    if verifier is not None and (verifier / "reward.json").is_file():
        reward = json.loads((verifier / "reward.json").read_text(encoding="utf-8"))

    def collected(manifest):
        manifest[1]["source"] = "/app/outputs/brief.md"
        manifest[1]["destination"] = BRIEF
        manifest[1]["status"] = "ok" if brief is not None else "failed"

    def ended(result):
        result["task_name"] = task
        for phase in (result, *(result["step_results"] or [])):
            phase["verifier_result"] = None if reward is None else {"rewards": reward}
            phase["exception_info"] = None
            # 0.25 did not start a verifier after a fault of the agent.
            phase["verifier"] = phase["verifier"] or phase["agent_execution"]
        if reward is None:
            last = (result["step_results"] or [result])[-1]
            last["exception_info"] = {
                "exception_type": "RewardFileNotFoundError",
                "exception_message": "No reward file found",
            }

    edit(inner / "artifacts" / "manifest.json", collected)
    edit(trial / "result.json", ended)


def edit(path: Path, change):
    """Let `change` work on what a JSON file holds."""
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


GOOD = "memo-02__gjDVFmk"  # one step, reward 1.0, all three criteria
IN_STEPS = "memo-01__GGemPUp"  # the same, under steps/answer/


def trial(job, name):
    found = read_job(job)
    return next(t for t in found.trials if t.name == name), "\n".join(
        f"{damage.where}: {damage.detail}" for damage in found.damage
    )


def cells(line):
    """The cells of a table's row on the screen."""
    return [cell.strip() for cell in line.strip("│\n ").split("│")]
