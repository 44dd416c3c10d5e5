# ruff: noqa: ISC004 -- long XML is wrapped
"""Numbers of lists, signs of symbol fonts, equations, contrast: against their sources."""

import pytest
from lxml import etree
from pdfminer.glyphlist import glyphname2unicode
from reportlab.pdfbase import _fontdata

from flows.readers.docx.equations import linear
from flows.readers.shared.contrast import invisible
from flows.readers.shared.signs import bullet, in_font, numeral, padded, symbol


@pytest.mark.parametrize(
    ("count", "form", "expected"),
    [
        (4, "lowerRoman", "iv"),
        (1994, "upperRoman", "MCMXCIV"),
        (26, "lowerLetter", "z"),
        (28, "upperLetter", "BB"),
        (7, "decimalZero", "07"),
        (1, "ordinal", "1st"),
        (12, "ordinal", "12th"),
        (22, "ordinal", "22nd"),
        (121, "cardinalText", "One hundred twenty-one"),
        (21, "ordinalText", "Twenty-first"),
        (40, "ordinalText", "Fortieth"),
        (112, "ordinalText", "One hundred twelfth"),
        (3, "none", ""),
        (0, "lowerRoman", "0"),
        (99999999, "upperLetter", "99999999"),
        (3, "thaiCounting", None),
    ],
)
def test_numerals_as_word_writes_them(count, form, expected):
    assert numeral(count, form) == expected


def test_custom_format_pads():
    assert padded(7, "001, 002, ...") == "007"


def test_symbol_font_is_adobes_encoding():
    # reportlab and pdfminer carry Adobe's encoding vector and glyph list.
    names = _fontdata.encodings["SymbolEncoding"]
    differing = {}
    for code, name in enumerate(names):
        found = symbol("Symbol", code)
        if name is None or found is None:
            continue
        expected = glyphname2unicode.get(name)
        if expected != found:
            differing[name] = found
    # The glyph list knows Delta, Omega and mu as increment, ohm and micro, has brackets in their old
    # place, and puts variants of one sign into private use, where no reader of text would see them.
    assert differing == {
        "Delta": "Δ",
        "Omega": "Ω",
        "mu": "μ",
        "angleleft": "〈",
        "angleright": "〉",
        "radicalex": "‾",
        "arrowvertex": "⏐",
        "arrowhorizex": "⎯",
        "registerserif": "®",
        "copyrightserif": "©",
        "trademarkserif": "™",
        "registersans": "®",
        "copyrightsans": "©",
        "trademarksans": "™",
    }


def test_marks_and_boxes():
    assert [symbol("Wingdings", code) for code in (0xF0FC, 0xFB, 0xA8, 0xFE)] == ["✓", "✗", "☐", "☑"]
    assert symbol("Wingdings 2", 0x52) == "☑"
    assert symbol("Wingdings", 0x31) is None
    assert in_font("ü", "Wingdings") == ("✓", [])
    assert in_font("ü", "Arial") == ("ü", [])
    assert in_font("\uf0b0", None) == ("°", [])
    assert in_font("\uf031", "Wingdings") == ("[?]", ["Wingdings F031"])
    assert [bullet("\uf0b7", "Symbol"), bullet("\uf0a8", "Wingdings"), bullet("o", "Courier New")] == [
        "-",
        "☐",
        "-",
    ]


@pytest.mark.parametrize(
    ("colour", "ground", "expected"),
    [
        ("FFFFFF", "ffffff", True),
        ("FCFCFC", "FFFFFF", True),
        ("FBFFFF", "FFFFFF", False),
        ("FFFF00", "FFFFFF", False),
        ("1F3864", "1E3965", True),
        ("auto", "auto", False),
        ("unknown", "FFFFFF", False),
        ("FFFFFF", "", False),
    ],
)
def test_invisible_is_the_colour_of_the_ground_within_rounding(colour, ground, expected):
    assert invisible(colour, ground) is expected
    assert invisible(ground, colour) is expected


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<m:sSup><m:e>{x}</m:e><m:sup>{two}</m:sup></m:sSup>", "x^2"),
        ("<m:rad><m:radPr/><m:deg/><m:e>{x}</m:e></m:rad>", "√(x)"),
        ("<m:rad><m:deg>{two}</m:deg><m:e>{x}</m:e></m:rad>", "√(x)"),
        (
            '<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{x}</m:sub><m:sup>{two}</m:sup>'
            "<m:e>{x}</m:e></m:nary>",
            "∑_x^2 x",
        ),
        ("<m:d><m:e>{x}</m:e><m:e>{two}</m:e></m:d>", "(x|2)"),
        ("<m:m><m:mr><m:e>{x}</m:e><m:e>{two}</m:e></m:mr><m:mr><m:e>{two}</m:e></m:mr></m:m>", "[x, 2; 2]"),
        ("<m:f><m:num>{x}</m:num><m:den>{two}</m:den></m:f>", "x/2"),
        ("<m:unheardOf><m:e>{x}</m:e></m:unheardOf>", "x"),
    ],
)
def test_equations_on_one_line(inside, expected):
    letters = {name: f"<m:r><m:t>{text}</m:t></m:r>" for name, text in (("x", "x"), ("two", "2"))}
    space = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    assert linear(etree.fromstring(f"<m:oMath {space}>{inside.format(**letters)}</m:oMath>")) == expected
