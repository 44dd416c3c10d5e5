# ruff: noqa: ISC004 -- long blocks of text are wrapped
"""What a person sees in a workbook, against what the reader gives."""

import re
import zipfile

import pytest

from flows.readers import read_document
from flows.readers.shared.formats import BUILTIN, format_number


def test_marked_workbook(fixture):
    assert [(block.kind, block.place, block.text) for block in fixture("marked.xlsx").blocks] == [
        ("sheet", "Stocks", "[Sheet: Stocks]"),
        ("paragraph", "Stocks!A1", "Stock report"),
        (
            "table",
            "Stocks!A3:E7",
            "| Depot | Date | Fill | Cost | Code [hidden column] |\n"
            "| --- | --- | --- | --- | --- |\n"
            "| North [merged A4:A5] | 2026-03-01 | 25.6% | $1,234.50 | 00042 |\n"
            "| North | 2026-03-02 14:30 | 100.0% | ($99.00) | 00007 |\n"
            "| [hidden row] South (https://example.org/south) | 2026-03-03 | 50.0% | $0.00 | 01234 |\n"
            "| Total |  |  | 1135.5 | [formula, never calculated: =SUM(E4:E6)] |",
        ),
        ("table", "Stocks!H3:I5", "| Boat | Crew |\n| --- | --- |\n| Heron | 4 |\n| Teal | 6 |"),
        ("comment", "Stocks!C4", "[Comment by Q. Ames, on C4] Counted by hand"),
        ("sheet", "Reserve", "[Sheet: Reserve, hidden sheet]"),
        ("table", "Reserve!A1:B1", "| Hidden reserve | 300 |\n| --- | --- |"),
        ("sheet", "Crew chart", "[Chart sheet: Crew chart]"),
        (
            "image",
            "Crew chart",
            "[Chart: Crew by boat] drawn from 'Stocks'!I3, 'Stocks'!$H$4:$H$5, 'Stocks'!$I$4:$I$5",
        ),
    ]


# What Excel shows; dates as ISO 8601 to the precision of the format.
@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1234.5, "#,##0.00", "1,234.50"),
        (0.256, "0.0%", "25.6%"),
        (-5, "#,##0;(#,##0)", "(5)"),
        (0, '#,##0;-#,##0;"-"', "-"),
        (7, "00000", "00007"),
        (2125551234, "(000) 000-0000", "(212) 555-1234"),
        (1234567, '0.0,,"M"', "1.2M"),
        (1234567, "#,##0,", "1,235"),
        (12.5, "[$€-407] #,##0.00", "€ 12.50"),
        (0.5, "#.00", ".50"),
        (-0.001, "0.00", "0.00"),
        (2.5, "0", "3"),
        (1.005, "0.00", "1.01"),
        (0.5, "# ?/?", "1/2"),
        (2.75, "# ?/?", "2 3/4"),
        (12345, "0.00E+00", "1.23E+04"),
        (3, '0" km"', "3 km"),
        (45000, 'General" kg"', "45000 kg"),
        (150, "[>=100]0;0.00", "150"),
        (15, "[>=100]0;0.00", "15.00"),
        (12, ";;;", ""),
        (1 / 3, "General", "0.333333333"),
        (0.1 + 0.2, "General", "0.3"),
        (123456789012, "General", "123456789012"),
        (0.0000001, "General", "1E-07"),
        (45352, "dd/mm/yyyy", "2024-03-01"),
        (45352.604, "dd/mm/yyyy hh:mm", "2024-03-01 14:29"),
        (45352, "mmm-yy", "2024-03"),
        (45352, "yyyy", "2024"),
        (45352.5, 'ddhhmm"Z"mmmyy', "2024-03-01 12:00Z"),
        (0.75, "h:mm AM/PM", "18:00"),
        (1.25, "[h]:mm", "30:00"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (-3, "yyyy-mm-dd", "-3"),
        (0, "dd/mm/yyyy", "1900-01-00"),
        (0, "dd/mm/yyyy hh:mm", "00:00"),
        (0.5, "dd/mm/yyyy hh:mm", "12:00"),
        (0.5, "d mmm yyyy", "1900-01-00"),
        (0, "h:mm", "00:00"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (59.9999999999, "yyyy-mm-dd", "1900-02-29"),
        (60, "yyyy-mm-dd", "1900-02-29"),
        (0.0625, "[mm]:ss", "90:00"),
        (0.00012, "mm:ss.0", "00:00:10.4"),
        (1.25, '[h]" hours "mm" min"', "30 hours 00 min"),
        (-0.75, "[h]:mm", "-18:00"),
        (3.14159, 's" s and "[m]" min"', "53 s and 4523 min"),
        (12345, '0.00E+00" m"', "1.23E+04 m"),
        (12345, "##0.0E+0", "12.3E+3"),
        (2.5, '# ?/?" in"', "2 1/2 in"),
        (1234.5, BUILTIN[7], "$1,234.50"),
        (-1234.5, BUILTIN[44], "$(1,234.50)"),
    ],
)
def test_numbers_as_excel_shows_them(value, code, expected):
    assert format_number(value, code) == expected


def test_days_counted_from_1904():
    # 1 January 1904 is day 0 there; 45352 - 1462 days lie between the two counts.
    assert format_number(43890, "yyyy-mm-dd", from_1904=True) == "2024-03-01"
    assert format_number(0, "yyyy-mm-dd", from_1904=True) == "1904-01-01"
    assert format_number(0.5, "yyyy-mm-dd hh:mm", from_1904=True) == "1904-01-01 12:00"
    assert format_number(-1, "yyyy-mm-dd", from_1904=True) == "-1904-01-02"


