"""Looks, styles, headers and numbers of a Word file."""

import pytest

from tests.support.documents import seen, texts


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
