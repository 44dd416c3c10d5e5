"""Text that replaces text: look and style stay; changes, prompts and comments go."""

import pytest

from flows.adapters.report_docx import EditError, ReportDocument

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def test_style_and_most_of_the_look_stay(build, word, saved):
    body = build.para(
        build.run("A ", "<w:b/>") + build.run("longer stretch", '<w:i/><w:sz w:val="28"/>'), "Heading1"
    )
    document = word(body)
    document.set_text("p1", "New words")
    assert saved(document).paragraphs() == [("Heading1", [("New words", ["i", "sz"])])]


def test_bold_and_italic(build, word, saved):
    document = word(build.para(build.run("old", '<w:rFonts w:ascii="Arial"/><w:color w:val="FF0000"/>')))
    document.set_text("p1", "a **b** *c*\td")
    assert saved(document).paragraphs() == [
        (
            "",
            [
                ("a ", ["rFonts", "color"]),
                ("b", ["rFonts", "b", "bCs", "color"]),
                (" ", ["rFonts", "color"]),
                ("c", ["rFonts", "i", "iCs", "color"]),
                ("d", ["rFonts", "color"]),
            ],
        )
    ]
    assert document.places()[0].text == "a b c\td"


def test_marks_say_themselves_what_is_bold(build, word, saved):
    document = word(build.para(build.run("all bold", "<w:b/>")))
    document.set_text("p1", "**Label:** text")
    assert saved(document).paragraphs() == [("", [("Label:", ["b", "bCs"]), (" text", [])])]


def test_a_label_that_is_repeated_keeps_its_look(build, word, saved):
    body = build.para(
        build.run("Purpose:", "<w:b/>") + build.run(" [what it is for]", '<w:color w:val="999999"/>')
    )
    document = word(body)
    document.set_text("p1", "Purpose: to report")
    assert saved(document).paragraphs() == [("", [("Purpose:", ["b"]), (" to report", [])])]
    document.set_text("p1", "Purposeful")  # no word is split between two looks
    assert saved(document).paragraphs() == [("", [("Purposeful", [])])]


def test_the_look_of_a_prompt_goes(build, word, saved):
    grey = (
        '<w:rStyle w:val="PlaceholderText"/><w:i/><w:color w:val="808080"/><w:sz w:val="20"/>'
        '<w:highlight w:val="yellow"/>'
    )
    document = word(build.para(build.run("Click here to enter text.", grey)))
    document.set_text("p1", "Written")
    assert saved(document).paragraphs() == [("", [("Written", ["sz"])])]
    assert not document.places()[0].unfilled


def test_lines_become_paragraphs_like_the_first(build, word, told, saved):
    document = word(build.item("One", 1, 0) + build.para(build.run("after")))
    document.set_text("p1", "One\nTwo\n\nThree")
    assert told(document)[:5] == [
        ("p1", "list_item", "One"),
        ("p2", "list_item", "Two"),
        ("p3", "list_item", ""),
        ("p4", "list_item", "Three"),
        ("p5", "paragraph", "after"),
    ]


def test_line_breaks_stay_line_breaks(build, word, told, saved):
    document = word(build.para(build.run("HQ") + "<w:r><w:br/></w:r>" + build.run("Fort")))
    assert told(document)[0] == ("p1", "paragraph", "HQ\nFort")
    document.set_text("p1", "HQ\nCamp\nGate 1")
    assert told(document)[0] == ("p1", "paragraph", "HQ\nCamp\nGate 1")
    assert len(saved(document).all("br")) == 2


@pytest.mark.parametrize("start", ["Ferry", "Old place", "New place"])
def test_tracked_changes_leave_neither(build, word, saved, start):
    document = word(build.BODY)
    found = next(each for each in document.places() if each.text.startswith(start))
    document.set_text(found.place_id, "Only this.")
    paragraph = next(each for each in saved(document).root.iter("{*}p") if "Only this." in each.itertext())
    assert [each.tag.rpartition("}")[2] for each in paragraph.iter()] == ["p", "pPr", "r", "t"]


def test_a_tracked_mark_and_tracked_formatting_go(build, word, saved):
    change = 'w:id="5" w:author="A" w:date="2031-01-01T00:00:00Z"'
    mark = f"<w:rPr><w:del {change}/></w:rPr><w:pPrChange {change}><w:pPr/></w:pPrChange>"
    run = build.run("old", f"<w:b/><w:rPrChange {change}><w:rPr/></w:rPrChange>")
    document = word(build.para(run, more=mark))
    assert document.places()[0].hint == "tracked changes"
    document.set_text("p1", "new")
    assert document.places()[0].hint == ""
    assert saved(document).paragraphs() == [("", [("new", ["b"])])]
    assert b"<w:del " not in saved(document).parts["word/document.xml"]


def test_pictures_breaks_and_bookmarks_stay(build, word, saved):
    body = build.para(
        build.PICTURE
        + '<w:bookmarkStart w:id="7" w:name="here"/>'
        + build.run("old text")
        + '<w:bookmarkEnd w:id="7"/>'
        + '<w:r><w:br w:type="page"/></w:r>'
    )
    document = word(body)
    document.set_text("p1", "new text")
    names = [each.tag.rpartition("}")[2] for each in saved(document).root.find(".//{*}p")]
    assert names == ["pPr", "r", "bookmarkStart", "r", "bookmarkEnd", "r"]
    assert len(saved(document).all("drawing")) == 1
    assert [each.get(W + "type") for each in saved(document).all("br")] == ["page"]


