"""Each kind of content control, as Word itself would fill it."""

import pytest

from flows.adapters.report_docx import Block, EditError

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
PROMPT = '<w:rStyle w:val="PlaceholderText"/><w:color w:val="808080"/>'
DROPDOWN = (
    '<w:dropDownList><w:listItem w:displayText="Choose an item." w:value=""/>'
    '<w:listItem w:displayText="Met" w:value="1"/><w:listItem w:value="Not met"/></w:dropDownList>'
)
DATE = '<w:date><w:dateFormat w:val="d MMMM yyyy"/><w:lid w:val="en-US"/></w:date>'


@pytest.fixture
def filled(build, word, control):
    """A document of one paragraph that a control with a prompt fills."""

    def make(properties, prompt="Click here.", beside=""):
        held = control("<w:showingPlcHdr/>" + properties, build.run(prompt, PROMPT))
        return word(build.para(beside + held) + build.para(build.run("after")))

    return make


def test_rich_text(filled, place, saved):
    document = filled("")
    assert place(document, "s1").hint == "title 'Unit'; tag 'unit'; rich text; prompt 'Click here.'"
    assert place(document, "s1").unfilled
    document.set_text("s1", "Now **bold**")
    assert place(document, "s1").text == "Now bold"
    assert not place(document, "s1").unfilled
    assert saved(document).all("showingPlcHdr") == []
    assert saved(document).paragraphs()[0] == ("", [("Now ", []), ("bold", ["b", "bCs"])])


def test_lines_of_a_control_that_fills_its_paragraph(filled, told):
    document = filled("")
    document.set_text("s1", "one\ntwo\nthree")
    assert told(document)[:4] == [
        ("s1", "control", "one"),
        ("p2", "paragraph", "two"),
        ("p3", "paragraph", "three"),
        ("p4", "paragraph", "after"),
    ]


def test_lines_of_a_control_beside_text(build, filled, place, saved):
    document = filled("", beside=build.run("To: "))
    document.set_text("s1", "one\ntwo")
    assert place(document, "s1").text == "one\ntwo"
    assert place(document, "p1").text == "To: one\ntwo"
    assert len(saved(document).all("br")) == 1


def test_plain_text(filled, place):
    document = filled("<w:text/>")
    assert place(document, "s1").hint.endswith("text; one line; prompt 'Click here.'")
    with pytest.raises(EditError, match="one line"):
        document.set_text("s1", "one\ntwo")
    with pytest.raises(EditError, match="leave out the stars".capitalize()):
        document.set_text("s1", "**one**")
    assert place(document, "s1").unfilled  # a refused text leaves the control as it was
    document.set_text("s1", r"one \* two")
    assert place(document, "s1").text == "one * two"
    several = filled('<w:text w:multiLine="1"/>')
    several.set_text("s1", "one\ntwo")
    assert place(several, "s1").text == "one\ntwo"


def test_dropdown(filled, place, saved):
    document = filled(DROPDOWN)
    assert place(document, "s1").hint.endswith("dropdown; choices: Met | Not met; prompt 'Click here.'")
    with pytest.raises(EditError, match=r"one of its choices: Met \| Not met"):
        document.set_text("s1", "Partly")
    with pytest.raises(EditError):
        document.set_text("s1", "Choose an item.")
    assert place(document, "s1").unfilled
    document.set_text("s1", "not MET")
    assert place(document, "s1").text == "Not met"
    assert saved(document).all("dropDownList")[0].get(W + "lastValue") == "Not met"
    document.set_text("s1", "1")  # the stored value names the choice too
    assert place(document, "s1").text == "Met"
    document.set_text("s1", "")
    assert place(document, "s1").text == ""
    assert saved(document).all("dropDownList")[0].get(W + "lastValue") is None


def test_combo_box_takes_any_text(filled, place, saved):
    document = filled(DROPDOWN.replace("dropDownList", "comboBox"))
    document.set_text("s1", "Partly")
    assert place(document, "s1").text == "Partly"
    document.set_text("s1", "met")
    assert place(document, "s1").text == "Met"
    assert saved(document).all("comboBox")[0].get(W + "lastValue") == "1"


