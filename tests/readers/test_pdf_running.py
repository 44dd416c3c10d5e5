"""Running lines of PDF files: those of all pages are taken once, and nothing else is taken for one."""

import pytest

from tests.readers.drawn_support import BODY, ROWS, XS, YS, grid, kinds, page, pipe, running


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
def test_lines_that_differ_are_no_running_lines(drawn, lines, y):
    document = drawn(*(page((72, y, line)) for line in lines))
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
def test_a_running_line_differs_in_its_page_number_only(drawn, number, first, y):
    romans = ["i", "ii", "iii", "iv", "v"]
    draws = [
        page((72, y, number.format(n=n, roman=roman)), body=[f"{line} {n}" for line in BODY])
        for n, roman in enumerate(romans, 1)
    ]
    document = drawn(*draws)
    mark = "[Header]" if y < 400 else "[Footer]"
    assert running(document) == [(f"{mark} {first}", "pages 1-5")]
    assert all(text.startswith("The brigade") for text in kinds(document, "paragraph"))


def test_headers_of_parts_and_of_facing_pages_are_each_taken_once(drawn):
    parts = drawn(*(page((72, 50, "PART A" if n < 4 else "PART B")) for n in range(8)))
    assert running(parts) == [("[Header] PART A", "pages 1-4"), ("[Header] PART B", "pages 5-8")]
    facing = drawn(*(page((72, 50, "Order") if n % 2 else (500, 50, "Annex")) for n in range(8)))
    assert {text for text, _ in running(facing)} == {"[Header] Annex", "[Header] Order"}


@pytest.mark.parametrize(
    "texts",
    [
        ["Situation", "Signal", "Logistics"] * 3,  # headings that come again, no header of a part
        ["Situation", "", "", "", "Situation", "", "", "", ""],  # on too few pages
    ],
)
def test_headings_that_come_again_are_kept_on_each_page(drawn, texts):
    document = drawn(*(page((72, 80, text)) for text in texts))
    assert running(document) == []
    for text in set(texts) - {""}:
        assert document.text.count(text) == texts.count(text)


def test_rows_and_heads_of_a_table_at_the_top_of_pages_are_kept(drawn):
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

    document = drawn(*map(draw, range(3)))
    assert running(document) == []
    tables = kinds(document, "table")
    assert [table.count("\n") for table in tables] == [31] * 3
    assert all(table.startswith("| Serial | Boats | Tents |") for table in tables)
    assert all(f"| {40 * n} | 0 | 9000 |" in tables[n] for n in range(3))


def test_pages_of_titles_only_are_no_empty_file(drawn):
    same = drawn(*(page((72, 60, "SITUATION"), body=[]) for _ in range(3)))
    assert kinds(same, "paragraph", "heading") == ["SITUATION"] * 3


@pytest.mark.parametrize("y", [50, 97])
def test_a_header_above_nothing_but_a_table_is_taken_once(drawn, y):
    def draw(canvas):
        canvas.drawString(72, y, "EXERCISE")
        grid(canvas, XS, YS, ROWS)

    document = drawn(draw, draw, draw)
    assert running(document) == [("[Header] EXERCISE", "pages 1-3")]
    assert kinds(document, "table", "paragraph") == [pipe(ROWS)] * 3
