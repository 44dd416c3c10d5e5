"""Which text of a Word file is dropped for its colour: only what is the colour of its real ground."""

import pytest

THEME = (
    '<a:theme xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:themeElements><a:clrScheme>'
    '<a:dk1><a:sysClr val="windowText" lastClr="000000"/></a:dk1>'
    '<a:lt1><a:sysClr val="window" lastClr="FFFFFF"/></a:lt1><a:dk2><a:srgbClr val="1F3864"/></a:dk2>'
    '<a:lt2><a:srgbClr val="E7E6E6"/></a:lt2><a:accent1><a:srgbClr val="4472C4"/></a:accent1>'
    "</a:clrScheme></a:themeElements></a:theme>"
)
GONE = "the colour of its ground: Words."
SHD = '<w:shd w:val="{}" w:fill="{}"/>'.format
_SHOWN = "<w:displayBackgroundShape/>"
_GRADIENT = '<v:background><v:fill type="gradient"/></v:background>'
COLOUR = '<w:color w:val="{}"/>'.format


@pytest.fixture
def dropped(word, build):
    """The report of the text `Words.` in this body if it is dropped; None if it is read."""

    def read(body, page="", styles="", settings=""):
        rels = build.word_parts()["word/_rels/document.xml.rels"].replace(
            "</Relationships>",
            f'<Relationship Id="rTheme" Type="{build.RELATION}theme" Target="theme/theme1.xml"/>'
            "</Relationships>",
        )
        parts = {
            "word/document.xml": f"<w:document {build.W}>{page}<w:body>{body}</w:body></w:document>",
            "word/settings.xml": f"<w:settings {build.W}>{settings}</w:settings>",
            "word/theme/theme1.xml": THEME,
            "word/_rels/document.xml.rels": rels,
            "word/styles.xml": build.STYLES.replace("</w:styles>", styles + "</w:styles>"),
        }
        document = word(build.para(build.run("Beside.")), **parts)
        reports = [notice.detail for notice in document.notices if notice.kind == "hidden_text"]
        shown = any("Words." in block.text for block in document.blocks)
        assert shown is not bool(reports)
        return reports[0] if reports else None

    return read


@pytest.mark.parametrize(
    ("look", "around", "report"),
    [
        (COLOUR("FFFF00"), "", None),
        (COLOUR("FFFF66"), "", None),
        (COLOUR("F2F2F2"), "", None),
        (COLOUR("FEFEFE"), "", GONE),
        (COLOUR("auto"), SHD("clear", "000000"), None),
        (COLOUR("000000"), SHD("clear", "000000"), GONE),
        (COLOUR("FFFFFF"), SHD("clear", "auto"), GONE),
        (COLOUR("FFFFFF"), SHD("pct25", "FFFFFF"), None),
        (COLOUR("FFFF00") + '<w:highlight w:val="yellow"/>', "", GONE),
        (COLOUR("FFFF00") + '<w:highlight w:val="none"/>' + SHD("clear", "FFFF00"), "", GONE),
        (COLOUR("FFFFFF") + '<w:highlight w:val="darkGreen"/>', SHD("clear", "FFFFFF"), None),
        (COLOUR("FFFFFF") + "<w:outline/>", "", None),
        # The theme's colour counts, not the one that was stored beside it.
        ('<w:color w:val="000000" w:themeColor="background1"/>', "", GONE),
        ('<w:color w:val="FFFFFF" w:themeColor="text1"/>', "", None),
        (COLOUR("FFFFFF"), '<w:shd w:val="clear" w:fill="FFFFFF" w:themeFill="accent1"/>', None),
        # Half the tint of 4472C4 and a quarter less of its light, by HSL.
        (COLOUR("A1B8E1"), '<w:shd w:val="clear" w:themeFill="accent1" w:themeFillTint="7F"/>', GONE),
        (COLOUR("2F5496"), '<w:shd w:val="clear" w:themeFill="accent1" w:themeFillShade="BF"/>', GONE),
    ],
)
def test_text_is_dropped_only_in_the_colour_of_what_is_behind_it(dropped, build, look, around, report):
    assert dropped(build.para(build.run("Words.", look), more=around)) == report


@pytest.mark.parametrize(
    ("page", "report"),
    [
        (('<w:background w:color="1F3864"/>', _SHOWN, "FFFFFF"), None),
        (('<w:background w:color="1F3864"/>', _SHOWN, "1F3864"), GONE),
        (('<w:background w:color="1F3864"/>', "", "FFFFFF"), GONE),
        (('<w:background w:color="FFFFFF" w:themeColor="text2"/>', _SHOWN, "FFFFFF"), None),
        ((f'<w:background w:color="FFFFFF">{_GRADIENT}</w:background>', _SHOWN, "FFFFFF"), None),
    ],
)
def test_page_colour_is_a_ground_if_the_settings_display_it(dropped, build, page, report):
    background, settings, colour = page
    body = build.para(build.run("Words.", COLOUR(colour)))
    assert dropped(body, page=background, settings=settings) == report


GRID = (
    '<w:style w:type="table" w:styleId="Grid"><w:name w:val="Grid"/>'
    + "".join(
        f'<w:tblStylePr w:type="{name}"><w:tcPr>{SHD("clear", fill)}</w:tcPr></w:tblStylePr>'
        for name, fill in (("firstRow", "1F3864"), ("band1Horz", "D9E2F3"), ("lastCol", "70AD47"))
    )
    + '</w:style><w:style w:type="table" w:styleId="Child"><w:name w:val="c"/><w:basedOn w:val="Grid"/>'
    "</w:style>"
)
TABLE = '<w:tbl><w:tblPr><w:tblStyle w:val="Child"/>{}</w:tblPr>{}</w:tbl>'.format
FIRST_ROW, NO_FIRST_ROW = '<w:tblLook w:val="0020"/>', '<w:tblLook w:val="0420" w:firstRow="0"/>'