def test_date(filled, place, saved):
    document = filled(DATE)
    assert place(document, "s1").hint.endswith("date; format d MMMM yyyy; prompt 'Click here.'")
    for text in ("TBD", "04/05/2031x", "31 April 2031"):
        with pytest.raises(EditError, match="a date such as 2031-04-30"):
            document.set_text("s1", text)
    assert saved(document).all("date")[0].get(W + "fullDate") is None
    document.set_text("s1", "2031-04-30")
    assert place(document, "s1").text == "30 April 2031"
    assert saved(document).all("date")[0].get(W + "fullDate") == "2031-04-30T00:00:00Z"
    document.set_text("s1", "")
    assert saved(document).all("date")[0].get(W + "fullDate") is None


def test_date_in_another_language_or_an_unknown_form(filled, place, saved):
    document = filled(DATE.replace("en-US", "de-DE"))
    document.set_text("s1", "30 Apr 2031")
    assert place(document, "s1").text == "30 Apr 2031"
    assert saved(document).all("date")[0].get(W + "fullDate") == "2031-04-30T00:00:00Z"
    document = filled("<w:date/>")
    document.set_text("s1", "April 30, 2031")
    assert place(document, "s1").text == "April 30, 2031"


@pytest.mark.parametrize("font", ['w14:font="Wingdings"', ""])
def test_checkbox(build, word, control, place, saved, font):  # noqa: PLR0917 -- fixtures
    box = (
        f'<w14:checkbox xmlns:w14="{W14[1:-1]}"><w14:checked w14:val="0"/>'
        f'<w14:checkedState w14:val="00FE" {font}/><w14:uncheckedState w14:val="00A8" {font}/></w14:checkbox>'
    )
    document = word(build.para(control(box, build.run("\u00a8")) + build.run(" Agreed")))
    assert place(document, "s1").text == "unchecked"
    assert place(document, "s1").hint.endswith("checkbox")
    document.set_text("s1", "Checked")
    assert place(document, "s1").text == "checked"
    assert place(document, "p1").text == "\u00fe Agreed"
    assert next(saved(document).root.iter(W14 + "checked")).get(W14 + "val") == "1"
    fonts = saved(document).all("rFonts")[0]
    assert fonts.get(W + "ascii") == ("Wingdings" if font else "MS Gothic")
    document.set_text("s1", "no")
    assert (place(document, "s1").text, place(document, "p1").text) == ("unchecked", "\u00a8 Agreed")
    with pytest.raises(EditError, match="checked or unchecked"):
        document.set_text("s1", "perhaps")


def test_checkbox_that_says_nothing_of_its_signs(build, word, control, place):
    box = f'<w14:checkbox xmlns:w14="{W14[1:-1]}"/>'
    document = word(build.para(control(box, build.run("\u2610"))))
    document.set_text("s1", "x")
    assert place(document, "s1").text == "checked"
    assert document._found["p1"].place.text == "\u2612"


def test_block_control(build, word, control, told, saved, place):  # noqa: PLR0917 -- fixtures
    prompt = build.para(build.run("Click here.", PROMPT))
    document = word(control("<w:showingPlcHdr/>", prompt) + build.para(build.run("after")))
    assert place(document, "s1").unfilled
    document.set_text("s1", "one\ntwo")
    assert told(document)[:4] == [
        ("s1", "control", ""),
        ("p1", "paragraph", "one"),
        ("p2", "paragraph", "two"),
        ("p3", "paragraph", "after"),
    ]
    assert all(look == [] for _, runs in saved(document).paragraphs()[:2] for _, look in runs)
    document.set_text("s1", "one line")
    assert told(document)[0] == ("s1", "control", "one line")


def test_control_around_a_cell(build, word, control, told, place):
    held = control("<w:showingPlcHdr/><w:text/>", build.cell(build.para(build.run("rate", PROMPT))))
    document = word(build.table(f"<w:tr>{build.cell('a')}{held}</w:tr>", columns=2))
    assert place(document, "s1").unfilled
    document.set_text("t1r1c2", "84%")  # the cell leads to its control
    assert place(document, "s1").text == "84%"
    assert not place(document, "s1").unfilled


