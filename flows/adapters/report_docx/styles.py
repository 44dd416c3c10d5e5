"""Read the styles and lists of a document, and add those that it lacks from `blank.docx`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from flows.adapters.report_docx.elements import make, put_before, remove
from flows.adapters.report_docx.model import HEADING_LEVELS, PlaceKind
from flows.adapters.report_docx.package import open_package, related_root
from flows.common.word_xml import NAMESPACES, Element, attribute, child, qn, val

ListKind = Literal["bullet", "number"]

_BLANK = Path(__file__).with_name("blank.docx")
_SHOWN = 3  # levels of headings that a blank document has; deeper ones are added with their first use
_LIST_STYLES: dict[ListKind, str] = {"bullet": "List Bullet", "number": "List Number"}
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)
_DEEPEST = 20  # valid basedOn chains are shorter; stops cycles
_BODY_LEVEL = 9  # w:outlineLvl of text that is no heading


def blank_document() -> Any:
    """A python-docx document on US Letter: Arial 11, styles for titles, headings, lists and tables."""
    document = open_package(_BLANK.read_bytes())
    for style in document.styles.element.findall(qn("w:style")):
        if attribute(style, "w:styleId") in {f"Heading{n}" for n in range(_SHOWN + 1, HEADING_LEVELS + 1)}:
            remove(style)
    return document


@cache
def _defaults() -> Styles:
    return Styles(open_package(_BLANK.read_bytes()))


@dataclass(frozen=True, slots=True)
class ListPlace:
    """Which list a paragraph belongs to: `w:numId`, level from 0, and whether it shows bullets or numbers."""

    number_id: str
    level: int
    kind: ListKind


class Styles:
    """The styles and lists of a python-docx document."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._root: Element = document.styles.element
        self._numbering = related_root(document, "/numbering")
        self._by_id = {attribute(style, "w:styleId"): style for style in self._root.findall(qn("w:style"))}

    @cached_property
    def default_id(self) -> str:
        """Id of the style of paragraphs that name none."""
        for style_id, style in self._by_id.items():
            default = attribute(style, "w:default") in {"1", "true", "on"}
            if default and attribute(style, "w:type") == "paragraph":
                return style_id
        return ""

    def id_of(self, name: str, kind: str = "paragraph") -> str | None:
        """Id of the style with this name, whatever its case; None if there is none."""
        for style_id, style in self._by_id.items():
            if attribute(style, "w:type") == kind and val(style, "w:name").lower() == name.lower():
                return style_id
        return None

    def style(self, style_id: str) -> Element:
        """The style with this id, which is there."""
        return self._by_id[style_id]

    def name_by_id(self, style_id: str) -> str:
        """Name of a style as Word's menus show it; the id itself where it is not defined."""
        name = val(self._by_id.get(style_id), "w:name") or style_id
        return name.title() if _HEADING.fullmatch(name) else name

    def name(self, paragraph: Element) -> str:
        """Name of the style of a paragraph."""
        return self.name_by_id(self._style_id(paragraph))

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
        return self._list_in([paragraph, *self._chain(self._style_id(paragraph))])

    def list_form(self, number_id: str, level: int) -> str | None:
        """`w:numFmt` of a level of a list, such as `bullet`; None if the list shows nothing there."""
        abstract = self.abstract_of(number_id)
        for each in () if abstract is None else abstract.findall(qn("w:lvl")):
            if attribute(each, "w:ilvl") == str(level):
                form = val(each, "w:numFmt", default="decimal")
                return None if form == "none" else form
        return None

    def abstract_of(self, number_id: str) -> Element | None:
        """Definition of a list (`w:abstractNum`)."""
        if self._numbering is None:
            return None
        lists = {
            attribute(n, "w:numId"): val(n, "w:abstractNumId") for n in self._numbering.findall(qn("w:num"))
        }
        abstracts = self._numbering.findall(qn("w:abstractNum"))
        wanted = lists.get(number_id)
        found = next((each for each in abstracts if attribute(each, "w:abstractNumId") == wanted), None)
        style_id = val(found, "w:numStyleLink")
        if style_id:
            return next((each for each in abstracts if val(each, "w:styleLink") == style_id), None)
        return found

    def _style_id(self, paragraph: Element) -> str:
        return val(paragraph, "w:pPr", "w:pStyle") or self.default_id

    def _chain(self, style_id: str) -> list[Element]:
        found: list[Element] = []
        while style_id in self._by_id and len(found) < _DEEPEST:
            found.append(self._by_id[style_id])
            style_id = val(found[-1], "w:basedOn")
        return found

    def _list_in(self, holders: Iterable[Element]) -> ListPlace | None:
        number_id = level = ""
        for holder in holders:
            properties = child(holder, "w:pPr", "w:numPr")
            level = level or val(properties, "w:ilvl")
            number_id = val(properties, "w:numId")
            if number_id:
                break
        depth = int(level) if level.isdecimal() and len(level) == 1 else 0
        form = None if number_id in {"", "0"} else self.list_form(number_id, depth)
        if form is None:
            return None
        return ListPlace(number_id, depth, "bullet" if form == "bullet" else "number")

    def ensure(self, name: str, kind: str = "paragraph") -> str:
        """Id of the style with this name, of the blank document's, which is added if there is none."""
        found = self.id_of(name, kind)
        if found is not None:
            return found
        defaults = _defaults()
        style_id = defaults.id_of(name, kind) or ""
        new = _declaring(deepcopy(defaults.style(style_id)))
        remove(child(new, "w:pPr", "w:numPr"))
        while style_id in self._by_id:
            style_id += "0"
        new.set(qn("w:styleId"), style_id)
        base = self.default_id if kind == "paragraph" else self.id_of("Normal Table", "table")
        for reference in (child(new, "w:basedOn"), child(new, "w:next")):
            if reference is not None and base:
                reference.set(qn("w:val"), base)
            else:
                remove(reference)
        self._root.append(new)
        self._by_id[style_id] = new
        return style_id

    def list_for(self, kind: ListKind, level: int) -> tuple[str, ListPlace]:
        """Style and list of a list item of a level, from 1; added if there are none."""
        name = _LIST_STYLES[kind]
        deeper = self.id_of(f"{name} {level}") if level > 1 else None
        for style_id, depth in ((deeper, 0), (self.id_of(name), level - 1)):
            listed = None if style_id is None else self._list_in(self._chain(style_id))
            if style_id is None or listed is None or listed.kind != kind:
                continue
            at = depth or listed.level
            form = self.list_form(listed.number_id, at)
            if form is not None and (form == "bullet") == (kind == "bullet"):
                return style_id, replace(listed, level=at)
        return self.ensure(name), ListPlace(self._own_list(kind), level - 1, kind)

    def restarted(self, listed: ListPlace) -> ListPlace:
        """A new list of the same form whose numbers begin anew."""
        abstract = self.abstract_of(listed.number_id)
        if abstract is None:
            return listed
        return replace(listed, number_id=self._add_list(attribute(abstract, "w:abstractNumId"), listed.level))

    def _own_list(self, kind: ListKind) -> str:
        """Id of a list of the blank document's form, which is added if there is none."""
        defaults = _defaults()
        wanted = defaults.abstract_of(defaults.list_for(kind, 1)[1].number_id)
        numbering = self._numbering_root()
        for each in numbering.findall(qn("w:num")):
            number_id = attribute(each, "w:numId")
            if _shape(self.abstract_of(number_id)) == _shape(wanted):
                return number_id
        definition = _declaring(deepcopy(wanted))
        abstract_id = _free_id(numbering, "w:abstractNum", "w:abstractNumId")
        definition.set(qn("w:abstractNumId"), abstract_id)
        put_before(numbering, definition, "w:num")  # the schema wants all definitions before the first list
        return self._add_list(abstract_id)

    def _numbering_root(self) -> Element:
        if self._numbering is None:
            from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
            from docx.opc.packuri import PackURI
            from docx.parts.numbering import NumberingPart

            package = self._document.part.package
            name = PackURI("/word/numbering.xml")
            if name in {part.partname for part in package.iter_parts()}:
                name = package.next_partname("/word/numbering%d.xml")
            self._numbering = make("w:numbering")
            part = NumberingPart(name, CONTENT_TYPE.WML_NUMBERING, self._numbering, package)
            self._document.part.relate_to(part, RELATIONSHIP_TYPE.NUMBERING)
        return self._numbering

    def _add_list(self, abstract_id: str, restarted: int | None = None) -> str:
        """Add a list of a definition, whose numbers begin anew at level `restarted`."""
        assert self._numbering is not None
        number_id = _free_id(self._numbering, "w:num", "w:numId")
        new = make("w:num", make("w:abstractNumId", val=abstract_id), numId=number_id)
        if restarted is not None:
            new.append(make("w:lvlOverride", make("w:startOverride", val="1"), ilvl=str(restarted)))
        put_before(self._numbering, _declaring(new), "w:numIdMacAtCleanup")
        return number_id


def _declaring(element: Element) -> Element:
    """The element with namespaces that it does not use: pictures of reports are stored by their bytes."""
    namespaces = {prefix: NAMESPACES[prefix] for prefix in ("w", "w14", "r")}
    new = element.makeelement(element.tag, element.attrib, nsmap=namespaces)
    new.extend(list(element))
    return new


def _free_id(numbering: Element, name: str, key: str) -> str:
    taken = (attribute(each, key) for each in numbering.findall(qn(name)))
    return str(1 + max((int(each) for each in taken if each.isdecimal()), default=0))


def _shape(abstract: Element | None) -> list[tuple[str, str, str]]:
    return [
        (val(level, "w:numFmt"), val(level, "w:lvlText"), attribute(child(level, "w:pPr", "w:ind"), "w:left"))
        for level in (() if abstract is None else abstract.findall(qn("w:lvl")))
    ]


def set_list(paragraph: Element, listed: ListPlace) -> None:
    """Make a paragraph an item of a list, whatever its style says."""
    own = paragraph.get_or_add_pPr()
    own.remove_all("w:numPr")
    level, number = make("w:ilvl", val=str(listed.level)), make("w:numId", val=listed.number_id)
    own.get_or_add_numPr().extend([level, number])
