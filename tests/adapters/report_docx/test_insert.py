"""Blocks that are inserted look like what stands around them."""

import io
import zipfile

import pytest

from flows.adapters.report_docx import Block, EditError, ReportDocument
from flows.adapters.report_docx.tables import column_widths

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def numbers(document, saved):
    """Text, list and level of each paragraph that names a list itself."""
    return [
        ("".join(each.itertext()), found.get(W + "val"), each.find(f".//{W}ilvl").get(W + "val"))
        for each in saved(document).all("p")
        if (found := each.find(f"{W}pPr/{W}numPr/{W}numId")) is not None
    ]


def test_a_report_from_nothing(saved, told):
    document = ReportDocument.blank()
    document.insert(
        None,
        [
            Block("heading", "Title", level=0),
            Block("heading", "One"),
            Block("paragraph", "First **bold**.\nSecond."),
            Block("bullet", "point"),
            Block("bullet", "sub-point", level=2),
            Block("heading", "Two", level=2),
            Block("table", rows=(("A", "B"), ("1", "2"))),
            Block("paragraph", "Last."),
        ],
    )
    assert told(document) == [
        ("p1", "heading", "Title"),
        ("p2", "heading", "One"),
        ("p3", "paragraph", "First bold."),
        ("p4", "paragraph", "Second."),
        ("p5", "list_item", "point"),
        ("p6", "list_item", "sub-point"),
        ("p7", "heading", "Two"),
        ("t1", "table", ""),
        ("t1r1c1", "cell", "A"),
        ("t1r1c2", "cell", "B"),
        ("t1r2c1", "cell", "1"),
        ("t1r2c2", "cell", "2"),
        ("p8", "paragraph", "Last."),
    ]
    assert [(each.style, each.level) for each in document.places()[:7]] == [
        ("Title", 0),
        ("Heading 1", 1),
        ("Normal", None),
        ("Normal", None),
        ("List Bullet", 1),
        ("List Bullet", 2),
        ("Heading 2", 2),
    ]
    assert document.places()[7].style == "Table Grid"
    head = saved(document).all("tr")[0]
    assert [look for _, look in [("", [e.tag.removeprefix(W) for e in head.iter(W + "b")])]] == [["b", "b"]]
    assert len(saved(document).all("tblHeader")) == 1


def test_numbers_go_on_and_begin_anew(saved):
    document = ReportDocument.blank()
    document.insert(
        None,
        [
            Block("number", "a"),
            Block("number", "a sub", level=2),
            Block("paragraph", "Between."),
            Block("number", "b"),
            Block("paragraph", "Another list:"),
            Block("number", "c"),
            Block("heading", "H"),
            Block("number", "d"),
        ],
    )
    found = numbers(document, saved)
    assert [(text, level) for text, _, level in found] == [
        ("a", "0"),
        ("a sub", "1"),
        ("b", "0"),
        ("c", "0"),
        ("d", "0"),
    ]
    lists = [number for _, number, _ in found]
    assert lists[0] == lists[1] == lists[2]
    assert len(set(lists)) == 3
    last = document.places()[-1].place_id
    document.insert(last, [Block("number", "e")])
    assert numbers(document, saved)[-1][1] == lists[-1]


def test_numbers_go_on_with_the_list_of_the_template(build, word, saved):
    document = word(build.item("One", 1, 0) + build.item("Sub", 1, 1) + build.para(build.run("text")))
    document.insert("p2", [Block("number", "Two"), Block("number", "Sub two", level=2)])
    assert numbers(document, saved) == [
        ("One", "1", "0"),
        ("Sub", "1", "1"),
        ("Two", "1", "0"),
        ("Sub two", "1", "1"),
    ]


