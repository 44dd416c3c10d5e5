"""What a leaderboard's numbers rest on and don't say: all notes, and the main ones for a terminal."""

import math
from collections.abc import Sequence

from flows.common.text import count_of, number, percent, plural
from flows.schema.harbor import HARBOR
from flows.schema.leaderboard import JudgeNote, Leaderboard, LeaderboardRow, in_words_of
from flows.schema.settings import Writer

_STAND_IN = "a deterministic stand-in, no judge to publish with"
_COPIED = "A score marked † is of sentences copied from the packet, which the stand-in takes for statements."
_MOST = 220  # characters of a note on a terminal


def notes(board: Leaderboard) -> list[str]:
    """Return the notes under the table, one or two sentences each."""
    rows, say = board.rows, in_words_of(board.rows)
    found = [" ".join([_agreement_note(note), *_noise_notes(note)]) for note in board.judges]
    found += [
        f"Judge {note.judge_id} gives no verdict on wrong moves or penalties, nor on criteria of form: "
        f"{plural(note.n_abstained, 'item')} not judged and not scored. Its scores are of the other items, "
        "and not comparable with those of a judge that grades all."
        for note in board.judges
        if note.n_abstained
    ]
    if any(row.copied for row in rows):
        found.append(f"{say(_COPIED)} Of 42 such passes by its version 2 that were read, 25 were false.")
    methods = {row.ci_method or "" for row in rows if row.ci_level}
    found += [say(f"Interval: {name}.") for name in sorted(methods)]
    if sizes := sorted({row.n_scenarios for row in rows if row.ci_method and row.ci_level is None}):
        head = f"Range of {' or '.join(map(str, sizes))} scenarios: from the lowest to the highest mean"
        found.append(
            say(f"{head} of a scenario. It is no confidence interval, and too few scenarios for one.")
        )
    found += _no_width_notes(board)
    found += _ranking_notes(board)
    found += board.differences
    found += _missing_notes(board)
    # More than 0 where a rubric has wrong moves.
    floors = [percent(row.correct_empty) for row in rows if row.correct is not None and row.correct_empty]
    if shown := " or ".join(dict.fromkeys(floors)):
        found.append(say(f"Correct of an empty brief, which makes no wrong move: {shown}, by its scenarios."))
    found += _self_judged(board)
    found += [f"{what}{more}." for what, more in _left_unseen(board)]
    found += _empty_notes(board)
    for what, name in (
        ("Attempts without a report, which score 0", "n_missing"),
        ("Reports that don't open, which score 0", "n_corrupt"),
        ("Attempts that ended at a limit, judged as they were then", "n_at_limit"),
    ):
        if counts := _counted(rows, name):
            found.append(f"{what}: {counts}.")
    found += call_notes(board)
    found += _whole_notes(board)
    found += _length_notes(board)
    if any(row.harness == HARBOR for row in rows):
        found.append(
            "Rows of harness harbor were run there and imported. Their scores are their verifier's rewards, "
            "whatever weights the other rows are shown by; a report's within [0, 1], a brief's unclamped."
        )
        judges = {row.judge_id for row in rows if row.harness == HARBOR}
        if again := sorted(judge for judge in judges if not judge.startswith(f"{HARBOR}-")):
            found.append(
                "The submissions that Harbor kept were graded again here, and scored by the shown weights at "
                f"import, by {', '.join(again)}."
            )
    found += [f"{label}: {note}." for label, note in board.model_notes]
    found += [f"Assumed: {assumption}." for assumption in board.assumptions]
    return found


def main_notes(board: Leaderboard) -> list[str]:
    """Return short notes on a board's rows, which may be a part of all, the most important first."""
    rows, say = board.rows, in_words_of(board.rows)
    judges = {row.judge_id for row in rows}
    found = [
        f"Judge {note.judge_id} is {_STAND_IN}."
        + (" It gives no verdict on wrong moves or penalties." if note.n_abstained else "")
        for note in board.judges
        if note.is_stand_in and note.judge_id in judges
    ]
    if ungraded := sum(row.n_ungraded for row in rows):
        unranked = " Rows of other coverage than the rest have no rank."
        found.append(
            f"{plural(ungraded, 'item has', 'items have')} no verdict; the bounds say what they could change."
            + (unranked if any(row.rank is not None for row in rows) else "")
        )
    if any(row.copied for row in rows):
        found.append(say(_COPIED))
    found += _self_judged(board)
    found += [f"{what}." for what, _ in _left_unseen(board)]
    found += [
        text if len(text) <= _MOST else f"{text[:_MOST].rsplit(' ', 1)[0].rstrip(',;:')} ..."
        for text in board.differences
    ]
    measured = {note.judge_id for note in board.judges if note.is_stand_in or note.agreements}
    if unmeasured := sorted({row.judge for row in rows if row.judge_id not in measured}):
        found.append(f"Nobody has measured how far these judges agree with people: {', '.join(unmeasured)}.")
    if any(row.ci_low is not None and row.ci_level is None for row in rows):
        found.append(say("Ranges are of the scenarios that were run: too few for an interval."))
    models = {row.model for row in rows}
    known = [(label, note) for label, note in board.model_notes if label in models]
    if unlike := [label for label, note in known if note.startswith(("a control", "a baseline"))]:
        found.append(f"Controls and baselines, no models: {', '.join(unlike)}.")
    found += [f"{label}: {note}." for label, note in known if label not in unlike]
    if board.assumptions:
        found.append(f"Assumed: {'; '.join(board.assumptions)}.")
    return found


