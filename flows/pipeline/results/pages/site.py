"""Write the site and the figures of a benchmark from stored results."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from flows.adapters.browser_libraries import chart_library, table_library
from flows.common.errors import StaffbenchError, StoreError
from flows.common.files import write_whole
from flows.pipeline.results.graded import Graded, in_order, scored
from flows.pipeline.results.pages.attempts import (
    attempt_links,
    attempt_pages,
    judge_chats_file,
    page_pictures,
)
from flows.pipeline.results.pages.charts import Drawn, drawn, own_charts
from flows.pipeline.results.pages.compare import compare_files
from flows.pipeline.results.pages.tables import further_tables, is_of_tasks, origin
from flows.schema.brief import Brief
from flows.schema.document import Document
from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.schema.rows import from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings, scoring_suffix
from flows.schema.verdict import BriefScore, Verdict
from flows.stages.aggregate import Grouping, breakdowns
from flows.stages.notes import notes
from flows.stages.page.brief import brief_page
from flows.stages.page.compare import briefs_data, briefs_page
from flows.stages.page.condition import condition_page
from flows.stages.page.index import index_page
from flows.stages.page.markup import address, brief_file
from flows.stages.page.render import assets
from flows.stages.page.rubric import (
    document_addresses,
    document_page,
    rubric_data,
    rubric_page,
    rubric_script,
)
from flows.stages.page.scenario import MatrixColumn, scenario_page
from flows.stages.page.wording import wording
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
    documents: Mapping[str, Sequence[Document]] = MappingProxyType({}),
    word_cap: int | None = None,
    prompt: str = "",
) -> Path:
    """Write `site/` and `figures/` below `folder`; outdated pages are deleted.

    Non-default weights get folders of their own, like their leaderboard.

    `board` was built from `graded` with `scoring`. The first page lists `problems`, what was left out of it.
    A scenario that is not among `documents` has no pages of documents. `word_cap` and `prompt` are the
    benchmark's, whose conditions the tables compare.

    Returns:
        Path of the first page.

    Raises:
        StaffbenchError: verdicts do not match their rubric, or a file can't be written.
    """
    suffix = scoring_suffix(board.benchmark or folder.name, board.scoring)
    figures = list(drawn(board, graded, scenarios, scoring, word_cap=word_cap, prompt=prompt))
    files = {path: content for each in figures for path, content in each.files.items()}
    _write_folder(folder / f"figures{suffix}", files.items())
    left_out = [str(problem).replace(f"{folder}/", "") for problem in problems]  # no path of this machine
    site = folder / f"site{suffix}"
    pages = chain(
        ((f"assets/{name}", text) for name, text in _assets(site if graded else None).items()),
        ((f"charts/{path}", content) for path, content in files.items()),
        ((path, page) for each in figures for _, path, page in each.pages),
        _Site(folder, board, graded, scenarios, scoring, documents).pages(figures, left_out),
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


@dataclass(frozen=True)
class _Site:
    """What the pages show."""

    folder: Path
    board: Leaderboard
    graded: Sequence[Graded]
    scenarios: Mapping[str, Scenario]
    scoring: ScoringSettings
    documents: Mapping[str, Sequence[Document]]

    def pages(self, figures: Sequence[Drawn], left_out: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield path and text of each page and its data, one at a time since a site can be large."""
        said = wording(is_task=is_of_tasks(self.scenarios.values()))
        conditions = self._conditions()
        used = sorted({brief.scenario_id for condition in conditions for brief, _, _ in condition.briefs})
        for name in used:
            yield from self._scenario_pages(self.scenarios[name], conditions)
        for condition in conditions:
            yield from self._condition_pages(condition)
        yield from attempt_pages(self.folder, self.graded)
        if self.graded:
            ordered = in_order(self.graded, self.board)
            yield from compare_files(self.board.benchmark, ordered, self.scenarios, self.scoring, said)
            rows = [_brief_row(one.row, brief, score) for one in conditions for brief, score, _ in one.briefs]
            yield "data/briefs.js", briefs_data(rows, said)
            copied = sorted({one.row.condition for one in conditions if one.row.copied})
            yield "briefs.html", briefs_page(self.board.benchmark, said, copied=copied)
        index = index_page(
            self.board,
            shown_rows(self.board),
            notes(self.board),
            figures={each.judge: each.shown for each in figures},
            rubrics={name: address("rubric", f"{name}.html") for name in used},
            left_out=left_out,
            foreign={
                (entry.condition, entry.judge): (origin(entry), attempt_links(entry))
                for entry in self.graded
                if entry.is_foreign
            },
            tables=further_tables(self.board, self.graded, self.scenarios, self.scoring),
            said=said,
            is_clamped=self.scoring.clamped,
        )
        yield "index.html", index  # last, since it links to the others

    def _conditions(self) -> list[_Condition]:
        """Collect the conditions in the order of the board.

        Imported ones are left out: their tasks may not exist here, and Harbor shows its pages.
        """
        found: list[_Condition] = []
        for row, entry in zip(self.board.rows, in_order(self.graded, self.board), strict=True):
            if not entry.is_foreign:
                verdicts, scores = entry.by_brief, scored(entry, self.scenarios, self.scoring).by_brief
                briefs = {
                    (brief.scenario_id, brief.seed): brief for brief in from_rows(Brief, entry.whole_briefs)
                }
                own = [(briefs[key], scores[key], verdicts[key]) for key in sorted(briefs)]
                found.append(_Condition(row, entry, own))
        return found

    def _scenario_pages(
        self, scenario: Scenario, conditions: Sequence[_Condition]
    ) -> Iterator[tuple[str, str]]:
        name, documents = scenario.scenario_id, self.documents.get(scenario.scenario_id, ())
        near, far = (document_addresses(scenario, documents, *up) for up in ((("..",)), ("..", "..")))
        yield f"rubric/{name}.html", rubric_page(scenario, near)
        yield f"rubric/{rubric_script(name)}", rubric_data(scenario, far)
        yield f"scenario/{name}.html", scenario_page(scenario, self._matrix(scenario, conditions), near)
        for place, document in enumerate(documents, 1):
            yield f"documents/{name}/{place}.html", document_page(scenario, document, far)

    def _matrix(self, scenario: Scenario, conditions: Sequence[_Condition]) -> list[MatrixColumn]:
        models = [(condition.row.model, condition.row.judge) for condition in conditions]
        one_judge = len({condition.row.judge_id for condition in conditions}) == 1
        columns: list[MatrixColumn] = []
        for condition in conditions:
            row = condition.row
            briefs = [
                (brief_file(brief), score, {verdict.item_id: verdict.passed for verdict in verdicts})
                for brief, score, verdicts in condition.briefs
                if brief.scenario_id == scenario.scenario_id
            ]
            if briefs:
                is_one = models.count((row.model, row.judge)) == 1
                name = row.model if is_one else row.condition
                if not one_judge:
                    name += f", judge {row.judge if is_one else row.judge_id}"
                folder, is_stand_in = (row.condition, row.judge_id), condition.entry.is_stand_in
                is_clamped = self.scoring.clamped
                column = MatrixColumn(name, row.judge_id, folder, briefs, is_clamped, is_stand_in, row.copied)
                columns.append(column)
        return columns

    def _condition_pages(self, condition: _Condition) -> Iterator[tuple[str, str]]:
        row, entry, scenarios = condition.row, condition.entry, self.scenarios
        place = f"{row.condition}/{row.judge_id}"
        files = [brief_file(brief) for brief, _, _ in condition.briefs]
        has_chat = judge_chats_file(self.folder, entry).is_file()
        for number, (brief, score, verdicts) in enumerate(condition.briefs):
            report = entry.reports.get((brief.scenario_id, brief.seed))
            page = brief_page(
                row,
                scenarios[brief.scenario_id],
                brief,
                score=score,
                verdicts=verdicts,
                scoring=self.board.scoring,
                is_stand_in=entry.is_stand_in,
                weights=self.scoring.weights,
                report=report,
                pictures=page_pictures(self.folder, report),
                has_chat=has_chat,
                is_clamped=self.scoring.clamped,
                beside=(files[number - 1] if number else None, (*files, None)[number + 1]),
            )
            yield f"{place}/{files[number]}", page
        items = {name: scenarios[name].items for name in entry.about["scenarios"]}
        tasks = is_of_tasks(scenarios[name] for name in items)
        counts = breakdowns(items, entry.verdicts_once, _TASK_GROUPINGS if tasks else _GROUPINGS)
        page = condition_page(
            row,
            [(brief, score) for brief, score, _ in condition.briefs],
            {**counts},
            scoring=self.board.scoring,
            note=str(entry.about["model_note"]),
            is_stand_in=entry.is_stand_in,
            said=wording(is_task=tasks),
            charts=own_charts(entry, scenarios, self.scoring),
        )
        yield f"{place}/index.html", page


def _brief_row(row: LeaderboardRow, brief: Brief, score: BriefScore) -> list[Any]:
    shares = [
        None if share is None else round(share, 3) for share in (score.score, score.correct, score.passed)
    ]
    place = [brief.scenario_id, brief.seed, row.condition, row.judge_id, brief.status.value]
    return [*place, *shares, score.wrong, score.n_missing, brief.words_kept, brief_file(brief)]


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
