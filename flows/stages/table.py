"""The leaderboard as a table: for a terminal, and as Markdown, CSV and JSON."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, fields
from typing import Any

from flows.common.text import count_of, number, percent, plural
from flows.schema.leaderboard import Leaderboard, LeaderboardRow, in_words_of
from flows.schema.settings import Harness

NEW = "> "
"""Before the first cell of a row of this run, if others are not."""


def _sum(form: str, *parts: float | None) -> str:
    known = [part for part in parts if part is not None]
    return form.format(sum(known)) if len(known) == len(parts) else "-"


_CELLS: dict[str, Callable[[LeaderboardRow], str]] = {
    "model": lambda row: row.model,
    "effort": lambda row: row.effort,
    "harness": lambda row: row.harness,
    "cap": lambda row: "none" if row.word_cap is None else str(row.word_cap),
    "judge": lambda row: row.judge + ("*" if row.self_judged else ""),
    "differs in": lambda row: "; ".join(f"{key} {value}" for key, value in row.differs) or "-",
    "rank": lambda row: "-" if row.rank is None else str(row.rank),
    "score": lambda row: row.score_text,
    "interval": lambda row: row.interval_text,
    "bounds": lambda row: row.bounds_text,
    "correct": lambda row: percent(row.correct),
    "passed": lambda row: percent(row.passed),
    "wrong": lambda row: number(row.wrong, 1),
    "scenarios": lambda row: count_of(row.n_scenarios, row.n_scenarios_all),
    "briefs": lambda row: row.briefs_text,
    "ungraded": lambda row: str(row.n_ungraded),
    "refused": lambda row: str(row.n_refused),
    "cut": lambda row: str(row.n_cut + row.n_cut_by_provider),
    # Of the replies behind a row, the judge's included.
    "cost": lambda row: _sum("${:.2f}", row.usd, row.judge_usd),
    "tokens": lambda row: _sum(
        "{:,.0f}", row.tokens_in, row.tokens_out, row.judge_tokens_in, row.judge_tokens_out
    ),
    "seconds": lambda row: _sum("{:,.0f}", row.seconds, row.judge_seconds),
}
"""The columns in order, and the text of a row's cell."""
_WORDS = ("model", "effort", "harness", "cap", "judge", "differs in")
_FOLDED = ("interval", "bounds", "briefs")
"""Columns that may wrap, too, where there is little room."""
_SAME = ("effort", "harness", "cap", "judge", "differs in", "scenarios", "briefs")
"""Columns of a terminal that go into the caption if all rows are equal."""
_COUNTS: dict[str, Callable[[LeaderboardRow], int]] = {
    "items ungraded": lambda row: row.n_ungraded,
    "refused": lambda row: row.n_refused,
    "failed": lambda row: row.n_error,
    "missing": lambda row: row.n_missing,
    "corrupt": lambda row: row.n_corrupt,
    "empty": lambda row: row.n_empty,
    "cut": lambda row: row.n_cut + row.n_cut_by_provider,
    "at a limit": lambda row: row.n_at_limit,
    "too long": lambda row: row.n_over_limit or 0,
}
"""What a terminal says of a row where it is not 0."""


def shown_rows(board: Leaderboard) -> list[tuple[str, ...]]:
    """Return the displayed table, header first, one text per cell."""
    heads = _heads(board.rows)
    return [tuple(heads), *(tuple(_CELLS[head](row) for head in heads) for row in board.rows)]


def word_columns(board: Leaderboard) -> int:
    """Return how many of the first columns hold words."""
    return sum(head in _WORDS for head in _heads(board.rows))


