"""Read the styles and lists of a document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from flows.adapters.report_docx.model import PlaceKind
from flows.common.word_xml import Element, child, qn, val

_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_DEEPEST = 20  # valid basedOn chains are shorter; stops cycles
_BODY_LEVEL = 9  # w:outlineLvl of text that is no heading


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Which list a paragraph belongs to: `w:numId`, level from 0, and whether it shows bullets or numbers."""

    number_id: str
    level: int
    kind: Literal["bullet", "number"]


class Styles:
    """Reads the style part and the numbering part of a document.

    Args:
        styles: root of the style part.
        numbering: root of the numbering part; None if the document has none.
    """

    def __init__(self, styles: Element, numbering: Element | None) -> None:
        self.root = styles
        self.numbering = numbering

    @cached_property
    def _by_id(self) -> dict[str, Element]:
        return {str(style.get(qn("w:styleId"))): style for style in self.root.findall(qn("w:style"))}

    def forget(self) -> None:
        """Clear the caches after adding a style or a list."""
        self.__dict__.pop("_by_id", None)

    @cached_property
    def default_id(self) -> str:
        """Id of the style of paragraphs that name none."""
        for style in self.root.findall(qn("w:style")):
            if style.get(qn("w:type")) == "paragraph" and style.get(qn("w:default")) in {"1", "true", "on"}:
                return str(style.get(qn("w:styleId")))
        return ""

    def id_of(self, name: str, kind: str = "paragraph") -> str | None:
        """Id of the style with this name, whatever its case; None if there is none."""
        for style_id, style in self._by_id.items():
            if style.get(qn("w:type")) == kind and val(style, "w:name").lower() == name.lower():
                return style_id
        return None

    def name_by_id(self, style_id: str) -> str:
        """Name of a style as Word's menus show it; the id itself where it is not defined."""
        name = val(self._by_id.get(style_id), "w:name") or style_id
        return name.title() if _HEADING.fullmatch(name) else name

    def name(self, paragraph: Element) -> str:
        """Name of the style of a paragraph."""
        return self.name_by_id(self._style_id(paragraph))

    def _style_id(self, paragraph: Element) -> str:
        return val(paragraph, "w:pPr", "w:pStyle") or self.default_id

    def _chain(self, style_id: str) -> list[Element]:
        found: list[Element] = []
        while style_id in self._by_id and len(found) < _DEEPEST:
            found.append(self._by_id[style_id])
            style_id = val(found[-1], "w:basedOn")
        return found

    def kind_of(self, paragraph: Element) -> tuple[PlaceKind, int | None]:
        """Whether a paragraph is a heading, a list item or neither; with its level."""
        level = self.heading_level(paragraph)
        if level is not None:
            return "heading", level
        listed = self.list_of(paragraph)
        return ("paragraph", None) if listed is None else ("list_item", listed.level + 1)

    def heading_level(self, paragraph: Element) -> int | None:
        """1 to 9, 0 for the title; None for what is no heading."""
        chain = self._chain(self._style_id(paragraph))
        for style in chain:
            name = val(style, "w:name")
            match = _HEADING.fullmatch(name)
            if match or name.lower() == "title":
                return int(match[1]) if match else 0
        for holder in (paragraph, *chain):
            outline = val(holder, "w:pPr", "w:outlineLvl")
            if outline.isdecimal():
                return int(outline) + 1 if int(outline) < _BODY_LEVEL else None
        return None

    def list_of(self, paragraph: Element) -> ListPlace | None:
        """The list of a paragraph, its own or its style's; None if it belongs to none."""
        number_id = level = ""
        for holder in (paragraph, *self._chain(self._style_id(paragraph))):
            properties = child(holder, "w:pPr", "w:numPr")
            level = level or val(properties, "w:ilvl")
            number_id = val(properties, "w:numId")
            if number_id:
                break
        if number_id in {"", "0"}:
            return None
        depth = int(level) if level.isdecimal() and len(level) == 1 else 0
        form = self.list_form(number_id, depth)
        return (
            None if form is None else ListPlace(number_id, depth, "bullet" if form == "bullet" else "number")
        )

    def list_form(self, number_id: str, level: int) -> str | None:
        """`w:numFmt` of a level of a list, such as `bullet`; None if the list shows nothing there."""
        abstract = self.abstract_of(number_id)
        if abstract is None:
            return None
        for each in abstract.findall(qn("w:lvl")):
            if each.get(qn("w:ilvl")) == str(level):
                form = val(each, "w:numFmt", default="decimal")
                return None if form == "none" else form
        return None

    def abstract_of(self, number_id: str) -> Element | None:
        """Definition of a list (`w:abstractNum`)."""
        if self.numbering is None:
            return None
        numbers = {str(each.get(qn("w:numId"))): each for each in self.numbering.findall(qn("w:num"))}
        wanted = val(numbers.get(number_id), "w:abstractNumId")
        for each in self.numbering.findall(qn("w:abstractNum")):
            if each.get(qn("w:abstractNumId")) == wanted:
                linked = val(each, "w:numStyleLink")
                return self._by_list_style(linked) if linked else each
        return None

    def _by_list_style(self, style_id: str) -> Element | None:
        assert self.numbering is not None
        for each in self.numbering.findall(qn("w:abstractNum")):
            if val(each, "w:styleLink") == style_id:
                return each
        return None
