"""Read experts' labels from files and folders, and name everything that is wrong with them."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from flows.adapters.labels.sheets import SheetBrief, read_sheet
from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.schema.verdict import ExpertLabel

COLUMNS = ("condition", "scenario_id", "seed", "item_id", "label")
"""One row per item of one brief; `rater` is optional, other columns are ignored."""
NOBODY = "expert"  # the rater if a file names none

_PASSED = {"pass": True, "fail": False}
_SUFFIXES = (".csv", ".xlsx")


def read_labels(
    paths: Sequence[Path],
    briefs: Callable[[str], Mapping[str, SheetBrief]],
    check: Callable[[Sequence[ExpertLabel]], Sequence[StaffbenchError]] = lambda _: (),
) -> list[ExpertLabel]:
    """Read the labels in files and folders, in order; rows without one (an expert abstained) are left out.

    Args:
        paths: UTF-8 CSV files with a header, in which `label` is `pass` or `fail` as in a verdict: for a
            wrong move or a penalty, `pass` means that the brief did not make it; workbooks of `write_sheet`;
            and folders of both.
        briefs: returns the briefs of a sample by code, as `read_sheet` needs them.
        check: returns what else is wrong with the labels that can be read, to be said with the rest.

    Raises:
        ConfigError: no such file, or a folder without one.
        StaffbenchError: everything that is wrong with all files, by row: a missing column, an invalid value,
            a second label by the same rater.
    """
    problems: list[StaffbenchError] = []
    found: dict[tuple[str, str, str, int, str], ExpertLabel] = {}
    places: list[ExpertLabel] = []  # of rows with a wrong label, which `check` sees too
    for path in _files(paths):
        labels: list[ExpertLabel] = []
        try:
            if path.suffix.lower() == ".xlsx":
                labels, faults = read_sheet(path, briefs)
            else:
                labels, unlabelled, faults = _read_csv(path)
                places += unlabelled
        except ScenarioError as error:  # the whole file
            faults = [error]
        if not labels and not faults:
            faults = [ScenarioError(path, "no label", "one or more rows with a label")]
        problems += faults
        for label in labels:
            key = (label.rater, label.condition, label.scenario_id, label.seed, label.item_id)
            first = found.setdefault(key, label)
            if first is not label:
                what = "a second label" if first.passed == label.passed else "another label than before"
                problems.append(
                    ScenarioError(label.where, f"{what} by {label.rater}", f"one; the first is {first.where}")
                )
    problems += check([*found.values(), *places])
    if problems:
        raise Problems.one_or_all("labels", problems)
    return list(found.values())


def labels_csv(labels: Sequence[ExpertLabel]) -> str:
    """Return labels as a file that `read_labels` reads."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("rater", *COLUMNS))
    for one in labels:
        place = (one.rater, one.condition, one.scenario_id, one.seed, one.item_id)
        writer.writerow((*place, "pass" if one.passed else "fail"))
    return out.getvalue()


def _files(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                one
                for one in path.iterdir()
                if one.suffix.lower() in _SUFFIXES and not one.name.startswith((".", "~"))
            )
            if not inside:
                raise ConfigError(path, "no labels in this folder", ".csv and .xlsx files")
            found += inside
        elif path.exists():  # a pipe is allowed
            found.append(path)
        else:
            raise ConfigError(
                path, "no such file", "a CSV file of labels, a filled sheet, or a folder of them"
            )
    return found


def _read_csv(path: Path) -> tuple[list[ExpertLabel], list[ExpertLabel], list[StaffbenchError]]:
    """Return the labels, the places of rows with another word than a label, and the faults."""
    found: list[ExpertLabel] = []
    places: list[ExpertLabel] = []
    faults: list[StaffbenchError] = []
    for number, row in enumerate(_rows(path), 2):
        texts = {name: (row.get(name) or "").strip() for name in (*COLUMNS, "rater")}
        where, seed, label = f"{path.name}, line {number}", texts["seed"], texts["label"]
        if not label:
            continue
        if label not in _PASSED:
            faults.append(ScenarioError(where, f"label {label!r}", "pass or fail"))
        if not (seed.isascii() and seed.isdigit()):
            faults.append(ScenarioError(where, f"seed {seed!r}", "a number, 1 or more"))
            continue
        names = texts["condition"], texts["scenario_id"], int(seed), texts["item_id"]
        one = ExpertLabel(texts["rater"] or NOBODY, *names, _PASSED.get(label, False), where)
        (found if label in _PASSED else places).append(one)
    return found, places, faults


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
        reader = csv.DictReader(
            io.StringIO(text, newline=""), delimiter=max(",;\t", key=text.partition("\n")[0].count)
        )
        head = reader.fieldnames or ()
        rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError(path, f"can't be read ({error})", "a CSV file in UTF-8") from error
    if not head:
        raise ScenarioError(path, "empty", f"columns {', '.join(COLUMNS)}")
    missing = [name for name in COLUMNS if name not in head]
    if missing:
        raise ScenarioError(
            path, f"no column {', '.join(missing)} among {', '.join(head)}", f"columns {', '.join(COLUMNS)}"
        )
    return rows
