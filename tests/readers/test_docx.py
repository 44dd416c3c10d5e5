"""What a person sees in a Word file, against what the reader gives."""

import pytest

from flows.readers import read_document
from tests.support.documents import seen, texts


def test_marked_document_is_read_as_a_person_sees_it(fixture):
    document = fixture("marked.docx")
    body = [b.text for b in document.blocks if b.place.startswith("paragraph")]
    assert body == [
        "# Situation heading",
        "1. Execution",
        "  a. Skipped sibling",
        "  b. Tasks to units",
        "    (1) First task",
        "    (2) Second task",
        "2. Sustainment",
        "1. Restarted list",
        "I. Legal chapter",
        "  1.1 Legal paragraph",
        "Strength is 10⁶ rounds.",
        "Tab\tstop\nnext line.",
        "No-break hyphen.",
        "Inline control.",
        "Block control.",
        "Smart tag.",
        "See the annex (https://example.org/annex).",
        "Field says seven boats.",
        "Sign ✓ done.",
        "☒ Box ticked.",
        "Ferry carries twelve trucks.",
        "Old place.",
        "New place. Moved words.",
        "Commented words.",
        "Seen.",
        "Seen too.",
        "Seen as well.",
        "~~Cancelled order.~~",
        "Depth (a+b)/c metres.",
        "Picture:",
        "[Image: Map of the northern sector]",
        "Box beside.",
        "Noted[^1] here.",
        "Ended[^i] here.",
    ]


def test_what_stands_beside_the_text_comes_once_and_in_its_place(fixture):
    document = fixture("marked.docx")
    assert texts(document, "header") == [
        "[Header] Header of all pages",
        "[Header] Header of the first page",
        "[Header] Header of even pages",
    ]
    assert texts(document, "footer") == ["[Footer] Footer of all pages"]
    assert texts(document, "textbox") == ["[Text box] Text box words."]
    assert texts(document, "comment") == [
        '[Comment by J. Moss, 2026-02-03 04:05, on "Commented words."] Comment words.'
    ]
    everything = texts(document)
    noted = everything.index("Noted[^1] here.")
    assert everything[noted + 1] == "[^1]: Footnote words."
    assert everything[everything.index("Ended[^i] here.") + 1] == "[^i]: Endnote words."
    assert everything[-1] == "[Footer] Footer of all pages"


def test_citation_of_a_numbered_paragraph_is_its_place(fixture):
    places = {block.text.strip(): block.place for block in fixture("marked.docx").blocks}
    assert places["(2) Second task"] == "paragraph 6, 1.b.(2)"
    assert places["1.1 Legal paragraph"] == "paragraph 10, 1.1"


def test_table_has_merged_cells_once_and_its_inner_table_below(fixture):
    outer, inner = texts(fixture("marked.docx"), "table")
    assert outer == (
        "| Merged head [spans 2 columns] |  | Right head |\n"
        "| --- | --- | --- |\n"
        "| Down [spans 2 rows] | Middle | 7 \\| 8 |\n"
        "|  | Low | [table below] |\n"
        "| Visible on navy | x | y |"
    )
    assert inner == ("[Table inside table 1, row 3, column 3]\n| nested one | nested two |\n| --- | --- |")


def test_changes_and_hidden_text_are_reported_not_read(fixture):
    document = fixture("marked.docx")
    assert seen(document, "hidden_text") == [
        ("paragraph 25", "hidden: Vanished words."),
        ("paragraph 26", "the colour of its ground: White words."),
        ("paragraph 27", "one-point: Tiny words."),
    ]
    assert seen(document, "revisions") == [
        ("document", "2 tracked insertions, 1 deletion, 1 move"),
        ("paragraph 21", "deleted by R. Hale on 2026-01-02: forty"),
    ]
    assert document.blocks[0].kind == "note"
    assert "tracked changes" in document.blocks[0].text


def test_strict_file_reads_as_the_transitional_one(build, tmp_path, fixture):
    strict = {
        name: text
        if isinstance(text, bytes)
        else text.replace(
            "http://schemas.openxmlformats.org/wordprocessingml/2006/",
            "http://purl.oclc.org/ooxml/wordprocessingml/",
        )
        .replace(
            "http://schemas.openxmlformats.org/officeDocument/2006/",
            "http://purl.oclc.org/ooxml/officeDocument/",
        )
        .replace("http://schemas.openxmlformats.org/drawingml/2006/", "http://purl.oclc.org/ooxml/drawingml/")
        for name, text in build.word_parts().items()
    }
    assert strict["word/document.xml"].count("purl.oclc.org") == 7
    path = tmp_path / "strict.docx"
    build.zipped(path, strict)
    assert read_document(path).blocks == fixture("marked.docx").blocks


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [
        (".docm", "application/vnd.ms-word.document.macroEnabled.main+xml"),
        (".dotx", "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml"),
    ],
)
def test_templates_and_files_with_macros_are_read(build, tmp_path, fixture, suffix, kind):
    parts = build.word_parts()
    parts["[Content_Types].xml"] = parts["[Content_Types].xml"].replace(
        build.TYPE + "document.main+xml", kind
    )
    path = tmp_path / f"file{suffix}"
    build.zipped(path, parts)
    document = read_document(path)
    assert document.blocks == fixture("marked.docx").blocks
    assert [n.detail for n in document.notices if n.kind == "macro"] == (
        ["the file carries VBA code; it is neither run nor read"] if suffix == ".docm" else []
    )


