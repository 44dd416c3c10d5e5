"""Build the labelled reports in `controls/` from their sources beside them.

    python data/mission_report/build_controls.py [--check] [TASK_ID ...]

`controls/TASK_ID/` holds `weak.yaml` and `fair.yaml`, in the form of `golden.yaml` (see fill_template.py),
the reports `weak.docx` and `fair.docx` that are built from them, and `labels.csv`. The organisation's form is
the attachment of the built task that a source names, so build the tasks first. A rebuild gives equal bytes;
`--check` writes nothing and says which committed reports differ from their sources (exit 1).
"""

# `builders`, behind fill_template, lies in the folder above.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import yaml

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # where the package `builders` lies

from builders.markdown import SourceError  # noqa: E402 -- after the path that it is found on
from fill_template import fill_template, template_of  # noqa: E402 -- it imports `builders` as well
from task_files import STEP  # noqa: E402 -- beside its neighbours

NAMES = ("fair", "weak")
CONTROLS, TASKS = HERE / "controls", HERE / "tasks"


def build(task_id: str) -> dict[str, bytes]:
    """The bytes of the task's two reports, by file name.

    Raises SourceError where a source breaks its format, OSError where it or its form can't be read.
    """
    reports: dict[str, bytes] = {}
    for name in NAMES:
        source = CONTROLS / task_id / f"{name}.yaml"
        form = TASKS / task_id / "steps" / STEP / "workdir" / "attachments" / template_of(source)
        reports[f"{name}.docx"] = fill_template(form.read_bytes(), source)
    return reports


def differences(task_id: str, reports: dict[str, bytes]) -> list[str]:
    """One line for each report that is missing, differs from its source, or has none."""
    folder = CONTROLS / task_id
    committed = {path.name: path.read_bytes() for path in folder.glob("*.docx")}
    found: list[str] = []
    for name in sorted(reports.keys() | committed.keys()):
        if name not in committed:
            found.append(f"controls/{task_id}/{name}: missing")
        elif name not in reports:
            found.append(f"controls/{task_id}/{name}: has no source")
        elif reports[name] != committed[name]:
            found.append(f"controls/{task_id}/{name}: differs from its source")
    return found


def main() -> int:
    """Build or check; 1 where a check found differences or a source is faulty."""
    parser = argparse.ArgumentParser(description="Build the labelled MissionReport controls.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where files differ")
    parser.add_argument("tasks", nargs="*", metavar="TASK_ID")
    arguments = parser.parse_args()
    found = 0
    for task_id in arguments.tasks or sorted(path.name for path in CONTROLS.iterdir() if path.is_dir()):
        try:
            reports = build(task_id)
            if not arguments.check:
                for name, blob in reports.items():
                    (CONTROLS / task_id / name).write_bytes(blob)
            problems = differences(task_id, reports)
        except (SourceError, OSError) as error:
            problems = [str(error)]
        except (yaml.YAMLError, KeyError, TypeError, ValueError) as error:
            problems = [f"{CONTROLS / task_id}: {type(error).__name__}: {error}"]
        print("\n".join(problems) if problems else f"{task_id}: the controls match their sources")
        found += len(problems)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
