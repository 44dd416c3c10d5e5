"""What a document lists, in which order, under which ids."""

import pytest

from flows.adapters.report_docx import EditError, Place, ReportDocument


def test_every_kind_in_order(build, word, told):
    document = word(build.BODY)
    listed = told(document)
    ids = [each[0] for each in listed]
    assert listed[0] == ("p1", "heading", "Situation heading")
    assert listed[1] == ("p2", "list_item", "Execution")
    assert ("p11", "paragraph", "Strength is 106 rounds.") in listed
    assert ("p12", "paragraph", "Tab\tstop\nnext line.") in listed
    assert ("p13", "paragraph", "No-break hyphen.") in listed
    # A control that is all of a paragraph, or around one, stands for it.
    assert ("s1", "control", "Inline control.") in listed
    assert ("s2", "control", "Block control.") in listed
    assert "p14" not in ids
    assert "p15" not in ids
    assert ("p17", "paragraph", "See the annex.") in listed
    assert ("p18", "paragraph", "Field says seven boats.") in listed
    assert ("x1", "textbox", "Text box words.") in listed
    assert ids.count("x1") == 1  # its older twin is not told
    assert listed[-4:] == [
        ("h1p1", "header", "Header of all pages"),
        ("h2p1", "header", "Header of the first page"),
        ("h3p1", "header", "Header of even pages"),
        ("f1p1", "footer", "Footer of all pages"),
    ]


def test_merged_and_nested_cells_once(build, word, place):
    document = word(build.BODY)
    cells = [each for each in document.places() if each.place_id.startswith("t1")]
    assert [(each.place_id, each.text) for each in cells] == [
        ("t1", ""),
        ("t1r1c1", "Merged head"),
        ("t1r1c3", "Right head"),
        ("t1r2c1", "Down"),
        ("t1r2c2", "Middle"),
        ("t1r2c3", "7 | 8"),
        ("t1r3c2", "Low"),
        ("t1r3c3", ""),
        ("t1r3c3t1", ""),
        ("t1r3c3t1r1c1", "nested one"),
        ("t1r3c3t1r1c2", "nested two"),
        ("t1r3c3p1", ""),
        ("t1r4c1", "Visible on navy"),
        ("t1r4c2", "x"),
        ("t1r4c3", "y"),
    ]
    assert place(document, "t1").hint == "4 rows, 3 columns"
    assert place(document, "t1r1c1").hint == "spans 2 columns"
    assert place(document, "t1r2c1").hint == "spans 2 rows"
    assert place(document, "t1r3c3").hint == "holds the places after it"


def test_tracked_changes_read_as_accepted(build, word, place):
    document = word(build.BODY)
    ferry = next(each for each in document.places() if each.text.startswith("Ferry"))
    assert ferry.text == "Ferry carries twelve trucks."
    assert ferry.hint == "tracked changes"
    assert [each.text for each in document.places() if "place." in each.text] == [
        "Old place.",
        "New place. Moved words.",
    ]


def test_levels_styles_and_hidden_text(build, word, told):
    document = word(build.BODY)
    places = {each.text: each for each in document.places()}
    assert places["Situation heading"] == Place("p1", "heading", "Situation heading", "Heading 1", 1)
    assert [places[text].level for text in ("Execution", "Tasks to units", "First task")] == [1, 2, 3]
    assert "Seen. " in places  # what Word does not show is not told
    assert places["Field says seven boats."].hint == "field REF"
    assert places["Header of the first page"].hint == "first page"
    assert places["Header of even pages"].hint == "even pages"
    assert places["Header of all pages"].hint == ""


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("[Insert the purpose]", True),
        ("Subject: [topic]", True),
        ("Click or tap here to enter text.", True),
        ("Choose an item.", True),
        ("{{unit_name}}", True),
        ("Signed: ________", True),
        ("&lt;office symbol&gt;", True),
        ("as shown [3] and [12]", False),
        ("[x] done, [ ] open", False),
        ("It were [sic] ready.", False),
        ("write to &lt;a@b.mil&gt;", False),
        ("Clicking noises were heard.", False),
        ("5 &lt; 6 and 7 &gt; 4", False),
    ],
)
def test_what_looks_like_a_placeholder(build, word, place, text, asks):
    found = place(word(build.para(build.run(text))), "p1")
    assert (found.unfilled, found.hint) == (asks, "placeholder" if asks else "")


def test_text_in_the_style_of_placeholders(build, word, place):
    body = build.para(build.run("name of the unit", '<w:rStyle w:val="PlaceholderText"/>'))
    assert place(word(body), "p1").unfilled


def test_a_paragraph_around_controls(build, word, control, place):
    date = control("<w:showingPlcHdr/>", build.run("pick a day"), "Day")
    body = build.para(
        build.run("From: ") + control("<w:text/>", build.run("1-64 AR")) + build.run(" on ") + date
    )
    document = word(body)
    assert place(document, "p1").text == "From: 1-64 AR on pick a day"
    assert place(document, "p1").hint == "holds the controls s1, s2"
    assert not place(document, "p1").unfilled  # what is open is told at the control
    assert place(document, "s1").text == "1-64 AR"
    assert place(document, "s2") == Place(
        "s2",
        "control",
        "",
        "Normal",
        None,
        "title 'Day'; tag 'day'; rich text; prompt 'pick a day'",
        unfilled=True,
    )


def test_a_control_around_several_paragraphs(build, word, control, told, place):
    inside = build.para(build.run("One.")) + build.para(build.run("Two."))
    document = word(control("", inside) + build.para(build.run("Three.")))
    assert told(document) == [
        ("s1", "control", ""),
        ("p1", "paragraph", "One."),
        ("p2", "paragraph", "Two."),
        ("p3", "paragraph", "Three."),
    ]
    assert place(document, "s1").hint == "title 'Unit'; tag 'unit'; rich text; holds the places after it"


def test_controls_around_a_cell_and_a_row(build, word, control, told):
    around_cell = control("<w:text/>", build.cell("held"))
    around_row = control("", build.row(build.cell("c"), build.cell("d")))
    document = word(build.table(f"<w:tr>{build.cell('a')}{around_cell}</w:tr>", around_row, columns=2))
    assert told(document) == [
        ("t1", "table", ""),
        ("t1r1c1", "cell", "a"),
        ("t1r1c2", "cell", ""),
        ("s1", "control", "held"),
        ("t1r2c1", "cell", "c"),
        ("t1r2c2", "cell", "d"),
    ]


def test_a_cell_with_several_paragraphs_and_controls(build, word, control, told):
    several = build.cell(build.para(build.run("one")) + build.para(build.run("two")))
    held = build.cell(build.para(control("", build.run("three"))))
    document = word(build.table(build.row(several, held), columns=2))
    assert told(document) == [
        ("t1", "table", ""),
        ("t1r1c1", "cell", ""),
        ("t1r1c1p1", "paragraph", "one"),
        ("t1r1c1p2", "paragraph", "two"),
        ("t1r1c2", "cell", ""),
        ("s1", "control", "three"),
    ]


def test_an_unknown_place_names_the_last_of_its_kind(build, word):
    document = word(build.para(build.run("one")) + build.para(build.run("two")))
    with pytest.raises(EditError, match="the last of that kind is p2") as caught:
        document.set_text("p9", "x")
    assert caught.value.where == "p9"
    assert "List the places again" in str(caught.value)
    with pytest.raises(EditError, match="no such place"):
        document.delete("q1")


def test_a_blank_document_has_one_empty_paragraph():
    assert ReportDocument.blank().places() == [Place("p1", "paragraph", "", "Normal")]
