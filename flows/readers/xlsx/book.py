"""What a workbook says for all its sheets: their order, shared strings, formats, colours."""

from __future__ import annotations

from dataclasses import dataclass

from flows.readers.contrast import unreadable
from flows.readers.ooxml import Element, Package
from flows.readers.xlsx.formats import BUILTIN

S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_THEME = {"0": "FFFFFF", "1": "000000"}  # the two theme colours that hardly ever differ


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet in the order of its tabs; `kind` is `worksheet`, `chartsheet`, `dialogsheet`, ..."""

    name: str
    part: str
    kind: str
    state: str


@dataclass(frozen=True, slots=True)
class Style:
    """A cell's number format, and whether its text has the colour of its ground."""

    code: str = "General"
    invisible: bool = False


def rich_text(element: Element) -> str:
    """The text of a shared or inline string, without its phonetic guide."""
    parts = [
        str(part.text or "")
        for part in element.iter(f"{S}t")
        if not str(part.getparent().tag).endswith("}rPh")
    ]
    return "".join(parts)


def _colour(element: Element | None) -> str:
    if element is None or element.get("tint"):
        return ""
    if element.get("rgb"):
        return str(element.get("rgb"))[-6:]
    return _THEME.get(str(element.get("theme")), "")


class Book:
    """The parts of a workbook that its sheets share.

    Raises:
        ReadError: a part is missing or damaged.
    """

    def __init__(self, package: Package) -> None:
        self.package = package
        root = package.xml(package.main)
        links = package.relationships(package.main)
        parts = {link.kind: link.target for link in links.values() if not link.external}
        properties = root.find(f"{S}workbookPr")
        self.from_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
        self.sheets: list[Sheet] = []
        for sheet in root.iterfind(f"{S}sheets/{S}sheet"):
            link = links.get(str(sheet.get(f"{R}id")))
            self.sheets.append(
                Sheet(
                    str(sheet.get("name")),
                    "" if link is None else link.target,
                    "" if link is None else link.kind,
                    str(sheet.get("state", "visible")),
                )
            )
        strings = parts.get("sharedStrings", "")
        self.strings: list[str] = []
        if package.has(strings):
            self.strings = [rich_text(entry) for entry in package.xml(strings).iterfind(f"{S}si")]
        styles = parts.get("styles", "")
        self.styles = _styles(package.xml(styles)) if package.has(styles) else []

    def style(self, key: str | None) -> Style:
        """The style of a cell by its index; the default where the index is not there."""
        at = int(key) if key and key.isdigit() else 0
        return self.styles[at] if at < len(self.styles) else Style()


def _styles(root: Element) -> list[Style]:
    codes = dict(BUILTIN)
    for entry in root.iterfind(f"{S}numFmts/{S}numFmt"):
        codes[int(entry.get("numFmtId", 0))] = str(entry.get("formatCode", "General"))
    colours = [_colour(font.find(f"{S}color")) for font in root.iterfind(f"{S}fonts/{S}font")]
    fills: list[str | None] = []  # None: a fill whose colour is not known here
    for fill in root.iterfind(f"{S}fills/{S}fill"):
        pattern = fill.find(f"{S}patternFill")
        if pattern is not None and pattern.get("patternType", "none") == "none":
            fills.append("FFFFFF")
        elif pattern is not None and pattern.get("patternType") == "solid":
            fills.append(_colour(pattern.find(f"{S}fgColor")) or None)
        else:
            fills.append(None)
    found: list[Style] = []
    for entry in root.iterfind(f"{S}cellXfs/{S}xf"):
        font, fill = int(entry.get("fontId", 0)), int(entry.get("fillId", 0))
        colour = colours[font] if font < len(colours) else ""
        ground = fills[fill] if fill < len(fills) else None
        found.append(
            Style(
                codes.get(int(entry.get("numFmtId", 0)), "General"),
                bool(colour and ground and unreadable(colour, ground)),
            )
        )
    return found
