# ruff: noqa: E501, ISC004 -- XML is kept on its line
"""What stands beside the cells of a workbook: printed lines, drawings, controls, charts, other sheets."""

import pytest

from tests.support.workbook import MC, SPACES, A, drawn, related, row, seen, text


def test_headers_of_first_and_even_pages(excel):
    printed = (
        "<headerFooter differentFirst='1' {}><oddHeader>&amp;L&amp;\"Arial,Bold\"&amp;12Odd&amp;R&amp;K01+000R&amp;&amp;D</oddHeader>"
        "<evenHeader>Even &amp;P</evenHeader><firstHeader>&amp;C&amp;SFirst&amp;S 10&amp;X6&amp;X</firstHeader>"
        "<oddFooter>Foot</oddFooter><firstFooter>Foot</firstFooter></headerFooter>"
    )
    document = excel(row(text("a")), printed.format("differentOddEven='1'"))
    assert [(block.place, block.text) for block in document.blocks if block.kind in {"header", "footer"}] == [
        ("S, printed header of the first page", "[Header] ~~First~~ 10⁶"),
        ("S, printed header", "[Header] Odd\nR&D"),
        ("S, printed header of even pages", "[Header] Even [page]"),
        ("S, printed footer of the first page", "[Footer] Foot"),
    ]
    document = excel(row(text("a")), printed.format(""))
    assert [(n.kind, n.detail) for n in document.notices] == [
        ("unused_header", "not printed with the sheet's settings: Even [page]")
    ]


def shape(words, extra=""):
    return f'<xdr:sp><xdr:nvSpPr><xdr:cNvPr id="2" {extra}/></xdr:nvSpPr><xdr:txBody><a:p>{words}</a:p></xdr:txBody></xdr:sp>'


PLAIN = "<a:r><a:t>words</a:t></a:r>"
FRAME = '<xdr:graphicFrame><a:graphic><a:graphicData uri="urn:x/slicer"><s name="Unit"/></a:graphicData></a:graphic></xdr:graphicFrame>'
OFFICE_2013 = 'xmlns:n="http://schemas.microsoft.com/office/drawing/2012/slicer"'


@pytest.mark.parametrize(
    ("content", "expected", "noticed"),
    [
        (shape(PLAIN), ["[Text box] words"], []),
        (shape("", 'descr="An arrow"'), ["[Shape: An arrow]"], []),
        (shape(PLAIN, 'hidden="1"'), [], ["hidden drawing: [Text box] words"]),
        (shape('<a:r><a:rPr strike="sngStrike"/><a:t>old</a:t></a:r>'), ["[Text box] ~~old~~"], []),
        (
            shape('<a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r>'),
            ["[Text box] 10⁶"],
            [],
        ),
        (
            f"<mc:AlternateContent><mc:Choice {OFFICE_2013} Requires='n'>{FRAME}</mc:Choice>"
            f"<mc:Fallback>{shape(PLAIN)}</mc:Fallback></mc:AlternateContent>",
            [],
            ["a drawing of kind slicer is not read: Unit"],
        ),
        (
            f"<mc:AlternateContent><mc:Choice xmlns:n='urn:unknown' Requires='n'>{FRAME}</mc:Choice>"
            f"<mc:Fallback>{shape(PLAIN)}</mc:Fallback></mc:AlternateContent>",
            ["[Text box] words"],
            [],
        ),
        (
            f"<mc:AlternateContent><mc:Choice xmlns:m='http://schemas.microsoft.com/office/drawing/2010/main' "
            f"Requires='m'>{shape('<m:m/>')}</mc:Choice><mc:Fallback>{shape('<a:r><a:t>a^2</a:t></a:r>')}</mc:Fallback>"
            "</mc:AlternateContent>",
            ["[Text box] a^2"],
            [],
        ),
        (
            '<xdr:graphicFrame><a:graphic><a:graphicData uri="u"><d:relIds xmlns:d="http://schemas.openxmlformats.'
            'org/drawingml/2006/diagram" r:dm="r1"/></a:graphicData></a:graphic></xdr:graphicFrame>',
            ["[Text box] Phase One\nPhase Two"],
            [],
        ),
    ],
)
def test_drawings_over_a_sheet(excel, content, expected, noticed):
    dgm = 'xmlns:d="http://schemas.openxmlformats.org/drawingml/2006/diagram"'
    points = "".join(
        f"<d:pt{kind}><d:t><a:p><a:r><a:t>{words}</a:t></a:r></a:p></d:t></d:pt>"
        for kind, words in (("", "Phase One"), (' type="pres"', "drawn again"), (' type="asst"', "Phase Two"))
    )
    document = excel(
        row(text("body")),
        links={"drawing": "drawing.xml"},
        drawing=drawn(content),
        **{
            "_rels/drawing.xml.rels": related(diagramData="data.xml"),
            "data": f'<d:dataModel {dgm} xmlns:a="{A}"><d:ptLst>{points}</d:ptLst></d:dataModel>',
        },
    )
    assert seen(document) == ["body", *expected]
    assert {block.place for block in document.blocks[2:]} <= {"S!D2"}
    assert [n.detail for n in document.notices] == noticed


