"""The notes under a leaderboard: what its numbers rest on, and what they don't say."""

from __future__ import annotations

import math
from collections.abc import Iterable

from flows.common.text import count_of, number, percent, plural
from flows.schema.harbor import HARBOR
from flows.schema.leaderboard import JudgeNote, Leaderboard, LeaderboardRow
from flows.schema.settings import Writer
from flows.stages.notes.shared import COPIED, STAND_IN, left_unseen, noun, self_judged

_POLARITIES = {"polarity=positive": "requirements", "polarity=negative": "wrong moves or penalties"}


def notes(board: Leaderboard) -> list[str]:
    """Return the notes under the table, one or two sentences each."""
    found = [_judge_note(note) for note in board.judges]
    found += [
        f"Judge {note.judge_id} gives no verdict on wrong moves or penalties, nor on criteria of form: "
        f"{plural(note.n_abstained, 'item')} not judged and not scored. Its scores are of the other items, "
        "and not comparable with those of a judge that grades all."
        for note in board.judges
        if note.n_abstained
    ]
    if any(row.copied for row in board.rows):
        found.append(f"{COPIED} Of 42 such passes by its version 2 that were read, 25 were false.")
    found += _interval_notes(board)
    found += _no_width_notes(board)
    found += _ranking_notes(board)
    found += board.differences
    found += _missing_notes(board)
    found += _floor_notes(board)
    found += self_judged(board)
    found += [f"{what}{more}." for what, more in left_unseen(board)]
    found += _empty_notes(board)
    found += _attempt_notes(board)
    found += call_notes(board)
    found += _whole_notes(board)
    found += _length_notes(board)
    if any(row.harness == HARBOR for row in board.rows):
        found.append(
            "Rows of harness harbor were run there and imported. Their scores are their verifier's rewards, "
            "whatever weights the other rows are shown by; a report's within [0, 1], a brief's unclamped."
        )
        if again := sorted({row.judge_id for row in board.rows if _is_regraded(row)}):
            found.append(
                "The submissions that Harbor kept were graded again here, and scored by the shown weights at "
                f"import, by {', '.join(again)}."
            )
    found += [f"{label}: {note}." for label, note in board.model_notes]
    found += [f"Assumed: {assumption}." for assumption in board.assumptions]
    return found


def _is_regraded(row: LeaderboardRow) -> bool:
    return row.harness == HARBOR and not row.judge_id.startswith(f"{HARBOR}-")


def _interval_notes(board: Leaderboard) -> list[str]:
    """Name the methods of the intervals; a range is said to be none."""
    found = [f"Interval: {name}." for name in sorted({r.ci_method or "" for r in board.rows if r.ci_level})]
    sizes = sorted({row.n_scenarios for row in board.rows if row.ci_method and row.ci_level is None})
    if sizes:
        counts = " or ".join(str(size) for size in sizes)
        found.append(
            f"Range of {counts} scenarios: from the lowest to the highest mean of a scenario. It is no "
            "confidence interval, and too few scenarios for one."
        )
    return found


def _no_width_notes(board: Leaderboard) -> list[str]:
    """Warn about intervals without width, of rows whose scenarios all score alike."""
    rows: dict[tuple[float, int, float], set[str]] = {}
    ranges: dict[int, set[str]] = {}
    for row in board.rows:
        if row.ci_unlike is not None:
            rows.setdefault((row.ci_level or 0.0, row.n_scenarios, row.ci_unlike), set()).add(row.condition)
        elif row.ci_low is not None and row.ci_level is None and number(row.ci_low) == number(row.ci_high):
            ranges.setdefault(row.n_scenarios, set()).add(row.condition)
    found = [
        f"An interval of no width, as of {', '.join(sorted(names))}, says only that all {n} scenarios scored "
        f"alike. One-sided at {100 * level:g}%, up to {percent(most)} of all scenarios may score otherwise: "
        f"the rule of three on scenarios, {rule_of_three(level)}/n and 100% at most (Hanley and Lippman-Hand "
        "1983)."
        for (level, n, most), names in sorted(rows.items())
    ]
    return found + [
        f"A range of no width, as of {', '.join(sorted(names))}, says only that {n} scenarios scored alike, "
        "and nothing of others."
        for n, names in sorted(ranges.items())
    ]


