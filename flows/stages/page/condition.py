"""One condition under one judge: what it is, what it comes to, and its briefs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flows.schema.brief import Brief
from flows.schema.leaderboard import LeaderboardRow
from flows.schema.verdict import BriefScore
from flows.stages.page.frame import Column, document, facts, stand_in_notice, table
from flows.stages.page.markup import MISSING, address, count_of, number, own, percent, plural, words
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
        passed: graded verdicts that are passed.
        n: graded verdicts.
        ungraded: verdicts that say nothing.
    """

    name: str
    kind: str
    passed: int
    n: int
    ungraded: int


def brief_file(brief: Brief) -> str:
    """Name of a brief's page, beside its condition's."""
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
) -> str:
    """A row of the leaderboard taken apart.

    Args:
        row: of the leaderboard.
        briefs: with their scores, in the order in which they are listed.
        groups: pass counts by what they are grouped by (`step`, `tier`, ...).
        scoring: name of the weights.
        note: what must be known about the model; may be empty.
        is_stand_in: True where the judge is one.
        said: names of the protocol's things.
    """
    title = f"{row.condition}, judge {row.judge_id}"
    up = address("..", "..", "index.html")
    body = [f'<nav><a href="{up}">Leaderboard</a></nav>', f"<h1>{own(title)}</h1>"]
    if is_stand_in:
        body.append(stand_in_notice(row.judge_id))
    body.append(facts(_about(row, scoring, note, said)))
    body += [f"<h2>{said.brief.capitalize()}s</h2>", _briefs_table(row, briefs, said)]
    body.append("<h2>Verdicts by kind of item</h2>")
    body += [_group_table(by, counts, row.judge_id, said) for by, counts in groups.items()]
    return document(title, body, with_script=True)


def _about(row: LeaderboardRow, scoring: str, note: str, said: Wording) -> list[tuple[str, str]]:
    interval = f"none: it takes two {said.scenario}s"
    if row.ci_low is not None and row.ci_high is not None:
        method = own(row.ci_method or "")
        interval = f'{row.ci_low:.3f} to {row.ci_high:.3f} <span class="soft">({method})</span>'
    if row.ci_unlike is not None:
        otherwise = (
            f"up to {percent(row.ci_unlike)} of all {said.scenario}s may score otherwise (rule of three)"
        )
        interval += f"; of no width, since all scored alike: {otherwise}"
    judge = own(row.judge_id) + (" (the same model as the writer)" if row.self_judged else "")
    pairs = [
        ("Model", own(row.model) + (f' <span class="soft">({own(note)})</span>' if note else "")),
        ("Effort", own(row.effort)),
        ("Word cap", "none" if row.word_cap is None else str(row.word_cap)),
        ("Prompt, harness", f"{own(row.prompt)}, {own(words(row.harness))}"),
        ("Judge", judge),
        ("Digests", f"condition {own(row.condition_digest[:16])}, judge {own(row.judge_digest[:16])}"),
        (f"Score ({own(scoring)} scoring)", f"{number(row.score)}, clamped {number(row.score_clamped)}"),
        ("Interval", interval),
    ]
    if row.n_ungraded:
        bounds = f"{number(row.score_low)} to {number(row.score_high)}"
        pairs.append(("Bounds", f"{bounds}, if all missing verdicts had failed or passed"))
    scenarios = plural(count_of(row.n_scenarios, row.n_scenarios_all), said.scenario)
    briefs = plural(count_of(row.n_briefs, row.n_briefs_all), said.counted)
    kept, raw = number(row.words_kept, 0), number(row.words_raw, 0)
    return [
        *pairs,
        ("Correct", f"{percent(row.correct)} of all items"),
        ("Passed", f"{percent(row.passed)} of {said.requirements}"),
        (
            f"{said.errors.capitalize()} {said.made}",
            f"{number(row.wrong, 1)} for each {said.counted}, on average",
        ),
        ("These rest on", f"{scenarios}, {briefs}"),
        ("Without a verdict", plural(str(row.n_ungraded), "item")),
        *_fates(row, said),
        ("Mean words", kept if kept == raw else f"{kept} kept of {raw}"),
    ]


def _fates(row: LeaderboardRow, said: Wording) -> list[tuple[str, str]]:
    """What kept briefs from being graded as they were meant, counted."""
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


def _briefs_table(row: LeaderboardRow, briefs: Sequence[tuple[Brief, BriefScore]], said: Wording) -> str:
    columns = [Column(said.scenario), Column(said.repeat, is_number=True), Column(said.brief)]
    names = ("score", "correct", "passed", f"{said.errors} {said.made}", "items graded")
    columns += [Column(name, is_number=True) for name in names]
    columns.append(Column("words" if said is REPORTS else "words kept", is_number=True))
    rows = [
        [
            f'<a href="{address(brief_file(brief))}">{own(brief.scenario_id)}</a>',
            str(brief.seed),
            own(brief.status.value) + cut_phrase(brief),
            score_cell(score),
            percent(score.correct),
            percent(score.passed),
            MISSING if score.wrong is None else str(score.wrong),
            count_of(score.n_graded, score.n_items),
            MISSING if brief.words_kept is None else count_of(brief.words_kept, brief.words_raw or 0),
        ]
        for brief, score in briefs
    ]
    caption = f"One row for each {said.counted}, graded by {row.judge_id}. Correct: share of all items."
    return table(f"{caption} Passed: share of {said.requirements}.", columns, rows, "sortable")


def score_cell(score: BriefScore) -> str:
    """A brief's score, or its bounds where it is not graded whole."""
    if score.score is not None:
        return f"{score.score:.3f}"
    return f"{MISSING}<br><small>bounds {score.score_low:.3f} to {score.score_high:.3f}</small>"


def cut_phrase(brief: Brief) -> str:
    """What was cut from a brief, to stand after its status; empty where nothing was."""
    return (", cut at the cap" if brief.cut else "") + (
        ", stopped at the provider's limit" if brief.cut_by_provider else ""
    )


def _group_table(by: str, groups: Sequence[Group], judge: str, said: Wording) -> str:
    """Failures by mode count what failed so; everything else counts what passed."""
    by_mode = by == "mode"
    name = said.scenario if by == "scenario" else words(by)
    columns = [Column(name), Column("kind of item")]
    kinds = {"requirement": said.requirement, "error": said.error}
    columns += [
        Column(name, is_number=True) for name in ("failed so" if by_mode else "passed", "of graded", "share")
    ]
    columns.append(Column("without a verdict", is_number=True))
    rows: list[list[str]] = []
    for group in groups:
        count = group.n - group.passed if by_mode else group.passed
        rows.append(
            [
                own(words(group.name)),
                own(kinds.get(group.kind, group.kind)),
                str(count) if group.n else MISSING,
                str(group.n),
                percent(count / group.n if group.n else None),
                str(group.ungraded),
            ]
        )
    what = "failed in each mode" if by_mode else f"passed by {name}"
    caption = f"Verdicts {what}, pooled over the {said.counted}s graded by {judge}."
    if by_mode:
        more = f"{_MODES}a {said.error} {said.made}."
    elif any(group.kind == "error" for group in groups):
        more = f"A {said.error} is passed where it was not {said.made}."
    else:
        more = ""
    return table(f"{caption} {more}".strip(), columns, rows, "narrow")
