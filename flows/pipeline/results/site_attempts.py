"""Pages of attempts: what a model did to write its report, from the trajectories table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from flows.adapters.tables import TRAJECTORIES, read_table
from flows.pipeline.results.graded import Graded
from flows.stages.page import attempt_page, attempt_path


def attempt_pages(folder: Path, graded: Sequence[Graded]) -> Iterator[tuple[str, str]]:
    """Path and text of a page for each attempt of a model, once for each condition.

    Args:
        folder: `results/<benchmark>/`.
        graded: what was graded; conditions that no model worked on have no such page.

    Raises:
        StoreError: a table can't be read.
    """
    judges: dict[str, list[str]] = {}
    for entry in graded:
        judges.setdefault(entry.condition, []).append(entry.judge)
    for entry in {entry.condition: entry for entry in graded if entry.has_attempts}.values():
        path = folder / "trajectories" / f"{entry.condition}.parquet"
        # Somebody may have pulled the tables that scores rest on, and no more.
        rows = read_table(path, TRAJECTORIES)[0] if path.is_file() else []
        events: dict[tuple[str, int], list[Any]] = {}
        for row in sorted(rows, key=lambda row: row["turn"]):
            events.setdefault((row["scenario_id"], row["seed"]), []).append(json.loads(row["event"]))
        for row in entry.briefs:
            own = events.get((row["scenario_id"], row["seed"]), [])
            seen = sorted(judges[entry.condition])
            page = attempt_page(entry.condition, row["scenario_id"], row["seed"], own, judges=seen)
            yield "/".join(attempt_path(entry.condition, row["scenario_id"], row["seed"])), page