def test_deleted_paragraph_mark_joins_two_paragraphs(word, build):
    deleted = f"<w:rPr><w:del {build.AUTHOR}/></w:rPr>"
    document = word(build.para(build.run("One "), more=deleted) + build.para(build.run("sentence.")))
    assert texts(document, "paragraph") == ["One sentence."]


def test_deleted_and_moved_cells_go_and_are_reported(word, build):
    author = build.AUTHOR
    moved = build.para(f"<w:moveFrom {author}>{build.run('Moved.')}</w:moveFrom>")
    gone = f"<w:tr><w:trPr><w:del {author}/></w:trPr>{build.cell('Dead')}{build.cell('12')}{{}}</w:tr>".format
    document = word(
        build.table(
            build.row(build.cell("Kept"), build.cell("Old", f"<w:cellDel {author}/>")),
            build.row(build.cell("Also kept"), build.cell("New", f"<w:cellIns {author}/>")),
            gone(build.cell(moved)),
            f"<w:tr><w:trPr><w:del {author}/></w:trPr>{build.cell(moved)}</w:tr>",
        )
    )
    assert texts(document, "table") == ["| Kept |  |\n| --- | --- |\n| Also kept | New |"]
    assert seen(document, "revisions") == [
        ("document", "1 tracked insertion, 2 deletions, 2 moves"),
        ("table 1", "deleted by R. Hale on 2026-01-02: Old"),
        ("table 1", "deleted by R. Hale on 2026-01-02: Dead 12"),
    ]


def test_note_that_goes_with_its_reference_is_reported(word, build):
    reference = '<w:r><w:delText>Old</w:delText></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
    document = word(build.para(build.run("Kept.") + f"<w:del {build.AUTHOR}>{reference}</w:del>"))
    assert texts(document, "footnote") == []
    assert seen(document, "revisions")[1:] == [
        ("paragraph 1", "deleted by R. Hale on 2026-01-02: Old [Footnote words.]")
    ]


def test_deleted_rows_go_and_are_reported(word, build):
    gone = f"<w:tr><w:trPr><w:del {build.AUTHOR}/></w:trPr>{build.cell('Old unit')}</w:tr>"
    document = word(build.table(build.row(build.cell("New unit")), gone))
    assert texts(document, "table") == ["| New unit |\n| --- |"]
    assert seen(document, "revisions")[1:] == [("table 1", "deleted by R. Hale on 2026-01-02: Old unit")]


def test_link_of_an_image_is_named_at_the_image(word, build):
    link = f'<w:hyperlink r:id="rLink">{build.PICTURE}</w:hyperlink>'
    field = build.field(" HYPERLINK https://example.org/b ", "").replace(build.run(""), build.PICTURE)
    document = word(build.para(build.PICTURE + link) + build.para(field))
    assert texts(document, "image") == [
        "[Image: Map of the northern sector]",
        "[Image: Map of the northern sector] (https://example.org/annex)",
        "[Image: Map of the northern sector] (https://example.org/b)",
    ]


def test_links_of_a_part_are_those_of_its_own_relationships(word, build):
    link = f'<w:hyperlink r:id="rLink">{build.run("link")}</w:hyperlink>'
    rels = build.word_parts()["word/_rels/document.xml.rels"]
    notes = {
        f"word/{name}.xml": f'<w:{name} {build.W}><w:{kind} w:id="2">{build.para(link)}</w:{kind}></w:{name}>'
        for name, kind in (("comments", "comment"), ("footnotes", "footnote"), ("endnotes", "endnote"))
    }
    notes["word/header1.xml"] = f"<w:hdr {build.W}>{build.para(link)}</w:hdr>"
    body = (
        build.para(link)
        + build.para('<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:endnoteReference w:id="2"/></w:r>')
        + '<w:sectPr><w:headerReference w:type="default" r:id="rHead"/></w:sectPr>'
    )
    alone = texts(word(body, **notes))
    assert alone == [
        "[Header] link",
        "link (https://example.org/annex)",
        "[^1][^i]",
        "[^1]: link",
        "[^i]: link",
        "[Comment] link",
    ]
    own = {
        f"word/_rels/{name}.xml.rels": rels.replace("example.org/annex", f"example.org/{name}")
        for name in ("comments", "footnotes", "endnotes", "header1")
    }
    assert texts(word(body, **notes, **own)) == [
        "[Header] link (https://example.org/header1)",
        "link (https://example.org/annex)",
        "[^1][^i]",
        "[^1]: link (https://example.org/footnotes)",
        "[^i]: link (https://example.org/endnotes)",
        "[Comment] link (https://example.org/comments)",
    ]