def test_a_bookmark_over_two_paragraphs_goes_with_either_end(build, word, saved):
    body = (
        build.para('<w:bookmarkStart w:id="7" w:name="here"/>' + build.run("one"))
        + build.para(build.run("two") + '<w:bookmarkEnd w:id="7"/>')
        + build.para("")
    )
    document = word(body)
    document.set_text("p1", "new")
    assert len(saved(document).all("bookmarkStart")) == len(saved(document).all("bookmarkEnd")) == 1
    document.delete("p2")
    assert len(saved(document).all("bookmarkStart")) == len(saved(document).all("bookmarkEnd")) == 0


def test_comments_go_with_the_text_they_hang_on(build, word, saved):
    document = word(build.BODY)
    found = next(each for each in document.places() if each.text == "Commented words.")
    document.set_text(found.place_id, "No more.")
    assert saved(document).all("commentRangeStart") == saved(document).all("commentReference") == []
    assert len(saved(document).xml("word/comments.xml")) == 0
    assert len(saved(word(build.BODY)).xml("word/comments.xml")) == 1


def test_the_end_of_a_section_stays_at_the_end(build, word, saved):
    section = '<w:sectPr><w:pgSz w:w="15840" w:h="12240"/></w:sectPr>'
    document = word(build.para(build.run("wide"), more=section) + build.para(build.run("narrow")))
    document.set_text("p1", "one\ntwo")
    paragraphs = saved(document).all("p")
    assert [len(list(each.iter("{*}sectPr"))) for each in paragraphs] == [0, 1, 0]
    assert document.places()[1].text == "two"


def test_hidden_text_does_not_hide_what_replaces_it(build, word, saved):
    document = word(build.para(build.run("a very long hidden text", "<w:vanish/>") + build.run("x")))
    document.set_text("p1", "seen")
    assert saved(document).paragraphs() == [("", [("seen", [])])]
    document = word(build.para(build.run("all hidden", "<w:vanish/>")))
    document.set_text("p1", "seen")
    assert document.places()[0].text == "seen"


def test_an_empty_paragraph_takes_the_look_of_its_mark(build, word, saved):
    document = word(build.para("", more='<w:rPr><w:sz w:val="18"/></w:rPr>'))
    document.set_text("p1", "small")
    assert saved(document).paragraphs() == [("", [("small", ["sz"])])]


def test_headers_footers_and_text_boxes(build, word, told, saved):
    document = word(build.BODY)
    document.set_text("h2p1", "First\nSecond")
    document.set_text("f1p1", "Foot")
    document.set_text("x1", "In the box\nand below")
    listed = told(document)
    assert ("h2p1", "header", "First") in listed
    assert ("h2p2", "header", "Second") in listed
    assert ("f1p1", "footer", "Foot") in listed
    assert ("x1p2", "paragraph", "and below") in listed
    boxes = saved(document).all("txbxContent")
    assert ["".join(each.itertext()) for each in boxes] == ["In the boxand below"] * 2  # the twin is alike


def test_a_cell_keeps_the_look_of_each_line(build, word, saved, told):
    inside = build.para(build.run("Label", "<w:b/>"), "Heading1") + build.para(build.run("[text]", "<w:sz/>"))
    document = word(build.table(build.row(build.cell(inside))))
    document.set_text("t1r1c1", "Label\nline one\nline two")
    assert saved(document).paragraphs() == [
        ("Heading1", [("Label", ["b"])]),
        ("", [("line one", ["sz"])]),
        ("", [("line two", ["sz"])]),
    ]
    document.set_text("t1r1c1", "alone")
    assert told(document)[1] == ("t1r1c1", "cell", "alone")
    document.set_text("t1r1c1", "")
    assert told(document)[1] == ("t1r1c1", "cell", "")


def test_what_takes_no_text(build, word):
    document = word(build.BODY)
    before = document.places()
    with pytest.raises(EditError, match="Name a cell, such as t1r1c1"):
        document.set_text("t1", "x")
    with pytest.raises(EditError, match="it contains a table"):
        document.set_text("t1r3c3", "x")
    with pytest.raises(EditError, match=r"U\+0007"):
        document.set_text("p1", "bell \a")
    assert document.places() == before


def test_one_line_of_a_table_of_contents(build, word):
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    body = (
        build.para(
            mark("begin")
            + "<w:r><w:instrText> TOC </w:instrText></w:r>"
            + mark("separate")
            + build.run("A 1")
        )
        + build.para(build.run("B 2"))
        + build.para(build.run("C 3") + mark("end"))
        + build.para(build.field(" REF x ", "four"))
    )
    document = word(body)
    for place_id in ("p1", "p3"):
        with pytest.raises(EditError, match="part of a field"):
            document.set_text(place_id, "x")
        with pytest.raises(EditError, match="part of a field"):
            document.delete(place_id)
    document.set_text("p4", "five")  # a whole field is text like any other
    assert document.places()[3].text == "five"


def test_set_text_on_every_place_changes_that_place_alone(build, packed):
    data = packed(build.BODY)
    before = ReportDocument.open(data).places()
    one_text = [each for each in before if each.kind != "table" and "places after" not in each.hint]
    assert len(one_text) == 50  # 31 paragraphs, 2 controls, a box, 12 in cells, 4 in headers and footers
    for place in one_text:
        document = ReportDocument.open(data)
        document.set_text(place.place_id, "Alpha **beta**")
        after = {each.place_id: each.text for each in document.places()}
        wanted = {each.place_id: each.text for each in before} | {place.place_id: "Alpha beta"}
        assert after == wanted, place