def rule_of_three(level: float) -> str:
    """Return the numerator of the rule at a level: 3 at 95%."""
    return f"{round(-math.log(1 - level), 1):g}"


def _ranking_notes(board: Leaderboard) -> list[str]:
    """Name the rows outside the ranking, and the ranking by the other rule for refusals."""
    found: list[str] = []
    outside = [row for row in board.rows if row.rank is None and row.score is not None]
    if outside:
        told = "; ".join(f"{row.condition} by {row.judge_id} on {_coverage(row, board)}" for row in outside)
        found.append(
            f"Only rows on the same scenarios, with every {noun(board)} scored, are ranked. The others are "
            f"below them, without a rank: {told}."
        )
    found += [f"Another ranking follows with {ranking}." for ranking in board.other_refusals]
    return found


def _coverage(row: LeaderboardRow, board: Leaderboard) -> str:
    briefs = count_of(row.n_briefs, row.n_briefs_all)
    scenarios = count_of(row.n_scenarios, row.n_scenarios_all)
    return f"{plural(scenarios, 'scenario')} and {plural(briefs, noun(board))}"


def _missing_notes(board: Leaderboard) -> list[str]:
    """Give the bounds of rows with missing verdicts, and say which of them have a score and why."""
    rules, text = board.rules, noun(board)
    incomplete = [row for row in board.rows if row.has_bounds]
    if not incomplete:
        return []
    bounds = "; ".join(
        f"{row.condition} by {row.judge_id} {number(row.score_low)} to {number(row.score_high)}"
        for row in incomplete
    )
    about = f"A score is of the {text}s that count, so it may lie outside them."
    found = [
        f"Verdicts are missing. Bounds of the score, if all of them were fails, or passes: {bounds}. {about}"
    ]
    partial = _counted((row.condition, row.n_partial) for row in incomplete)
    if partial and rules is not None:
        found.append(
            f"A {text} of which at least {100 * rules.min_graded:g}% of the items were graded "
            f"(scoring.min_graded) counts, by the graded items; the score has a ~. Such {text}s: {partial}."
        )
    refused = [row for row in incomplete if row.score is None and row.n_briefs]
    if refused and rules is not None:
        told = "; ".join(
            f"{row.condition} by {row.judge_id} {count_of(row.n_briefs, row.n_briefs_all)}" for row in refused
        )
        found.append(
            f"No score is shown where less than {100 * rules.min_coverage:g}% of the {text}s count "
            f"(scoring.min_coverage): {told}."
        )
    return found


def _floor_notes(board: Leaderboard) -> list[str]:
    """Say what an empty text has as `correct`, which is more than 0 where a rubric has wrong moves."""
    floors: dict[str, None] = {}
    for row in board.rows:
        if row.correct is not None and row.correct_empty:
            floors.setdefault(percent(row.correct_empty))
    if not floors:
        return []
    shown = " or ".join(floors)
    return [f"Correct of an empty {noun(board)}, which makes no wrong move: {shown}, by its scenarios."]


def _empty_notes(board: Leaderboard) -> list[str]:
    """List rows with empty texts, except the control that writes none, which has its own note."""
    controls = {label for label, _ in board.model_notes if label == Writer.empty.value}
    told = {row.condition: _emptiness(row) for row in board.rows if row.n_empty and row.model not in controls}
    if not told:
        return []
    shown = ", ".join(f"{condition} {how}" for condition, how in sorted(told.items()))
    return [f"{noun(board).capitalize()}s without a word, which score 0: {shown}."]


def _emptiness(row: LeaderboardRow) -> str:
    """Format the number of empty briefs, and how many of them are due to the output limit."""
    how = f"{row.n_empty} of {row.n_briefs_all}"
    # Only the two totals are known, so the overlap is a range.
    texts = row.n_briefs_all - row.n_refused - row.n_error - row.n_missing - row.n_corrupt
    most = min(row.n_empty, row.n_cut_by_provider)
    least = max(0, row.n_empty + row.n_cut_by_provider - texts)
    if not most:
        return how
    number_of = "all" if least == row.n_empty else str(most) if least == most else f"up to {most}"
    return f"{how} ({number_of} stopped at the output limit before a word was written)"


