"""Write the site and the figures of a benchmark from stored results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from markupsafe import Markup

from flows.adapters.browser_libraries import chart_library, table_library
from flows.common.files import write_whole
from flows.pipeline.results.graded import Graded, in_order, scored
from flows.pipeline.results.pages.attempts import attempt_links, attempt_pages, page_pictures
from flows.pipeline.results.pages.compare import compare_files
from flows.pipeline.results.pages.charts import drawn, own_charts
from flows.pipeline.results.pages.tables import further_tables, is_of_tasks, origin
from flows.schema.rows import from_rows
from flows.schema.brief import Brief
from flows.common.errors import StaffbenchError, StoreError
from flows.schema.document import Document
from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings, scoring_suffix
from flows.schema.verdict import BriefScore, Verdict
from flows.stages.aggregate import Grouping, breakdowns
from flows.stages.page.brief import brief_page
from flows.stages.page.compare import briefs_data, briefs_page
from flows.stages.page.condition import Group, condition_page
from flows.stages.page.document import document_addresses, document_page
from flows.stages.page.index import index_page
from flows.stages.page.markup import address, brief_file
from flows.stages.page.render import assets
from flows.stages.page.rubric import rubric_data, rubric_page, rubric_script
from flows.stages.page.scenario import MatrixColumn, scenario_page
from flows.stages.page.wording import Wording, wording
from flows.stages.notes import notes
from flows.stages.table import shown_rows

_ENDINGS = (".html", ".js", ".css", ".svg", ".png", ".json")
"""Of files that the site has; older ones of these are deleted, and nothing else."""
_GROUPINGS: tuple[Grouping, ...] = ("step", "tier", "severity", "mode")
_TASK_GROUPINGS: tuple[Grouping, ...] = ("scenario", "mode")
"""Groupings of criteria, which have no step, tier or severity."""


@dataclass(frozen=True)
class _Condition:
    """A row of the leaderboard and its results, briefs sorted by scenario and seed."""

    row: LeaderboardRow
    entry: Graded
    briefs: Sequence[tuple[Brief, BriefScore, Sequence[Verdict]]]


def write_site(
    folder: Path,
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    *,
    scoring: ScoringSettings,
    problems: Sequence[StaffbenchError] = (),
    documents: Mapping[str, Sequence[Document]] | None = None,
) -> Path:
    """Write `site/` and `figures/` below `folder`; outdated pages are deleted.

    Non-default weights get folders of their own, like their leaderboard.

    Args:
        folder: `results/<benchmark>/`.
        board: built from `graded` with `scoring`.
        graded: the graded conditions.
        scenarios: by id.
        scoring: the weights.
        problems: results left out of the board, and why; listed on the first page.
        documents: of the packets, by scenario; one without them has no pages of documents.

    Returns:
        Path of the first page.

    Raises:
        StaffbenchError: verdicts do not match their rubric, or a file can't be written.
    """
    suffix = scoring_suffix(board.benchmark or folder.name, board.scoring)
    site = folder / f"site{suffix}"
    said = wording(is_task=is_of_tasks(scenarios.values()))
    conditions = _conditions(board, graded, scenarios, scoring)
    figures = list(drawn(board, graded, scenarios, scoring))
    files = {path: content for each in figures for path, content in each.files.items()}
    _write_folder(folder / f"figures{suffix}", files.items())
    used = sorted({brief.scenario_id for condition in conditions for brief, _, _ in condition.briefs})
    index = index_page(
        board,
        shown_rows(board),
        notes(board),
        figures={each.judge: each.shown for each in figures},
        rubrics={name: address("rubric", f"{name}.html") for name in used},
        left_out=[str(problem).replace(f"{folder}/", "") for problem in problems],  # no path of this machine
        foreign={
            (entry.condition, entry.judge): Markup("{}{}").format(origin(entry), attempt_links(entry))
            for entry in graded
            if entry.is_foreign
        },
        tables=further_tables(board, graded, scenarios, scoring),
        said=said,
        is_clamped=scoring.clamped,
    )
    pages = chain(
        ((f"assets/{name}", text) for name, text in _assets(site if graded else None).items()),
        ((f"charts/{path}", content) for path, content in files.items()),
        ((path, page) for each in figures for _, path, page in each.pages),
        *(
            _scenario_files(scenarios[name], conditions, (documents or {}).get(name, ()), scoring)
            for name in used
        ),
        *(_condition_pages(folder, board, condition, scenarios, scoring) for condition in conditions),
        attempt_pages(folder, graded),
        _overviews(board, graded, conditions, scenarios, scoring, said) if graded else (),
        [("index.html", index)],  # last, since it links to the others
    )
    _write_folder(site, pages)
    return site / "index.html"


def write_compared(
    folder: Path,
    benchmark: str,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> Path:
    """Write the page that compares any two conditions below `folder`, without the site; return its path.

    It leads to the pages of the site where that was written.

    Raises:
        StaffbenchError: verdicts do not match their rubric, or a file can't be written.
    """
    suffix = scoring_suffix(benchmark, scoring.name)
    site = f"../site{suffix}/" if (folder / f"site{suffix}" / "index.html").is_file() else None
    said = wording(is_task=is_of_tasks(scenarios.values()))
    files = compare_files(benchmark, graded, scenarios, scoring, said, site=site)
    own = ((f"assets/{name}", text) for name, text in _assets(None).items())
    _write_folder(folder / f"compare{suffix}", chain(own, files))
    return folder / f"compare{suffix}" / "compare.html"


def _assets(site: Path | None) -> dict[str, str]:
    """Return the scripts and styles by file name; the library of charts only for a site."""
    return {**assets(), **table_library(), **(chart_library(site / "assets") if site else {})}


def _overviews(
    board: Leaderboard,
    graded: Sequence[Graded],
    conditions: Sequence[_Condition],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
    said: Wording,
) -> Iterator[tuple[str, str]]:
    """Yield the pages over all conditions: any two of them, and all briefs."""
    yield from compare_files(board.benchmark, in_order(graded, board), scenarios, scoring, said)
    rows = [_brief_row(one.row, brief, score) for one in conditions for brief, score, _ in one.briefs]
    yield "data/briefs.js", briefs_data(rows, said)
    yield "briefs.html", briefs_page(board.benchmark, said)


def _brief_row(row: LeaderboardRow, brief: Brief, score: BriefScore) -> list[Any]:
    shares = [None if share is None else round(share, 3) for share in (score.score, score.correct, score.passed)]
    place = [brief.scenario_id, brief.seed, row.condition, row.judge_id, brief.status.value]
    return [*place, *shares, score.wrong, score.n_missing, brief.words_kept, brief_file(brief)]


def _scenario_files(
    scenario: Scenario,
    conditions: Sequence[_Condition],
    documents: Sequence[Document],
    scoring: ScoringSettings,
) -> Iterator[tuple[str, str]]:
    """Yield the pages of a scenario, of its rubric and of its documents."""
    name = scenario.scenario_id
    near, far = (document_addresses(scenario, documents, *up) for up in ((("..",)), ("..", "..")))
    yield f"rubric/{name}.html", rubric_page(scenario, near)
    yield f"rubric/{rubric_script(name)}", rubric_data(scenario, far)
    yield f"scenario/{name}.html", scenario_page(scenario, _matrix(scenario, conditions, scoring), near)
    for place, document in enumerate(documents, 1):
        yield f"documents/{name}/{place}.html", document_page(scenario, document, far)


def _conditions(
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> list[_Condition]:
    """Collect the conditions in the order of the board.

    Imported ones are left out: their tasks may not exist here, and Harbor shows its pages.
    """
    found: list[_Condition] = []
    for row, entry in zip(board.rows, in_order(graded, board), strict=True):
        if not entry.is_foreign:
            verdicts, scores = entry.by_brief, scored(entry, scenarios, scoring).by_brief
            briefs = {(brief.scenario_id, brief.seed): brief for brief in from_rows(Brief, entry.briefs)}
            own = [(briefs[key], scores[key], verdicts[key]) for key in sorted(briefs)]
            found.append(_Condition(row, entry, own))
    return found


def _matrix(
    scenario: Scenario, conditions: Sequence[_Condition], scoring: ScoringSettings
) -> list[MatrixColumn]:
    """Return the verdicts on a scenario's items by condition."""
    rows = [condition.row for condition in conditions]
    models = [(row.model, row.judge) for row in rows]
    columns: list[MatrixColumn] = []
    for row, condition in zip(rows, conditions, strict=True):
        briefs = [
            (brief_file(brief), score, {verdict.item_id: verdict.passed for verdict in verdicts})
            for brief, score, verdicts in condition.briefs
            if brief.scenario_id == scenario.scenario_id
        ]
        if briefs:
            is_one = models.count((row.model, row.judge)) == 1
            name = f"{row.model}, judge {row.judge}" if is_one else f"{row.condition}, judge {row.judge_id}"
            columns.append(MatrixColumn(name, (row.condition, row.judge_id), briefs, scoring.clamped))
    return columns


