"""Default styles and lists for documents without them, and the blank document."""

from __future__ import annotations

import io
import zipfile

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPES = "application/vnd.openxmlformats-officedocument.wordprocessingml."
_LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"

_SIZES = {1: 28, 2: 24, 3: 22}  # of headings, in half points
_BULLETS = ("\u2022", "\u2013", "\u25aa")
_FORMS = ("decimal", "lowerLetter", "lowerRoman")
_STEP = 360  # indent of a level of a list, in twentieths of a point
BULLETS, NUMBERS = 1, 2  # lists of the blank document


def _paragraph_style(style_id: str, name: str, own: str, look: str, follows: str = "") -> str:
    follow = f'<w:next w:val="{follows}"/>' if follows else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{style_id}"><w:name w:val="{name}"/>'
        f'<w:basedOn w:val="Normal"/>{follow}<w:qFormat/><w:pPr>{own}</w:pPr><w:rPr>{look}</w:rPr></w:style>'
    )


def _heading(level: int) -> str:
    size = _SIZES.get(level, 22)
    slant = "<w:i/>" if level > max(_SIZES) else ""
    return _paragraph_style(
        f"Heading{level}",
        f"heading {level}",
        '<w:keepNext/><w:keepLines/><w:spacing w:before="240" w:after="80"/>'
        f'<w:outlineLvl w:val="{level - 1}"/>',
        f'<w:b/><w:bCs/>{slant}<w:sz w:val="{size}"/><w:szCs w:val="{size}"/>',
        "Normal",
    )


def _list_style(style_id: str, name: str) -> str:
    return _paragraph_style(style_id, name, '<w:spacing w:after="60"/><w:contextualSpacing/>', "")


_BORDERS = "".join(
    f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="auto"/>'
    for side in ("top", "left", "bottom", "right", "insideH", "insideV")
)
STYLES: dict[str, str] = {
    "Title": _paragraph_style(
        "Title",
        "Title",
        '<w:keepNext/><w:spacing w:after="200"/>',
        '<w:b/><w:bCs/><w:sz w:val="36"/><w:szCs w:val="36"/>',
        "Normal",
    ),
    **{f"heading {level}": _heading(level) for level in range(1, 10)},
    "List Bullet": _list_style("ListBullet", "List Bullet"),
    "List Number": _list_style("ListNumber", "List Number"),
    "Table Grid": (
        '<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/>'
        '<w:basedOn w:val="TableNormal"/><w:pPr><w:spacing w:before="40" w:after="40" w:line="240" '
        f'w:lineRule="auto"/></w:pPr><w:tblPr><w:tblBorders>{_BORDERS}</w:tblBorders></w:tblPr></w:style>'
    ),
}
"""Name to definition; based on `Normal` or `TableNormal`, which the caller replaces by the document's own."""


def list_definition(kind: str, abstract_id: int) -> str:
    """`w:abstractNum` of a list of nine levels.

    Args:
        kind: `bullet` or `number`.
        abstract_id: its id.
    """
    levels: list[str] = []
    for level in range(9):
        bullet = kind == "bullet"
        form = "bullet" if bullet else _FORMS[level % 3]
        shown = _BULLETS[level % 3] if bullet else f"%{level + 1}."
        levels.append(
            f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
            f'<w:lvlText w:val="{shown}"/><w:lvlJc w:val="left"/>'
            f'<w:pPr><w:ind w:left="{_STEP * (level + 1)}" w:hanging="{_STEP}"/></w:pPr></w:lvl>'
        )
    return (
        f'<w:abstractNum w:abstractNumId="{abstract_id}"><w:multiLevelType w:val="hybridMultilevel"/>'
        f"{''.join(levels)}</w:abstractNum>"
    )


def list_use(number_id: int, abstract_id: str, restarted: int | None = None) -> str:
    """Return a `w:num`: a list of a definition; `restarted` is the level at which it restarts."""
    override = (
        ""
        if restarted is None
        else f'<w:lvlOverride w:ilvl="{restarted}"><w:startOverride w:val="1"/></w:lvlOverride>'
    )
    return f'<w:num w:numId="{number_id}"><w:abstractNumId w:val="{abstract_id}"/>{override}</w:num>'


