"""The page of a scenario: scores of each condition, and the verdicts on every item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from flows.common.text import count_of, number
from flows.schema.scenario import Scenario
from flows.schema.verdict import BriefScore
from flows.stages.page.markup import address, link
from flows.stages.page.render import TABLE_SCRIPTS, Column, Table, filters, numbers, parts, render
from flows.stages.page.wording import Wording, filtered_by, wording


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    """A condition under one judge.

    Attributes:
        name: what tells it from the others.
        judge: label of the judge.
        folder: parts of the address of its pages, below the site.
        briefs: file name, score and verdicts (`passed` by item) of each brief on the scenario, by seed.
        is_clamped: True if the scores are averaged within [0, 1].
        is_stand_in: True if the judge is a stand-in.
        is_copied: True if that stand-in scored text copied from the packet, as `LeaderboardRow.copied`.
    """

    name: str
    judge: str
    folder: tuple[str, ...]
    briefs: Sequence[tuple[str, BriefScore, Mapping[str, bool | None]]]
    is_clamped: bool = False
    is_stand_in: bool = False
    is_copied: bool = False

    @property
    def scores(self) -> list[float]:
        """The known scores, as they are averaged."""
        found = (score.score_clamped if self.is_clamped else score.score for _, score, _ in self.briefs)
        return [score for score in found if score is not None]

    @property
    def mean(self) -> float | None:
        """The mean of `scores`; None without one."""
        return sum(self.scores) / len(self.scores) if self.scores else None


def scenario_page(
    scenario: Scenario, columns: Sequence[MatrixColumn], documents: Mapping[str, Markup] | None = None
) -> str:
    """Render the scores on a scenario, and how many seeds of each condition passed each item.

    Args:
        scenario: the scenario.
        columns: the conditions that were graded on it.
        documents: addresses of the pages of its documents.
    """
    said = wording(is_task=scenario.task is not None)
    rows = [
        (item, place, [_cell(column, item.item_id) for column in columns])
        for place, item in enumerate(scenario.items)
    ]
    return render(
        "scenario.html",
        f"{scenario.scenario_id}: scores and items by condition",
        depth=1,
        stand_ins=sorted({column.judge for column in columns if column.is_stand_in}),
        several_judges=len({column.judge for column in columns}) > 1,
        scripts=TABLE_SCRIPTS,
        scenario=scenario,
        said=said,
        documents=documents or {},
        scores=_scores(scenario, columns, said),
        columns=[Column("item"), *numbers(*map(_link, columns)), *filters("tier", "step", "severity")],
        conditions=columns,
        rows=rows,
        classes=filtered_by,
        rubric=address("..", "rubric", f"{scenario.scenario_id}.html"),
    )


def _scores(scenario: Scenario, columns: Sequence[MatrixColumn], said: Wording) -> Table:
    heads = ("mean score", "lowest", "highest", f"{said.brief}s scored")
    rows: list[list[str]] = []
    unknown = float("-inf")  # last
    for column in sorted(columns, key=lambda one: -(unknown if one.mean is None else one.mean)):
        scores, folder, mark = column.scores, ("..", *column.folder), "†" if column.is_copied else ""
        links = [link(address(*folder, file), str(score.seed)) for file, score, _ in column.briefs]
        values = (column.mean, min(scores), max(scores)) if scores else (None, None, None)
        rows.append(
            [
                _link(column),
                *(parts().unknown() if value is None else number(value) + mark for value in values),
                count_of(len(scores), len(column.briefs)),
                Markup(", ").join(links),
            ]
        )
    table = [Column("condition"), *numbers(*heads), Column(f"{said.repeat}s")]
    caption = f"Scores on {scenario.scenario_id}; lowest and highest over {said.repeat}s."
    return Table(caption, table, rows)


def _link(column: MatrixColumn) -> Markup:
    return link(address("..", *column.folder, "index.html"), column.name)


def _cell(column: MatrixColumn, item_id: str) -> tuple[str, str, Markup | None]:
    """Return a cell's class, its text (passed and graded seeds), and the page that it leads to."""
    found = [verdicts.get(item_id) for _, _, verdicts in column.briefs]
    graded = [passed for passed in found if passed is not None]
    first = found.index(False) if False in found else 0
    page = address("..", *column.folder, column.briefs[first][0]) if found else None
    if not graded:
        return "missing", parts().unknown(), page
    state = "passed" if all(graded) else "mixed" if any(graded) else "failed"
    missing = f" ({len(found) - len(graded)} ungraded)" if len(graded) < len(found) else ""
    return state, f"{sum(graded)}/{len(graded)}{missing}", page