def test_styles_and_lists_that_a_template_lacks(build, word, saved):
    document = word(build.para(build.run("text", '<w:sz w:val="20"/><w:b/>')))
    document.insert(
        "p1",
        [
            Block("heading", "H", level=2),
            Block("bullet", "b"),
            Block("number", "n"),
            Block("table", rows=(("a",),)),
        ],
    )
    kept = saved(document)
    names = [each.get(W + "val") for each in kept.xml("word/styles.xml").iter(W + "name")]
    assert names == ["Normal", "heading 1", "heading 2", "List Bullet", "List Number", "Table Grid"]
    assert kept.paragraphs()[:4] == [
        ("", [("text", ["sz", "b"])]),
        ("Heading2", [("H", [])]),
        ("ListBullet", [("b", ["sz"])]),
        ("ListNumber", [("n", ["sz"])]),
    ]
    numbering = kept.xml("word/numbering.xml")
    order = [each.tag.removeprefix(W) for each in numbering]
    assert order == sorted(order)  # all abstractNum before all num
    document.insert("p3", [Block("bullet", "c")])
    assert len(saved(document).xml("word/numbering.xml")) == len(numbering)
    assert [each.kind for each in document.places()[:5]] == [
        "paragraph",
        "heading",
        "list_item",
        "list_item",
        "list_item",
    ]


def test_a_template_without_numbering(build, packed, saved):
    data = packed(build.para(build.run("text")))
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            blob = old.read(name)
            if name == "word/numbering.xml":
                continue
            if name == "[Content_Types].xml":
                start = blob.index(b'<Override PartName="/word/numbering.xml"')
                blob = blob[:start] + blob[blob.index(b"/>", start) + 2 :]
            if name == "word/_rels/document.xml.rels":
                start = blob.index(b'<Relationship Id="rNumbers"')
                blob = blob[:start] + blob[blob.index(b"/>", start) + 2 :]
            new.writestr(name, blob)
    document = ReportDocument.open(buffer.getvalue())
    document.insert("p1", [Block("bullet", "b"), Block("number", "n")])
    again = ReportDocument.open(document.to_bytes())
    assert [(each.kind, each.text, each.level) for each in again.places()[:3]] == [
        ("paragraph", "text", None),
        ("list_item", "b", 1),
        ("list_item", "n", 1),
    ]


def test_blocks_look_like_their_neighbours(build, word, saved):
    body = (
        build.para(build.run("1. Facts", "<w:b/><w:u/>"), "Heading1", '<w:jc w:val="center"/>')
        + build.para(
            build.run("Body text ", '<w:sz w:val="24"/>') + build.run("b", "<w:b/>"),
            more='<w:ind w:left="360"/>',
        )
        + build.para(build.run("Centred"), more='<w:jc w:val="center"/>')
    )
    document = word(body)
    document.insert("p3", [Block("heading", "2. Risk"), Block("paragraph", "More.")])
    kept = saved(document)
    assert kept.paragraphs()[3:5] == [("Heading1", [("2. Risk", ["b", "u"])]), ("", [("More.", ["sz"])])]
    heading, text = kept.all("p")[3:5]
    assert heading.find(f"{W}pPr/{W}jc").get(W + "val") == "center"
    assert text.find(f"{W}pPr/{W}ind").get(W + "left") == "360"
    assert text.find(f"{W}pPr/{W}jc") is None


def test_a_table_looks_like_the_nearest_with_lines(build, word, saved):
    shade = '<w:shd w:val="clear" w:fill="1F3864"/>'
    rows = (
        build.row(*(build.cell(build.para(build.run(text, "<w:b/>")), shade) for text in ("H1", "H2"))),
        build.row(build.cell("x"), build.cell(build.para(build.run("9"), more='<w:jc w:val="right"/>'))),
    )
    lined = build.table(*rows, columns=2).replace(
        '<w:tblStyle w:val="TableNormal"/>', '<w:tblStyle w:val="Office"/>'
    )
    layout = build.table(
        build.row(build.cell("logo"), build.cell("address")),
        build.row(build.cell(""), build.cell("")),
        columns=2,
    )
    document = word(lined + build.para(build.run("a")) + layout + build.para(build.run("b")))
    document.insert("p2", [Block("table", rows=(("Unit", "Rate"), ("1-64", "84%")))])
    table = saved(document).all("tbl")[2]
    assert table.find(f"{W}tblPr/{W}tblStyle").get(W + "val") == "Office"
    assert [len(list(row.iter(W + "shd"))) for row in table.iter(W + "tr")] == [2, 0]
    assert [len(list(row.iter(W + "b"))) for row in table.iter(W + "tr")] == [2, 0]
    assert list(table.iter(W + "jc")) == []