def call_notes(board: Leaderboard) -> list[str]:
    """Name the form of the judges' calls on reports; nothing without a judge that has one."""
    forms = {row.judge_id: row.judge_call for row in board.rows if row.judge_call is not None}
    shown = "; ".join(f"{judge} {form}" for judge, form in sorted(forms.items()))
    return [f"Judge call: {shown}."] if shown else []


def _whole_notes(board: Leaderboard) -> list[str]:
    """Count the reports that meet every criterion, by row."""
    rows = [row for row in board.rows if row.n_all_met is not None]
    judges = {row.judge_id for row in rows}
    shown = [
        f"{row.condition}{f' · {row.judge_id}' * (len(judges) > 1)} {row.n_all_met} of {row.n_briefs_all}"
        for row in rows
    ]
    return [f"Reports that meet every criterion: {', '.join(shown)}."] if shown else []


def _length_notes(board: Leaderboard) -> list[str]:
    over = {row.condition: row.n_over_limit for row in board.rows if row.n_over_limit is not None}
    if not over:
        return []
    told = ", ".join(f"{name} {count}" for name, count in sorted(over.items()) if count) or "none"
    how = "words by the counted rule, pages as laid out by LibreOffice, where they were measured"
    costs = "The limit itself costs no points but where a criterion names it."
    found = [f"Reports over their task's limit of length ({how}): {told}. {costs}"]
    unmeasured = _counted((row.condition, row.n_unmeasured or 0) for row in board.rows)
    if unmeasured:
        found.append(f"Not measured, so neither within a limit nor over it: {unmeasured}.")
    return found


def _attempt_notes(board: Leaderboard) -> list[str]:
    """List attempts that scored 0 without a judge, and those that ended at a limit."""
    kinds = {
        "Attempts without a report, which score 0": [(row.condition, row.n_missing) for row in board.rows],
        "Reports that don't open, which score 0": [(row.condition, row.n_corrupt) for row in board.rows],
        "Attempts that ended at a limit, judged as they were then": [
            (row.condition, row.n_at_limit) for row in board.rows
        ],
    }
    told = {what: _counted(counts) for what, counts in kinds.items()}
    return [f"{what}: {counts}." for what, counts in told.items() if counts]


def _counted(counts: Iterable[tuple[str, int]]) -> str:
    """Format conditions with their counts, each once, without zeros."""
    return ", ".join(f"{name} {count}" for name, count in sorted(dict(counts).items()) if count)


def _judge_note(note: JudgeNote) -> str:
    return " ".join([_agreement_note(note), *_noise_notes(note)])


def _noise_notes(note: JudgeNote) -> list[str]:
    found: list[str] = []
    if note.n_canary_missed is not None:
        found.append(f"Replies rejected because of an item with a known verdict: {note.n_canary_missed}.")
    own = note.self_agreement
    if own is not None:
        kappas = [number(pair.kappa, 2) for pair in own.pairs]
        found.append(
            f"Asked {own.n_repeats} times, of which the majority counts; every time the same verdict on "
            f"{percent(own.unanimous)} of {own.n} items, kappa {', '.join(kappas)}."
        )
    effect = note.place_effect
    if effect is not None:
        ends = effect.interval
        spread = "" if ends is None else f"; {ends.method}: {100 * ends.low:+.1f} to {100 * ends.high:+.1f}"
        found.append(
            "Its repeats have different orders of items. From the first place in the rubric to the last, the "
            f"share of passes of the same item changes by {100 * effect.change:+.1f} points "
            f"({effect.n} verdicts{spread})."
        )
    return found


def _agreement_note(note: JudgeNote) -> str:
    who = f"Judge {note.judge_id}"
    if note.is_stand_in:
        who += f" is {STAND_IN}"
    if note.members:
        who += f" is the majority of {', '.join(note.members)}"
    measured = "; ".join(note.measured)
    return (
        f"{who}. Its agreement, kappa ± half of a 95% interval: {measured}."
        if measured
        else f"{who}. Nobody has measured its agreement with labels."
    )
