"""Copies of the real job trees of Harbor, to be read whole or damaged first."""

import json
import shutil
from pathlib import Path

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


def copy_job(version: str, folder: Path) -> Path:
    """A whole copy of the job that Harbor `version` wrote, in `folder`."""
    job = folder / f"scripted-{version}"
    shutil.copytree(FIXTURES / job.name, job)
    for trial, same in _SAME_REPORT.items() if version == "0.26.0" else ():
        (job / trial / REPORT).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FIXTURES / "scripted-0.25.0" / same / REPORT, job / trial / REPORT)
    return job


def edit(path: Path, change):
    """Let `change` work on what a JSON file holds."""
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
