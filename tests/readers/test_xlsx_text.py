# ruff: noqa: E501, ISC004 -- XML is kept on its line
"""Text of cells as a person sees it: fonts, escapes, colours, merged ranges."""

import pytest

from flows.readers.xlsx import unseen
from tests.support.workbook import SPACES, A, hidden, row, seen, styled, text


@pytest.mark.parametrize(
    ("runs", "font", "expected"),
    [
        ("<r><t>10</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>6</t></r>", "", "10⁶"),
        ("<r><t>H</t></r><r><rPr><vertAlign val='subscript'/></rPr><t>2</t></r><r><t>O</t></r>", "", "H₂O"),
        ("<r><t>10</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>6.5</t></r>", "", "10^(6.5)"),
        ("<r><t>1</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>st</t></r>", "", "1st"),
        ("<r><rPr><strike/></rPr><t>0400 </t></r><r><t>0600</t></r>", "", "~~0400~~ 0600"),
        ("<r><rPr><strike val='0'/></rPr><t>0400 </t></r><r><t>0600</t></r>", "", "0400 0600"),
        ("<r><t>0400</t></r><r><rPr><b/></rPr><t> 0600</t></r>", "<strike/>", "~~0400~~ 0600"),
        ("<t>0400</t>", "<strike/>", "~~0400~~"),
        ("<t>東京</t><rPh sb='0' eb='2'><t>トウキョウ</t></rPh>", "", "東京"),
        ("<t>\u00fc</t>", "<name val='Wingdings'/>", "✓"),
        ("<t>a_x000D_\nb</t>", "", "a\nb"),
        ("<t>_x005F_x000D_ _x000G_</t>", "", "_x000D_ _x000G_"),
        ("<t>_xD83D__xDE00_</t>", "", "😀"),
    ],
)
def test_text_as_its_fonts_show_it(excel, runs, font, expected):
    for cell in (f'<c t="inlineStr"><is>{runs}</is></c>', '<c t="s"><v>0</v></c>'):
        document = excel(row(cell), strings=f"<si>{runs}</si>", styles=styled(fonts=(font,)))
        assert seen(document) == [expected]


def test_what_a_format_hides_is_reported_and_what_it_leaves_blank_is_not(excel):
    codes = "".join(
        f'<numFmt numFmtId="{at}" formatCode="{code}"/>' for at, code in ((170, ";;;"), (171, "#"))
    )
    styles = f'<numFmts>{codes}</numFmts><cellXfs><xf/><xf numFmtId="170"/><xf numFmtId="171"/></cellXfs>'
    document = excel(
        row('<c s="1"><v>7</v></c>', '<c s="2"><v>0</v></c>', '<c s="2"><v>3</v></c>'), styles=styles
    )
    assert seen(document) == ["3"]
    assert hidden(document) == [("S!A1", "not visible in its cell: 7")]


def test_struck_number_and_text_by_its_format(excel):
    styles = (
        '<numFmts><numFmt numFmtId="170" formatCode="0;-0;0;&quot;Ref &quot;@"/></numFmts>'
        "<fonts><font/><font><strike/></font></fonts>"
        '<cellXfs><xf/><xf fontId="1"/><xf numFmtId="170"/></cellXfs>'
    )
    document = excel(row('<c s="1"><v>42</v></c>', text("AB", 2)), styles=styles)
    assert seen(document) == ["| ~~42~~ | Ref AB |\n| --- | --- |"]


def test_escapes_in_formulas_names_comments_and_headers(excel):
    document = excel(
        row('<c t="str"><f>B1</f><v>one_x000A_two</v></c>'),
        "<headerFooter><oddHeader>&amp;Ca_x005F_x0041_</oddHeader></headerFooter>",
        name="A_x0026_B",
        links={"comments": "comments.xml"},
        comments=f"<comments {SPACES}><commentList><comment ref='A1'><text><r><t>x_x000D_</t></r></text>"
        "</comment></commentList></comments>",
    )
    assert document.blocks[0].text == "[Sheet: A&B]"
    assert seen(document) == ["[Header] a_x0041_", "one\ntwo", "[Comment, on A1] x"]


def test_text_that_the_file_does_not_hold(excel):
    cells = [text("kept"), '<c t="s"><v></v></c>', '<c t="s"><v>7</v></c>', '<c t="s"><v>x</v></c>']
    document = excel(row(*cells))
    assert seen(document)[0].startswith("| kept |  | [missing text] | [missing text] |")
    assert [(n.kind, n.detail) for n in document.notices] == [
        ("missing_text", "the file does not hold the text of B1, C1, D1")
    ]


SOLID = '<patternFill patternType="solid"><fgColor {}/></patternFill>'
WHITE = '<color rgb="FFFFFFFF"/>'