def numbering_part() -> bytes:
    """Return a numbering part without lists."""
    return f"{_HEAD}<w:numbering {_W}/>".encode()


def blank_package() -> bytes:
    """A blank document on US Letter: Arial 11, the styles above, one bulleted and one numbered list."""
    lists = {"List Bullet": BULLETS, "List Number": NUMBERS}
    styles = "".join(
        xml.replace("<w:pPr>", f'<w:pPr><w:numPr><w:numId w:val="{lists[name]}"/></w:numPr>', 1)
        if name in lists
        else xml
        for name, xml in STYLES.items()
        if name not in {f"heading {level}" for level in range(4, 10)}
    )
    numbering = "".join(
        list_definition(kind, at) for kind, at in (("bullet", BULLETS), ("number", NUMBERS))
    ) + "".join(list_use(at, str(at)) for at in (BULLETS, NUMBERS))
    parts = {
        "[Content_Types].xml": _content_types(),
        "_rels/.rels": _relations(("officeDocument", "word/document.xml")),
        "word/document.xml": (
            f'<w:document {_W}><w:body><w:p/><w:sectPr><w:pgSz w:w="12240" w:h="15840"/>'
            '<w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440" w:header="720" '
            'w:footer="720" w:gutter="0"/></w:sectPr></w:body></w:document>'
        ),
        "word/_rels/document.xml.rels": _relations(
            ("styles", "styles.xml"), ("numbering", "numbering.xml"), ("settings", "settings.xml")
        ),
        "word/styles.xml": f"<w:styles {_W}>{_BASE}{styles}</w:styles>",
        "word/numbering.xml": f"<w:numbering {_W}>{numbering}</w:numbering>",
        "word/settings.xml": (
            f'<w:settings {_W}><w:compat><w:compatSetting w:name="compatibilityMode" '
            'w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat></w:settings>'
        ),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        for name, text in parts.items():
            package.writestr(name, _HEAD + text)
    return buffer.getvalue()


_BASE = (
    '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Arial" w:hAnsi="Arial" w:eastAsia="Arial" '
    'w:cs="Arial"/><w:sz w:val="22"/><w:szCs w:val="22"/><w:lang w:val="en-US"/></w:rPr></w:rPrDefault>'
    '<w:pPrDefault><w:pPr><w:spacing w:after="120" w:line="259" w:lineRule="auto"/></w:pPr></w:pPrDefault>'
    "</w:docDefaults>"
    '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/><w:qFormat/>'
    "</w:style>"
    '<w:style w:type="character" w:default="1" w:styleId="DefaultParagraphFont">'
    '<w:name w:val="Default Paragraph Font"/></w:style>'
    '<w:style w:type="table" w:default="1" w:styleId="TableNormal"><w:name w:val="Normal Table"/><w:tblPr>'
    '<w:tblInd w:w="0" w:type="dxa"/><w:tblCellMar><w:top w:w="0" w:type="dxa"/>'
    '<w:left w:w="108" w:type="dxa"/><w:bottom w:w="0" w:type="dxa"/><w:right w:w="108" w:type="dxa"/>'
    "</w:tblCellMar></w:tblPr></w:style>"
    '<w:style w:type="numbering" w:default="1" w:styleId="NoList"><w:name w:val="No List"/></w:style>'
)


def _content_types() -> str:
    parts = ("document.main", "document"), ("styles", "styles"), ("numbering", "numbering"), ("settings",) * 2
    overrides = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_TYPES}{kind}+xml"/>' for kind, name in parts
    )
    return (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Default Extension="xml" ContentType="application/xml"/>{overrides}</Types>'
    )


def _relations(*links: tuple[str, str]) -> str:
    inner = "".join(
        f'<Relationship Id="rId{at}" Type="{_LINKS}{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(links, 1)
    )
    return f'<Relationships xmlns="{_RELATIONS}">{inner}</Relationships>'
