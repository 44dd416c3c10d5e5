"""Tools that write the report, from the template on."""

import io
import re

import docx
import pytest

from tests.pipeline.native.helpers import FILES, a_docx, texts

pytestmark = pytest.mark.usefixtures("office")


def test_a_report_is_begun_from_a_template_filled_and_checked(kit):
    made = kit(limit="3 words, one page")
    begun = made.says("start_report", template="/app/attachments/template.docx")
    assert begun.splitlines()[0] == (
        "outputs/report.docx is begun from attachments/template.docx. Its places:"
    )
    assert begun.splitlines()[-2:] == [
        "p1 (paragraph; style Normal): Weekly report",
        "p2 (paragraph; style Normal; placeholder; to be filled): [Bottom line]",
    ]
    assert made.says("fill", entries=[{"place": "p1", "text": "Week 10"}]) == (
        "1 place filled. outputs/report.docx is saved. 1 place still shows a prompt or a placeholder: p2."
    )
    made.says("fill", entries=[{"place": "p2", "text": "Range 7 is closed."}])
    counted = "6 (body 6, tables 0, notes 0, text boxes 0)"
    assert made.says("check_report").splitlines() == [
        "outputs/report.docx is readable.",
        f"Words that count: {counted}; in headers and footers, which don't count: 0.",
        "Pages: 1 page (LibreOffice 7; None).",
        "Limit of length (3 words, one page): 6 of 3 words, 3 over; 1 of 1 page.",
        "Nothing is left to fill in.",
    ]
    assert texts(made.folder.report()[0]) == ["Week 10", "Range 7 is closed."]
    assert "and replaces the one before" in made.says("start_report")


def test_places_are_filled_from_the_end_so_that_none_is_taken_for_another(kit):
    made = kit({"attachments/t.docx": a_docx("one", "two", "three")})
    made.says("start_report", template="attachments/t.docx")
    entries = [{"place": "p1", "text": "a\nb"}, {"place": "p3", "text": "d"}, {"place": "p2", "text": "c"}]
    assert made.says("fill", entries=entries).endswith("New: p2. Moved: p2-p3 are now p3-p4.")
    assert texts(made.folder.report()[0]) == ["a", "b", "c", "d"]


def test_all_entries_are_filled_or_none(kit):
    made = kit({"attachments/t.docx": a_docx("one", "two")})
    made.says("start_report", template="attachments/t.docx")
    before = made.folder.report()
    entries = [{"place": "p1", "text": "a"}, {"place": "p9", "text": "b"}]
    assert made.fails("fill", entries=entries).startswith("p9: no such place")
    assert made.fails("fill", entries=[entries[0], entries[0]]) == (
        "fill: two entries for p1; expected one entry for each place"
    )
    assert made.fails("fill", entries=[{"place": "p1", "text": "\ud800"}]).startswith(
        "p1: the character U+D800"
    )
    assert made.folder.report() == before


def test_a_place_and_one_within_it_are_not_both_filled(kit):
    document = docx.Document()
    cell = document.add_table(1, 1).cell(0, 0)
    cell.text = "one"
    cell.add_paragraph("two")
    buffer = io.BytesIO()
    document.save(buffer)
    made = kit({"attachments/t.docx": buffer.getvalue()})
    listed = made.says("start_report", template="attachments/t.docx")
    assert "\nt1r1c1 (cell; style Normal; holds the places after it)" in listed
    entries = [{"place": "t1r1c1", "text": "all"}, {"place": "t1r1c1p2", "text": "second"}]
    assert made.fails("fill", entries=entries).startswith(
        "fill: entries for t1r1c1 and for t1r1c1p2, which may lie in it; expected one of them"
    )
    made.says("fill", entries=entries[1:])
    assert docx.Document(io.BytesIO(made.folder.report()[0])).tables[0].cell(0, 0).text == "one\nsecond"


def test_blocks_rows_and_deletions(kit):
    made = kit()
    made.says("start_report")
    blocks = [
        {"kind": "heading", "text": "Ranges"},
        {"kind": "paragraph", "text": "Range 7 is **closed**."},
        {"kind": "table", "rows": [["Range", "State"], ["7", "closed"]]},
    ]
    made.says("insert", blocks=blocks)
    listed = made.says("show_report")
    cell = re.search(r"^(t1r2c1) \(cell.*\): 7$", listed, re.MULTILINE)[1]
    assert made.says("add_rows", cell=cell, rows=[["9", "open"], ["11", "dry"]]).startswith(
        "2 rows added. outputs/report.docx is saved. New: t1r3c1-t1r3c2, t1r4c1-t1r4c2."
    )
    place = re.search(r"^(p\d+) .*: Range 7 is closed\.$", listed, re.MULTILINE)[1]
    made.says("delete", places=[place])
    document = docx.Document(io.BytesIO(made.folder.report()[0]))
    assert [[cell.text for cell in row.cells] for row in document.tables[0].rows] == [
        ["Range", "State"],
        ["7", "closed"],
        ["9", "open"],
        ["11", "dry"],
    ]
    assert "Range 7 is closed." not in [paragraph.text for paragraph in document.paragraphs]
    assert made.fails("insert", blocks=[{"kind": "table", "rows": [["a"], ["b", "c"]]}]).startswith(
        "block 1, a table: rows of 1, 2 cells"
    )
    assert made.fails("add_rows", cell="p1", rows=[["x"]]).startswith("p1: ")
    assert made.fails("delete", places=["p99"]).startswith("p99: no such place")


