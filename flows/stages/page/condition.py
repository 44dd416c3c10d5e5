"""The page of one condition under one judge: settings, scores and briefs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from markupsafe import Markup

from flows.common.text import count_of, plural
from flows.schema.brief import Brief
from flows.schema.leaderboard import LeaderboardRow
from flows.schema.verdict import BriefScore
from flows.stages.page.markup import address, own, words
from flows.stages.page.render import CHART_SCRIPTS, TABLE_SCRIPTS, Chart, Column, Table, parts, render
from flows.stages.page.wording import BRIEFS, REPORTS, Wording

_MODES = (
    "Modes: omission, it is not there; partial, some of it is; incorrect, it is there and wrong; "
    "unsupported, more is claimed than is borne out; unstated, the judge named no mode; committed, "
)


@dataclass(frozen=True, slots=True)
class Group:
    """Verdicts of one group of items, pooled over a condition's briefs.

    Attributes:
        name: the step, tier, severity or failure mode.
        kind: `requirement` or `error`.
        passed: graded verdicts that passed.
        n: graded verdicts.
        ungraded: items without a verdict.
    """

    name: str
    kind: str
    passed: int
    n: int
    ungraded: int


def compare_fragment(*sides: tuple[str, str]) -> Markup:
    """Return the fragment of the page that compares conditions, from the labels of condition and judge."""
    return Markup(urlencode({name: "/".join(side) for name, side in zip("ab", sides, strict=False)}))


def brief_file(brief: Brief) -> str:
    """Return the file name of a brief's page, in the folder of its condition's page."""
    return f"{brief.scenario_id}-{brief.seed}.html"


def condition_page(
    row: LeaderboardRow,
    briefs: Sequence[tuple[Brief, BriefScore]],
    groups: Mapping[str, Sequence[Group]],
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
        said=said,
        is_stand_in=is_stand_in,
        facts=_about(row, scoring, note, said),
        briefs=_briefs_table(row, briefs, said),
        groups=[_group_table(by, counts, row.judge_id, said) for by, counts in groups.items()],
    )


def _about(row: LeaderboardRow, scoring: str, note: str, said: Wording) -> list[tuple[str, str]]:
    interval = "none" if row.score is None else f"none: it takes two {said.scenario}s"
    if row.ci_low is not None and row.ci_high is not None:
        ends = f"{row.ci_low:.3f} to {row.ci_high:.3f}"
        interval = ends + _soft(row.ci_method or "")
    number, percent = parts().number, parts().percent
    if row.ci_unlike is not None:
        otherwise = (
            f"up to {percent(row.ci_unlike)} of all {said.scenario}s may score otherwise (rule of three)"
        )
        interval += f"; of no width, since all scored alike: {otherwise}"
    clamped = _of("{}, clamped {}", number(row.score), number(row.score_clamped))
    judge = row.judge_id + (" (the same model as the writer)" if row.self_judged else "")
    pairs = [
        ("Model", own(row.model) + (_soft(note) if note else "")),
        ("Effort", row.effort),
        ("Word cap", "none" if row.word_cap is None else str(row.word_cap)),
        ("Prompt, harness", f"{row.prompt}, {words(row.harness)}"),
        ("Judge", judge),
        ("Digests", f"condition {row.condition_digest[:16]}, judge {row.judge_digest[:16]}"),
        (f"Score ({scoring} scoring)", clamped),
        ("Interval", interval),
    ]
    if row.has_bounds:
        bounds = _of("{} to {}", number(row.score_low), number(row.score_high))
        pairs.append(("Bounds", _of("{}, if all missing verdicts had failed or passed", bounds)))
    scenarios = plural(count_of(row.n_scenarios, row.n_scenarios_all), said.scenario)
    briefs = plural(count_of(row.n_briefs, row.n_briefs_all), said.counted)
    kept, raw = number(row.words_kept, 0), number(row.words_raw, 0)
    return [
        *pairs,
        ("Correct", _of("{} of all items", percent(row.correct))),
        ("Passed", _of("{} of {}", percent(row.passed), said.requirements)),
        (
            f"{said.errors.capitalize()} {said.made}",
            _of("{} for each {}, on average", number(row.wrong, 1), said.counted),
        ),
        ("These rest on", f"{scenarios}, {briefs}"),
        ("Without a verdict", plural(str(row.n_ungraded), "item")),
        *_fates(row, said),
        ("Mean words", kept if kept == raw else _of("{} kept of {}", kept, raw)),
    ]


def _of(form: str, *values: str) -> Markup:
    """Format values that may be HTML: in an f-string they would become text."""
    return Markup(form).format(*values)


def _soft(text: str) -> Markup:
    return Markup(' <span class="soft">({})</span>').format(own(text))


def _fates(row: LeaderboardRow, said: Wording) -> list[tuple[str, str]]:
    """Count the briefs that were not graded normally, by reason."""
    name = f"{said.brief.capitalize()}s"
    failed = f"{row.n_refused} refused, {row.n_error} failed, {row.n_empty} empty"
    if said is not REPORTS:
        cut = f"{row.n_cut} at the word cap, {row.n_cut_by_provider} at the provider's limit"
        return [(name, failed), ("Cut", cut)]
    pairs = [
        (name, f"{row.n_missing} missing, {row.n_corrupt} corrupt, {failed}"),
        ("Attempts", f"{row.n_at_limit} ended at a limit of the harness"),
    ]
    if row.n_over_limit is not None:
        pairs.append(
            ("Over the limit of length", f"{row.n_over_limit}, not measured {row.n_unmeasured or 0}")
        )
    return pairs


def _briefs_table(row: LeaderboardRow, briefs: Sequence[tuple[Brief, BriefScore]], said: Wording) -> Table:
    columns = [
        Column(said.scenario, is_filter=True),
        Column(said.repeat, is_number=True),
        Column(said.brief, is_filter=True),
    ]
    names = ("score", "correct", "passed", f"{said.errors} {said.made}", "items graded")
    columns += [Column(name, is_number=True) for name in names]
    columns.append(Column("words" if said is REPORTS else "words kept", is_number=True))
    rows = [
        [
            Markup('<a href="{}">{}</a>').format(address(brief_file(brief)), own(brief.scenario_id)),
            str(brief.seed),
            brief.status.value + cut_phrase(brief),
            parts().score_cell(score),
            parts().percent(score.correct),
            parts().percent(score.passed),
            parts().unknown() if score.wrong is None else str(score.wrong),
            count_of(score.n_graded, score.n_items),
            parts().unknown()
            if brief.words_kept is None
            else count_of(brief.words_kept, brief.words_raw or 0),
        ]
        for brief, score in briefs
    ]
    caption = f"One row for each {said.counted}, graded by {row.judge_id}. Correct: share of all items."
    return Table(f"{caption} Passed: share of {said.requirements}.", columns, rows)


def cut_phrase(brief: Brief) -> str:
    """Describe how a brief was cut, as a suffix to its status; empty if it was not."""
    return (", cut at the cap" if brief.cut else "") + (
        ", stopped at the provider's limit" if brief.cut_by_provider else ""
    )


def _group_table(by: str, groups: Sequence[Group], judge: str, said: Wording) -> Table:
    """Build a table of failures by mode, or of passes by any other grouping."""
    by_mode = by == "mode"
    name = said.scenario if by == "scenario" else words(by)
    columns = [Column(name), Column("kind of item")]
    kinds = {"requirement": said.requirement, "error": said.error}
    columns += [
        Column(name, is_number=True)
        for name in (("failed so", "of", "share") if by_mode else ("passed", "of graded", "share"))
    ]
    columns.append(Column("without a verdict", is_number=True))
    rows: list[list[str]] = []
    failed = {
        # Wrong moves have one mode: its share is of all that could have been made.
        kind: sum(g.n if kind == "error" else g.n - g.passed for g in groups if g.kind == kind)
        for kind in ("requirement", "error")
    }
    for group in groups:
        count, of = (group.n - group.passed, failed[group.kind]) if by_mode else (group.passed, group.n)
        rows.append(
            [
                words(group.name),
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
        more = f"{_MODES}a {said.error} {said.made}; its share is of all {said.errors} graded."
    elif any(group.kind == "error" for group in groups):
        more = f"A {said.error} is passed where it was not {said.made}."
    else:
        more = ""
    return Table(f"{caption} {more}".strip(), columns, rows)
