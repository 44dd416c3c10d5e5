"""Styles of a workbook: number formats, fonts, fills, colours, and the text of cells as they show it."""

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from flows.readers.markup import Element
from flows.readers.shared.contrast import OFFICE, invisible, lit
from flows.readers.shared.formats import BUILTIN
from flows.readers.shared.notation import SHIFTS, shifted, struck_out
from flows.readers.shared.signs import in_font, is_symbol_font

S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
MAX_STYLES = 65_536  # Excel takes a few less
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_COMPLEMENT = "{http://schemas.microsoft.com/office/spreadsheetml/2022/featurepropertybag}xfComplement"
# Excel counts the colours of a theme from the light ones, the theme itself from the dark ones.
_THEME = ("lt1", "dk1", "lt2", "dk2", *(f"accent{at}" for at in range(1, 7)), "hlink", "folHlink")
_SYSTEM = {64: "000000", 65: "FFFFFF"}  # text and ground of a window


@dataclass(frozen=True, slots=True)
class Font:
    """Properties of a font that change how text reads."""

    colour: str = "000000"  # six hex digits; '' where it is not known
    struck: bool = False  # whether a line goes through the text
    shift: int = 0  # 1 raised, -1 lowered, 0 on the line
    name: str = ""  # of the typeface, which matters for symbol fonts


Runs = tuple[tuple[str, Font | None], ...]
"""Stretches of a rich text with their font; None for the font of the cell."""


def unescaped(text: str | None) -> str:
    """Text with `_x000D_` and the like as characters; `_x005F_` is the underscore of an escape."""
    text = str(text or "")
    if "_x" not in text:
        return text
    text = _ESCAPE.sub(lambda code: chr(int(code.group(1), 16)), text)
    # A character beyond the basic plane is escaped as two halves.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def runs_of(element: Element, font_of: Callable[[Element], Font]) -> str | Runs:
    """A shared or inline string, without its phonetic guide; runs only where fonts could matter."""
    runs: list[tuple[str, Font | None]] = []
    for part in element:
        if part.tag == f"{S}t":
            runs.append((unescaped(part.text), None))
        elif part.tag == f"{S}r":
            font = part.find(f"{S}rPr")
            runs.append((unescaped(part.findtext(f"{S}t")), None if font is None else font_of(font)))
    if all(font is None for _, font in runs):
        return "".join(text for text, _ in runs)
    return tuple(runs)


def as_shown(text: str | Runs, font: Font) -> tuple[str, list[str]]:
    """Text as its fonts show it: struck words between `~~`, raised and lowered digits, symbol fonts.

    A whole cell that is raised reads as it is: nothing stands before it. Also returns the positions of symbol
    fonts that are not known.
    """
    unknown: list[str] = []
    parts: list[tuple[str, bool]] = []
    for stretch, own in ((text, None),) if isinstance(text, str) else text:
        seen = own or font
        shown, missing = in_font(stretch, seen.name) if is_symbol_font(seen.name) else (stretch, [])
        unknown += missing
        parts.append((shifted(shown, seen.shift) if own else shown, seen.struck))
    return struck_out(parts), unknown


