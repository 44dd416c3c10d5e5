"""Properties from styles: heading level, list, and whether text is visible."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from flows.common.word_xml import Element, attribute, child, number, qn, switch, tag, val
from flows.readers.docx.colours import HIGHLIGHTS, UNKNOWN, Palette
from flows.readers.shared.contrast import invisible
from flows.readers.shared.notation import SHIFTS

_TINY = 3  # half-points: text of one and a half points and below
_NAMELESS = "(default)"
_CHAIN = 20  # deepest chain of basedOn that is followed; Word allows 11


class Look(NamedTuple):
    """Run properties that decide whether and how text is shown; None if not set."""

    vanish: bool | None = None
    colour: str | None = None
    highlight: str | None = None
    fill: str | None = None
    size: int | None = None
    strike: bool | None = None
    raised: int | None = None  # 1 above the line, -1 below it, 2 and -2 if by position only, 0 on it
    font: str | None = None

    def over(self, below: Look) -> Look:
        """Return these properties where set, else those of `below`."""
        return Look._make(low if up is None else up for up, low in zip(self, below, strict=True))


_PLAIN = Look()
# What draws letters otherwise than in their colour: such text may be seen on a ground of that colour.
_DRAWN = frozenset(["w:outline", "w:emboss", "w:imprint", "w:shadow"])


def look(properties: Element | None, palette: Palette) -> Look:  # noqa: C901 -- one case a property
    """Return the properties that one `w:rPr` sets."""
    if properties is None or not len(properties):
        return _PLAIN
    colour = size = font = highlight = align = up = None
    flags: dict[str, bool | None] = {}
    drawn = False
    for part in properties:
        match tag(part):
            case "w:vanish" | "w:strike" | "w:dstrike":
                name = "strike" if tag(part) == "w:dstrike" else tag(part)[2:]
                flags[name] = switch(part) or flags.get(name) or False
            case "w:color":
                colour = palette.said(part, "w:val", "w:themeColor", "w:theme")
            case "w:sz":
                size = number(val(part))
            case "w:highlight":
                highlight = HIGHLIGHTS.get(val(part), "auto")
            case "w:vertAlign":
                align = SHIFTS.get(val(part), 0)
            case "w:position":
                up = number(val(part)) or 0
            case "w:rFonts":
                font = attribute(part, "w:ascii") or attribute(part, "w:hAnsi") or None
            case "w14:textFill" | "w14:textOutline":
                drawn = drawn or not len(part) or tag(part[0]) == "w14:gradFill"
                drawn = drawn or (tag(part) == "w14:textOutline" and tag(part[0]) != "w14:noFill")
            case name:
                drawn = drawn or (name in _DRAWN and bool(switch(part)))
    if up is not None and not align:
        align = 2 if up > 0 else -2 if up else align
    return Look(
        flags.get("vanish"),
        UNKNOWN if drawn else colour,
        highlight,
        palette.shading(properties),
        size,
        flags.get("strike"),
        align,
        font,
    )


def why_hidden(seen: Look, grounds: frozenset[str]) -> str | None:
    """Why text of this resolved look can't be seen: `hidden`, `one-point`, ...; None if it can.

    `grounds` are possible fills behind it. Text counts as visible if it can be seen on any of them.
    """
    if seen.vanish:
        return "hidden"
    if seen.size is not None and seen.size <= _TINY:
        return "one-point"
    own = next((fill for fill in (seen.highlight, seen.fill) if fill not in {None, "auto"}), None)
    # Text of the colour `auto` turns white on a dark ground: it is never lost.
    if seen.colour and all(invisible(seen.colour, ground) for ground in ([own] if own else grounds)):
        return "the colour of its ground"
    return None


@dataclass(slots=True)
class _Style:
    key: str
    name: str
    kind: str
    based_on: str
    properties: Element | None
    look: Look
    element: Element


class Styles:
    """The styles of one document."""

    def __init__(self, root: Element | None, palette: Palette) -> None:
        """Read `styles.xml`; None where the document has none."""
        self.palette = palette
        self._styles: dict[str, _Style] = {}
        self._looks: dict[str, Look] = {}
        self._fills: dict[str, dict[str, str]] = {}
        self._default_paragraph = ""
        self._defaults = look(child(root, "w:docDefaults", "w:rPrDefault", "w:rPr"), palette)
        for element in () if root is None else root.iterfind(qn("w:style")):
            kind = attribute(element, "w:type", "paragraph")
            default = kind == "paragraph" and attribute(element, "w:default") in {"1", "true", "on"}
            # Nothing can refer to a style without an id, but the default one needs no reference.
            key = attribute(element, "w:styleId") or (_NAMELESS if default else "")
            if not key:
                continue
            self._styles[key] = _Style(
                key,
                val(element, "w:name").lower(),
                kind,
                val(element, "w:basedOn"),
                child(element, "w:pPr"),
                look(child(element, "w:rPr"), palette),
                element,
            )
            if default:
                self._default_paragraph = key
        self.lists = {
            key: val(style.properties, "w:numPr", "w:numId")
            for key, style in self._styles.items()
            if style.kind == "numbering" and style.properties is not None
        }

    def _chain(self, key: str) -> list[_Style]:
        chain: list[_Style] = []
        while key in self._styles and len(chain) < _CHAIN:
            chain.append(self._styles[key])
            key = chain[-1].based_on
        return chain

    def _look_of(self, key: str) -> Look:
        if key not in self._looks:
            self._looks[key] = reduce(Look.over, (style.look for style in self._chain(key)), _PLAIN)
        return self._looks[key]

    def paragraph_style(self, properties: Element | None) -> str:
        """Id of a paragraph's style, the default one where it names none that the document has."""
        key = val(properties, "w:pStyle")
        named = self._styles.get(key)
        return key if named is not None and named.kind == "paragraph" else self._default_paragraph

    def run_look(self, run_properties: Element | None, paragraph_style: str) -> Look:
        """The resolved look of a run: its own, its character style's, its paragraph style's, defaults."""
        seen = look(run_properties, self.palette)
        if run_properties is not None:
            character = val(run_properties, "w:rStyle")
            if character in self._styles and self._styles[character].kind == "character":
                seen = seen.over(self._look_of(character))
        return seen.over(self._look_of(paragraph_style)).over(self._defaults)

    def ground(self, properties: Element | None, key: str) -> str | None:
        """The fill behind a paragraph, its own or its style's."""
        said = (self.palette.shading(p) for p in (properties, *(s.properties for s in self._chain(key))))
        return next((fill for fill in said if fill is not None), None)

    def heading_level(self, properties: Element | None, key: str) -> int | None:
        """Outline level from 1 to 9; 1 for a title; None for body text."""
        own = number(val(properties, "w:outlineLvl"))
        chain = self._chain(key)
        for style in chain:
            if own is not None:
                break
            own = number(val(style.properties, "w:outlineLvl"))
            if own is None and style.name.startswith("heading "):
                own = (number(style.name.removeprefix("heading ")) or 10) - 1
        if own is None:
            return 1 if chain and chain[0].name == "title" else None
        return own + 1 if 0 <= own <= 8 else None  # noqa: PLR2004 -- outline level 9 is body text

    def list_of(self, properties: Element | None, key: str) -> tuple[str, int | None, str] | None:
        """The list of a paragraph: numId, level from 0 if one is said, id of the style that says so.

        None where it is in no list; numId 0 takes a paragraph out of its style's list.
        """
        num, level, source = "", None, ""
        if child(properties, "w:numPr") is not None:
            num = val(properties, "w:numPr", "w:numId")
            level = number(val(properties, "w:numPr", "w:ilvl"))
        for style in self._chain(key):
            if num:
                break
            if child(style.properties, "w:numPr") is not None:
                num = val(style.properties, "w:numPr", "w:numId")
                if level is None:
                    level = number(val(style.properties, "w:numPr", "w:ilvl"))
                source = source or style.key  # a derived style may name its level and no list
        return None if num in {"", "0"} else (num, level, source)

    def table_fills(self, key: str) -> dict[str, str]:
        """Fills that a table style puts behind cells, by its conditional format (`firstRow`, ...)."""
        if key not in self._fills:
            fills = self._fills[key] = {}
            for style in self._chain(key):
                for part in (style.element, *style.element.iterfind(qn("w:tblStylePr"))):
                    name = attribute(part, "w:type") if tag(part) == "w:tblStylePr" else "wholeTable"
                    for properties in ("w:tcPr", "w:tblPr"):
                        fill = self.palette.shading(child(part, properties))
                        if fill not in {None, "auto"}:
                            fills.setdefault(name, fill or "")
        return self._fills[key]

    def band(self, key: str, of: str) -> int:
        """How many rows (`of` is `Row`) or columns (`Col`) one band of a table style takes."""
        sizes = (child(style.element, "w:tblPr", f"w:tblStyle{of}BandSize") for style in self._chain(key))
        return next((number(val(size)) or 1 for size in sizes if size is not None), 1)