def call_notes(board: Leaderboard) -> list[str]:
    """Name the form of the judges' calls on reports; nothing without a judge that has one."""
    forms = {row.judge_id: row.judge_call for row in board.rows if row.judge_call is not None}
    shown = "; ".join(f"{judge} {form}" for judge, form in sorted(forms.items()))
    return [f"Judge call: {shown}."] if shown else []


def _noun(board: Leaderboard) -> str:
    return in_words_of(board.rows)("brief")


def _self_judged(board: Leaderboard) -> list[str]:
    is_marked = any(row.self_judged for row in board.rows)
    return [f"A judge marked * graded {_noun(board)}s of its own model."] if is_marked else []


def _left_unseen(board: Leaderboard) -> list[tuple[str, str]]:
    """Count texts with hidden or left-out parts: a sentence without its stop, and what it adds."""
    # Conditions have one row per judge, with the same briefs.
    rows = {row.condition: row for row in board.rows}.values()
    hidden, noticed = sum(row.n_hidden for row in rows), sum(row.n_noticed for row in rows)
    unseen = "held characters that a reader does not see"
    left_out = "came from a file of which the reader left something out or repaired it"
    counted = (
        (hidden, unseen, "; judges behind an endpoint were shown the text without them"),
        (noticed, left_out, ", such as hidden text; the briefs table says what, under detail"),
    )
    return [(f"{plural(n, _noun(board))} {what}", more) for n, what, more in counted if n]


def _no_width_notes(board: Leaderboard) -> list[str]:
    """Warn about intervals without width, of rows whose scenarios all score alike."""
    unit = in_words_of(board.rows)("scenarios")
    rows: dict[tuple[float, int, float], set[str]] = {}
    ranges: dict[int, set[str]] = {}
    for row in board.rows:
        if row.ci_unlike is not None:
            rows.setdefault((row.ci_level or 0.0, row.n_scenarios, row.ci_unlike), set()).add(row.condition)
        elif row.ci_low is not None and row.ci_level is None and number(row.ci_low) == number(row.ci_high):
            ranges.setdefault(row.n_scenarios, set()).add(row.condition)
    found = [
        f"An interval of no width, as of {', '.join(sorted(names))}, says only that all {n} {unit} scored "
        f"alike. One-sided at {100 * level:g}%, up to {percent(most)} of all {unit} may score otherwise: "
        f"the rule of three on {unit}, {round(-math.log(1 - level), 1):g}/n and 100% at most (Hanley and "
        "Lippman-Hand 1983)."
        for (level, n, most), names in sorted(rows.items())
    ]
    return found + [
        f"A range of no width, as of {', '.join(sorted(names))}, says only that {n} {unit} scored alike, "
        "and nothing of others."
        for n, names in sorted(ranges.items())
    ]


def _ranking_notes(board: Leaderboard) -> list[str]:
    text, unit, found = _noun(board), in_words_of(board.rows)("scenario"), list[str]()
    outside: list[str] = []
    for row in board.rows:
        if row.rank is None and row.score is not None:
            scenarios = plural(count_of(row.n_scenarios, row.n_scenarios_all), unit)
            texts = plural(_scored(row), text)
            outside.append(f"{row.condition} by {row.judge_id} on {scenarios} and {texts}")
    if outside:
        found.append(
            f"Only rows on the same {unit}s, with every {text} scored, are ranked. The others are "
            f"below them, without a rank: {'; '.join(outside)}."
        )
    return found + [f"Another ranking follows with {ranking}." for ranking in board.other_refusals]


def _scored(row: LeaderboardRow) -> str:
    return count_of(row.n_briefs, row.n_briefs_all)


