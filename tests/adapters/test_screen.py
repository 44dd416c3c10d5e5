"""What is shown is what was written."""

import pytest

from flows.adapters.screen import CallCounts, Progress, Screen, literal

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


def test_a_live_line_fits_and_says_what_is_left(monkeypatch):
    monkeypatch.setattr("flows.adapters.screen.time.monotonic", lambda: 130.0)
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