def test_form_controls_with_state_and_label(excel):
    def control(number, kind, label, data):
        return (
            f'<v:shape id="_x0000_s{number}" xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox><div><font>{label}'
            f'<br></font></div></v:textbox><x:ClientData ObjectType="{kind}" xmlns:x="urn:schemas-microsoft-com:'
            f'office:excel"><x:Anchor>1, 0, 3, 0, 2, 0, 4, 0</x:Anchor>{data}</x:ClientData></v:shape>'
        )

    vml = "".join(
        [
            control(1, "Checkbox", "Fuel checked", "<x:Checked>1</x:Checked>"),
            control(2, "Checkbox", "Water checked", ""),
            control(3, "Radio", "Route A", ""),
            control(4, "Note", "a comment", ""),
            control(5, "Drop", "", "<x:Sel>2</x:Sel><x:FmlaRange>$A$1:$A$3</x:FmlaRange>"),
        ]
    )
    document = excel(
        row(text("body")),
        f'<controls><mc:AlternateContent xmlns:mc="{MC}"><mc:Choice><control shapeId="3" r:id="r2"/></mc:Choice>'
        "</mc:AlternateContent></controls>",
        links={"vmlDrawing": "old.vml", "ctrlProp": "state.xml"},
        state='<formControlPr objectType="Radio" checked="Checked"/>',
        **{"old.vml": f"<xml>{vml}</xml>"},
    )
    assert [(block.kind, block.place) for block in document.blocks[2:]] == [("form", "S!B4")] * 4
    assert seen(document)[1:] == [
        "[Check box] ☒ Fuel checked",
        "[Check box] ☐ Water checked",
        "[Option button] ☒ Route A",
        "[Drop-down list] entry 2 chosen of $A$1:$A$3",
    ]


@pytest.mark.parametrize("with_drawing", [True, False])
def test_form_control_without_the_old_drawing(excel, with_drawing):
    mark = '<a:ext><m:compatExt xmlns:m="http://schemas.microsoft.com/office/drawing/2010/main" spid="_x0000_s7"/></a:ext>'
    document = excel(
        row(text("body")),
        '<controls><control shapeId="7" r:id="r1" name="Check Box 1"/></controls>',
        links={"ctrlProp": "state.xml"} | ({"drawing": "drawing.xml"} if with_drawing else {}),
        state='<formControlPr objectType="CheckBox" checked="Checked"/>',
        drawing=drawn(shape(PLAIN + mark, 'hidden="1"')),
    )
    assert seen(document)[1:] == [f"[Check box] ☒ {'words' if with_drawing else 'Check Box 1'}"]
    assert document.notices == ()


def test_check_boxes_and_images_in_cells(excel):
    rich = "http://schemas.microsoft.com/office/spreadsheetml/2017/richdata"
    bag = "http://schemas.microsoft.com/office/spreadsheetml/2022/featurepropertybag"
    kinds = {"sheetMetadata": "metadata", "rdRichValue": "values", "rdRichValueStructure": "kinds"}
    document = excel(
        row(
            '<c t="b" s="1"><v>1</v></c>',
            '<c t="b" s="1"><v>0</v></c>',
            '<c s="1"/>',
            '<c t="b"><v>1</v></c>',
        )
        + row('<c t="e" vm="1"><v>#VALUE!</v></c>', '<c t="e"><v>#VALUE!</v></c>'),
        styles=f'<cellXfs><xf/><xf><extLst><ext><b:xfComplement xmlns:b="{bag}" i="0"/></ext></extLst></xf></cellXfs>',
        featurePropertyBag__bag="<a/>",
        metadata=f'<metadata {SPACES} xmlns:d="{rich}"><futureMetadata><bk><extLst><ext><d:rvb i="0"/></ext></extLst>'
        '</bk></futureMetadata><valueMetadata><bk><rc t="1" v="0"/></bk></valueMetadata></metadata>',
        values=f'<rvData xmlns="{rich}"><rv s="0"><v>0</v><v>5</v><v>A bridge</v></rv></rvData>',
        kinds=f'<rvStructures xmlns="{rich}"><s t="_localImage"><k n="_rvRel:LocalImageIdentifier"/>'
        '<k n="CalcOrigin"/><k n="Text"/></s></rvStructures>',
        **{
            "_rels/workbook.xml.rels": related(
                worksheet="sheet.xml",
                styles="styles.xml",
                **{kind: f"{part}.xml" for kind, part in kinds.items()},
            )
        },
    )
    lines = seen(document)[0].split("\n")
    assert lines[0] == "| ☒ | ☐ | ☐ | TRUE |"
    assert lines[2] == "| [Image: A bridge] | #VALUE! |  |  |"


