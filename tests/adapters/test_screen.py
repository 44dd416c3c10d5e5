"""What is shown is what was written."""

import os
import pty
import re
import sys
import termios
from subprocess import Popen

import pytest

from flows.adapters.screen import CallCounts, Progress, Screen, calls_text, fitting_widths, literal, wrapped

TEXTS = [
    "Ratio 10:100:20, code :x: and :1234:",
    "ft:a::b",
    "[bold]no markup[/bold] [/] \\[x]",
    "a\tb  \t c   ",
    "x" * 500 + " " + "y" * 500,
    "one\n\n  two\n",
    "\u6587\u66f8 \U0001f600 e\u0301 \u200d",
    "",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("method", ["note", "say", "fault"])
def test_a_line_is_shown_literally(capsys, method, text):
    getattr(Screen(), method)(text)
    shown = capsys.readouterr()
    assert shown.out + shown.err == text + "\n"


def test_a_table_is_shown_literally(capsys):
    Screen().table("runs of :x:", [("model :1234:", "[b]n[/b]"), ("ft:a::b", "10:100:20")], [True])
    shown = capsys.readouterr().out
    for text in ("runs of :x:", "model :1234:", "[b]n[/b]", "ft:a::b", "10:100:20"):
        assert text in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07\x1b[2J", "\\x1b]0;title\\x07\\x1b[2J"),
        ("a\rb\x08\x7f\x9b31m", "a\\rb\\x08\\x7f\\x9b31m"),
        ("\u202etxt\u2066", "\\u202etxt\\u2066"),
        ("caf\udce9", "caf\\udce9"),
    ],
)
def test_nothing_shown_acts_on_the_terminal(capsys, text, shown):
    assert literal(text) == shown
    screen = Screen()
    screen.note(text)
    screen.table(text, [(text,), (text,)])
    out = capsys.readouterr().out
    assert out.startswith(shown + "\n")
    assert out.count(shown) == 4


# Widths

