"""Rows that are added and deleted, merged cells, controls in rows."""

import pytest

from flows.adapters.report_docx import EditError

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def cells(document, table="t1"):
    """Texts of a table's cells by id, without the holders of controls."""
    return {
        each.place_id.removeprefix(table): each.text
        for each in document.places()
        if each.kind == "cell" and each.place_id.startswith(table)
    }


def test_a_row_like_its_neighbour(build, word, saved):
    bold = build.cell(
        build.para(build.run("1", "<w:b/>"), "Heading1"), '<w:shd w:val="clear" w:fill="EEEEEE"/>'
    )
    document = word(
        build.table(build.row(bold, build.cell("2")), build.row(build.cell("3"), build.cell("4")), columns=2)
    )
    document.add_row("t1r1c2", ["new *a*", "new\nb"])
    assert cells(document) == {
        "r1c1": "1", "r1c2": "2", "r2c1": "new a", "r2c2": "", "r3c1": "3", "r3c2": "4",
    }  # fmt: skip
    assert saved(document).paragraphs()[2:5] == [
        ("Heading1", [("new ", []), ("a", ["i", "iCs"])]),
        ("", [("new", [])]),
        ("", [("b", [])]),
    ]
    assert len(saved(document).all("shd")) == 2


def test_a_row_after_the_heading_row_looks_like_the_row_below(build, word, saved):
    head = (
        f"<w:tr><w:trPr><w:tblHeader/></w:trPr>{build.cell(build.para(build.run('Head', '<w:b/>')))}</w:tr>"
    )
    document = word(build.table(head, build.row(build.cell("body"))))
    document.add_row("t1r1c1", ["new"])
    assert [look for _, runs in saved(document).paragraphs() for _, look in runs] == [["b"], [], []]
    assert cells(document) == {"r1c1": "Head", "r2c1": "new", "r3c1": "body"}
    assert len(saved(document).all("tblHeader")) == 1
    alone = word(build.table(head))
    alone.add_row("t1r1c1", ["new"])
    assert len(saved(alone).all("tblHeader")) == 1


def test_the_number_of_texts(build, word):
    document = word(
        build.table(build.row(build.cell("a"), build.cell("b")), columns=2) + build.para(build.run("c"))
    )
    before = document.to_bytes()
    with pytest.raises(EditError, match="3 texts for a row of 2 cells; expected 2 texts"):
        document.add_row("t1r1c1", ["1", "2", "3"])
    with pytest.raises(EditError, match="no table around it"):
        document.add_row("p1", ["1", "2"])
    assert document.to_bytes() == before


def merged(build, *marks):
    """A table whose first column is merged as the marks say."""
    return build.table(
        *(
            build.row(
                build.cell(f"m{at}", f'<w:vMerge w:val="{mark}"/>' if mark else ""), build.cell(f"v{at}")
            )
            for at, mark in enumerate(marks)
        ),
        columns=2,
    )


@pytest.mark.parametrize(
    ("row", "texts", "spans"),
    [
        ("t1r1c2", ["new"], "spans 3 rows"),  # between two merged cells
        ("t1r2c2", ["new"], "spans 3 rows"),  # below the last: the group grows
        ("t1r3c2", ["x", "new"], "spans 2 rows"),
    ],
)
def test_a_row_among_merged_cells(build, word, place, row, texts, spans):  # noqa: PLR0917 -- fixtures
    document = word(merged(build, "restart", "continue", ""))
    document.add_row(row, texts)
    assert place(document, "t1r1c1").hint == spans
    assert list(cells(document).values()).count("new") == 1
    assert list(cells(document).values())[:2] == ["m0", "v0"]


def test_a_deleted_row_hands_down_what_is_merged(build, word, place):
    document = word(merged(build, "restart", "continue", "continue", ""))
    document.delete("t1r1c2")
    assert cells(document) == {"r1c1": "m0", "r1c2": "v1", "r2c2": "v2", "r3c1": "m3", "r3c2": "v3"}
    assert place(document, "t1r1c1").hint == "spans 2 rows"
    document.delete("t1r2c2")
    assert cells(document) == {"r1c1": "m0", "r1c2": "v1", "r2c1": "m3", "r2c2": "v3"}


