"""What a person sees in a Word file, against what the reader gives."""

import pytest

from flows.readers import read_document


def texts(document, *kinds):
    return [block.text for block in document.blocks if not kinds or block.kind in kinds]


def seen(document, kind):
    return [(notice.place, notice.detail) for notice in document.notices if notice.kind == kind]


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
        ("document", "2 tracked insertions, 1 deletions, 1 moves"),
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
        ("document", "1 tracked insertions, 2 deletions, 2 moves"),
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


def test_field_without_an_end_swallows_nothing(word, build):
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r>'
    document = word(build.para(begin + build.run("Still here.")) + build.para(build.run("And here.")))
    assert texts(document, "paragraph") == ["Still here.", "And here."]


def test_field_in_a_field_and_across_paragraphs(word, build):
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    code = "<w:r><w:instrText>{}</w:instrText></w:r>".format
    body = build.para(
        mark("begin")
        + code(" TOC ")
        + mark("separate")
        + build.run("First ")
        + build.field(" PAGEREF a ", "7")
    ) + build.para(build.run("Second 9") + mark("end") + build.run(" after."))
    assert texts(word(body), "paragraph") == ["First 7", "Second 9 after."]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ('"https://example.org/a"', "annex (https://example.org/a)"),
        ('"http://annex/"', "annex"),
        ('\\h "https://example.org/a b" \\o "a tip"', "annex (https://example.org/a b)"),
        ('\\o "a tip" "https://example.org/a"', "annex (https://example.org/a)"),
        ('"https://example.org/a" \\l "part"', "annex (https://example.org/a)"),
        ('\\l "_Toc123" \\h', "annex"),  # a bookmark is no address
    ],
)
def test_hyperlink_field_names_its_address_unless_shown(word, build, code, shown):
    body = build.para(build.field(f" HYPERLINK {code} ", "annex"))
    assert texts(word(body), "paragraph") == [shown]
    simple = build.run("annex").join([f"<w:fldSimple w:instr='HYPERLINK {code}'>", "</w:fldSimple>"])
    assert texts(word(build.para(simple)), "paragraph") == [shown]


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


@pytest.mark.parametrize(
    "text", ["# of vehicles", "## two", "- minus", "&gt; 40 km", "| bar", "1. first", "~~ about", "* star"]
)
def test_signs_that_the_author_wrote_stay(word, build, text):
    heading = build.para(build.run(text), "Heading1")
    box = build.BOX.replace(build.TEXT_BOX, heading)
    inside = [build.cell(heading), build.cell(text), build.cell(build.item(text, 1, 0))]
    document = word(
        heading + build.item(text, 1, 0) + build.table(build.row(*inside)) + build.para(build.run("b") + box)
    )
    plain = text.replace("&gt;", ">")
    bar = plain.replace("|", "\\|")
    assert texts(document, "heading", "list_item", "table", "textbox") == [
        f"# {plain}",
        f"1. {plain}",
        f"| {bar} | {bar} | 2. {bar} |\n| --- | --- | --- |",
        f"[Text box] {plain}",
    ]


UP = '<w:position w:val="{}"/>'.format
SMALL = '<w:sz w:val="14"/>'
ALIGN = '<w:vertAlign w:val="{}"/>'.format


@pytest.mark.parametrize(
    ("before", "text", "look", "shown"),
    [
        ("10", "6", UP(8) + SMALL, "10⁶"),
        ("10", "6", UP(8), "10⁶"),
        ("10", "\u20136", UP(8) + SMALL, "10⁻⁶"),
        ("", "14", UP(8) + SMALL, "¹⁴"),
        ("H", "2", UP(-4) + SMALL, "H₂"),
        ("H", "2", ALIGN("subscript"), "H₂"),
        ("10", "6", UP(0), "106"),
        ("10", "6", ALIGN("baseline") + UP(8), "10⁶"),
        ("10", "0.5", ALIGN("superscript"), "10^(0.5)"),
        ("1", "st", ALIGN("superscript"), "1st"),
        # Moved a little as a whole, of the usual size: no exponent.
        ("", "2024", UP(2), "2024"),
        ("Year ", "2024", UP(2), "Year 2024"),
    ],
)
def test_raised_and_lowered_digits_are_not_read_on_the_line(word, build, before, text, look, shown):  # noqa: PLR0917 -- one case a row
    document = word(build.para((build.run(before) if before else "") + build.run(text, look)))
    assert texts(document, "paragraph") == [shown]


