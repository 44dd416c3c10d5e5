"""Format a leaderboard as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from flows.common.text import count_of, number, percent
from flows.schema.harbor import HARBOR
from flows.schema.leaderboard import JudgeNote, Leaderboard, LeaderboardRow
from flows.schema.settings import Harness, Writer
from flows.schema.verdict import Agreement

_POLARITIES = {"polarity=positive": "requirements", "polarity=negative": "wrong moves or penalties"}

FEW_SCENARIOS = 6
"""With fewer scenarios, a bootstrap interval is too narrow; the table says so."""

_HEAD = (
    "model",
    "effort",
    "cap",
    "judge",
    "score",
    "interval",
    "correct",
    "passed",
    "wrong",
    "scenarios",
    "briefs",
)


def shown_rows(board: Leaderboard) -> list[tuple[str, ...]]:
    """Return the displayed table, header first, one text per cell."""
    table = [(*_HEAD, "ungraded", "refused", "cut"), *(_shown(row) for row in board.rows)]
    if not has_harnesses(board):
        return table
    told = ["harness", *(row.harness for row in board.rows)]
    return [(*row[:2], harness, *row[2:]) for harness, row in zip(told, table, strict=True)]


def has_harnesses(board: Leaderboard) -> bool:
    """True if rows may be of several harnesses, which the table then names."""
    return any(row.harness != Harness.single_prompt.value for row in board.rows)


def word_columns(board: Leaderboard) -> int:
    """Return how many of the first columns hold words."""
    return 5 if has_harnesses(board) else 4


def notes(board: Leaderboard) -> list[str]:
    """Return the notes under the table, one or two sentences each."""
    found = [_judge_note(note) for note in board.judges]
    found += [
        f"Judge {note.judge_id} on {agreement.labels}, accuracy and kappa: {_by_group(agreement)}."
        for note in board.judges
        if note.is_stand_in
        for agreement in note.agreements
        if agreement.groups
    ]
    few = [row.n_scenarios for row in board.rows if 1 < row.n_scenarios < FEW_SCENARIOS]
    methods = sorted({row.ci_method for row in board.rows if row.ci_method})
    found += [f"Interval: {method}." for method in methods]
    if few:
        found.append(
            f"With {min(few)} scenarios an interval spans little more than the scenarios that were run: "
            "it describes them and is too narrow to rank models by."
        )
    found += _no_width_notes(board)
    found += board.differences
    if any(row.n_ungraded for row in board.rows):
        found.append(
            f"Some items have no verdict. Scores are of the {_noun(board)}s that were graded whole; the "
            "bounds, score_low and score_high in the files, say what the missing ones could change."
        )
    if any(row.self_judged for row in board.rows):
        found.append(f"A judge marked * graded {_noun(board)}s of its own model.")
    found += _hidden_notes(board, _noun(board))
    found += _empty_notes(board, _noun(board))
    found += _attempt_notes(board)
    found += _length_notes(board)
    if any(row.harness == HARBOR for row in board.rows):
        found.append(
            "Rows of harness harbor were run there and imported. Their scores are their verifier's rewards, "
            "whatever weights the other rows are shown by; a report's within [0, 1], a brief's unclamped."
        )
        again = sorted({row.judge_id for row in board.rows if _is_regraded(row)})
        if again:
            found.append(
                "The submissions that Harbor kept were graded again here, and scored by the shown weights at "
                f"import, by {', '.join(again)}."
            )
    found += [f"{label}: {note}." for label, note in board.model_notes]
    found += [f"Assumed: {assumption}." for assumption in board.assumptions]
    return found


def _is_regraded(row: LeaderboardRow) -> bool:
    return row.harness == HARBOR and not row.judge_id.startswith(f"{HARBOR}-")


def _no_width_notes(board: Leaderboard) -> list[str]:
    """Warn about intervals without width, of rows whose scenarios all score alike."""
    rows: dict[tuple[float, int, float], set[str]] = {}
    for row in board.rows:
        if row.ci_unlike is not None:
            rows.setdefault((row.ci_level or 0.0, row.n_scenarios, row.ci_unlike), set()).add(row.condition)
    return [
        f"An interval of no width, as of {', '.join(sorted(names))}, says only that all {n} scenarios scored "
        f"alike. One-sided at {100 * level:g}%, up to {percent(most)} of all scenarios may score otherwise: "
        f"the rule of three on scenarios, {rule_of_three(level)}/n and 100% at most (Hanley and Lippman-Hand "
        "1983)."
        for (level, n, most), names in sorted(rows.items())
    ]


def rule_of_three(level: float) -> str:
    """Return the numerator of the rule at a level: 3 at 95%."""
    return f"{round(-math.log(1 - level), 1):g}"


def to_markdown(board: Leaderboard) -> str:
    """Format the table and its notes as Markdown."""
    head, *rows = shown_rows(board)
    lines = [f"# {board.benchmark}: leaderboard ({board.scoring} scoring)", ""]
    n_words = word_columns(board)
    lines += [_line(head), _line(("---",) * n_words + ("---:",) * (len(head) - n_words))]
    lines += [_line(row) for row in rows]
    lines += ["", *(f"- {note}" for note in notes(board))]
    lines += [f"- Left out: {why}." for why in board.left_out]
    return "\n".join(lines) + "\n"


def to_csv(board: Leaderboard) -> str:
    """Format every field, one line per row; an empty cell is unknown."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [field.name for field in fields(LeaderboardRow)], lineterminator="\n")
    writer.writeheader()
    for row in board.rows:
        writer.writerow({key: _rounded(value) for key, value in asdict(row).items()})
    return out.getvalue()


