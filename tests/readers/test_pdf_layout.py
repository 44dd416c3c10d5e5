"""Running lines, columns and tables of PDF files: nothing lost, nothing invented, nothing misplaced."""

import io
import random
import re
from collections import Counter
from contextlib import closing

import pytest

from flows.readers import read_document
from flows.readers.pdf.paint.page import read_page
from flows.readers.pdf.source import opened

HEIGHT, WIDTH = 792, 612
BODY = [
    "The brigade holds its line of departure and prepares to pass the battalion",
    "at first light, while the reserve moves to the crossing and waits for the",
    "order of the corps to go forward with two companies of engineers.",
]
ROWS = [
    ["Unit", "Men", "Status"],
    ["A Coy", "112", "GREEN"],
    ["B Coy", "98", "RED"],
    ["C Coy", "120", "AMBER"],
]


@pytest.fixture
def made(tmp_path):
    """Read a PDF file whose pages are drawn by these functions; lengths count from the top."""
    from reportlab.pdfgen.canvas import Canvas

    def read(*draws):
        target = io.BytesIO()
        canvas = Canvas(target, pagesize=(WIDTH, HEIGHT), bottomup=0, invariant=1)
        for draw in draws:
            canvas.setFont("Helvetica", 10)
            draw(canvas)
            canvas.showPage()
        canvas.save()
        path = tmp_path / "made.pdf"
        path.write_bytes(target.getvalue())
        return read_document(path)

    return read


def page(*lines, body=BODY):
    """A page of running text from 200 points down, with other lines at (x, y)."""

    def draw(canvas):
        for at, line in enumerate(body):
            canvas.drawString(72, 200 + 12 * at, line)
        for x, y, text in lines:
            canvas.drawString(x, y, text)

    return draw


def kinds(document, *wanted):
    return [block.text for block in document.blocks if block.kind in wanted]


def running(document):
    return [(block.text, block.place) for block in document.blocks if block.kind in {"header", "footer"}]


@pytest.mark.parametrize(
    "lines",
    [
        [f"Casualties on day {n}: {n * 19}" for n in (1, 2, 3)],
        [f"{n} SEP" for n in (20, 21, 22)],  # counts with the page, and is no page number
        [f"Day {n}" for n in (1, 2, 3)],
        [f"Phase {n}" for n in (1, 2, 3)],
        ["Page 4", "Page 9", "Page 2"],  # doesn't count with the page
        ["Situation", "Logistics", "Signal"],
        ["12", "15", "19"],
        ["mix", "mid", "dim"],
    ],
    ids=lambda lines: lines[0],
)
@pytest.mark.parametrize("y", [50, 760])
def test_lines_that_differ_are_no_running_lines(made, lines, y):
    document = made(*(page((72, y, line)) for line in lines))
    assert running(document) == []
    assert [sum(line in text for text in kinds(document, "paragraph", "heading")) for line in lines] == [
        1
    ] * 3


@pytest.mark.parametrize(
    ("number", "first"),
    [
        ("Page {n} of 12", "Page 1 of 12"),
        ("ORDER 7 - Page {n}", "ORDER 7 - Page 1"),
        ("- {n} -", "- 1 -"),
        ("{n}", "1"),
        ("{roman}", "i"),
        ("page {roman}", "page i"),
        ("{n} / 12", "1 / 12"),
        ("SECRET", "SECRET"),
    ],
)
@pytest.mark.parametrize("y", [50, 760])
def test_a_running_line_differs_in_its_page_number_only(made, number, first, y):
    romans = ["i", "ii", "iii", "iv", "v"]
    draws = [
        page((72, y, number.format(n=n, roman=roman)), body=[f"{line} {n}" for line in BODY])
        for n, roman in enumerate(romans, 1)
    ]
    document = made(*draws)
    mark = "[Header]" if y < 400 else "[Footer]"
    assert running(document) == [(f"{mark} {first}", "pages 1-5")]
    assert all(text.startswith("The brigade") for text in kinds(document, "paragraph"))


def test_headers_of_parts_and_of_facing_pages_are_each_taken_once(made):
    parts = made(*(page((72, 50, "PART A" if n < 4 else "PART B")) for n in range(8)))
    assert running(parts) == [("[Header] PART A", "pages 1-4"), ("[Header] PART B", "pages 5-8")]
    facing = made(*(page((72, 50, "Order") if n % 2 else (500, 50, "Annex")) for n in range(8)))
    assert {text for text, _ in running(facing)} == {"[Header] Annex", "[Header] Order"}


@pytest.mark.parametrize(
    "texts",
    [
        ["Situation", "Signal", "Logistics"] * 3,  # headings that come again, no header of a part
        ["Situation", "", "", "", "Situation", "", "", "", ""],  # on too few pages
    ],
)
def test_headings_that_come_again_are_kept_on_each_page(made, texts):
    document = made(*(page((72, 80, text)) for text in texts))
    assert running(document) == []
    for text in set(texts) - {""}:
        assert document.text.count(text) == texts.count(text)


def test_rows_and_heads_of_a_table_at_the_top_of_pages_are_kept(made):
    def draw(n):
        rows = [
            ("Serial", "Boats", "Tents"),
            *((f"{40 * n + k}", f"{7 * k}", f"{9000 - k}") for k in range(30)),
        ]
        return page(
            *(
                (x, 50 + 18 * at, text)
                for at, row in enumerate(rows)
                for x, text in zip((72, 200, 330), row, strict=True)
            ),
            body=[],
        )

    document = made(*map(draw, range(3)))
    assert running(document) == []
    tables = kinds(document, "table")
    assert [table.count("\n") for table in tables] == [31] * 3
    assert all(table.startswith("| Serial | Boats | Tents |") for table in tables)
    assert all(f"| {40 * n} | 0 | 9000 |" in tables[n] for n in range(3))