def test_links_inside_the_workbook_and_of_formulas(excel):
    cells = [
        text("go"),
        text("Annex B"),
        '<c t="str"><f>HYPERLINK("https://example.org/h","x")</f><v>press</v></c>',
    ]
    after = '<hyperlinks><hyperlink ref="A1" location="\'Annex B\'!A1"/><hyperlink ref="B1" location="\'Annex B\'!A1"/></hyperlinks>'
    document = excel(row(*cells), after)
    assert (
        seen(document)[0].split("\n")[0] == "| go (#'Annex B'!A1) | Annex B | press (https://example.org/h) |"
    )


def test_input_message_of_a_cell(excel):
    after = (
        '<dataValidations><dataValidation sqref="A1:A9" showInputMessage="1" promptTitle="Fuel" prompt="In tons"/>'
        "</dataValidations>"
    )
    assert seen(excel(row(text("a")), after))[1] == "[Input message on A1:A9] Fuel: In tons"


@pytest.mark.parametrize(
    ("kind", "rows", "expected", "noticed"),
    [
        ("xlMacrosheet", '<row><c><f>ALERT("x")</f><v>1</v></c></row>', ['=ALERT("x")'], ["macro"]),
        ("dialogsheet", "", [], []),
        ("chartsheet", "", [], []),
        ("unheardOf", "", [], ["unread_part"]),
    ],
)
def test_sheets_of_other_kinds_are_named(excel, kind, rows, expected, noticed):
    document = excel(rows, kind=kind)
    name = {"xlMacrosheet": "Macro sheet", "dialogsheet": "Dialog sheet", "chartsheet": "Chart sheet"}
    assert document.blocks[0].text.startswith(f"[{name.get(kind, 'Sheet')}: S")
    assert seen(document) == expected
    assert [n.kind for n in document.notices] == noticed


def test_dates_and_new_kinds_of_charts(excel):
    frame = '<xdr:graphicFrame><a:graphic><a:graphicData uri="u"><c:chart xmlns:c="{}" r:id="r1"/></a:graphicData></a:graphic></xdr:graphicFrame>'
    old = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    new = "http://schemas.microsoft.com/office/drawing/2014/chartex"
    parts = {
        old: f'<c:chartSpace xmlns:c="{old}"><c:ser><c:tx><c:v>Tons</c:v></c:tx><c:cat><c:numCache><c:formatCode>d/m/yy'
        '</c:formatCode><c:pt idx="0"><c:v>45352</c:v></c:pt></c:numCache></c:cat><c:val><c:numCache><c:pt idx="0">'
        "<c:v>4</c:v></c:pt></c:numCache></c:val></c:ser></c:chartSpace>",
        new: f'<x:chartSpace xmlns:x="{new}"><x:data id="0"><x:strDim><x:lvl><x:pt idx="0">North</x:pt></x:lvl></x:strDim>'
        '<x:numDim><x:lvl><x:pt idx="0">4</x:pt></x:lvl></x:numDim></x:data><x:series><x:tx><x:v>Tons</x:v></x:tx>'
        '<x:dataId val="0"/></x:series></x:chartSpace>',
    }
    for space, category in ((old, "2024-03-01"), (new, "North")):
        document = excel(
            links={"drawing": "drawing.xml"},
            drawing=drawn(frame.format(space)),
            chart=parts[space],
            **{"_rels/drawing.xml.rels": related(chart="chart.xml")},
        )
        assert seen(document) == [f"[Chart]\n|  | Tons |\n| --- | --- |\n| {category} | 4 |"]
