"""The example of `staffbench new --protocol mission_report`: a Harbor task, written as one of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flows.adapters.task_trees.write import TreeFile, copied, write_folder
from flows.adapters.task_trees.write_text import (
    STEP,
    Install,
    dockerfile,
    json_text,
    oracle_script,
    task_toml,
    test_script,
)

OUTPUT = "/app/outputs/report.docx"
_INSTRUCTION = """\
Nobody can answer questions while you work: the files are all there is.

The files lie in `/app/attachments/`:

{names}

Open every file before you write. Save the finished product as `{output}`. Nothing else is read.

# Assignment

{prompt}
"""


def write_example_task(source: Path, target: Path) -> None:
    """Write the task tree `target` from the files of the package in `source`.

    Args:
        source: holds `attachments/`, `fixtures/` and `report.docx`, the expert's report.
        target: folder of the task; missing or empty.

    Raises:
        StaffbenchError: it can't be written.
    """
    config: dict[str, Any] = json.loads((source / "fixtures" / "config.json").read_text(encoding="utf-8"))
    config["task_id"] = target.name
    names = sorted(file.name for file in (source / "attachments").iterdir())
    report = copied(source, "report.docx")
    listed = "\n".join(f"- `{name}`" for name in names)
    instruction = _text(_INSTRUCTION.format(names=listed, output=OUTPUT, prompt=config["prompt"]))
    files = {
        "task.toml": _text(_toml(config)),
        "instruction.md": instruction,
        f"steps/{STEP}/instruction.md": instruction,
        **{
            f"steps/{STEP}/workdir/attachments/{name}": copied(source, f"attachments/{name}")
            for name in names
        },
        "environment/Dockerfile": _text(dockerfile(Install())),
        "tests/test.sh": _text(test_script(OUTPUT, with_script=False), executable=True),
        "tests/fixtures/rubric.json": copied(source, "fixtures/rubric.json"),
        "tests/fixtures/config.json": _text(json_text(config)),
        "tests/golden/report.docx": report,
        "solution/solve.sh": _text(
            oracle_script(OUTPUT, "submits the expert's report", (source / "report.docx").read_bytes()),
            executable=True,
        ),
    }
    write_folder(target, files)


def _text(text: str, *, executable: bool = False) -> TreeFile:
    return TreeFile(text.encode(), executable)


def _toml(config: dict[str, Any]) -> str:
    head: dict[str, str | list[str]] = {"schema_version": "1.4", "multi_step_reward_strategy": "final"}
    about = {
        "task_id": config["task_id"],
        "title": config["title"],
        "report_family": "Situation report",
        "setting": "Crisis staff of a town",
        "reader": "the district office",
        "length_limit": config["length_limit"],
        "synthetic": True,
        "licence": "CC BY 4.0",
        "notice": "Invented. No place, person or event in these files is real.",
    }
    return task_toml(
        head,
        {
            "metadata": about,
            "metadata.judge": config["judge"],
            "agent": {"timeout_sec": 3600.0},
            "verifier": {"timeout_sec": 5100.0},
            "verifier.env": {name: f"${{{name}:-}}" for name in ("ANTHROPIC_API_KEY", "STAFFBENCH_JUDGE")},
            "environment": {"build_timeout_sec": 1800.0, "cpus": 2, "memory_mb": 4096, "storage_mb": 10240},
        },
    )