TINY = '<w:rPr><w:sz w:val="2"/></w:rPr>'
CIRCLE = (
    '<w:style w:styleId="A"><w:basedOn w:val="B"/></w:style>'
    f'<w:style w:styleId="B"><w:basedOn w:val="A"/>{TINY}</w:style>'
)


@pytest.mark.parametrize(
    ("styles", "named", "hidden"),
    [
        (f'<w:style><w:name w:val="Cell"/><w:basedOn w:val="Normal"/>{TINY}</w:style>', "", False),
        (f'<w:style w:type="paragraph"><w:name w:val="Cell"/>{TINY}</w:style>', "Absent", False),
        (f'<w:style w:default="1"><w:name w:val="Normal"/>{TINY}</w:style>', "", True),
        (f'<w:style w:default="1" w:styleId="N">{TINY}</w:style>', "Absent", True),
        (f'<w:style w:type="character" w:styleId="C">{TINY}</w:style>', "C", False),
        (CIRCLE, "A", True),
        ('<w:style w:styleId="A"><w:basedOn w:val="Absent"/></w:style>', "A", False),
    ],
)
def test_style_is_that_which_a_paragraph_names_or_the_default(word, build, styles, named, hidden):
    document = word(
        build.para(build.run("Words."), named) + build.para(build.run("Beside.", '<w:sz w:val="20"/>')),
        **{"word/styles.xml": f"<w:styles {build.W}>{styles}</w:styles>"},
    )
    assert texts(document, "paragraph") == (["Beside."] if hidden else ["Words.", "Beside."])
    assert ("before paragraph 1", "one-point: Words.") in seen(document, "hidden_text") or not hidden


def test_every_body_is_read(word, build):
    inside = "".join(f"<w:body>{build.para(build.run(text))}</w:body>" for text in ("One.", "Two."))
    document = word(**{"word/document.xml": f"<w:document {build.W}>{inside}</w:document>"})
    assert texts(document, "paragraph") == ["One.", "Two."]
    assert seen(document, "mended_layout") == [
        ("document", "the file has 2 bodies; they are read one after another")
    ]


def test_comments_of_one_id_are_all_read(word, build):
    comment = '<w:comment w:id="1" w:author="J. Moss">{}</w:comment>'.format
    inside = "".join(comment(build.para(build.run(text))) for text in ("First.", "Second."))
    document = word(
        build.para(build.run("Body.") + '<w:r><w:commentReference w:id="1"/></w:r>'),
        **{"word/comments.xml": f"<w:comments {build.W}>{inside}</w:comments>"},
    )
    assert texts(document, "comment") == ["[Comment by J. Moss] First.", "[Comment by J. Moss] Second."]


def test_headers_differ_if_anything_in_them_differs(word, build):
    box = build.BOX.replace(build.TEXT_BOX, build.para(build.run("Annex B")))
    parts = {
        f"word/header{n}.xml": f"<w:hdr {build.W}>{build.para(build.run('CUI') + more)}</w:hdr>"
        for n, more in ((1, build.BOX), (2, box), (3, build.BOX))
    }
    document = word(build.para(build.run("Body.")) + build.SECTION, **parts)
    assert texts(document, "header") == [
        "[Header] CUI",
        "[Header] [Text box] Text box words.",
        "[Header] CUI",
        "[Header] [Text box] Annex B",
    ]


@pytest.mark.parametrize(
    ("namespace", "shown"),
    [
        ("http://schemas.microsoft.com/office/word/2010/wordprocessingShape", "Choice."),
        ("http://example.org/another-maker", "Fallback."),
    ],
)
def test_choice_of_another_maker_gives_way_to_its_fallback(word, build, namespace, shown):
    branches = (
        f'<mc:Choice xmlns:x="{namespace}" Requires="x">{{}}</mc:Choice><mc:Fallback>{{}}</mc:Fallback>'
    )
    around = f"<mc:AlternateContent>{branches}</mc:AlternateContent>".format
    in_run = f"<w:r>{around('<w:t>Choice.</w:t>', '<w:t>Fallback.</w:t>')}</w:r>"
    in_paragraph = around(build.run("Choice."), build.run("Fallback."))
    alone = around(build.para(build.run("Choice.")), build.para(build.run("Fallback.")))
    assert texts(word(build.para(in_run) + build.para(in_paragraph) + alone), "paragraph") == [shown] * 3