@pytest.mark.parametrize(
    ("font", "fill", "is_hidden"),
    [
        ('<color rgb="FFFFFF00"/>', "", False),  # yellow on white
        ('<color rgb="FFF2F2F2"/>', "", False),
        (WHITE, '<patternFill patternType="none"/>', True),
        ('<color rgb="FFFDFEFC"/>', '<patternFill patternType="none"/>', True),
        ('<color indexed="9"/>', '<patternFill patternType="none"/>', True),
        ('<color theme="0"/>', '<patternFill patternType="none"/>', True),
        (WHITE, SOLID.format('rgb="FF000080"'), False),
        (WHITE, SOLID.format('theme="4"'), False),
        ("", SOLID.format('rgb="FF000000"'), True),  # blacked out
        ('<color theme="4" tint="0.6"/>', SOLID.format('theme="4" tint="0.6"'), True),
        ('<color theme="4"/>', SOLID.format('rgb="FF102030"'), True),  # the theme's own colour
        ('<color theme="4" tint="0.6"/>', SOLID.format('theme="4"'), False),
        (WHITE, '<patternFill patternType="gray125"/>', False),  # black dots show it
        (WHITE, "<gradientFill><stop/></gradientFill>", False),
        (WHITE, '<patternFill patternType="solid"/>', False),  # colour not said
    ],
)
def test_text_is_hidden_in_the_colour_of_its_ground(excel, font, fill, is_hidden):
    fill = fill or '<patternFill patternType="none"/>'
    document = excel(
        row(text("shown"), text("word", 1)),
        styles=styled(("", font), ("<patternFill/>", fill), ((0, 0), (1, 1))),
        theme=f'<a:theme xmlns:a="{A}"><a:clrScheme><a:dk1><a:sysClr val="windowText" lastClr="000000"/></a:dk1>'
        '<a:accent1><a:srgbClr val="102030"/></a:accent1></a:clrScheme></a:theme>',
    )
    assert ("word" in seen(document)[0]) is not is_hidden
    assert hidden(document) == ([("S!B1", "not visible in its cell: word")] if is_hidden else [])


def test_own_palette_and_white_by_number_format(excel):
    palette = "".join(f'<rgbColor rgb="00{at:06X}"/>' for at in range(64))
    styles = styled(
        ("", '<color indexed="9"/>'),
        ("<patternFill/>", SOLID.format('rgb="FF000009"')),
        ((0, 0), (1, 1), (1, 0)),
        f"<colors><indexedColors>{palette}</indexedColors></colors>",
    )
    document = excel(row(text("a"), text("b", 1), text("c", 2)), styles=styles)
    assert hidden(document) == [("S!B1", "not visible in its cell: b")]
    styles = (
        '<numFmts><numFmt numFmtId="170" formatCode="[White]0;[Red]-0"/></numFmts><fills><fill><patternFill/></fill></fills>'
        '<cellXfs><xf/><xf numFmtId="170"/></cellXfs>'
    )
    document = excel(row(text("a"), '<c s="1"><v>5</v></c>', '<c s="1"><v>-5</v></c>'), styles=styles)
    assert hidden(document) == [("S!B1", "not visible in its cell: 5")]
    assert seen(document) == ["| a |  | -5 |\n| --- | --- | --- |"]


@pytest.mark.parametrize(
    ("after", "links"),
    [
        ('<conditionalFormatting sqref="Z9 A1:B2"/>', {}),
        (
            '<extLst><ext><x:conditionalFormatting xmlns:x="u:x" xmlns:m="u:m"><m:sqref>B1</m:sqref>'
            "</x:conditionalFormatting></ext></extLst>",
            {},
        ),
        ("", {"table": "table.xml"}),
        ("", {"image": "behind.png"}),
    ],
)
def test_colour_counts_only_where_the_ground_is_known(excel, after, links):
    table = f'<table {SPACES} ref="A1:B2"><tableStyleInfo name="TableStyleMedium2"/></table>'
    styles = styled(("", WHITE), ('<patternFill patternType="none"/>',), ((0, 0), (1, 0)))
    document = excel(row(text("a"), text("b", 1)), after, styles=styles, links=links, table=table)
    assert seen(document)[0].startswith("| a | b |")
    assert hidden(document) == []


def test_only_the_run_without_contrast_is_left_out(excel):
    runs = f"<r><t>seen </t></r><r><rPr>{WHITE}</rPr><t>unseen</t></r><r><t> end</t></r>"
    document = excel(row(f'<c t="inlineStr"><is>{runs}</is></c>'))
    assert seen(document) == ["seen end"]
    assert hidden(document) == [("S!A1", "not visible in its cell: unseen")]


def test_every_hidden_text_is_reported(excel, monkeypatch):
    monkeypatch.setattr(unseen, "MAX_NOTICES", 2)
    styles = styled(("", WHITE), ('<patternFill patternType="none"/>',), ((0, 0), (1, 0)))
    document = excel(row(*(text(f"t{at}", 1) for at in range(4))), styles=styles)
    assert hidden(document)[-1] == ("S", "2 more cells whose text is not visible: C1: t2; D1: t3")


@pytest.mark.parametrize(("anchor", "shown"), [("top", "top [merged A1:B2]"), ("", "")])
def test_values_behind_a_merged_range(excel, anchor, shown):
    rows = row(text(anchor), text("side")) + row(text("below"), text("top"), text("beside"))
    document = excel(rows, '<mergeCells><mergeCell ref="A1:B2"/></mergeCells>')
    assert ("S!B1", "behind the merged range A1:B2: side") in hidden(document)
    assert ("S!A2", "behind the merged range A1:B2: below") in hidden(document)
    assert "side" not in document.text.replace("beside", "")
    assert shown in document.text


def test_zeros_that_a_sheet_does_not_show(excel):
    view = "<sheetViews><sheetView showZeros='0'/></sheetViews>"
    rows = row("<c><v>0</v></c>", "<c><v>10</v></c>")
    sheet = f"<worksheet {SPACES}>{view}<sheetData>{rows}</sheetData></worksheet>"
    document = excel(sheet=sheet)
    assert seen(document) == ["10"]
    assert hidden(document) == [("S!A1", "not visible in its cell: 0")]


def test_composed_letters_of_a_cell_are_reported(excel):
    document = excel(row("<c t='inlineStr'><is><t>cafe\u0301</t></is></c>"))
    assert "caf\u00e9" in document.text
    assert [(notice.kind, notice.detail) for notice in document.notices] == [
        ("normalised", "1 block composed to Unicode form NFC")
    ]