def test_where_blocks_go(build, word, control, told):
    inline = build.para(build.run("To: ") + control("", build.run("x")))
    block = control("<w:text/>", build.para(build.run("y")))
    table = build.table(build.row(build.cell("c")))
    document = word(inline + block + table + build.para(build.run("end")))
    new = [Block("paragraph", "new")]
    for after, listed in (
        (None, [("p1", "paragraph", "new"), ("p2", "paragraph", "To: x")]),
        ("s1", [("s1", "control", "x"), ("p3", "paragraph", "new"), ("s2", "control", "y")]),
        ("s2", [("s2", "control", "y"), ("p5", "paragraph", "new"), ("t1", "table", "")]),
        (
            "t1r1c1",
            [("t1r1c1p1", "paragraph", "c"), ("t1r1c1p2", "paragraph", "new"), ("p6", "paragraph", "end")],
        ),
        ("t1", [("t1r1c1p2", "paragraph", "new"), ("p6", "paragraph", "new"), ("p7", "paragraph", "end")]),
    ):
        document.insert(after, new)
        found = told(document)
        start = found.index(listed[0])
        assert found[start : start + len(listed)] == listed


def test_blocks_in_headers_boxes_and_controls(build, word, control, told, saved):
    inside = build.para(build.run("one")) + build.para(build.run("two"))
    document = word(control("", inside) + build.BODY)
    document.insert("p1", [Block("paragraph", "between")])
    assert told(document)[:4] == [
        ("s1", "control", ""),
        ("p1", "paragraph", "one"),
        ("p2", "paragraph", "between"),
        ("p3", "paragraph", "two"),
    ]
    document.insert("h1p1", [Block("paragraph", "second line")])
    assert ("h1p2", "header", "second line") in told(document)
    document.insert("x1", [Block("bullet", "in the box")])
    assert ("x1p2", "list_item", "in the box") in told(document)
    assert ["in the box" in "".join(each.itertext()) for each in saved(document).all("txbxContent")] == [
        True
    ] * 2


def test_tables_are_kept_apart(build, word, saved):
    document = word(build.table(build.row(build.cell("c"))) + build.para(build.run("end")))
    table = Block("table", rows=(("a",),))
    document.insert("t1", [table, table])
    body = saved(document).root[0]
    assert [each.tag.removeprefix(W) for each in body] == ["tbl", "p", "tbl", "p", "tbl", "p"]
    document.insert("t1r1c1", [table])
    cell = saved(document).all("tc")[0]
    assert [each.tag.removeprefix(W) for each in cell] == ["tcPr", "p", "tbl", "p"]


def test_a_refused_block_inserts_nothing(build, word):
    document = word(build.para(build.run("a")))
    before = document.to_bytes()
    with pytest.raises(EditError):
        document.insert("p1", [Block("paragraph", "x"), Block("paragraph", "\x01")])
    with pytest.raises(EditError, match="no such place"):
        document.insert("p4", [Block("paragraph", "x")])
    assert document.to_bytes() == before


@pytest.mark.parametrize(
    ("rows", "width", "widths"),
    [
        ([["ab", "ab"]], 9360, [4680, 4680]),
        # 230 + 120 a letter: 470 and 2630 of 3100, which is spread to 6200.
        ([["ab", "a" * 20]], 6200, [940, 5260]),
        # The words need 470 each; what is left goes where the text is long.
        ([["ab", "ab " * 40]], 5000, [470, 4530]),
    ],
)
def test_widths_of_columns(rows, width, widths):
    assert column_widths(rows, width) == widths


def test_a_table_fits_between_the_margins(build, word, saved):
    section = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:left="1000" w:right="906"/></w:sectPr>'
    document = word(build.para(build.run("a")) + section)
    document.insert("p1", [Block("table", rows=(("a", "b", "c" * 400),))])
    assert sum(int(each.get(W + "w")) for each in saved(document).all("gridCol")) == 10000
