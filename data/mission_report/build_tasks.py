"""Build the MissionReport tasks in `tasks/` from their sources in `sources/`.

    python data/mission_report/build_tasks.py [--check] [TASK_ID ...]

Without ids: every task. A rebuild gives equal bytes, so `--check` writes nothing and says which committed
files differ from their sources (exit 1). A task's sources, `sources/TASK_ID/`:

    task.yaml       task_id, title, report_family, setting, reader, length_limit, prompt, grading_guidance,
                    and `limits`: {words: 200} or {pages: 1}, what the length limit comes to
    rubric.yaml     list of criterion_id, points (negative for a penalty), criterion, source, justification;
                    `source` is a list of {file, line}: an attachment, or `prompt`, and words that stand in it
    golden.yaml     what the template's content controls are filled with, see fill_template.py
    attachments/    one source for each attachment; its ending names the builder

Endings known at the start: `.docx.md` (builders_word.py), `.pdf.md` and `.xlsx.yaml` (the formats of
data/build_documents.py), `.pdf.scan` (builders_scan.py). Every module `builders_NAME.py` in this folder adds
those in its `BUILDERS`: ending of the source to ending of the file and the function from path to bytes.
"""

# The libraries behind the builders ship no complete types, and `builders` lies in the folder above.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # where the package `builders` lies

from builders.excel import build_xlsx  # noqa: E402 -- after the path that it is found on
from builders.markdown import SourceError  # noqa: E402 -- the same
from builders.pdf import build_pdf  # noqa: E402 -- the same
from command import differing, run  # noqa: E402 -- it imports `builders` as well
from fill_template import fill_template, template_of  # noqa: E402 -- it imports `builders` as well
from task_files import EXECUTABLE, STEP, text_files  # noqa: E402 -- beside its neighbours

Builder = Callable[[Path], bytes]
SOURCES, TASKS = HERE / "sources", HERE / "tasks"


def known_builders() -> dict[str, tuple[str, Builder]]:
    """Ending of a source to ending of its file and builder. Raises SourceError where two claim one."""
    known: dict[str, tuple[str, Builder]] = {
        ".pdf.md": (".pdf", build_pdf),
        ".xlsx.yaml": (".xlsx", build_xlsx),
    }
    for module in sorted(HERE.glob("builders_*.py")):
        added = importlib.import_module(module.stem).BUILDERS
        if clash := known.keys() & added.keys():
            raise SourceError(f"{module}: {sorted(clash)} already have a builder")
        known |= added
    return known


def build(task_id: str) -> dict[str, bytes]:
    """The bytes of every file of the task's tree, by path below `tasks/TASK_ID`.

    Raises SourceError where a source breaks its format.
    """
    folder = SOURCES / task_id
    task, criteria = (_load(folder / f"{name}.yaml") for name in ("task", "rubric"))
    if task["task_id"] != task_id:
        raise SourceError(f"{folder}/task.yaml: task_id is {task['task_id']}, the folder's name is {task_id}")
    builders = known_builders()
    attachments = dict(_attachment(path, builders) for path in sorted((folder / "attachments").iterdir()))
    template = template_of(folder / "golden.yaml")
    if template not in attachments:
        raise SourceError(f"{folder}/golden.yaml: no attachment {template}, there are {list(attachments)}")
    report = fill_template(attachments[template], folder / "golden.yaml")
    files = text_files(task, criteria, list(attachments), report)
    files |= {f"steps/{STEP}/workdir/attachments/{name}": blob for name, blob in attachments.items()}
    return {**files, "tests/golden/report.docx": report}


def _load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _attachment(path: Path, builders: dict[str, tuple[str, Builder]]) -> tuple[str, bytes]:
    for ending, (suffix, builder) in builders.items():
        if path.name.endswith(ending):
            try:
                return path.name.removesuffix(ending) + suffix, builder(path)
            except (yaml.YAMLError, KeyError, ValueError) as error:
                raise SourceError(f"{path}: {type(error).__name__}: {error}") from error
    raise SourceError(f"{path}: expected a name ending in {', '.join(sorted(builders))}")


def write(task_id: str, files: dict[str, bytes]) -> None:
    """Write the task's tree, scripts executable."""
    for name, blob in files.items():
        path = TASKS / task_id / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(blob)
        path.chmod(0o755 if name in EXECUTABLE else 0o644)


def differences(task_id: str, files: dict[str, bytes]) -> list[str]:
    """One line for each file of the tree that is missing, differs from its source, or has none."""
    root = TASKS / task_id
    committed = {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}
    return differing(f"tasks/{task_id}", files, committed)


def main() -> int:
    """Build or check; 1 where a check found differences or a source is faulty."""
    return run(
        "Build the MissionReport tasks from their sources.",
        sorted(path.parent.name for path in SOURCES.glob("*/task.yaml")),
        SOURCES,
        build=build,
        write=write,
        differences=differences,
        done="the tree matches its sources",
    )


if __name__ == "__main__":
    sys.exit(main())