def test_look_that_the_control_names(build, word, control, saved):
    look = '<w:rPr><w:rStyle w:val="Entry"/><w:b/><w:color w:val="1F3864"/></w:rPr><w:showingPlcHdr/>'
    inline = control(look, build.run("Click here.", PROMPT))
    block = control(look, build.para(build.run("Click here.", PROMPT)))
    document = word(build.para(inline) + block)
    document.set_text("s1", "new")
    document.set_text("s2", "too")
    assert saved(document).paragraphs() == [
        ("", [("new", ["rStyle", "b", "color"])]),
        ("", [("too", ["rStyle", "b", "color"])]),
    ]


def test_the_paragraph_of_a_prompt_is_the_control(build, word, control, told):
    prompt = build.para(build.run("Click here.", PROMPT))
    document = word(control("<w:showingPlcHdr/>", prompt) + build.para(build.run("after")))
    document.insert("p1", [Block("paragraph", "beside")])  # not listed, and known all the same
    document.set_text("p1", "written")
    assert told(document)[:3] == [
        ("s1", "control", "written"),
        ("p2", "paragraph", "beside"),
        ("p3", "paragraph", "after"),
    ]
    assert not document.places()[0].unfilled


def test_a_link_to_data_goes(filled, saved):
    # Word would write the data over the text when it opens the file.
    document = filled('<w:dataBinding w:xpath="/a" w:storeItemID="{1}"/><w:text/>')
    document.set_text("s1", "new")
    assert saved(document).all("dataBinding") == []


def test_a_control_for_one_time_goes_with_the_first_text(filled, told, saved):
    document = filled("<w:temporary/>")
    document.set_text("s1", "new")
    assert told(document)[0] == ("p1", "paragraph", "new")
    assert saved(document).all("sdt") == []


@pytest.mark.parametrize(
    ("lock", "sets", "deletes"),
    [
        ("unlocked", True, True),
        ("sdtLocked", True, False),
        ("contentLocked", False, True),
        ("sdtContentLocked", False, False),
    ],
)
def test_locks(filled, lock, sets, deletes):
    for act, allowed in ((lambda d: d.set_text("s1", "x"), sets), (lambda d: d.delete("s1"), deletes)):
        document = filled(f'<w:lock w:val="{lock}"/>')
        before = document.to_bytes()
        if allowed:
            act(document)
            assert document.to_bytes() != before
        else:
            with pytest.raises(EditError, match="is locked"):
                act(document)
            assert document.to_bytes() == before


def test_a_lock_holds_what_lies_in_and_around(build, word, control):
    inner = build.para(build.run("a")) + build.para(build.run("b"))
    document = word(control('<w:lock w:val="contentLocked"/>', inner) + build.para(build.run("free")))
    for act in (
        lambda: document.set_text("p1", "x"),
        lambda: document.delete("p2"),
        lambda: document.insert("p1", []),
    ):
        with pytest.raises(EditError, match="the rich text control 'Unit' is locked"):
            act()
    document.insert("s1", [])  # beside it is outside of it
    locked = control('<w:lock w:val="sdtLocked"/>', build.run("keep"))
    document = word(build.para(build.run("To: ") + locked))
    with pytest.raises(EditError, match="can't be written over"):
        document.set_text("p1", "To: all")
    with pytest.raises(EditError, match="can't be deleted"):
        document.delete("p1")
    document.set_text("s1", "changed")
    assert document.places()[0].text == "To: changed"


def test_a_group_lets_only_its_controls_be_filled(build, word, control, place):
    inner = build.para(build.run("Form text ")) + build.para(control("<w:text/>", build.run("x")))
    document = word(control("<w:group/>", inner, title="Form"))
    with pytest.raises(EditError, match="only the controls in it"):
        document.set_text("p1", "other")
    document.set_text("s2", "filled")
    assert place(document, "s2").text == "filled"


def test_what_takes_no_text(build, word, control):
    picture = control("<w:picture/>", build.PICTURE, title="Logo")
    document = word(build.para(picture + build.run("x")))
    with pytest.raises(EditError, match="the picture control 'Logo', which takes no text"):
        document.set_text("s1", "x")
    document.set_text("p1", "y")
    assert [each.kind for each in document.places()[:2]] == [
        "paragraph",
        "control",
    ]  # the logo is still there
    document = word(control("", build.table(build.row(build.cell("a")))) + build.para(""))
    with pytest.raises(EditError, match="which holds a table"):
        document.set_text("s1", "x")