def to_json(board: Leaderboard) -> str:
    """Format everything, including notes; null is unknown."""
    content: dict[str, Any] = {"schema_version": "1", **asdict(board), "notes": notes(board)}
    content["rows"] = [{key: _rounded(value) for key, value in asdict(row).items()} for row in board.rows]
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def to_metrics(board: Leaderboard) -> str:
    """Format the numbers, nested by condition and judge, for `dvc metrics`."""
    content: dict[str, dict[str, Any]] = {}
    for row in board.rows:
        numbers = {"score": row.score, "correct": row.correct, "passed": row.passed, "wrong": row.wrong}
        counts = {"n_briefs": row.n_briefs, "n_ungraded": row.n_ungraded}
        shown = {key: _rounded(value) for key, value in numbers.items() if value is not None}
        content.setdefault(row.judge_id, {})[row.condition] = {**shown, **counts}
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def _shown(row: LeaderboardRow) -> tuple[str, ...]:
    interval = "-" if row.ci_low is None else f"{number(row.ci_low)} to {number(row.ci_high)}"
    return (
        row.model,
        row.effort,
        "none" if row.word_cap is None else str(row.word_cap),
        row.judge + ("*" if row.self_judged else ""),
        number(row.score),
        interval,
        percent(row.correct),
        percent(row.passed),
        number(row.wrong, 1),
        count_of(row.n_scenarios, row.n_scenarios_all),
        count_of(row.n_briefs, row.n_briefs_all),
        str(row.n_ungraded),
        str(row.n_refused),
        str(row.n_cut + row.n_cut_by_provider),
    )


def _noun(board: Leaderboard) -> str:
    """Return `report` if the rows have fields that only reports have, else `brief`."""
    is_report = any(row.n_over_limit is not None or row.n_missing or row.n_corrupt for row in board.rows)
    return "report" if is_report else "brief"


def _hidden_notes(board: Leaderboard, noun: str) -> list[str]:
    # Conditions have one row per judge, with the same briefs.
    hidden = {row.condition: row.n_hidden for row in board.rows}
    noticed = {row.condition: row.n_noticed for row in board.rows}
    found: list[str] = []
    if number_of := sum(hidden.values()):
        found.append(
            f"{_counted_as(number_of, noun)} held characters that a reader does not see; judges "
            "behind an endpoint were shown the text without them."
        )
    if number_of := sum(noticed.values()):
        found.append(
            f"{_counted_as(number_of, noun)} came from a file of which the reader left something "
            "out or repaired it, such as hidden text; the briefs table says what, under detail."
        )
    return found


def _empty_notes(board: Leaderboard, noun: str) -> list[str]:
    """List rows with empty texts, except the control that writes none, which has its own note."""
    controls = {label for label, _ in board.model_notes if label == Writer.empty.value}
    told = {row.condition: _emptiness(row) for row in board.rows if row.n_empty and row.model not in controls}
    if not told:
        return []
    shown = ", ".join(f"{condition} {how}" for condition, how in sorted(told.items()))
    return [f"{noun.capitalize()}s without a word, which score 0: {shown}."]


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


def _counted_as(number_of: int, noun: str) -> str:
    return f"1 {noun}" if number_of == 1 else f"{number_of} {noun}s"


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
    return found


def _agreement_note(note: JudgeNote) -> str:
    who = f"Judge {note.judge_id}"
    if note.is_stand_in:
        who += " is a deterministic stand-in, no judge to publish with"
    if note.members:
        who += f" is the majority of {', '.join(note.members)}"
    measured = "; ".join(agreement_text(agreement) for agreement in note.agreements)
    return (
        f"{who}. Its agreement: {measured}."
        if measured
        else f"{who}. Nobody has measured its agreement with labels."
    )


def _by_group(agreement: Agreement) -> str:
    """Format accuracy and kappa of each group of items, with n."""
    return "; ".join(
        f"{_POLARITIES.get(name, name)} {number(accuracy, 2)}, {number(kappa, 2)} (n {n})"
        for name, n, accuracy, kappa in agreement.groups
    )


def agreement_text(agreement: Agreement) -> str:
    """Format an agreement as a phrase."""
    if agreement.accuracy is None:
        return f"{agreement.labels}: nothing to compare"
    kappa = "kappa undefined" if agreement.kappa is None else f"kappa {agreement.kappa:.2f}"
    return f"{agreement.labels}: accuracy {agreement.accuracy:.2f}, {kappa}, n {agreement.n}"


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _rounded(value: Any) -> Any:
    """Round floats to twelve digits, so the order of summation does not change the bytes."""
    return float(f"{value:.12g}") if isinstance(value, float) else value