def _missing_notes(board: Leaderboard) -> list[str]:
    """Give the bounds of rows with missing verdicts, and say which of them have a score and why."""
    rules, text = board.rules, _noun(board)
    incomplete = [row for row in board.rows if row.has_bounds]
    if not incomplete:
        return []
    bounds = "; ".join(f"{row.condition} by {row.judge_id} {row.bounds_text}" for row in incomplete)
    about = f"A score is of the {text}s that count, so it may lie outside them."
    found = [
        f"Verdicts are missing. Bounds of the score, if all of them were fails, or passes: {bounds}. {about}"
    ]
    if rules is None:
        return found
    if partial := _counted(incomplete, "n_partial"):
        found.append(
            f"A {text} of which at least {100 * rules.min_graded:g}% of the items were graded "
            f"(scoring.min_graded) counts, by the graded items; the score has a ~. Such {text}s: {partial}."
        )
    few = [row for row in incomplete if row.score is None and row.n_briefs]
    if few:
        shown = "; ".join(f"{row.condition} by {row.judge_id} {_scored(row)}" for row in few)
        found.append(
            f"No score is shown where less than {100 * rules.min_coverage:g}% of the {text}s count "
            f"(scoring.min_coverage): {shown}."
        )
    return found


def _empty_notes(board: Leaderboard) -> list[str]:
    """List rows with empty texts, except the control that writes none, which has its own note."""
    controls = {label for label, _ in board.model_notes if label == Writer.empty.value}
    found = {
        row.condition: _emptiness(row) for row in board.rows if row.n_empty and row.model not in controls
    }
    shown = ", ".join(f"{condition} {how}" for condition, how in sorted(found.items()))
    return [f"{_noun(board).capitalize()}s without a word, which score 0: {shown}."] if shown else []


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


def _whole_notes(board: Leaderboard) -> list[str]:
    rows = [row for row in board.rows if row.n_all_met is not None]
    judges = {row.judge_id for row in rows}
    shown = [
        f"{row.condition}{f' · {row.judge_id}' * (len(judges) > 1)} {row.n_all_met} of {row.n_briefs_all}"
        for row in rows
    ]
    return [f"Reports that meet every criterion: {', '.join(shown)}."] if shown else []


def _length_notes(board: Leaderboard) -> list[str]:
    limited = [row for row in board.rows if row.n_over_limit is not None]
    if not limited:
        return []
    how = "words by the counted rule, pages as laid out by LibreOffice, where they were measured"
    over = _counted(limited, "n_over_limit") or "none"
    costs = "The limit itself costs no points but where a criterion names it."
    found = [f"Reports over their task's limit of length ({how}): {over}. {costs}"]
    if unmeasured := _counted(board.rows, "n_unmeasured"):
        found.append(f"Not measured, so neither within a limit nor over it: {unmeasured}.")
    return found


def _counted(rows: Sequence[LeaderboardRow], name: str) -> str:
    """Format conditions with a count of theirs, each once, without zeros."""
    counts = {row.condition: getattr(row, name) for row in rows}
    return ", ".join(f"{condition} {count}" for condition, count in sorted(counts.items()) if count)


def _noise_notes(note: JudgeNote) -> list[str]:
    found: list[str] = []
    if note.n_canary_missed is not None:
        found.append(f"Replies rejected because of an item with a known verdict: {note.n_canary_missed}.")
    if (own := note.self_agreement) is not None:
        kappas = [number(pair.kappa, 2) for pair in own.pairs]
        found.append(
            f"Asked {own.n_repeats} times, of which the majority counts; every time the same verdict on "
            f"{percent(own.unanimous)} of {own.n} items, kappa {', '.join(kappas)}."
        )
    if (effect := note.place_effect) is not None:
        ends = effect.interval
        spread = "" if ends is None else f"; {ends.method}: {100 * ends.low:+z.1f} to {100 * ends.high:+z.1f}"
        found.append(
            "Its repeats have different orders of items. From the first place in the rubric to the last, the "
            f"share of passes of the same item changes by {100 * effect.change:+z.1f} points "
            f"({effect.n} verdicts{spread})."
        )
    return found


def _agreement_note(note: JudgeNote) -> str:
    who = f"Judge {note.judge_id}"
    if note.is_stand_in:
        who += f" is {_STAND_IN}"
    if note.members:
        who += f" is the majority of {', '.join(note.members)}"
    if not note.measured:
        return f"{who}. Nobody has measured its agreement with labels."
    return f"{who}. Its agreement, kappa ± half of a 95% interval: {'; '.join(note.measured)}."
