"""What styles say about a paragraph or run: heading level, list, and whether text can be seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from flows.readers.contrast import unreadable
from flows.readers.docx.xml import attribute, child, full, number, switch, tag, value
from flows.readers.ooxml import Element

_TINY = 3  # half-points: text of one and a half points and below
_CHAIN = 20  # deepest chain of basedOn that is followed; Word allows 11


_Said = TypeVar("_Said")


def _first(upper: _Said | None, lower: _Said | None) -> _Said | None:
    return lower if upper is None else upper


@dataclass(frozen=True, slots=True)
class Look:
    """Run properties that decide whether text shows, and how; None: not said."""

    vanish: bool | None = None
    colour: str | None = None
    ground: str | None = None
    size: int | None = None
    strike: bool | None = None
    raised: bool | None = None
    font: str | None = None

    def over(self, below: Look) -> Look:
        """This look where it says something, `below` elsewhere."""
        return Look(
            _first(self.vanish, below.vanish),
            _first(self.colour, below.colour),
            _first(self.ground, below.ground),
            _first(self.size, below.size),
            _first(self.strike, below.strike),
            _first(self.raised, below.raised),
            _first(self.font, below.font),
        )


_PLAIN = Look()
_HIGHLIGHT = {
    "black": "000000", "darkBlue": "000080", "darkGreen": "008000", "darkRed": "800000",
    "white": "FFFFFF", "none": None,
}  # fmt: skip


def shading(element: Element | None) -> str | None:
    """The fill of `w:shd` below a property element: six hex digits, `auto`, or None."""
    shd = child(element, "w:shd") if element is not None else None
    if shd is None or value(shd) == "nil":
        return None
    if value(shd) == "solid":
        return attribute(shd, "w:color", "auto")
    return attribute(shd, "w:fill", "auto")


def look(properties: Element | None) -> Look:
    """What one `w:rPr` says itself."""
    if properties is None or not len(properties):
        return _PLAIN
    colour = ground = size = font = None
    flags: dict[str, bool | None] = {}
    for part in properties:
        match tag(part):
            case "w:vanish" | "w:strike" | "w:dstrike":
                name = "strike" if tag(part) == "w:dstrike" else tag(part)[2:]
                flags[name] = switch(part) or flags.get(name) or False
            case "w:color":
                colour = value(part, "auto")
            case "w:sz":
                size = number(value(part))
            case "w:highlight":
                ground = _HIGHLIGHT.get(value(part), "FFFF00")
            case "w:shd":
                ground = ground or shading(properties)
            case "w:vertAlign":
                flags["raised"] = value(part) == "superscript"
            case "w:rFonts":
                font = attribute(part, "w:ascii") or attribute(part, "w:hAnsi") or None
            case _:
                pass
    return Look(flags.get("vanish"), colour, ground, size, flags.get("strike"), flags.get("raised"), font)


def why_hidden(seen: Look, grounds: frozenset[str]) -> str | None:
    """Why text of this look can't be seen: `hidden`, `white on white`, `one-point`; None if it can.

    Args:
        seen: the resolved look of the run.
        grounds: possible fills behind it (cell, paragraph, shape); empty for the white page. Text
            counts as visible if it is readable on any of them.
    """
    if seen.vanish:
        return "hidden"
    if seen.size is not None and seen.size <= _TINY:
        return "one-point"
    if seen.colour and seen.colour != "auto":
        behind = {seen.ground} if seen.ground and seen.ground != "auto" else (grounds or {"FFFFFF"})
        colour = seen.colour
        if all(unreadable(colour, "FFFFFF" if ground == "auto" else ground) for ground in behind):
            return "the colour of its ground"
    return None


@dataclass(slots=True)
class _Style:
    name: str
    kind: str
    based_on: str
    properties: Element | None
    look: Look
    element: Element


class Styles:
    """The styles of one document."""

    def __init__(self, root: Element | None) -> None:
        """Read `styles.xml`; None where the document has none."""
        self._styles: dict[str, _Style] = {}
        self._looks: dict[str, Look] = {}
        self._defaults = _PLAIN
        self._default_paragraph = ""
        for element in () if root is None else root:
            if tag(element) == "w:docDefaults":
                self._defaults = look(child(element, "w:rPrDefault", "w:rPr"))
            if tag(element) != "w:style":
                continue
            key = attribute(element, "w:styleId")
            kind = attribute(element, "w:type")
            self._styles[key] = _Style(
                value(child(element, "w:name")).lower(),
                kind,
                value(child(element, "w:basedOn")),
                child(element, "w:pPr"),
                look(child(element, "w:rPr")),
                element,
            )
            if kind == "paragraph" and attribute(element, "w:default") in {"1", "true", "on"}:
                self._default_paragraph = key
        self.lists = {
            key: value(child(style.properties, "w:numPr", "w:numId"))
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
            merged = _PLAIN
            for style in self._chain(key):
                merged = merged.over(style.look)
            self._looks[key] = merged
        return self._looks[key]

    def paragraph_style(self, properties: Element | None) -> str:
        """Id of a paragraph's style, the default one where it names none."""
        return (
            value(child(properties, "w:pStyle")) if properties is not None else ""
        ) or self._default_paragraph

    def run_look(self, run_properties: Element | None, paragraph_style: str) -> Look:
        """The resolved look of a run: its own, its character style's, its paragraph style's, defaults."""
        seen = look(run_properties)
        if run_properties is not None:
            character = value(child(run_properties, "w:rStyle"))
            if character:
                seen = seen.over(self._look_of(character))
        return seen.over(self._look_of(paragraph_style)).over(self._defaults)

    def ground(self, properties: Element | None, key: str) -> str | None:
        """The fill behind a paragraph, its own or its style's."""
        own = shading(properties)
        if own is not None:
            return own
        return next(
            (fill for style in self._chain(key) if (fill := shading(style.properties)) is not None), None
        )

    def heading_level(self, properties: Element | None, key: str) -> int | None:
        """Outline level from 1 to 9; 1 for a title; None for body text."""
        own = number(value(child(properties, "w:outlineLvl"))) if properties is not None else None
        chain = self._chain(key)
        for style in chain:
            if own is not None:
                break
            own = (
                number(value(child(style.properties, "w:outlineLvl")))
                if style.properties is not None
                else None
            )
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
        if properties is not None and child(properties, "w:numPr") is not None:
            num = value(child(properties, "w:numPr", "w:numId"))
            level = number(value(child(properties, "w:numPr", "w:ilvl")))
        for style_key, style in zip(self._keys(key), self._chain(key), strict=False):
            if num:
                break
            if style.properties is not None and child(style.properties, "w:numPr") is not None:
                num = value(child(style.properties, "w:numPr", "w:numId"))
                if level is None:
                    level = number(value(child(style.properties, "w:numPr", "w:ilvl")))
                source = style_key
        return None if num in {"", "0"} else (num, level, source)

    def _keys(self, key: str) -> list[str]:
        keys: list[str] = []
        while key in self._styles and len(keys) < _CHAIN:
            keys.append(key)
            key = self._styles[key].based_on
        return keys

    def table_fills(self, key: str) -> frozenset[str]:
        """All fills that a table style can put behind a cell (header row, bands, first column, ...)."""
        fills: set[str] = set()
        for style in self._chain(key):
            for shd in style.element.iter(full("w:tcPr"), full("w:tblPr")):
                fill = shading(shd)
                if fill and fill != "auto":
                    fills.add(fill)
        return frozenset(fills)
