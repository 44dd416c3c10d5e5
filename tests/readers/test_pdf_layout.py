"""Columns and tables of PDF files: nothing lost, nothing invented, nothing misplaced."""

import random
import re
from collections import Counter
from contextlib import closing

import pytest

from flows.readers.pdf.paint.page import read_page
from flows.readers.pdf.source import opened
from tests.readers.drawn_support import BODY, ROWS, XS, YS, bands, grid, kinds, open_sides, pipe


def test_a_short_right_column_does_not_cut_the_left_one(drawn):
    left = [f"{line[:40]} {at}" for at, line in enumerate(BODY * 10)]
    right = [f"{line[:41]} {at}" for at, line in enumerate(BODY * 2, 100)]

    def draw(canvas):
        for x, lines in ((72, left), (330, right)):
            for at, line in enumerate(lines):
                canvas.drawString(x, 100 + 12 * at, line)

    numbers = [int(number) for number in re.findall(r"\b\d+\b", drawn(draw).text)]
    assert numbers == [*range(30), *range(100, 106)]


GAPS = [
    ["Stock", "Place", "Held", "Short"],
    ["8847", "A-12", "450", ""],
    ["", "B-07", "", "23"],
    ["9201", "", "780", ""],
]
TEXTS = [["Unit", "Task", "State"], ["Alpha", "Hold bridge", "Ready"], ["Bravo", "Cross", "Late"]]
LONG = [["Unit", "Task", "State"]] + [
    [f"Unit {at}", ("Hold", "Cross it")[at % 2], "Ready"] for at in range(30)
]
CLOSE = [100, 120, *range(134, 134 + 14 * 30, 14)]


@pytest.mark.parametrize(
    ("draw", "rows"),
    [
        (lambda c: grid(c, XS, YS, ROWS), ROWS),
        (lambda c: grid(c, XS, YS, ROWS, "h"), ROWS),
        (lambda c: grid(c, XS, YS, ROWS, "v"), ROWS),
        (lambda c: grid(c, XS, YS, ROWS, "u"), ROWS),
        (lambda c: grid(c, XS, YS, ROWS, "ou"), ROWS),
        (lambda c: grid(c, XS, YS, ROWS, "ouv"), ROWS),
        (lambda c: grid(c, XS, YS[:4], TEXTS, "ouv"), TEXTS),
        (lambda c: grid(c, XS, CLOSE, LONG, "ou"), LONG),
        (lambda c: grid(c, XS, CLOSE, LONG, "ouv"), LONG),
        (lambda c: bands(c, [*XS, 420], YS, GAPS), GAPS),
        (lambda c: bands(c, XS, YS, ROWS), ROWS),
        (lambda c: bands(c, XS, YS, ROWS, alternate=True), ROWS),
        (lambda c: open_sides(c, XS, YS, ROWS, (1, 0)), ROWS),
        (lambda c: open_sides(c, XS, YS, ROWS, (0, 1)), ROWS),
        (lambda c: open_sides(c, [*XS, 420], YS, GAPS[:1] + [[*r, "x"] for r in ROWS[1:]], (1, 1)),
         GAPS[:1] + [[*r, "x"] for r in ROWS[1:]]),
    ],
    ids=["all rules", "horizontal", "vertical", "under the head", "frame and head", "frame, head, columns",
         "two rows under a head", "thirty rows in a frame", "thirty rows in columns", "bands with gaps",
         "bands", "every second band", "open left", "open right", "open on both sides"],
)  # fmt: skip
def test_a_table_keeps_its_rows_and_columns(drawn, draw, rows):
    document = drawn(draw)
    assert [block.text for block in document.blocks] == [pipe(rows)]
    assert document.notices == ()


@pytest.mark.parametrize(
    ("places", "caption"),
    [
        ([(72, 100), (72, 163)], ""),
        ([(72, 100), (235, 100)], ""),
        ([(72, 100), (235, 100), (72, 163), (235, 163)], ""),
        ([(72, 100), (300, 100), (72, 260), (300, 260)], ""),
        ([(72, 100), (300, 100), (72, 260), (300, 260)], "Table "),
        ([(72, 100), (72, 200), (72, 300), (72, 400)], "Table "),
    ],
)
def test_tables_near_each_other_stay_apart(drawn, places, caption):
    rows = [[["Item", f"Held {n}"], [f"Tents {n}", f"{n}7"], [f"Maps {n}", f"{n}9"]] for n in range(4)]

    def draw(canvas):
        for n, (x, y) in enumerate(places):
            grid(canvas, [x, x + 80, x + 160], [y, y + 20, y + 40, y + 60], rows[n])
            if caption:
                canvas.drawString(x, y - 4, f"{caption}{n}")

    tables = kinds(drawn(draw), "table")
    assert sorted(tables) == sorted(pipe(rows[n]) for n in range(len(places)))