def test_the_only_row_stays(build, word):
    document = word(build.table(build.row(build.cell("a"))) + build.para(""))
    with pytest.raises(EditError, match="the only row of its table"):
        document.delete("t1r1c1")
    document.delete("t1")
    assert [each.kind for each in document.places()[:1]] == ["paragraph"]


def test_controls_in_a_row_are_copied_and_filled(build, word, control, saved):
    def held(name, properties=""):
        return build.cell(
            build.para(control(f'<w:id w:val="{name}"/><w:showingPlcHdr/>{properties}', build.run("prompt")))
        )

    choice = '<w:dropDownList><w:listItem w:value="Met"/><w:listItem w:value="Not met"/></w:dropDownList>'
    document = word(build.table(build.row(held("7"), held("8", choice)), columns=2) + build.para(""))
    document.set_text("s1", "first")
    document.set_text("s2", "Met")
    document.add_row("s1", ["second", ""])
    places = document.places()
    assert [each.text for each in places if each.kind == "control"] == ["first", "Met", "second", ""]
    assert not any(each.unfilled for each in places)
    assert [each.get(W + "val") for each in saved(document).all("id")] == ["7", "8", "9", "10"]
    before = document.to_bytes()
    with pytest.raises(EditError, match="one of its choices"):
        document.add_row("s1", ["third", "Partly"])
    assert document.to_bytes() == before


def test_an_item_of_a_repeating_section(build, word, saved):
    space = 'xmlns:w15="http://schemas.microsoft.com/office/word/2012/wordml"'
    item = (
        f'<w:sdt><w:sdtPr><w:id w:val="2"/><w15:repeatingSectionItem {space}/></w:sdtPr><w:sdtContent>'
        f"{build.row(build.cell('a'))}</w:sdtContent></w:sdt>"
    )
    section = (
        f'<w:sdt><w:sdtPr><w:id w:val="1"/><w15:repeatingSection {space}/></w:sdtPr>'
        f"<w:sdtContent>{item}</w:sdtContent></w:sdt>"
    )
    document = word(build.table(build.row(build.cell("head")), section))
    document.add_row("t1r2c1", ["b"])
    assert cells(document) == {"r1c1": "head", "r2c1": "a", "r3c1": "b"}
    assert [each.get(W + "val") for each in saved(document).all("id")] == ["1", "2", "3"]
    document.delete("t1r2c1")
    assert cells(document) == {"r1c1": "head", "r2c1": "b"}
    assert len(saved(document).all("sdt")) == 2


def test_nested_table(build, word, place):
    document = word(build.BODY)
    document.set_text("t1r3c3t1r1c2", "inner")
    document.add_row("t1r3c3t1r1c1", ["x", "y"])
    assert place(document, "t1r3c3t1r1c2").text == "inner"
    assert place(document, "t1r3c3t1r2c1").text == "x"
    assert place(document, "t1").hint == "4 rows, 3 columns"
    assert place(document, "t1r3c3t1").hint == "2 rows, 2 columns"
    with pytest.raises(EditError, match="Name a cell, such as t1r3c3t1r1c1"):
        document.add_row("t1r3c3t1", ["x", "y"])


def test_ids_marks_and_comments_are_not_copied(build, word, saved):
    marks = (
        '<w:bookmarkStart w:id="3" w:name="b"/>' + build.run("a") + '<w:bookmarkEnd w:id="3"/>'
        '<w:commentRangeStart w:id="1"/><w:commentRangeEnd w:id="1"/>'
        '<w:r><w:commentReference w:id="1"/></w:r>'
    )
    paragraph = build.para(marks).replace(
        "<w:p>",
        '<w:p xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" w14:paraId="0000000A">',
        1,
    )
    document = word(build.table(build.row(build.cell(paragraph))) + build.para(""))
    document.add_row("t1r1c1", ["b"])
    assert cells(document) == {"r1c1": "a", "r2c1": "b"}
    kept = saved(document)
    assert len(kept.all("bookmarkStart")) == len(kept.all("commentReference")) == 1
    assert kept.parts["word/document.xml"].count(b"paraId=") == 1
    assert len(kept.xml("word/comments.xml")) == 1
