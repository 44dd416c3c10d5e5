"""Small workbooks that would grow without end."""

import pytest

from flows.common.errors import ReadError
from flows.readers.xlsx import book, grid, places, unseen
from tests.support.workbook import SPACES, drawn, related, row, seen, styled, text


@pytest.mark.parametrize("where", ["strings", "cells", "frames", "merges"])
def test_text_is_counted_while_it_is_read(excel, monkeypatch, where):
    monkeypatch.setattr(book, "MAX_TEXT", 5000)
    shared = "<si><t>twenty characters ok</t></si>"
    few, many = (row('<c t="s"><v>0</v></c>' * count) for count in (100, 1000))
    far = "".join(
        f'<row><c r="{column}{at}"><v>1</v></c></row>' for at in range(1, 10) for column in ("A", "BZZ")
    )
    hold = '<mergeCells><mergeCell ref="A1:B2"/></mergeCells>' * 2000
    excel(few, strings=shared)
    case = {
        "strings": {"rows": "", "strings": shared * 1000},
        "cells": {"rows": many, "strings": shared},
        "frames": {"rows": far},
        "merges": {"rows": few, "strings": shared, "after": hold},
    }[where]
    with pytest.raises(ReadError, match=r"more than 10,000,000 characters|more than 5,000 characters"):
        excel(**case)


def test_merged_range_with_a_long_text_is_not_filled(excel):
    words = "word " * 5000
    after = '<mergeCells><mergeCell ref="A1:C300"/></mergeCells>'
    document = excel(row(text(words), "<c/><c/>", text("beside")), after)
    assert document.text.count("word") == 5000


def test_merges_that_cover_each_other_are_refused(excel, monkeypatch):
    monkeypatch.setattr(unseen, "MAX_WORK", 100)
    with pytest.raises(ReadError, match="cover each other"):
        excel(row(text("a"), text("b")) * 20, '<mergeCells><mergeCell ref="A1:B20"/></mergeCells>' * 20)


def test_too_many_tags_at_once(excel, monkeypatch):
    monkeypatch.setattr("flows.readers.markup.MAX_STREAMED", 20_000)
    assert len(seen(excel(row(*["<c><v>1</v></c>"] * 4) * 3000))[0]) > 3000
    with pytest.raises(ReadError, match="more than 20,000 XML tags"):
        excel(row(*["<c/>"] * 100_000))


def test_long_shared_formula_is_not_moved_for_ever(excel, monkeypatch):
    monkeypatch.setattr(places, "MAX_MOVED", 10)
    rows = row('<c><f t="shared" si="0">A2+A3</f></c>') + row('<c><f t="shared" si="0"/></c>') * 2
    assert seen(excel(rows))[0].split("\n")[2:] == [
        "| [formula, never calculated: =A3+A4] |",
        "| [formula, never calculated: =as in A1, moved to A3] |",
    ]


def test_two_sheets_of_one_part_are_refused(excel):
    sheets = '<sheet name="S" r:id="r1"/><sheet name="T" r:id="r1"/>'
    with pytest.raises(ReadError, match="'T' is made of the part of another sheet"):
        excel(row(text("a")), workbook=f"<workbook {SPACES}><sheets>{sheets}</sheets></workbook>")


def test_too_many_ranges_with_conditions_leave_the_ground_unknown(excel, monkeypatch):
    monkeypatch.setattr(grid, "MAX_RANGES", 10)
    styles = styled(("", '<color rgb="FFFFFFFF"/>'), ("<patternFill/>",), ((0, 0), (1, 0)))
    rows = row(text("white", 1))
    assert "white" not in excel(rows, '<conditionalFormatting sqref="B1"/>', styles=styles).text
    assert "white" in excel(rows, '<conditionalFormatting sqref="B1 B2 B3 B4"/>', styles=styles).text


def test_a_chart_in_many_frames_is_read_once(excel):
    frame = (
        '<xdr:graphicFrame><a:graphic><a:graphicData><c:chart xmlns:c="http://schemas.openxmlformats.org/'
        'drawingml/2006/chart" r:id="r1"/></a:graphicData></a:graphic></xdr:graphicFrame>'
    )
    document = excel(
        links={"drawing": "drawing.xml"},
        drawing=drawn(frame * 3),
        chart="<chartSpace/>",
        **{"_rels/drawing.xml.rels": related(chart="chart.xml")},
    )
    assert seen(document) == ["[Chart]"]