def test_rules_drawn_twice_and_cells_drawn_apart_are_one_table(drawn):
    def apart(canvas):
        for r, row in enumerate(ROWS):
            for k, text in enumerate(row):
                canvas.rect(72 + 83 * k, 100 + 23 * r, 80, 20)
                canvas.drawString(76 + 83 * k, 114 + 23 * r, text)

    def doubled(canvas):
        grid(canvas, XS, YS, ROWS)
        canvas.lines([(XS[0], y + 2, XS[-1], y + 2) for y in YS[:-1]])

    assert [kinds(drawn(draw), "table") for draw in (apart, doubled)] == [[pipe(ROWS)]] * 2


def test_wrapped_cells_and_lists_in_cells_are_one_row(drawn):
    def draw(canvas):
        grid(canvas, [72, 140, 250, 360], [100, 120, 170, 210], [["Unit", "Task", "Remarks"]])
        for x, y, text in [
            (76, 134, "Alpha"), (144, 134, "Hold the bridge at"), (144, 146, "Dovrin until relief"),
            (254, 134, "Not ready before"), (254, 146, "nightfall tomorrow"),
            (76, 184, "Bravo"), (144, 184, "- cross"), (144, 196, "- dig in"),
            (254, 184, "- boats"), (254, 196, "- wire"),
        ]:  # fmt: skip
            canvas.drawString(x, y, text)

    rows = [
        ["Unit", "Task", "Remarks"],
        ["Alpha", "Hold the bridge at Dovrin until relief", "Not ready before nightfall tomorrow"],
        ["Bravo", "- cross<br>- dig in", "- boats<br>- wire"],
    ]
    assert kinds(drawn(draw), "table") == [pipe(rows)]


def test_where_rows_are_unsure_lines_keep_their_gaps_and_a_note_says_so(drawn):
    left = ["Phase one", "Guns fire", "Halt", "Cross", "Dig in", "Report to the corps"]
    right = ["CHESTNUT", "At H+2", "Until told", "Lift", "Wire", "By radio"]

    def draw(canvas):
        for at, (one, two) in enumerate(zip(left, right, strict=True)):
            canvas.drawString(72, 100 + 20 * at, one)
            canvas.drawString(320, 100 + 20 * at + 9 * (at % 5 > 2), two)

    document = drawn(draw)
    assert document.blocks[0].text.startswith("[Reader's note: whether what follows is columns or rows")
    assert "Phase one\tCHESTNUT" in kinds(document, "paragraph")
    assert [notice.kind for notice in document.notices] == ["uncertain_layout"]


def random_table(canvas, ys, pick, word):
    xs = [72, 180, 290, 400, 520]
    rows = [[word() if pick.random() < 0.8 else "" for _ in range(4)] for _ in ys[1:]]
    kind = pick.choice(["bands", "open", "two", "ruled"])
    if kind == "bands":
        bands(canvas, xs, ys, rows)
    elif kind == "open":
        open_sides(canvas, xs, ys, rows, pick.choice([(1, 0), (0, 1), (1, 1)]))
    elif kind == "two":
        grid(canvas, xs[:3], ys, [row[:2] for row in rows])
        grid(canvas, [x + pick.choice([3, 15]) for x in xs[2:]], ys, [row[2:] for row in rows])
    else:
        grid(canvas, xs, ys, rows, pick.choice(["hv", "h", "v", "u", "ou", "ouv"]))


def random_text(canvas, ys, pick, word):
    kind = pick.choice(["text", "columns", "scattered"])
    for x in (72,) if kind == "text" else (72, 330):
        for at, y in enumerate(ys[:-1]):
            if kind == "scattered":
                canvas.drawString(x + pick.randint(0, 150), y + pick.choice([0, 6]), word())
            else:
                canvas.drawString(x, ys[0] + 12 * at, " ".join(word() for _ in range(pick.randint(1, 3))))


def random_page(seed):
    """Text, columns and tables one below the other; each word is another."""
    pick = random.Random(seed)
    count = iter(range(10_000))

    def word():
        return f"{pick.choice(['unit', 'Ford', 'x', '4', 'BRIDGE'])}{seed}q{next(count)}"

    def draw(canvas):
        y = 40
        while y < 640:
            ys = [y + 20 * at for at in range(pick.randint(3, 7))]
            pick.choice([random_table, random_text])(canvas, ys, pick, word)
            y = ys[-1] + pick.choice([3, 20, 40])

    return draw


@pytest.mark.parametrize("seed", range(6))
def test_each_visible_word_of_a_page_stands_in_the_blocks_as_often_as_on_the_page(drawn, tmp_path, seed):
    document = drawn(*(random_page(10 * seed + at) for at in range(4)))
    path = tmp_path / "drawn.pdf"
    with closing(opened(path.read_bytes(), path)) as source:
        for number in range(1, len(source.sheets) + 1):
            seen = Counter(word.text for word in read_page(source, number).words)
            blocks = [
                block for block in document.blocks if block.place == f"page {number}" and block.kind != "note"
            ]
            text = " ".join(block.text for block in blocks)
            text = re.sub(r"\[spans [^\]]*\]|<br>|[|#]|--- ", " ", text)
            assert Counter(re.sub(r"-(?=\w+q)", "", text).split()) == seen