def _heads(rows: Sequence[LeaderboardRow]) -> list[str]:
    """Return the columns that a row needs."""
    has_calls = any(row.calls or row.judge_calls for row in rows)
    needed = {
        "harness": any(row.harness != Harness.single_prompt.value for row in rows),
        "differs in": any(row.differs for row in rows),
        "rank": any(row.rank is None for row in rows),
        "bounds": any(row.has_bounds for row in rows),
        **dict.fromkeys(("cost", "tokens", "seconds"), has_calls),
    }
    return [head for head in _CELLS if needed.get(head, True)]


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table for a terminal."""

    rows: Sequence[tuple[str, ...]]  # cells, the header first
    words: AbstractSet[int]  # places of the columns of words, which may wrap
    marked: Sequence[bool]  # for each row after the header, whether it is of this run
    caption: str  # what is the same in all rows; may be empty


def screen_table(
    rows: Sequence[LeaderboardRow],
    new: AbstractSet[tuple[str, str]] = frozenset(),
    *,
    folded: bool = False,
) -> ShownTable:
    """Return the few columns that a person needs.

    Columns that are equal in all rows go into the caption, and counts that are 0 in all rows are left out. So
    is the rank where there are several judges, since it is within each.

    `new` has condition and judge of the rows of this run. `folded` gives few columns: what rows differ in is
    one, each setting on a line of its own.
    """
    marked = [(row.condition, row.judge_id) in new for row in rows]
    is_mixed = any(marked) and not all(marked)
    heads = ["rank", "score", "interval", "bounds", "scenarios", "briefs"]
    if len({row.judge_id for row in rows}) > 1:
        heads.remove("rank")
    heads = [head for head in _heads(rows) if head in (*_WORDS, *heads)]
    if any(row.usd or row.judge_usd for row in rows):
        heads.append("cost")
    cells = {head: [_CELLS[head](row) for row in rows] for head in heads}
    cells["model"] = [NEW * (is_mixed and mark) + row.model for row, mark in zip(rows, marked, strict=True)]
    if "differs in" in cells:
        cells["differs in"] = ["\n".join(f"{k} {v}" for k, v in row.differs) or "-" for row in rows]
    if set(cells["interval"]) == {"-"}:
        del cells["interval"]
    same = {head: cells.pop(head)[0] for head in _SAME if len(set(cells.get(head, ()))) == 1}
    if folded:
        cells = _folded(cells)
    wrapped = (*_WORDS, *_FOLDED) if folded else _WORDS
    words = {place for place, head in enumerate(cells) if head in wrapped}
    counts = [
        ", ".join(f"{n} {what}" for what, count in _COUNTS.items() if (n := count(row))) for row in rows
    ]
    if any(counts):
        words.add(len(cells))
        cells["counts"] = counts
    say = in_words_of(rows)
    captions: list[str] = []
    if same:
        what = "Same in all rows" if len(rows) > 1 else "This row"
        captions.append(f"{what}: {', '.join(_phrase(*pair, say) for pair in same.items())}.")
    if any(row.n_texts is not None for row in rows):
        captions.append(say("Texts: equal briefs of a scenario count once."))
    if is_mixed:
        captions.append(f"{NEW.strip()} marks rows of this run.")
    shown = [tuple(map(say, cells)), *zip(*cells.values(), strict=True)]
    return ShownTable(shown, words, marked, " ".join(captions))


def _folded(cells: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Put the columns of words behind the model's into one."""
    named = [head for head in cells if head in _WORDS and head != "model"]
    if not named:
        return dict(cells)
    lines = [
        [cell if head == "differs in" else f"{head} {cell}" for head, cell in zip(named, row, strict=True)]
        for row in zip(*(cells[head] for head in named), strict=True)
    ]
    texts = ["\n".join(line for line in row if line != "-") or "-" for row in lines]
    rest = {head: column for head, column in cells.items() if head not in _WORDS}
    return {"model": cells["model"], "differs in": texts, **rest}


def _phrase(head: str, cell: str, say: Callable[[str], str]) -> str:
    """Format a cell for the caption; names and settings stand as they are."""
    if head == "differs in":
        return cell.replace("\n", ", ")
    if head in _WORDS:
        return f"{head} {cell}"
    return say(cell if "text" in cell else plural(cell, head.removesuffix("s")))


def to_markdown(board: Leaderboard, notes: Sequence[str]) -> str:
    """Format the table and the notes under it as Markdown."""
    lines = [*(f"- {note}" for note in notes), *(f"- Left out: {why}." for why in board.left_out)]
    title = f"# {board.benchmark}: leaderboard ({board.scoring} scoring)"
    return "\n".join([title, "", markdown_table(shown_rows(board), word_columns(board)), *lines]) + "\n"


def markdown_table(rows: Sequence[Sequence[str]], words: int) -> str:
    """Format rows, header first, as a Markdown table; columns after the first `words` hold numbers."""
    head, *body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    rule = ["---"] * words + ["---:"] * (len(head) - words)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body)) + "\n"


def to_csv(board: Leaderboard) -> str:
    """Format every field, one line per row; an empty cell is unknown."""
    rows: list[dict[str, Any]] = []
    for row in board.rows:
        texts = {key: _rounded(value) for key, value in asdict(row).items()}
        rows.append(texts | {"differs": "; ".join(f"{key} {value}" for key, value in row.differs)})
    return csv_text(rows, [field.name for field in fields(LeaderboardRow)])


def csv_text(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    """Format rows as CSV with a header; an empty cell is unknown."""
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def to_json(board: Leaderboard, notes: Sequence[str]) -> str:
    """Format everything, including the notes; null is unknown."""
    content: dict[str, Any] = {"schema_version": "1", **asdict(board), "notes": list(notes)}
    content["rows"] = [{key: _rounded(value) for key, value in asdict(row).items()} for row in board.rows]
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def to_metrics(board: Leaderboard, word_cap: int | None, prompt: str) -> str:
    """Format the scores for `dvc metrics`, by model; rows without a score are left out.

    The keys must be the same before and after an experiment, and few: DVC makes a column of each. Of several
    rows of a model the only one with `word_cap` and `prompt`, those in use, has its name, so that an
    experiment on them is a change. The others are named by their condition, or by condition and judge.
    """
    models = Counter(row.model for row in board.rows)
    in_use = Counter(row.model for row in board.rows if (row.word_cap, row.prompt) == (word_cap, prompt))
    conditions = Counter(row.condition for row in board.rows)
    scores: dict[str, float] = {}
    for row in board.rows:
        name = row.model
        is_in_use = (row.word_cap, row.prompt) == (word_cap, prompt) and in_use[name] == 1
        if models[name] > 1 and not is_in_use:
            name = row.condition if conditions[row.condition] == 1 else f"{row.condition}/{row.judge_id}"
        if row.score is not None:
            scores[name] = _rounded(row.score)
    return json.dumps(scores, indent=1, sort_keys=True) + "\n"


def _rounded(value: Any) -> Any:
    """Round floats to twelve digits, so the order of summation does not change the bytes."""
    return float(f"{value:.12g}") if isinstance(value, float) else value
