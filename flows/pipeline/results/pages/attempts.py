"""Pages of attempts, from the trajectories table, and pictures of the pages of their reports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from flows.adapters.tables import TRAJECTORIES, read_table
from flows.pipeline.native.renders import Renders
from flows.pipeline.results.graded import Graded
from flows.schema.report_task import ReportFacts
from flows.stages.page.brief import attempt_page
from flows.stages.page.markup import address, attempt_path


def attempt_links(entry: Graded) -> Markup:
    """Return links from the first page to the attempts of an imported condition; empty without any."""
    if not entry.has_attempts:
        return Markup()
    link = Markup('<a href="{}">{}</a>')
    rows = ((row["scenario_id"], row["seed"]) for row in entry.briefs)
    links = [link.format(address(*attempt_path(entry.condition, *row)), f"{row[0]} {row[1]}") for row in rows]
    return Markup("<br><small>attempts: {}</small>").format(Markup(", ").join(links))


def attempt_pages(folder: Path, graded: Sequence[Graded]) -> Iterator[tuple[str, str]]:
    """Yield path and text of a page for each attempt, once per condition.

    Args:
        folder: `results/<benchmark>/`.
        graded: the graded conditions; those without attempts have no such page.

    Raises:
        StoreError: a table can't be read.
    """
    judges: dict[str, list[str]] = {}
    for entry in graded:
        # An imported report has no page of its own, only its attempt has one.
        judges.setdefault(entry.condition, []).extend([] if entry.is_foreign else [entry.judge])
    for entry in {entry.condition: entry for entry in graded if entry.has_attempts}.values():
        path = folder / "trajectories" / f"{entry.condition}.parquet"
        # The file may not have been pulled: scores do not depend on it.
        rows = read_table(path, TRAJECTORIES)[0] if path.is_file() else []
        events: dict[tuple[str, int], list[Any]] = {}
        for row in sorted(rows, key=lambda row: row["turn"]):
            events.setdefault((row["scenario_id"], row["seed"]), []).append(json.loads(row["event"]))
        for row in entry.briefs:
            attempt = (entry.condition, row["scenario_id"], row["seed"])
            page = attempt_page(
                *attempt,
                events.get(attempt[1:], []),
                judges=sorted(judges[entry.condition]),
                is_imported=entry.is_foreign,
            )
            yield "/".join(attempt_path(*attempt)), page


def page_pictures(folder: Path, report: ReportFacts | None) -> list[str]:
    """Return the paths, below `folder`, of the pictures of a report's pages, in order.

    Only of reports that a model wrote: those of controls and of the baseline are not versioned, and the site
    must not depend on what happens to lie on a disk. A missing picture is made, where LibreOffice is installed.

    Args:
        folder: `results/<benchmark>/`.
        report: facts about the file; None for a brief that is a text.
    """
    if report is None or report.report is None or not report.n_calls:
        return []
    try:
        data = (folder / "reports" / "files" / f"{report.report}.docx").read_bytes()
    except OSError:
        return []  # not pulled
    renders = Renders(folder / "renders")
    layout = asyncio.run(renders.layout(data, ".docx", images=True))
    return [str(renders.path_of(image).relative_to(folder)) for image in layout.images]
