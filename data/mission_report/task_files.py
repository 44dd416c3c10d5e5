"""The text files of a task's tree: configuration, instruction, sandbox, verifier, oracle, fixtures."""

# Basic: YAML comes in as Any.
# pyright: basic
from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.adapters.config.compose import compose_points
from flows.adapters.task_trees.rubric import criteria_of
from flows.adapters.task_trees.write_text import (
    STEP,
    Install,
    dockerfile,
    json_text,
    task_toml,
    test_script,
)
from flows.pipeline.harbor.judge_file import judge_files, named_judge
from flows.pipeline.harbor.tasks import REPORT
from flows.pipeline.harbor.verify import package_project
from flows.pipeline.inputs.scenarios import report_scenario

JUDGE = {"model": "claude-opus-5.5", "agent": "opencode", "effort": "medium", "mode": "all_items"}
"""The published judge; `staffbench harbor verify` may be told another."""

INSTRUCTION = """\
You are a staff member in the role that the assignment describes. Nobody can answer questions while you
work: the files are all there is, and what they don't settle you have to judge.

The files lie in `/app/attachments/`:

{attachments}

Open every file before you write. `pandoc -t plain --track-changes=all` shows a Word file with its tracked
changes, `pdftotext -layout` the text of a PDF; `python3` has python-docx, openpyxl and pdfplumber. A page
is worth looking at as well as reading: `soffice --headless --convert-to pdf` and `pdftoppm -png` make a
picture of it.

Save the finished product as `/app/outputs/report.docx`. Nothing else is read.

# Assignment

{prompt}
"""

SOLVE = """\
#!/bin/bash
# Oracle: submits the expert's report. Harbor copies only this folder into the sandbox before the verifier
# starts, and an agent must not find the report, so it is carried here: tests/golden/report.docx in base64.
set -euo pipefail

mkdir -p /app/outputs
base64 --decode > /app/outputs/report.docx << 'REPORT'
{report}
REPORT
"""

EXECUTABLE = ("tests/test.sh", "solution/solve.sh")


def text_files(
    task: Mapping[str, Any], criteria: Sequence[Mapping[str, Any]], names: Sequence[str], report: bytes
) -> dict[str, bytes]:
    """The text files of a task's tree, by path.

    Args:
        task: what `task.yaml` says.
        criteria: what `rubric.yaml` says.
        names: file names of the attachments, in order.
        report: the expert's report.
    """
    instruction = INSTRUCTION.format(
        attachments="\n".join(f"- `{name}`" for name in names), prompt=task["prompt"].strip()
    )
    files = {
        "task.toml": _task_toml(task),
        "instruction.md": instruction,
        "environment/Dockerfile": dockerfile(Install()),
        f"steps/{STEP}/instruction.md": instruction,
        "tests/test.sh": test_script(REPORT, with_script=True),
        "tests/fixtures/rubric.json": json_text({"criteria": [_criterion(entry) for entry in criteria]}),
        "tests/fixtures/config.json": json_text(_config(task)),
        "solution/solve.sh": SOLVE.format(report=_wrapped(report)),
    }
    built = {path: text.encode() for path, text in files.items()}
    return built | _judge(task, built["tests/fixtures/rubric.json"], report)


def _judge(task: Mapping[str, Any], rubric: bytes, report: bytes) -> dict[str, bytes]:
    """The verifier's script and its judge, which is the published one."""
    project = package_project()
    words = ["benchmark=mission_report", *named_judge(project, JUDGE)]
    point = compose_points(project, words, multirun=False)[0]
    with tempfile.TemporaryDirectory() as folder:
        golden = Path(folder) / "report.docx"
        golden.write_bytes(report)
        criteria = criteria_of(json.loads(rubric), "rubric.yaml", [])
        scenario = report_scenario(task["task_id"], task["title"], criteria, golden)
    found = judge_files(point, scenario, rubric, "fixtures/rubric.json", "golden/report.docx")
    return {f"tests/{name}": bytes(file.content) for name, file in found.items()}


def _criterion(entry: Mapping[str, Any]) -> dict[str, Any]:
    """One criterion in the fields that the release documents; `polarity` follows from the sign."""
    return {
        "criterion_id": entry["criterion_id"],
        "points": entry["points"],
        "polarity": "positive" if entry["points"] > 0 else "negative",
        "criterion": entry["criterion"],
        "source": "; ".join(f"{place['file']}: “{place['line']}”" for place in entry["source"]),
        "justification": entry["justification"],
    }


def _config(task: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "task_id": task["task_id"],
        "title": task["title"],
        "prompt": task["prompt"].strip(),
        "length_limit": task["length_limit"],
        "rubric": "rubric.json",
        "golden": "../golden/report.docx",
        "output": "/app/outputs/report.docx",
        "grading_guidance": task["grading_guidance"].strip(),
        "judge": JUDGE,
    }


def _task_toml(task: Mapping[str, Any]) -> str:
    metadata = {
        **{
            key: task[key]
            for key in ("task_id", "title", "report_family", "setting", "reader", "length_limit")
        },
        "synthetic": True,
        "licence": "CC-BY-4.0",
        "notice": "Written for staffbench. Units, people and events are invented; not for operational use.",
    }
    return task_toml(metadata, JUDGE, ("ANTHROPIC_API_KEY", "STAFFBENCH_JUDGE"), [REPORT])


def _wrapped(report: bytes, width: int = 100) -> str:
    text = base64.b64encode(report).decode()
    return "\n".join(text[at : at + width] for at in range(0, len(text), width))
