# ruff: noqa: E501 -- XML is kept on its line
"""Small workbooks made in a test: a sheet, and what stands beside it in the package."""

import zipfile

from flows.readers import read_document

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
XDR = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
SPACES = f'xmlns="{MAIN}" xmlns:r="{OFFICE}"'
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def related(**targets):
    """A part of relationships: `kind=target`; ids are r1, r2, ..."""
    links = "".join(
        f'<Relationship Id="r{at}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(targets.items(), 1)
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{links}'
        "</Relationships>"
    )


def written(
    path, rows="", after="", *, strings="", styles="", links=None, name="S", kind="worksheet", **parts
):
    """Write a workbook with one sheet of these rows and read it.

    Args:
        path: where.
        rows: XML of the sheet's rows.
        after: XML that follows them.
        strings: XML of the shared strings.
        styles: XML of the styles.
        links: of the sheet, kind by target.
        name: of the sheet.
        kind: of the sheet.
        parts: other parts by name, `__` for a slash and `.xml` where none is given.
    """
    types = (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override '
        'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
        'sheet.main+xml"/></Types>'
    )
    sheets = f'<sheets><sheet name="{name}" r:id="r1"/></sheets>'
    shared = {"sharedStrings": "strings.xml", "styles": "styles.xml", "theme": "theme.xml"}
    content = {
        "[Content_Types].xml": types,
        "_rels/.rels": related(officeDocument="xl/workbook.xml"),
        "xl/workbook.xml": f"<workbook {SPACES}>{sheets}</workbook>",
        "xl/_rels/workbook.xml.rels": related(**{kind: "sheet.xml"}, **shared),
        "xl/sheet.xml": f"<worksheet {SPACES}><sheetData>{rows}</sheetData>{after}</worksheet>",
        "xl/_rels/sheet.xml.rels": related(**(links or {})),
        "xl/strings.xml": f"<sst {SPACES}>{strings}</sst>",
        "xl/styles.xml": f"<styleSheet {SPACES}>{styles}</styleSheet>",
    }
    for key, part in parts.items():
        content[f"xl/{key.replace('__', '/')}" + ("" if "." in key else ".xml")] = part
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for part, data in content.items():
            package.writestr(part, data)
    return read_document(path)


def row(*cells):
    return f"<row>{''.join(cells)}</row>"


def text(words, style=0):
    return f'<c t="inlineStr" s="{style}"><is><t xml:space="preserve">{words}</t></is></c>'


def styled(fonts=("",), fills=("",), xfs=((0, 0),), more=""):
    """A styles part: fonts and fills by their content, cell formats as pairs of their indices."""
    faces = "".join(f"<font>{font}</font>" for font in fonts)
    grounds = "".join(f"<fill>{fill}</fill>" for fill in fills)
    formats = "".join(f'<xf fontId="{font}" fillId="{fill}"/>' for font, fill in xfs)
    return f"<fonts>{faces}</fonts><fills>{grounds}</fills><cellXfs>{formats}</cellXfs>{more}"


def drawn(content):
    anchor = f"<xdr:from><xdr:col>3</xdr:col><xdr:row>1</xdr:row></xdr:from>{content}"
    return (
        f'<xdr:wsDr xmlns:xdr="{XDR}" xmlns:a="{A}" xmlns:r="{OFFICE}" xmlns:mc="{MC}">'
        f"<xdr:twoCellAnchor>{anchor}</xdr:twoCellAnchor></xdr:wsDr>"
    )


def seen(document):
    return [block.text for block in document.blocks[1:]]


def hidden(document):
    return [(n.place, n.detail) for n in document.notices if n.kind == "hidden_text"]
