"""Experts' labels: what people decided on items of briefs, for measuring judges. A CSV file."""

from __future__ import annotations

import csv
from pathlib import Path

from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.schema.verdict import ExpertLabel

COLUMNS = ("condition", "scenario_id", "seed", "item_id", "label")
"""Each row one item of one brief; `rater` may stand beside them, and any other column is not read."""
NOBODY = "expert"
"""The rater of a file that names none."""

_PASSED = {"pass": True, "fail": False}


def read_labels(path: Path) -> list[ExpertLabel]:
    """The labels in a file, in its order; rows without a label (an expert who abstained) are left out.

    Args:
        path: UTF-8, with a head; `label` is `pass` or `fail` in the sense of a verdict: for a wrong move, or
            a penalty, `pass` means that the brief did not make it.

    Raises:
        ConfigError: no such file, or a folder.
        StaffbenchError: every fault of the file together: a missing column, a bad value, a doubled row.
    """
    rows = _rows(path)
    problems: list[StaffbenchError] = []
    found: dict[tuple[str, ...], ExpertLabel] = {}
    for number, row in enumerate(rows, 2):
        texts = {name: (row.get(name) or "").strip() for name in (*COLUMNS, "rater")}
        if not texts["label"]:
            continue
        seed = texts["seed"]
        if texts["label"] not in _PASSED:
            problems.append(ScenarioError(path, f"line {number}: label {texts['label']!r}", "pass or fail"))
        elif not (seed.isascii() and seed.isdigit()):
            problems.append(ScenarioError(path, f"line {number}: seed {seed!r}", "a number"))
        else:
            rater = texts["rater"] or NOBODY
            key = (rater, texts["condition"], texts["scenario_id"], seed, texts["item_id"])
            if key in found:
                problems.append(
                    ScenarioError(path, f"line {number}: {' '.join(key)} again", "one label each")
                )
            found[key] = ExpertLabel(
                rater,
                texts["condition"],
                texts["scenario_id"],
                int(seed),
                texts["item_id"],
                _PASSED[texts["label"]],
            )
    if problems:
        raise Problems.of(path, problems)
    if not found:
        raise ScenarioError(path, "no label", "one or more rows with pass or fail")
    return list(found.values())


def _rows(path: Path) -> list[dict[str, str | None]]:
    if path.is_dir() or not path.exists():  # a pipe is fine
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