def test_pages_of_titles_only_are_no_empty_file(made):
    same = made(*(page((72, 60, "SITUATION"), body=[]) for _ in range(3)))
    assert kinds(same, "paragraph", "heading") == ["SITUATION"] * 3


def test_a_short_right_column_does_not_cut_the_left_one(made):
    left = [f"{line[:40]} {at}" for at, line in enumerate(BODY * 10)]
    right = [f"{line[:41]} {at}" for at, line in enumerate(BODY * 2, 100)]

    def draw(canvas):
        for x, lines in ((72, left), (330, right)):
            for at, line in enumerate(lines):
                canvas.drawString(x, 100 + 12 * at, line)

    numbers = [int(number) for number in re.findall(r"\b\d+\b", made(draw).text)]
    assert numbers == [*range(30), *range(100, 106)]


def grid(canvas, xs, ys, rows, rules="hv"):
    """Write rows into a grid; `h` and `v` draw the rules, `o` the outline, `u` the rule under the head."""
    lines = [(xs[0], y, xs[-1], y) for y in ys] if "h" in rules else []
    lines += [(x, ys[0], x, ys[-1]) for x in xs] if "v" in rules else []
    lines += [(xs[0], ys[1], xs[-1], ys[1])] if "u" in rules else []
    canvas.lines(lines)
    if "o" in rules:
        canvas.rect(xs[0], ys[0], xs[-1] - xs[0], ys[-1] - ys[0])
    for y, row in zip(ys, rows, strict=False):
        for x, text in zip(xs, row, strict=False):
            canvas.drawString(x + 4, y + 14, text)


def bands(canvas, xs, ys, rows, alternate=False):
    for at in range(0, len(rows), 2 if alternate else 1):
        canvas.setFillGray(0.85 if at % 2 else 0.95)
        canvas.rect(xs[0], ys[at], xs[-1] - xs[0], ys[at + 1] - ys[at], fill=1, stroke=0)
    canvas.setFillGray(0)
    grid(canvas, xs, ys, rows, "")


def open_sides(canvas, xs, ys, rows, sides):
    left, right = sides
    grid(canvas, xs[left : len(xs) - right], ys, [], "hv")
    grid(canvas, xs, ys, rows, "")


def pipe(rows):
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body])


XS, YS = [72, 150, 240, 330], [100, 120, 140, 160, 180]
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
def test_a_table_keeps_its_rows_and_columns(made, draw, rows):
    document = made(draw)
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
def test_tables_near_each_other_stay_apart(made, places, caption):
    rows = [[["Item", f"Held {n}"], [f"Tents {n}", f"{n}7"], [f"Maps {n}", f"{n}9"]] for n in range(4)]

    def draw(canvas):
        for n, (x, y) in enumerate(places):
            grid(canvas, [x, x + 80, x + 160], [y, y + 20, y + 40, y + 60], rows[n])
            if caption:
                canvas.drawString(x, y - 4, f"{caption}{n}")

    tables = kinds(made(draw), "table")
    assert sorted(tables) == sorted(pipe(rows[n]) for n in range(len(places)))


@pytest.mark.parametrize("y", [50, 97])
def test_a_header_above_nothing_but_a_table_is_taken_once(made, y):
    def draw(canvas):
        canvas.drawString(72, y, "EXERCISE")
        grid(canvas, XS, YS, ROWS)

    document = made(draw, draw, draw)
    assert running(document) == [("[Header] EXERCISE", "pages 1-3")]
    assert kinds(document, "table", "paragraph") == [pipe(ROWS)] * 3


def test_rules_drawn_twice_and_cells_drawn_apart_are_one_table(made):
    def apart(canvas):
        for r, row in enumerate(ROWS):
            for k, text in enumerate(row):
                canvas.rect(72 + 83 * k, 100 + 23 * r, 80, 20)
                canvas.drawString(76 + 83 * k, 114 + 23 * r, text)

    def doubled(canvas):
        grid(canvas, XS, YS, ROWS)
        canvas.lines([(XS[0], y + 2, XS[-1], y + 2) for y in YS[:-1]])

    assert [kinds(made(draw), "table") for draw in (apart, doubled)] == [[pipe(ROWS)]] * 2


def test_wrapped_cells_and_lists_in_cells_are_one_row(made):
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
    assert kinds(made(draw), "table") == [pipe(rows)]


def test_where_rows_are_unsure_lines_keep_their_gaps_and_a_note_says_so(made):
    left = ["Phase one", "Guns fire", "Halt", "Cross", "Dig in", "Report to the corps"]
    right = ["CHESTNUT", "At H+2", "Until told", "Lift", "Wire", "By radio"]

    def draw(canvas):
        for at, (one, two) in enumerate(zip(left, right, strict=True)):
            canvas.drawString(72, 100 + 20 * at, one)
            canvas.drawString(320, 100 + 20 * at + 9 * (at % 5 > 2), two)

    document = made(draw)
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
def test_each_visible_word_of_a_page_stands_in_the_blocks_as_often_as_on_the_page(made, tmp_path, seed):
    document = made(*(random_page(10 * seed + at) for at in range(4)))
    path = tmp_path / "made.pdf"
    with closing(opened(path.read_bytes(), path)) as source:
        for number in range(1, len(source.sheets) + 1):
            seen = Counter(word.text for word in read_page(source, number).words)
            blocks = [
                block for block in document.blocks if block.place == f"page {number}" and block.kind != "note"
            ]
            text = " ".join(block.text for block in blocks)
            text = re.sub(r"\[spans [^\]]*\]|<br>|[|#]|--- ", " ", text)
            assert Counter(re.sub(r"-(?=\w+q)", "", text).split()) == seen
