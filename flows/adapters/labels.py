"""Experts' labels of items of briefs from a CSV file, for measuring judges."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.common.text import plural
from flows.schema.verdict import ExpertLabel

COLUMNS = ("condition", "scenario_id", "seed", "item_id", "label")
"""One row per item of one brief; `rater` is optional, other columns are ignored."""
NOBODY = "expert"
"""The rater if a file names none."""

_PASSED = {"pass": True, "fail": False}


def read_labels(path: Path) -> list[ExpertLabel]:
    """Read the labels in a file, in order; rows without a label (an expert abstained) are left out.

    Args:
        path: UTF-8 CSV with a header; `label` is `pass` or `fail` as in a verdict: for a wrong move or a
            penalty, `pass` means that the brief did not make it.

    Raises:
        ConfigError: no such file, or a folder.
        StaffbenchError: all errors of the file: a missing column, an invalid value, a duplicate row.
    """
    rows = _rows(path)
    faults: dict[tuple[str, str], list[str]] = {}
    found: dict[tuple[str, ...], ExpertLabel] = {}
    for number, row in enumerate(rows, 2):
        texts = {name: (row.get(name) or "").strip() for name in (*COLUMNS, "rater")}
        if not texts["label"]:
            continue
        seed = texts["seed"]
        if texts["label"] not in _PASSED:
            faults.setdefault(("another label", "pass or fail"), []).append(f"{number}: {texts['label']!r}")
        elif not (seed.isascii() and seed.isdigit()):
            faults.setdefault(("no number as seed", "1 or more"), []).append(f"{number}: {seed!r}")
        else:
            rater = texts["rater"] or NOBODY
            key = (rater, texts["condition"], texts["scenario_id"], seed, texts["item_id"])
            if key in found:
                faults.setdefault(("a second label", "one each"), []).append(f"{number}: {' '.join(key)}")
            found[key] = ExpertLabel(
                rater,
                texts["condition"],
                texts["scenario_id"],
                int(seed),
                texts["item_id"],
                _PASSED[texts["label"]],
            )
    if faults:
        raise _joined(path, faults)
    if not found:
        raise ScenarioError(path, "no label", "one or more rows with pass or fail")
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


def _joined(path: Path, faults: Mapping[tuple[str, str], Sequence[str]]) -> StaffbenchError:
    """Return one error for each kind of fault, with the number of rows and the first."""
    problems: list[StaffbenchError] = [
        ScenarioError(
            path,
            f"{found} in {plural(str(len(rows)), 'row')}, {'first ' * (len(rows) > 1)}line {rows[0]}",
            fit,
        )
        for (found, fit), rows in faults.items()
    ]
    return problems[0] if len(problems) == 1 else Problems.of(path, problems)


def _rows(path: Path) -> list[dict[str, str | None]]:
    if path.is_dir() or not path.exists():  # a pipe is allowed
        raise ConfigError(path, "a folder" if path.is_dir() else "no such file", "a CSV file of labels")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            head = reader.fieldnames or ()
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ScenarioError(path, f"can't be read ({error})", "a CSV file in UTF-8") from error
    missing = [name for name in COLUMNS if name not in head]
    if missing:
        raise ScenarioError(path, f"no column {', '.join(missing)}", f"columns {', '.join(COLUMNS)}")
    return [dict(row) for row in rows]