def test_a_range_of_places_is_deleted_by_one_call_which_says_how_the_others_moved(kit):
    """32 notes of a form go at once; before there was one call for each."""
    lines = ["Title", *(f"Note {number}" for number in range(1, 33)), "Bottom line", "Signed"]
    made = kit({"attachments/t.docx": a_docx(*lines)})
    made.says("start_report", template="attachments/t.docx")
    before = made.folder.report()
    assert made.fails("delete", places=["p2-p99"]).startswith(
        "p2-p99: no place p99; expected a range between"
    )
    assert made.fails("delete", places=["p9-p2"]).startswith("p9-p2: p2 stands before p9; expected p2-p9")
    assert made.fails("delete", places=["p2", "p99"]).startswith("p99: no such place")
    assert made.folder.report() == before
    assert made.says("delete", places=["p2-p30", "p31", "p30-p33"]) == (
        "32 places deleted. outputs/report.docx is saved. Moved: p34-p35 are now p2-p3."
    )
    assert texts(made.folder.report()[0]) == ["Title", "Bottom line", "Signed"]


def test_a_range_over_a_table_deletes_its_rows(kit):
    document = docx.Document()
    document.add_paragraph("above")
    table = document.add_table(4, 2)
    for number, row in enumerate(table.rows, 1):
        row.cells[0].text, row.cells[1].text = f"a{number}", f"b{number}"
    document.add_table(1, 1).cell(0, 0).text = "second"
    buffer = io.BytesIO()
    document.save(buffer)
    made = kit({"attachments/t.docx": buffer.getvalue()})
    made.says("start_report", template="attachments/t.docx")
    assert "Moved: t1r4 is now t1r2" in made.says("delete", places=["t1r2c1-t1r3c2"])
    rows = docx.Document(io.BytesIO(made.folder.report()[0])).tables[0].rows
    assert [[cell.text for cell in row.cells] for row in rows] == [["a1", "b1"], ["a4", "b4"]]
    assert "Moved: t2 is now t1" in made.says("delete", places=["t1"])


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a " * 1_500_000, "200,000"),  # three million characters
        ("a " * 10_001, "a text of 20,002 characters; expected at most 20,000. Write less"),
        ("a" * 201, "a word of 201 characters; expected at most 200. Part it by spaces"),
    ],
)
def test_what_may_be_written_is_bounded_and_the_model_is_told(kit, text, found):
    made = kit()
    made.says("start_report")
    before = made.folder.report()
    made_by = {
        "fill": {"entries": [{"place": "p1", "text": text}]},
        "insert": {"blocks": [{"kind": "table", "rows": [[text]]}]},
        "add_rows": {"cell": "t1r1c1", "rows": [[text]]},
    }
    for name, arguments in made_by.items():
        assert found in made.fails(name, arguments), name
    assert made.folder.report() == before
    for tool in made.tools.offered:
        if tool["function"]["name"] in ("fill", "insert"):
            assert "at most 20,000 characters, a word in it 200, the whole report 300,000" in str(tool)


def test_a_report_does_not_grow_without_end(kit):
    made = kit()
    made.says("start_report")
    blocks = [{"kind": "paragraph", "text": "word " * 3_900}] * 8
    made.says("insert", blocks=blocks)
    before = made.folder.report()
    assert "it would have 312,000 characters; expected at most 300,000" in made.fails("insert", blocks=blocks)
    assert made.folder.report() == before


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("show_report", {}),
        ("check_report", {}),
        ("fill", {"entries": [{"place": "p1", "text": "x"}]}),
        ("insert", {"blocks": [{"kind": "paragraph", "text": "x"}]}),
        ("add_rows", {"cell": "t1r1c1", "rows": [["x"]]}),
        ("delete", {"places": ["p1"]}),
    ],
)
def test_before_a_report_is_begun(kit, tool, arguments):
    assert kit().fails(tool, arguments) == (
        "outputs/report.docx: no report (outputs/report.docx: no such file); expected one"
        f"{' that is begun' if tool != 'check_report' else ''}. Call start_report first"
    )


def test_a_template_must_be_a_word_file_that_opens(kit):
    made = kit(FILES | {"attachments/broken.docx": b"PK\x03\x04 broken"})
    assert made.fails("start_report", template="attachments/log.pdf").startswith(
        "attachments/log.pdf: no .docx; expected a Word attachment, or no template"
    )
    made.fails("start_report", template="attachments/broken.docx")
    assert made.folder.report()[0] is None


def test_an_empty_report_is_told_to_score_nothing(kit):
    made = kit()
    made.says("start_report")
    assert made.says("check_report").startswith("outputs/report.docx is empty, and would score 0: no word in")
