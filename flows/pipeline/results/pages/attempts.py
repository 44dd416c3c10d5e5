"""Pages of attempts, from the tables of chats, and pictures of the pages of their reports."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from flows.adapters.tables import JUDGE_CHATS, TRAJECTORIES, read_table
from flows.common.text import plural
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
    listed = Markup(", ").join(links)
    return Markup("<details><summary>{}</summary>{}</details>").format(plural(len(links), "attempt"), listed)


def judge_chats_file(folder: Path, entry: Graded) -> Path:
    """Return the path of the table of a judge's chats; only judges that are agents have one."""
    return folder / "judge_chats" / entry.condition / f"{entry.judge}.parquet"


def attempt_pages(folder: Path, graded: Sequence[Graded]) -> Iterator[tuple[str, str]]:
    """Yield path and text of a page for each attempt, once per condition.

    A condition without chats of a writer or a judge has none.

    Raises:
        StoreError: a table can't be read.
    """
    by_condition: dict[str, list[Graded]] = {}
    for entry in graded:
        by_condition.setdefault(entry.condition, []).append(entry)
    for condition, entries in by_condition.items():
        chats = {one.judge: _chats(judge_chats_file(folder, one), JUDGE_CHATS) for one in entries}
        if not (any(entry.has_attempts for entry in entries) or any(chats.values())):
            continue
        written = _chats(folder / "trajectories" / f"{condition}.parquet", TRAJECTORIES)
        for row in entries[0].briefs:
            place = (row["scenario_id"], row["seed"])
            page = attempt_page(
                condition,
                *place,
                written.get(place, {}).get(1, []),
                # An imported report has no page of its own, only its attempt has one.
                judges=sorted(entry.judge for entry in entries if not entry.is_foreign),
                chats=[
                    (judge, number, events)
                    for judge, found in sorted(chats.items())
                    for number, events in found.get(place, {}).items()
                ],
                is_imported=entries[0].is_foreign,
            )
            yield "/".join(attempt_path(condition, *place)), page


def _chats(path: Path, schema: Any) -> dict[tuple[str, int], dict[int, list[Any]]]:
    """Return the events of each chat in a table, by scenario and seed, then by repeat of the judge."""
    # The file may not have been pulled: scores do not depend on it.
    rows = read_table(path, schema)[0] if path.is_file() else []
    found: dict[tuple[str, int], dict[int, list[Any]]] = {}
    for row in sorted(rows, key=lambda row: (row.get("repeat", 1), row["turn"])):
        repeats = found.setdefault((row["scenario_id"], row["seed"]), {})
        repeats.setdefault(row.get("repeat", 1), []).append(json.loads(row["event"]))
    return found


def page_pictures(folder: Path, report: ReportFacts | None) -> list[str]:
    """Return the paths, below `folder`, of the pictures of a report's pages, in order.

    Only of reports that a model wrote: those of controls and of the baseline are not versioned, and the site
    must not depend on what happens to lie on a disk. A missing picture is made if LibreOffice is installed.
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
