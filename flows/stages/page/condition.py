"""The page of one condition under one judge: settings, scores and briefs."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from markupsafe import Markup

from flows.common.text import count_of, words
from flows.schema.brief import Brief
from flows.schema.leaderboard import LeaderboardRow
from flows.schema.verdict import BriefScore, Count
from flows.stages.page.markup import address, brief_file, link
from flows.stages.page.render import (
    CHART_SCRIPTS,
    TABLE_SCRIPTS,
    Chart,
    Column,
    Table,
    numbers,
    parts,
    render,
)
from flows.stages.page.wording import BRIEFS, REPORTS, Wording, cut_phrase

_MODES = (
    "Modes: omission, it is not there; partial, some of it is; incorrect, it is there and wrong; "
    "unsupported, more is claimed than is borne out; unstated, the judge named no mode; committed, "
)


def compare_fragment(*sides: tuple[str, str]) -> Markup:
    """Return the fragment of the page that compares conditions, from the labels of condition and judge."""
    return Markup(urlencode({name: "/".join(side) for name, side in zip("ab", sides, strict=False)}))


def condition_page(
    row: LeaderboardRow,
    briefs: Sequence[tuple[Brief, BriefScore]],
    groups: Mapping[str, Sequence[Count]],
    *,
    scoring: str,
    note: str,
    is_stand_in: bool,
    said: Wording = BRIEFS,
    charts: Sequence[Chart] = (),
) -> str:
    """Render the details of a leaderboard row.

    Args:
        row: the row.
        briefs: briefs with their scores, in display order.
        groups: pass counts by grouping (`step`, `tier`, ...).
        scoring: name of the weights.
        note: a note on the model; may be empty.
        is_stand_in: True for the offline judge.
        said: the protocol's wording.
        charts: of this condition alone.
    """
    return render(
        "condition.html",
        f"{row.condition}, judge {row.judge_id}",
        depth=2,
        scripts=CHART_SCRIPTS if charts else TABLE_SCRIPTS,
        charts=charts,
        compare=compare_fragment((row.condition, row.judge_id)),
        row=row,
        n_abstained=sum(score.n_abstained for _, score in briefs),
        scoring=scoring,
        note=note,
        said=said,
        is_stand_in=is_stand_in,
        briefs=_briefs_table(row, briefs, said),
        groups=[_group_table(by, counts, row.judge_id, said) for by, counts in groups.items()],
    )


def _briefs_table(row: LeaderboardRow, briefs: Sequence[tuple[Brief, BriefScore]], said: Wording) -> Table:
    wrong, kept = f"{said.errors} {said.made}", "words" if said is REPORTS else "words kept"
    columns = [
        Column(said.scenario, is_filter=True),
        Column(said.repeat, is_number=True),
        Column(said.brief, is_filter=True),
        *numbers("score", "correct", "passed", wrong, "items graded", kept),
    ]
    rows = [
        [
            link(address(brief_file(brief)), brief.scenario_id),
            str(brief.seed),
            brief.status.value + cut_phrase(brief),
            parts().score_cell(score) + ("†" if row.copied and score.score is not None else ""),
            parts().percent(score.correct),
            parts().percent(score.passed),
            parts().unknown() if score.wrong is None else str(score.wrong),
            count_of(score.n_graded, score.n_items),
            parts().words_of(brief),
        ]
        for brief, score in briefs
    ]
    caption = f"One row for each {said.counted}, graded by {row.judge_id}. Of those with a verdict,"
    return Table(f"{caption} correct is the share of items, passed of {said.requirements}.", columns, rows)


def _group_table(by: str, groups: Sequence[Count], judge: str, said: Wording) -> Table:
    """Build a table of failures by mode, or of passes by any other grouping."""
    by_mode = by == "mode"
    name = said.scenario if by == "scenario" else words(by)
    kinds = {"requirement": said.requirement, "error": said.error}
    counted = ("failed so", "of") if by_mode else ("passed", "of graded")
    columns = [Column(name), Column("kind of item"), *numbers(*counted, "share", "without a verdict")]
    failed = {
        # Wrong moves have one mode: its share is of all that could have been made.
        kind: sum(g.n if kind == "error" else g.failed for g in groups if g.kind == kind)
        for kind in kinds
    }
    rows: list[list[str]] = []
    for group in groups:
        count, of = (group.failed, failed[group.kind]) if by_mode else (group.passed, group.n)
        rows.append(
            [
                words(group.group),
                kinds.get(group.kind, group.kind),
                str(count) if group.n else parts().unknown(),
                str(of),
                parts().percent(count / of if of else None),
                str(group.ungraded),
            ]
        )
    what = "failed in each mode" if by_mode else f"passed by {name}"
    caption = f"Verdicts {what}, pooled over the different {said.brief}s graded by {judge}."
    if by_mode:
        caption += f" {_MODES}a {said.error} {said.made}; its share is of all {said.errors} graded."
    elif any(group.kind == "error" for group in groups):
        caption += f" A {said.error} is passed where it was not {said.made}."
    return Table(caption, columns, rows)
