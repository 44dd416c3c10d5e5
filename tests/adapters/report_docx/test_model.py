"""Blocks, inline marks, and text that Word can't hold."""

import time

import pytest

from flows.adapters.report_docx import Block, EditError, Piece
from flows.adapters.report_docx.model import clean, pieces


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("plain", [Piece("plain")]),
        ("", [Piece("")]),
        ("a **b** c", [Piece("a "), Piece("b", bold=True), Piece(" c")]),
        ("*a* b", [Piece("a", italic=True), Piece(" b")]),
        ("***a***", [Piece("a", bold=True, italic=True)]),
        ("**a *b* c**", [Piece("a ", bold=True), Piece("b", bold=True, italic=True), Piece(" c", bold=True)]),
        ("**Purpose:** x", [Piece("Purpose:", bold=True), Piece(" x")]),
        ("5 * 3 * 2", [Piece("5 * 3 * 2")]),
        ("2*3*4", [Piece("2*3*4")]),
        ("**a *b***", [Piece("a ", bold=True), Piece("b", bold=True, italic=True)]),
        ("** not **", [Piece("** not **")]),
        ("**open", [Piece("**open")]),
        (r"\*note\* and \**", [Piece("*note* and **")]),
        ("snake_case and a_b_c", [Piece("snake_case and a_b_c")]),
    ],
)
def test_inline_marks(line, found):
    assert pieces(line) == found


def test_a_line_of_unclosed_marks_takes_no_square_time():
    for mark in ("**a ", "***a ", "*a ", "[a "):
        line = mark * 50_000
        start = time.process_time()
        assert "".join(piece.text for piece in pieces(line)) == line
        assert time.process_time() - start < 30


@pytest.mark.parametrize("code", [0x00, 0x08, 0x0B, 0x0C, 0x1F, 0xD800, 0xDFFF, 0xFFFE, 0xFFFF])
def test_characters_that_no_word_file_holds(code):
    with pytest.raises(EditError, match=rf"U\+{code:04X} at position 3") as caught:
        clean("ab" + chr(code), "p1")
    assert caught.value.where == "p1"
    with pytest.raises(EditError):
        Block("paragraph", chr(code))
    with pytest.raises(EditError, match="row 2 of a table"):
        Block("table", rows=(("a",), (chr(code),)))


def test_line_ends_become_line_feeds():
    assert clean("a\r\nb\rc\nd\te \U0001f600", "p1") == "a\nb\nc\nd\te \U0001f600"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Block("heading", "x", level=10), "level 10; expected 0 to 9"),
        (lambda: Block("bullet", "x", level=0), "level 0; expected 1 to 9"),
        (lambda: Block("paragraph", "x", level=2), "level 2; expected 1 to 1"),
        (lambda: Block("image", "x"), "the kind 'image'"),
        (lambda: Block("table"), "no rows of cells"),
        (lambda: Block("table", rows=((),)), "no rows of cells"),
        (lambda: Block("table", "x", rows=(("a",),)), "a table: text"),
        (lambda: Block("paragraph", "x", rows=(("a",),)), "rows of cells; expected text alone"),
        (
            lambda: Block("table", rows=(("a", "b"), ("c",))),
            "rows of 1, 2 cells; expected rows of equal length",
        ),
        (lambda: Block("table", rows=(("a",) * 64,)), "64 columns; expected at most 63"),
    ],
)
def test_blocks_that_word_has_no_place_for(make, words):
    with pytest.raises(EditError) as caught:
        make()
    assert words in str(caught.value)
