"""Write the site and the figures of a benchmark from stored results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from markupsafe import Markup

from flows.common.files import write_whole
from flows.pipeline.results.graded import Graded, scored
from flows.pipeline.results.site_attempts import attempt_links, attempt_pages, page_pictures
from flows.pipeline.results.site_tables import further_tables, is_of_tasks, origin
from flows.schema.rows import from_rows
from flows.schema.brief import Brief
from flows.common.errors import StaffbenchError, StoreError
from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import MA_BENCH, Dimensions, Scenario
from flows.schema.settings import ScoringSettings, scoring_suffix
from flows.schema.verdict import BriefScore, Verdict
from flows.stages.aggregate import Count, Grouping, breakdowns
from flows.stages.figure import ModeRow, Rate, RateRow, mode_figure, rate_figure, score_figure
from flows.stages.page import (
    Group,
    MatrixColumn,
    address,
    brief_file,
    brief_page,
    condition_page,
    index_page,
    matrix_page,
    rubric_page,
    wording,
)
from flows.stages.notes import notes
from flows.stages.table import shown_rows

_GROUPINGS: tuple[Grouping, ...] = ("step", "tier", "severity", "mode")
_TASK_GROUPINGS: tuple[Grouping, ...] = ("scenario", "mode")
"""Groupings of criteria, which have no step, tier or severity."""
_WRONG = "wrong moves not made"


@dataclass(frozen=True)
class _Condition:
    """A row of the leaderboard and its results, briefs sorted by scenario and seed."""

    row: LeaderboardRow
    note: str
    is_stand_in: bool
    briefs: Sequence[tuple[Brief, BriefScore, Sequence[Verdict]]]
    reports: Mapping[tuple[str, int], ReportFacts]
    counts: Mapping[Grouping, Sequence[Count]]
    is_of_tasks: bool


def write_site(
    folder: Path,
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    *,
    scoring: ScoringSettings,
    problems: Sequence[StaffbenchError] = (),
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

    Returns:
        Path of the first page.

    Raises:
        StaffbenchError: verdicts do not match their rubric, or a file can't be written.
    """
    suffix = scoring_suffix(board.benchmark or folder.name, board.scoring)
    conditions = _conditions(board, graded, scenarios, scoring)
    judges = list(dict.fromkeys(condition.row.judge_id for condition in conditions))
    dimensions = next((scenario.dimensions for scenario in scenarios.values()), MA_BENCH)
    drawn = {judge: _figures(board, conditions, judge, dimensions) for judge in judges}
    figures = (
        (f"{judge}/{name}.svg", svg) for judge, pictures in drawn.items() for name, svg in pictures.items()
    )
    _write_folder(folder / f"figures{suffix}", figures, ".svg")
    used = sorted({brief.scenario_id for condition in conditions for brief, _, _ in condition.briefs})
    rubrics = {name: f"{name}.html" for name in used}
    index = index_page(
        board,
        shown_rows(board),
        notes(board),
        figures={judge: list(pictures.values()) for judge, pictures in drawn.items()},
        rubrics={name: address("rubric", file) for name, file in rubrics.items()},
        left_out=[str(problem).replace(f"{folder}/", "") for problem in problems],  # no path of this machine
        foreign={
            (entry.condition, entry.judge): Markup("{}{}").format(origin(entry), attempt_links(entry))
            for entry in graded
            if entry.is_foreign
        },
        tables=further_tables(board, graded, scenarios, scoring),
        said=wording(is_task=is_of_tasks(scenarios.values())),
        is_clamped=scoring.clamped,
    )
    pages = chain(
        ((f"rubric/{file}", rubric_page(scenarios[name])) for name, file in rubrics.items()),
        ((f"matrix/{file}", _matrix(scenarios[name], conditions)) for name, file in rubrics.items()),
        *(_condition_pages(folder, board, condition, scenarios) for condition in conditions),
        attempt_pages(folder, graded),
        [("index.html", index)],  # last, since it links to the others
    )
    site = folder / f"site{suffix}"
    _write_folder(site, pages, ".html")
    return site / "index.html"