@pytest.mark.parametrize(
    ("look", "spot", "report"),
    [
        (FIRST_ROW, (0, "FFFFFF"), None),
        (FIRST_ROW, (0, "1F3864"), GONE),
        (NO_FIRST_ROW, (0, "1F3864"), None),
        (FIRST_ROW, (1, "D9E2F3"), GONE),
        (FIRST_ROW, (2, "FFFFFF"), GONE),
        (NO_FIRST_ROW, (0, "D9E2F3"), GONE),
        ("", (2, "FFFFFF"), None),  # nothing says which rows have which fill
        ('<w:tblLook w:lastColumn="1" w:noHBand="1"/>', (1, "70AD47"), GONE),
    ],
)
def test_fill_of_a_table_style_is_that_of_the_row_and_column(dropped, build, look, spot, report):
    row, colour = spot
    words = build.cell(build.para(build.run("Words.", COLOUR(colour))))
    rows = [build.row(words if at == row else build.cell("other")) for at in range(3)]
    assert dropped(TABLE(look, "".join(rows)), styles=GRID) == report


def test_fills_of_table_row_and_cell_in_their_order(dropped, build):
    words = build.para(build.run("Words.", COLOUR("FFFFFF")))
    navy, white = SHD("clear", "1F3864"), SHD("clear", "FFFFFF")
    plain = f"<w:tbl><w:tblPr>{navy}</w:tblPr><w:tr>{{}}{{}}</w:tr></w:tbl>".format
    assert dropped(plain("", build.cell(words))) is None
    assert dropped(plain("", build.cell(words, white))) == GONE
    assert dropped(plain(f"<w:tblPrEx>{white}</w:tblPrEx>", build.cell(words))) == GONE
    inner = f"<w:tbl><w:tblPr/><w:tr>{build.cell(words)}</w:tr></w:tbl>{build.para('')}"
    assert dropped(plain("", build.cell(inner))) is None


BOX = (
    "<w:r><w:drawing><wp:anchor{}><a:graphic><a:graphicData><wps:wsp><wps:spPr>{}</wps:spPr>{}<wps:txbx>"
    "<w:txbxContent>{}</w:txbxContent></wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor>"
    "</w:drawing></w:r>"
).format
SOLID = "<a:solidFill>{}</a:solidFill>".format
ACCENT = '<a:schemeClr val="accent1">{}</a:schemeClr>'.format
STYLED = '<wps:style><a:fillRef idx="1"><a:schemeClr val="accent1"/></a:fillRef></wps:style>'


@pytest.mark.parametrize(
    ("shape", "colour", "report"),
    [
        ((SOLID('<a:srgbClr val="1F3864"/>'), ""), "FFFFFF", None),
        ((SOLID('<a:srgbClr val="1F3864"/>'), ""), "1F3864", GONE),
        ((SOLID(ACCENT("")), ""), "4472C4", GONE),
        ((SOLID(ACCENT('<a:lumMod val="40000"/><a:lumOff val="60000"/>')), ""), "B4C7E7", GONE),
        ((SOLID('<a:srgbClr val="FFFFFF"><a:alpha val="0"/></a:srgbClr>'), ""), "FFFFFF", None),
        ((SOLID('<a:prstClr val="black"/>'), ""), "000000", GONE),
        (("<a:gradFill/>", ""), "FFFFFF", None),
        (("", STYLED), "FFFFFF", None),
        (("<a:noFill/>", STYLED), "FFFFFF", GONE),
    ],
)
def test_fill_of_a_text_box_is_the_ground_of_its_text(dropped, build, shape, colour, report):
    text = build.para(build.run("Words.", COLOUR(colour)))
    assert dropped(build.para(BOX("", *shape, text))) == report


@pytest.mark.parametrize(
    ("attributes", "report"),
    [
        ('fillcolor="navy"', None),
        ('fillcolor="#000080 [3204]"', None),
        ('fillcolor="navy" filled="f"', GONE),
        ('fillcolor="#fff"', GONE),
        ("", GONE),
        ('fillcolor=" "', GONE),
    ],
)
def test_fill_of_an_old_text_box(dropped, build, attributes, report):
    text = build.para(build.run("Words.", COLOUR("FFFFFF")))
    box = f"<v:rect {attributes}><v:textbox><w:txbxContent>{text}</w:txbxContent></v:textbox></v:rect>"
    assert dropped(build.para(f"<w:r><w:pict>{box}</w:pict></w:r>")) == report


def test_white_text_over_a_shape_behind_it_is_visible(dropped, build):
    white = build.run("Words.", COLOUR("FFFFFF"))
    navy = SOLID('<a:srgbClr val="1F3864"/>')
    behind = BOX(' behindDoc="1"', navy, "", "")
    beside = BOX("", navy, "", "")
    assert dropped(build.para(behind + white)) is None
    assert dropped(build.para(beside + white)) == GONE
    # A text box without a fill may stand on any shape that floats.
    assert dropped(build.para(beside + BOX("", "<a:noFill/>", "", build.para(white)))) is None