def rewritten(fixture_path, tmp_path, change, source="stanley-cups.xlsx"):
    path = tmp_path / "made.xlsx"
    with zipfile.ZipFile(fixture_path(source)) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return read_document(path)


def sheet_of(rows, after=""):
    text = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData>{after}</worksheet>'
    return lambda name, data: text.encode() if name == "xl/worksheets/sheet1.xml" else data


def test_shared_formula_never_calculated_is_moved_to_its_cell(fixture_path, tmp_path):
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f t="shared" ref="B1:B2" si="0">A1*2</f></c></row>'
        '<row r="2"><c r="A2"><v>2</v></c><c r="B2"><f t="shared" si="0"/></c></row>'
    )
    document = rewritten(fixture_path, tmp_path, sheet_of(rows))
    assert document.blocks[1].text.split("\n")[2] == "| 2 | [formula, never calculated: =A2*2] |"


def test_errors_booleans_and_inline_text(fixture_path, tmp_path):
    rows = (
        '<row r="1"><c r="A1" t="b"><v>1</v></c><c r="B1" t="e"><v>#REF!</v></c>'
        '<c r="C1" t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r><rPh><t>x</t></rPh></is></c></row>'
    )
    document = rewritten(fixture_path, tmp_path, sheet_of(rows))
    assert document.blocks[1].text.split("\n")[0] == "| TRUE | #REF! | inline |"


def test_strict_workbook_reads_as_the_transitional_one(fixture_path, tmp_path, fixture):
    pattern = re.compile(rb"http://schemas\.openxmlformats\.org/(spreadsheetml|officeDocument)/2006/")
    document = rewritten(
        fixture_path, tmp_path, lambda _, data: pattern.sub(rb"http://purl.oclc.org/ooxml/\1/", data)
    )
    assert document.blocks == fixture("stanley-cups.xlsx").blocks


def test_long_sheet_keeps_every_row(fixture_path, tmp_path):
    rows = "".join(
        f'<row r="{at}"><c r="A{at}"><v>{at}</v></c><c r="B{at}"><v>{at * 2}</v></c></row>'
        for at in range(1, 5001)
    )
    block = rewritten(fixture_path, tmp_path, sheet_of(rows)).blocks[1]
    assert block.place == "Stanley Cups!A1:B5000"
    assert block.text.split("\n")[-1] == "| 5000 | 10000 |"
    assert block.text.count("\n") == 5000


def test_huge_merged_range_is_noted_not_filled(fixture_path, tmp_path):
    rows = '<row r="1"><c r="A1"><v>5</v></c></row><row r="2"><c r="A2"><v>6</v></c></row>'
    after = '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'
    document = rewritten(fixture_path, tmp_path, sheet_of(rows, after))
    assert document.blocks[1].text == "5 [merged A1:XFD1048576]"
    assert [(n.kind, n.place, n.detail) for n in document.notices] == [
        ("hidden_text", "Stanley Cups!A2", "behind the merged range A1:XFD1048576: 6")
    ]


def test_cells_spread_over_a_huge_range_are_listed(fixture_path, tmp_path):
    rows = "".join(
        f'<row r="{at}"><c r="A{at}"><v>{at}</v></c><c r="XFD{at}"><v>1</v></c></row>' for at in range(1, 101)
    )
    block = rewritten(fixture_path, tmp_path, sheet_of(rows)).blocks[1]
    assert block.place == "Stanley Cups!A1:XFD100"
    assert block.text.split("\n")[-2:] == ["A100: 100", "XFD100: 1"]


def test_tables_of_xlsx_01_are_kept_apart(fixture):
    document = fixture("xlsx_01.xlsx")
    places = [block.place for block in document.blocks if block.kind == "table"]
    assert places == [
        *["Sheet1!A1:C7", "Sheet2!A1:D9", "Sheet2!G5:I9", "Sheet2!C14:E18"],
        *["Sheet3!A1:C7", "Sheet3!E7:G13", "Sheet4!A1:A2"],
    ]
    charts = [block.text for block in document.blocks if block.kind == "image"]
    assert charts[1].endswith("|  | col-3 |\n| --- | --- |\n| 1 | 3 |\n| 2 | 6 |\n| 3 | 9 |\n| 4 | 12 |")
    assert [b.text for b in document.blocks if b.kind == "sheet"][-1] == "[Sheet: Sheet4, hidden sheet]"


def test_comments_and_their_replies(fixture):
    comments = [block.text for block in fixture("xlsx_comments.xlsx").blocks if block.kind == "comment"]
    assert comments == [
        "[Comment by Jane Smith (JS), 2026-06-18 17:12, on F7] Minimum number of saltwater ducks",
        "[Reply by Marcus Sterling (MS), 2026-06-18 17:15, on F7] I never thought it would be so low",
        "[Comment by Jane Smith (JS), 2026-06-18 17:12, on G12] Maximum number of ducks",
        "[Comment by John Reviewer, on A1] Why Python specifically?",
        "[Comment by Jane Editor, on B2] Which libraries are you referring to?",
    ]


def test_tables_that_touch_at_a_corner_and_printed_headers(fixture):
    document = fixture("xlsx_06_edge_cases_.xlsx")
    assert [block.place for block in document.blocks if block.kind == "table"] == [
        *["missing_header_head!A1:F4", "Attached_left!A2:G5", "Diagonal!A1:F4", "Diagonal!G5:I7"],
    ]
    assert [block.text for block in document.blocks if block.kind == "header"] == [
        "[Header] Attached_left",
        "[Header] Diagonal",
    ]


def test_empty_sheet_says_so(fixture):
    assert fixture("empty.xlsx").text == "[Sheet: Sheet1, empty]"