def _conditions(
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> list[_Condition]:
    """Collect the conditions in the order of the board."""
    by_name = {(entry.about["condition"]["label"], entry.about["judge"]["label"]): entry for entry in graded}
    found: list[_Condition] = []
    for row in board.rows:
        entry = by_name[row.condition, row.judge_id]
        if entry.is_foreign:
            continue  # its tasks may not exist here, and Harbor shows its pages
        verdicts, scores = entry.by_brief, scored(entry, scenarios, scoring).by_brief
        briefs = from_rows(Brief, entry.briefs)
        briefs.sort(key=lambda brief: (brief.scenario_id, brief.seed))
        items = {name: scenarios[name].items for name in entry.about["scenarios"]}
        tasks = is_of_tasks(scenarios[name] for name in items)
        found.append(
            _Condition(
                row,
                str(entry.about["model_note"]),
                bool(entry.about["judge"]["is_stand_in"]),
                [
                    (brief, scores[brief.scenario_id, brief.seed], verdicts[brief.scenario_id, brief.seed])
                    for brief in briefs
                ],
                entry.reports,
                breakdowns(items, entry.verdicts_once, _TASK_GROUPINGS if tasks else _GROUPINGS),
                tasks,
            )
        )
    return found


def _figures(
    board: Leaderboard, conditions: Sequence[_Condition], judge: str, dimensions: Dimensions
) -> dict[str, str]:
    """Draw the figures of one judge; return SVG by file name."""
    shown = [condition for condition in conditions if condition.row.judge_id == judge]
    # The first page shows the figures of all judges, so element ids include the judge's number.
    ids = f"j{1 + [note.judge_id for note in board.judges].index(judge)}"
    score = score_figure(
        [condition.row for condition in shown],
        name=f"{ids}-score",
        judge=judge,
        scoring=board.scoring,
    )
    modes = mode_figure([_modes(condition) for condition in shown], name=f"{ids}-mode", judge=judge)
    if any("scenario" in condition.counts for condition in shown):
        tasks = list(dict.fromkeys(c.group for condition in shown for c in condition.counts["scenario"]))
        by_task = rate_figure(
            [_rates(condition, "scenario", [*tasks, _WRONG]) for condition in shown],
            [*tasks, "penalties not triggered"],
            name=f"{ids}-task",
            title="Required criteria met by task, and penalties not triggered",
            judge=judge,
        )
        return {"score": score, "task": by_task, "mode": modes}
    tiers = {str(number): f"{number} {name}" for number, name in enumerate(dimensions.tiers, 1)}
    return {
        "score": score,
        "tier": rate_figure(
            [_rates(condition, "tier", [*tiers, _WRONG]) for condition in shown],
            [*tiers.values(), _WRONG],
            name=f"{ids}-tier",
            title="Requirements passed by tier, and wrong moves not made",
            judge=judge,
        ),
        "step": rate_figure(
            [_rates(condition, "step", dimensions.steps) for condition in shown],
            [step.replace("_", " ") for step in dimensions.steps],
            name=f"{ids}-step",
            title="Requirements passed by step",
            judge=judge,
        ),
        "mode": modes,
    }


def _rates(condition: _Condition, by: Grouping, groups: Sequence[str]) -> RateRow:
    requirements = {c.group: c for c in condition.counts[by] if c.kind == "requirement"}
    return RateRow(
        condition.row.condition,
        tuple(_pooled(condition, "error") if g == _WRONG else _rate(requirements.get(g)) for g in groups),
    )


def _modes(condition: _Condition) -> ModeRow:
    requirements = _pooled(condition, "requirement")
    failed = {c.group: c.failed for c in condition.counts["mode"] if c.kind == "requirement"}
    return ModeRow(condition.row.condition, requirements or Rate(0, 0), failed, _pooled(condition, "error"))


def _rate(count: Count | None) -> Rate | None:
    return None if count is None else Rate(count.passed, count.n, count.ungraded)


def _pooled(condition: _Condition, kind: str) -> Rate | None:
    """Pool all items of a kind; each belongs to one tier, or one task."""
    by: Grouping = "tier" if "tier" in condition.counts else "scenario"
    counts = [count for count in condition.counts[by] if count.kind == kind]
    if not counts:
        return None
    return Rate(
        sum(count.passed for count in counts),
        sum(count.n for count in counts),
        sum(count.ungraded for count in counts),
    )


def _matrix(scenario: Scenario, conditions: Sequence[_Condition]) -> str:
    """Render the verdicts on a scenario's items by condition."""
    models = [(condition.row.model, condition.row.judge) for condition in conditions]
    columns: list[MatrixColumn] = []
    for condition in conditions:
        row = condition.row
        briefs = [(brief, verdicts) for brief, _, verdicts in condition.briefs if brief.scenario_id == scenario.scenario_id]
        if not briefs:
            continue
        passed: dict[str, list[bool | None]] = {}
        for _, verdicts in briefs:
            for verdict in verdicts:
                passed.setdefault(verdict.item_id, []).append(verdict.passed)
        is_one = models.count((row.model, row.judge)) == 1
        name = f"{row.model}, judge {row.judge}" if is_one else f"{row.condition}, judge {row.judge_id}"
        page = (row.condition, row.judge_id, brief_file(briefs[0][0]))
        columns.append(MatrixColumn(name, page, passed))
    return matrix_page(scenario, columns)


def _condition_pages(
    folder: Path, board: Leaderboard, condition: _Condition, scenarios: Mapping[str, Scenario]
) -> Iterator[tuple[str, str]]:
    """Yield path and page of a condition and its briefs, one at a time since a site can be large."""
    place = f"{condition.row.condition}/{condition.row.judge_id}"
    files = [brief_file(brief) for brief, _, _ in condition.briefs]
    for number, (brief, score, verdicts) in enumerate(condition.briefs):
        report = condition.reports.get((brief.scenario_id, brief.seed))
        page = brief_page(
            condition.row,
            scenarios[brief.scenario_id],
            brief,
            score=score,
            verdicts=verdicts,
            scoring=board.scoring,
            is_stand_in=condition.is_stand_in,
            report=report,
            pictures=page_pictures(folder, report),
            beside=(files[number - 1] if number else None, (*files, None)[number + 1]),
        )
        yield f"{place}/{brief_file(brief)}", page
    page = condition_page(
        condition.row,
        [(brief, score) for brief, score, _ in condition.briefs],
        {by: [_group(count) for count in counts] for by, counts in condition.counts.items()},
        scoring=board.scoring,
        note=condition.note,
        is_stand_in=condition.is_stand_in,
        said=wording(is_task=condition.is_of_tasks),
    )
    yield f"{place}/index.html", page


def _group(count: Count) -> Group:
    return Group(count.group, count.kind, count.passed, count.n, count.ungraded)


def _write_folder(folder: Path, texts: Iterable[tuple[str, str]], ending: str) -> None:
    """Write the files and delete older ones with the same ending."""
    root = folder.resolve()
    written: set[Path] = set()
    for name, text in texts:
        path = root / name
        if not path.resolve().is_relative_to(root):
            raise StoreError(path, "outside the site", "names of conditions and judges without ..")
        write_whole(path, text)
        written.add(path)
    for path in sorted(root.rglob(f"*{ending}")):
        if path not in written:
            path.unlink(missing_ok=True)
    for path in sorted(root.rglob("*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()
