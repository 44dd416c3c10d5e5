"""The report tasks that `staffbench new` writes: Harbor trees, the example or one of somebody's documents."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.adapters.task_trees.write import TreeFile, copied, text_file, write_folder
from flows.adapters.task_trees.write_text import (
    STEP,
    Install,
    dockerfile,
    json_text,
    oracle_script,
    task_toml,
    test_script,
)
from flows.common.errors import ConfigError
from flows.pipeline.commands.own.unwritten import ASSIGNMENT, INSTRUCTION
from flows.pipeline.inputs.submission_check import check_report
from flows.schema.report_task import ReportStatus

OUTPUT = "/app/outputs/report.docx"
RUBRIC = "tests/fixtures/rubric.json"
_ATTACHMENTS = f"steps/{STEP}/workdir/attachments"
_INSTRUCTION = """\
Nobody can answer questions while you work: the files are all there is.

The files are in `/app/attachments/`:

{names}

Open every file before you write. Save the finished product as `{output}`. Nothing else is read.

# Assignment

{prompt}
"""


def write_example_task(source: Path, target: Path) -> None:
    """Write the task tree `target` from the files of the package in `source`.

    Raises:
        StaffbenchError: it can't be written.
    """
    config: dict[str, Any] = json.loads((source / "fixtures" / "config.json").read_text(encoding="utf-8"))
    about = {
        "report_family": "Situation reports",
        "setting": "Crisis staff of a town",
        "reader": "the district office",
        "length_limit": config["length_limit"],
        "synthetic": True,
        "licence": "CC BY 4.0",
    }
    files = {RUBRIC: copied(source, "fixtures/rubric.json")}
    attachments = sorted((source / "attachments").iterdir())
    _write(target, config, about, config["prompt"], attachments, source / "report.docx", files)


def write_own_task(target: Path, title: str, documents: Sequence[Path], report: Path) -> Path:
    """Write a task from somebody's files, and return the folder of their copies.

    Assignment and criteria are left to write.

    Raises:
        ConfigError: `report` is none.
        StaffbenchError: the task can't be written.
    """
    if not report.is_file():
        raise ConfigError("--report", f"{report} is not there", "the expert's report, a Word file")
    check = check_report(report)
    if check.status is not ReportStatus.readable:
        raise ConfigError("--report", f"{report}: {check.reason}", "the expert's report, a Word file")
    config = {
        "title": title,
        "rubric": "rubric.json",
        "golden": "../golden/report.docx",
        "output": OUTPUT,
        "judge": {"mode": "all_items"},
    }
    about = {"synthetic": False, "licence": "not stated"}
    files = {RUBRIC: text_file(json_text({"criteria": []}))}
    _write(target, config, about, ASSIGNMENT, documents, report, files)
    return target / _ATTACHMENTS


def _write(  # noqa: PLR0917 -- the parts of a task
    target: Path,
    config: Mapping[str, Any],
    about: Mapping[str, str | bool],
    assignment: str,
    documents: Sequence[Path],
    report: Path,
    files: Mapping[str, TreeFile],
) -> None:
    names = [file.name for file in documents]
    listed = "\n".join(f"- `{name}`" for name in names)
    instruction = text_file(_INSTRUCTION.format(names=listed, output=OUTPUT, prompt=assignment))
    oracle = oracle_script(OUTPUT, "submits the expert's report", report.read_bytes())
    # Harbor sends the step's instruction; the example has it at the root too, for a person who looks.
    root = {"instruction.md": instruction} if "prompt" in config else {}
    metadata = {"task_id": target.name, "title": config["title"], **about}
    tree = {
        "task.toml": text_file(
            task_toml(metadata, config["judge"], ("ANTHROPIC_API_KEY", "STAFFBENCH_JUDGE"))
        ),
        **root,
        INSTRUCTION: instruction,
        **{f"{_ATTACHMENTS}/{file.name}": copied(file.parent, file.name) for file in documents},
        "environment/Dockerfile": text_file(dockerfile(Install())),
        "tests/test.sh": text_file(test_script(OUTPUT, with_script=False), executable=True),
        "tests/fixtures/config.json": text_file(json_text({"task_id": target.name, **config})),
        "tests/golden/report.docx": copied(report.parent, report.name),
        "solution/solve.sh": text_file(oracle, executable=True),
        **files,
    }
    write_folder(target, tree)
