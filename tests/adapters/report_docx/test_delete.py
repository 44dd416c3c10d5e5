"""What is deleted, and what Word needs to keep."""

from collections import Counter

import pytest

from flows.adapters.report_docx import EditError, ReportDocument


def test_a_paragraph_a_box_and_a_table(build, word, told):
    document = word(build.BODY)
    document.delete("p2")
    assert told(document)[1] == ("p2", "list_item", "Skipped sibling")
    document.delete("x1")
    assert not [each for each in told(document) if each[0].startswith("x")]
    assert any(each[2] == "Box beside. " for each in told(document))
    document.delete("t1")
    assert not [each for each in told(document) if each[0].startswith("t")]


def test_what_word_needs_is_emptied_instead(build, word, told):
    tables = build.table(build.row(build.cell("a"))) + build.para(build.run("between"))
    after = build.table(build.row(build.cell("b"))) + build.para(build.run("last"))
    document = word(tables + after + build.SECTION)
    document.delete("p1")
    assert ("p1", "paragraph", "") in told(document)
    document.delete("p2")
    assert ("p2", "paragraph", "") in told(document)
    document.delete("t1r1c1p1")
    assert ("t1r1c1", "cell", "") in told(document)
    document.delete("h1p1")
    assert ("h1p1", "header", "") in told(document)


def test_the_end_of_a_section_stays(build, word, told, saved):
    section = '<w:sectPr><w:pgSz w:w="15840" w:h="12240"/></w:sectPr>'
    document = word(build.para(build.run("wide"), more=section) + build.para(build.run("narrow")))
    document.delete("p1")
    assert told(document)[0] == ("p1", "paragraph", "")
    assert len(saved(document).all("sectPr")) == 1


def test_controls(build, word, control, told, saved):
    document = word(
        build.para(control("", build.run("x"))) + build.para(build.run("To: ") + control("", build.run("y")))
    )
    document.delete("s1")
    assert told(document)[0] == ("p1", "paragraph", "To: y")
    document.delete("s1")
    assert told(document)[0] == ("p1", "paragraph", "To: ")
    block = control("", build.para(build.run("a")) + build.table(build.row(build.cell("c"))) + build.para(""))
    document = word(block + build.para(build.run("end")))
    document.delete("s1")
    assert told(document)[0] == ("p1", "paragraph", "end")
    alone = word(control("", build.para(build.run("a"))))
    alone.delete("s1")
    assert told(alone)[0] == ("p1", "paragraph", "")


def test_a_control_around_a_cell_leaves_the_cell(build, word, control, told, saved):
    held = control("", build.cell("held"))
    document = word(build.table(f"<w:tr>{build.cell('a')}{held}</w:tr>", columns=2))
    document.delete("s1")
    assert told(document)[:3] == [("t1", "table", ""), ("t1r1c1", "cell", "a"), ("t1r1c2", "cell", "")]
    assert saved(document).all("sdt") == []


def test_the_last_paragraph_of_a_control_takes_it_along(build, word, control, told, saved):
    inside = build.para(build.run("one")) + build.para(build.run("two"))
    document = word(control("", inside) + build.para(build.run("end")))
    document.delete("p2")
    assert told(document)[:2] == [("s1", "control", "one"), ("p2", "paragraph", "end")]
    document.delete("p1")
    assert told(document)[0] == ("p1", "paragraph", "end")
    assert saved(document).all("sdt") == []


def test_comments_of_a_deleted_row(build, word, saved):
    mark = '<w:commentRangeStart w:id="1"/>' + build.run("a") + '<w:commentRangeEnd w:id="1"/>'
    noted = build.cell(build.para(mark + '<w:r><w:commentReference w:id="1"/></w:r>'))
    document = word(build.table(build.row(noted), build.row(build.cell("b"))) + build.para(""))
    document.delete("t1r1c1")
    assert len(saved(document).xml("word/comments.xml")) == 0


def test_every_place_goes_alone(build, packed):
    data = packed(build.BODY)
    before = ReportDocument.open(data).places()
    for place in before:
        document = ReportDocument.open(data)
        try:
            document.delete(place.place_id)
        except EditError as fault:
            assert "the only row" in str(fault)  # noqa: PT017 -- the one refusal that may come
            continue
        texts = Counter(each.text for each in before if each.text)
        left = Counter(each.text for each in document.places() if each.text)
        lost = texts - left
        assert left - texts == Counter(), place
        if place.kind != "cell" and place.text:
            assert place.text in lost, place
        if place.kind not in {"cell", "table"} and place.text:
            assert sum(lost.values()) <= 2, place  # a box goes with its paragraph


def test_an_empty_place_can_be_deleted(build, word, told):
    document = word(build.para("") + build.para(build.run("a")))
    document.delete("p1")
    assert told(document)[0] == ("p1", "paragraph", "a")
    with pytest.raises(EditError):
        document.delete("p3")
