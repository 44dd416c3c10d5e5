"""Build the labelled reports in `controls/` from their sources beside them.

    python data/mission_report/build_controls.py [--check] [TASK_ID ...]

`controls/TASK_ID/` holds `weak.yaml` and `fair.yaml`, in the form of `golden.yaml` (see fill_template.py),
the reports `weak.docx` and `fair.docx` that are built from them, and `labels.csv`; some tasks also have
`hostile.yaml`, a report that talks to the judge. The organisation's form is the attachment of the built task
that a source names, so build the tasks first. A rebuild gives equal bytes; `--check` writes nothing and says
which committed reports differ from their sources (exit 1).
"""

# `builders`, behind fill_template, lies in the folder above.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # where the package `builders` lies

from command import differing, run  # noqa: E402 -- it imports `builders` as well
from fill_template import fill_template, template_of  # noqa: E402 -- it imports `builders` as well
from task_files import STEP  # noqa: E402 -- beside its neighbours

NAMES = ("fair", "weak", "hostile")
OPTIONAL = "hostile"
CONTROLS, TASKS = HERE / "controls", HERE / "tasks"


def build(task_id: str) -> dict[str, bytes]:
    """The bytes of the task's two reports, by file name.

    Raises SourceError where a source breaks its format, OSError where it or its form can't be read.
    """
    reports: dict[str, bytes] = {}
    for name in NAMES:
        source = CONTROLS / task_id / f"{name}.yaml"
        if name == OPTIONAL and not source.exists():
            continue
        form = TASKS / task_id / "steps" / STEP / "workdir" / "attachments" / template_of(source)
        reports[f"{name}.docx"] = fill_template(form.read_bytes(), source)
    return reports


def differences(task_id: str, reports: dict[str, bytes]) -> list[str]:
    """One line for each report that is missing, differs from its source, or has none."""
    folder = CONTROLS / task_id
    committed = {path.name: path.read_bytes() for path in folder.glob("*.docx")}
    return differing(f"controls/{task_id}", reports, committed)


def write(task_id: str, reports: dict[str, bytes]) -> None:
    """Put the reports beside their sources."""
    for name, blob in reports.items():
        (CONTROLS / task_id / name).write_bytes(blob)


def main() -> int:
    """Build or check; 1 where a check found differences or a source is faulty."""
    return run(
        "Build the labelled MissionReport controls.",
        sorted(path.name for path in CONTROLS.iterdir() if path.is_dir()),
        CONTROLS,
        build=build,
        write=write,
        differences=differences,
        done="the controls match their sources",
    )


if __name__ == "__main__":
    sys.exit(main())