class Colours:
    """The colours of a workbook: its theme, and its palette of 64."""

    def __init__(self, theme: Element | None, styles: Element | None) -> None:
        self.theme: dict[str, str] = {"lt1": "FFFFFF", "dk1": "000000"}
        for colour in () if theme is None else theme.iterfind(f".//{_A}clrScheme/*/*"):
            name = str(colour.getparent().tag).rpartition("}")[2]
            self.theme[name] = str(colour.get("lastClr") or colour.get("val"))
        own = () if styles is None else styles.iterfind(f"{S}colors/{S}indexedColors/{S}rgbColor")
        self.own = [str(entry.get("rgb"))[-6:] for entry in own]

    def resolved(self, element: Element | None, automatic: str = "") -> str:
        """A colour as six hex digits; '' where it is not known, `automatic` where it is left to Excel."""
        if element is None or element.get("auto") in {"1", "true"}:
            return automatic
        rgb, themed, indexed = (str(element.get(name) or "") for name in ("rgb", "theme", "indexed"))
        colour = rgb[-6:]
        if not colour and themed.isdecimal() and int(themed) < len(_THEME):
            colour = self.theme.get(_THEME[int(themed)], "")
        elif not colour and indexed.isdecimal():
            colour = self.indexed(int(indexed))
        tint = float(element.get("tint") or 0)  # darker below 0, lighter above (ISO/IEC 29500-1, 18.8.19)
        return lit(colour, 1 - abs(tint), max(tint, 0)) if tint else colour

    def indexed(self, at: int) -> str:
        """A colour of the palette, from 0."""
        if at in _SYSTEM or at < len(self.own):
            return _SYSTEM.get(at) or self.own[at]
        # Importing openpyxl takes a third of a second, and few files need it.
        palette: Sequence[str] = importlib.import_module("openpyxl.styles.colors").COLOR_INDEX
        return palette[at][-6:] if at < len(palette) else ""

    def named(self, name: str) -> str:
        """A colour of a number format, such as `Red` or `Color10`; '' where there is none."""
        number = name[len("color") :].strip()
        if name.startswith("color") and number.isdecimal() and 0 < int(number) <= 56:  # noqa: PLR2004 -- as Excel has it
            return self.indexed(int(number) + 7)
        return OFFICE.get(name, "")


_PLAIN = Font()


@dataclass(frozen=True, slots=True)
class Style:
    """How a cell is shown."""

    code: str = "General"  # its number format
    font: Font = _PLAIN  # its font
    grounds: tuple[str, ...] | None = ()  # of its fill, two for a pattern; () for none, None if unknown
    is_box: bool = False  # whether TRUE and FALSE are shown as a check box

    def hides(self, colour: str) -> bool:
        """Whether text of a colour can't be seen; a cell without fill is white."""
        grounds = ("FFFFFF",) if self.grounds == () else self.grounds
        return bool(grounds) and all(invisible(colour, behind) for behind in grounds)


def font_of(element: Element, colours: Colours) -> Font:
    """The font of a style (`font`) or of a run (`rPr`)."""
    said = {name: element.find(S + name) for name in ("name", "rFont", "strike", "vertAlign")}
    said = {name: str(found.get("val")) for name, found in said.items() if found is not None}
    return Font(
        colours.resolved(element.find(f"{S}color"), automatic="000000"),
        said.get("strike", "0") not in {"0", "false"},
        SHIFTS.get(said.get("vertAlign", ""), 0),
        said.get("name", said.get("rFont", "")),
    )


def _grounds(fill: Element, colours: Colours) -> tuple[str, ...] | None:
    pattern = fill.find(f"{S}patternFill")
    if pattern is None:
        return None
    kind = pattern.get("patternType", "none")
    front, back = pattern.find(f"{S}fgColor"), pattern.find(f"{S}bgColor")
    if kind == "none":
        return ()
    if kind == "solid":
        return None if front is None else (colours.resolved(front, automatic="000000"),)
    return colours.resolved(front, automatic="000000"), colours.resolved(back, automatic="FFFFFF")


def styles_of(root: Element, colours: Colours, *, has_boxes: bool) -> list[Style]:
    """The cell formats of a workbook by index; without `has_boxes` no cell is shown as a check box."""
    codes = dict(BUILTIN)
    for entry in root.iterfind(f"{S}numFmts/{S}numFmt"):
        codes[int(entry.get("numFmtId", 0))] = str(entry.get("formatCode", "General"))
    fonts = [font_of(font, colours) for font in root.iterfind(f"{S}fonts/{S}font")]
    fills = [_grounds(fill, colours) for fill in root.iterfind(f"{S}fills/{S}fill")]
    found: list[Style] = []
    for entry in islice(root.iterfind(f"{S}cellXfs/{S}xf"), MAX_STYLES):
        font, fill = int(entry.get("fontId", 0)), int(entry.get("fillId", 0))
        found.append(
            Style(
                codes.get(int(entry.get("numFmtId", 0)), "General"),
                fonts[font] if font < len(fonts) else _PLAIN,
                fills[fill] if fill < len(fills) else None,
                has_boxes and next(entry.iter(_COMPLEMENT), None) is not None,
            )
        )
    return found