def test_second_header_of_one_kind_in_a_section_is_reported(word, build):
    references = (f'<w:headerReference w:type="default" r:id="{key}"/>' for key in ("rHead", "rFirst"))
    document = word(build.para(build.run("Body.")) + f"<w:sectPr>{''.join(references)}</w:sectPr>")
    assert texts(document, "header") == ["[Header] Header of the first page"]
    assert seen(document, "unused_header") == [
        ("header, section 1", "not shown by Word with the document's settings: Header of all pages")
    ]


def test_damaged_theme_costs_no_text(word, build):
    rels = (
        build.word_parts()["word/_rels/document.xml.rels"]
        .replace("footer1", "theme")
        .replace("/footer", "/theme")
    )
    document = word(
        build.para(build.run("Body.")),
        **{"word/_rels/document.xml.rels": rels, "word/theme.xml": "<a:theme"},
    )
    assert texts(document, "paragraph") == ["Body."]


def test_white_text_on_a_dark_ground_is_visible(word, build):
    white = '<w:color w:val="FFFFFF"/>'
    body = (
        build.para(build.run("On navy.", white + '<w:shd w:val="clear" w:fill="1F3864"/>'))
        + build.para(
            build.run("In a shaded paragraph.", white), more='<w:shd w:val="clear" w:fill="000000"/>'
        )
        + build.para(build.run("Black on black.", '<w:color w:val="000000"/><w:highlight w:val="black"/>'))
        + build.para(build.run("Light grey.", '<w:color w:val="D9D9D9"/>'))
    )
    document = word(body)
    assert texts(document, "paragraph") == ["On navy.", "In a shaded paragraph.", "Light grey."]
    assert [detail for _, detail in seen(document, "hidden_text")] == [
        "the colour of its ground: Black on black."
    ]


def test_header_that_word_does_not_show_is_reported(word, build):
    document = word(
        build.para(build.run("Body."))
        + '<w:sectPr><w:headerReference w:type="first" r:id="rFirst"/></w:sectPr>'
    )
    assert texts(document, "header") == []
    assert seen(document, "unused_header") == [
        (
            "first-page header, section 1",
            "not shown by Word with the document's settings: Header of the first page",
        )
    ]


def test_numbers_go_on_after_other_paragraphs_and_letters_double_after_z(word, build):
    body = (
        build.item("x", 1, 0)
        + "".join(build.item("y", 1, 1) for _ in range(27))
        + build.para(build.run("gap"))
    )
    labels = [text.strip() for text in texts(word(body + build.item("z", 1, 0)), "list_item")]
    assert labels[:2] == ["1. x", "a. y"]
    assert labels[26:] == ["z. y", "aa. y", "2. z"]


def test_style_that_names_a_level_takes_the_list_of_its_base(word, build):
    def style(key, base, inside):
        return (
            f'<w:style w:type="paragraph" w:styleId="{key}">{base}<w:pPr><w:numPr>{inside}</w:numPr></w:pPr>'
            "</w:style>"
        )

    levels = "".join(
        build.level(at, "decimal", text, f'<w:pStyle w:val="{key}"/>')
        for at, text, key in ((0, "Section %1.", "L1"), (1, "%1.%2", "L2"))
    )
    document = word(
        "".join(build.para(build.run("x"), key) for key in ("L1", "L2", "L2", "L1", "L2")),
        **{
            "word/styles.xml": f"<w:styles {build.W}>"
            + style("L1", "", '<w:numId w:val="1"/>')
            + style("L2", '<w:basedOn w:val="L1"/>', '<w:ilvl w:val="1"/>')
            + "</w:styles>",
            "word/numbering.xml": f'<w:numbering {build.W}><w:abstractNum w:abstractNumId="1">{levels}'
            '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num></w:numbering>',
        },
    )
    labels = [text.strip() for text in texts(document, "list_item")]
    assert labels == ["Section 1. x", "1.1 x", "1.2 x", "Section 2. x", "2.1 x"]