def _condition_pages(
    folder: Path,
    board: Leaderboard,
    condition: _Condition,
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> Iterator[tuple[str, str]]:
    """Yield path and page of a condition and its briefs, one at a time since a site can be large."""
    row, entry = condition.row, condition.entry
    place = f"{row.condition}/{row.judge_id}"
    files = [brief_file(brief) for brief, _, _ in condition.briefs]
    for number, (brief, score, verdicts) in enumerate(condition.briefs):
        report = entry.reports.get((brief.scenario_id, brief.seed))
        page = brief_page(
            row,
            scenarios[brief.scenario_id],
            brief,
            score=score,
            verdicts=verdicts,
            scoring=board.scoring,
            is_stand_in=entry.is_stand_in,
            weights=scoring.weights,
            report=report,
            pictures=page_pictures(folder, report),
            beside=(files[number - 1] if number else None, (*files, None)[number + 1]),
        )
        yield f"{place}/{files[number]}", page
    items = {name: scenarios[name].items for name in entry.about["scenarios"]}
    tasks = is_of_tasks(scenarios[name] for name in items)
    counts = breakdowns(items, entry.verdicts_once, _TASK_GROUPINGS if tasks else _GROUPINGS)
    page = condition_page(
        row,
        [(brief, score) for brief, score, _ in condition.briefs],
        {
            by: [Group(one.group, one.kind, one.passed, one.n, one.ungraded) for one in groups]
            for by, groups in counts.items()
        },
        scoring=board.scoring,
        note=str(entry.about["model_note"]),
        is_stand_in=entry.is_stand_in,
        said=wording(is_task=tasks),
        charts=own_charts(entry, scenarios, scoring),
    )
    yield f"{place}/index.html", page


def _write_folder(folder: Path, contents: Iterable[tuple[str, str | bytes]]) -> None:
    """Write the files and delete older ones with an ending of the site's."""
    root = folder.resolve()
    written: set[Path] = set()
    for name, content in contents:
        path = root / name
        if not path.resolve().is_relative_to(root):
            raise StoreError(path, "outside the site", "names of conditions and judges without ..")
        write_whole(path, content)
        written.add(path)
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_dir():
            if not any(path.iterdir()):
                path.rmdir()
        elif path.suffix in _ENDINGS and path not in written:
            path.unlink(missing_ok=True)