WORDS = [
    ("model", "differs in", "score", "interval", "counts"),
    ("local-reasoner-8b-instruct", "temperature 0.2\njudge.max_attempts 4", "0.736", "0.703 to 0.769", ""),
    ("strong", "-", "-0.250", "-0.300 to -0.200", "172 items ungraded, 2 cut"),
]
PLACES = {0, 1, 4}


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_no_name_breaks_by_letters(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    Screen().table(
        "title", WORDS, [True], words=PLACES, caption="Same in all rows: effort default, cap 3000."
    )
    out = capsys.readouterr().out
    assert max(len(line) for line in out.splitlines()) <= width
    pieces = {piece for row in WORDS for cell in row for piece in re.findall(r"[A-Za-z]+", cell)}
    assert set(re.findall(r"[A-Za-z]+", out)) <= pieces | {
        "title", "Same", "in", "all", "rows", "effort", "default", "cap",
    }  # fmt: skip
    for number in ("0.703 to 0.769", "-0.300 to -0.200", "0.736"):
        assert number in out


def test_a_table_that_can_not_fit_is_a_list(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    Screen().table("t", [("model", "score", "interval"), ("abcdefghijklmnopqrst", "0.5", "0.4 to 0.6")])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "abcdefghijklmnopqrst", "  score 0.5", "  interval 0.4 to 0.6",
    ]  # fmt: skip


def test_a_table_whose_names_are_not_to_be_broken_is_a_list_before_it_breaks_one(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    rows = [("condition", "price", "at most"), ("strong-default-3000-v0 · offline", "$1.00", "$2.00")]
    Screen().table("t", rows)
    assert "strong-default-3000-v0" not in capsys.readouterr().out
    Screen().table("t", rows, breaks_names=False)
    assert "strong-default-3000-v0 · offline\n  price $1.00" in capsys.readouterr().out


def test_without_a_terminal_and_a_width_tables_are_not_wrapped(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    Screen().table("t", [("a", "b"), ("word " * 12, "x " * 20)], words=2)
    assert "word " * 11 + "word" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("local-reasoner-8b", 9, ["local-", "reasoner-", "8b"]),
        ("judge.max_attempts 4", 18, ["judge.max_attempts", "4"]),
        ("abcdefghij", 4, ["abcdefghij"]),
        ("a\nb c", 5, ["a", "b c"]),
        ("", 5, [""]),
    ],
)
def test_words_wrap_between_words_and_behind_joints(text, width, lines):
    assert wrapped(text, width) == lines


def test_numbers_keep_their_width():
    assert fitting_widths([("n", "s"), ("ab cd", "0.5 to 0.6")], {0}, 22) == [5, 10]
    assert fitting_widths([("n", "s"), ("ab cd", "0.5 to 0.6")], {0}, 19) == [2, 10]
    assert fitting_widths([("n", "s"), ("ab cd", "0.5 to 0.6")], {0}, 18) is None


SHOW = "from flows.adapters.screen import Screen; s = Screen(); s.table('t', [('model', 'score'), "
SHOW += "('some-long-name ' * 6, '0.5')]); s.note('a result ' * 20); s.say('a status ' * 20); "
SHOW += "s.verbatim('x y ' * 60); s.hint('what it does, in many words, of which there are more than fit', "
SHOW += "'staffbench do it now'); "
SHOW += "s.with_margin('1. order.txt\\npage 3 | ' + 'word ' * 30, ' | '); "
SHOW += "s.error('- bad: /a/path-of/many-parts/' + 'and-more/' * 20); "
SHOW += "s.note('  /a/path-of/many-parts/' + 'and-more/' * 20); s.bullet('a note ' * 20)"


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_a_real_terminal_gets_lines_of_its_width(columns):
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (30, columns))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    process = Popen(
        [sys.executable, "-c", SHOW], stdout=theirs, stderr=theirs, env={**environment, "TERM": "xterm"}
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the process has closed its end
            break
        if not part:
            break
        shown += part
    assert process.wait() == 0
    os.close(ours)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).splitlines()
    # What a person copies stays in one line: a text as it is, a path, a command.
    path = "  /a/path-of/many-parts/" + "and-more/" * 20
    for copied in ("x y " * 60, path, path):  # one in an error
        assert copied in lines
        lines.remove(copied)
    assert columns - 20 < max(map(len, lines)) <= columns
    beside = [line for line in lines if " | " in line]
    assert len(beside) > 1
    assert beside[0].startswith("page 3 | word")
    assert all(re.fullmatch(r" {6} \| (word ?)+", line.rstrip()) for line in beside[1:])
    if columns < 100:
        assert "  staffbench do it now" in lines
    assert lines[-1].startswith("  ")  # the note's second line hangs below its first


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (CallCounts(replayed=2, paid=3, usd=1.5), "calls 5: 3 new, 2 replayed \u00b7 $1.50"),
        (CallCounts(paid=3, usd=1.5, usd_is_bound=True), "calls 3: 3 new, 0 replayed \u00b7 \u2265 $1.50"),
        (CallCounts(paid=3, usd_is_bound=True), "calls 3: 3 new, 0 replayed \u00b7 price unknown"),
        (CallCounts(paid=3, paid_is_bound=True), "calls 3: at least 3 new, 0 replayed \u00b7 $0.00"),
        (CallCounts(replayed=2), "calls 2: 0 new, 2 replayed"),
    ],
)
def test_calls_are_counted_and_a_price_is_none_of_replays(counts, said):
    assert calls_text(counts) == said


def test_a_live_line_fits_and_says_what_is_left(monkeypatch):
    monkeypatch.setattr("flows.adapters.screen.progress.time.monotonic", lambda: 130.0)
    expected = dict.fromkeys(("packet", "generate", "truncate", "judge", "score", "aggregate"), 1000)
    progress = Progress(expected, lambda: CallCounts(paid=12345, in_flight=16, usd=12.5), started=100.0)
    progress.done = {"packet": 1000, "generate": 500, "truncate": 500}
    progress.skipped = 1000  # which took no time
    # 1000 runs in 30 seconds, and 4000 are left.
    assert progress.left_s == 120
    line = progress.line(80)
    assert line.startswith(" 33% · 0:30 · 2:00 left · generate 500/1000 · truncate 500/1000")
    assert len(line) <= 80
    assert "aggregate 0/1000" in progress.line()
    progress.done = dict.fromkeys(expected, 1000)
    assert progress.left_s is None
