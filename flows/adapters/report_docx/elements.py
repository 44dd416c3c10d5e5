"""Create, copy, traverse and remove WordprocessingML elements."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from flows.common.word_xml import NAMESPACES, Element, R, child, qn

SDT_CONTENT, BOX, ALTERNATE = qn("w:sdtContent"), qn("w:txbxContent"), qn("mc:AlternateContent")
CHOICE, FALLBACK = qn("mc:Choice"), qn("mc:Fallback")
DELETED = frozenset(map(qn, ("w:del", "w:moveFrom")))
_WRAPPERS = frozenset(
    map(qn, ("w:sdt", "w:sdtContent", "w:customXml", "w:smartTag", "w:ins", "w:moveTo", "w:hyperlink"))
)
_OWN_IDS = frozenset(map(qn, ("w14:paraId", "w14:textId")))
_MARKERS = frozenset(
    map(
        qn,
        (
            *("w:bookmarkStart", "w:bookmarkEnd", "w:commentRangeStart", "w:commentRangeEnd"),
            *("w:permStart", "w:permEnd", "w:proofErr", "w:moveFromRangeStart", "w:moveFromRangeEnd"),
            *("w:moveToRangeStart", "w:moveToRangeEnd", "w:lastRenderedPageBreak"),
        ),
    )
)

# CT_PPr is a sequence (ECMA-376 part 1, 17.3.1.26): what may follow the spacing of a paragraph.
AFTER_SPACING = (
    *("w:ind", "w:contextualSpacing", "w:mirrorIndents", "w:suppressOverlap", "w:jc", "w:textDirection"),
    *("w:textAlignment", "w:textboxTightWrap", "w:outlineLvl", "w:divId", "w:cnfStyle", "w:rPr"),
    *("w:sectPr", "w:pPrChange"),
)


def make(name: str, **attributes: str) -> Element:
    """A new element; attributes are given without their prefix, which is `w`."""
    parser: Any = importlib.import_module("docx.oxml.parser")
    return parser.OxmlElement(name, {qn(f"w:{key}"): value for key, value in attributes.items()})


def parse(text: str) -> Element:
    """An element from its XML, with the prefixes `w`, `w14`, `r` declared."""
    parser: Any = importlib.import_module("docx.oxml.parser")
    declared = " ".join(f'xmlns:{prefix}="{NAMESPACES[prefix]}"' for prefix in ("w", "w14", "r"))
    end = min(at for at in (text.find(mark) for mark in (" ", ">", "/>")) if at > 0)
    return parser.parse_xml(f"{text[:end]} {declared}{text[end:]}")


def required_child(element: Element, *names: str) -> Element:
    """The child along a path of names, where it is known to be there."""
    found = child(element, *names)
    assert found is not None
    return found


def remove(element: Element | None) -> None:
    """Take an element, if it is there, out of its parent."""
    if element is not None and element.getparent() is not None:
        element.getparent().remove(element)


def ancestor(element: Element, *tags: str) -> Element | None:
    """The nearest ancestor with one of the tags."""
    return next(element.iterancestors(*tags), None)


def inside(element: Element, *tags: str) -> Iterator[Element]:
    """Children with one of the tags, looked for within wrappers (controls, insertions, links) as well."""
    for each in element:
        if each.tag in tags:
            yield each
        elif each.tag in _WRAPPERS:
            yield from inside(each, *tags)


def live(element: Element) -> Iterator[Element]:
    """All descendants in document order, without deletions, old VML twins and what is in text boxes."""
    for each in element:
        if not isinstance(each.tag, str) or each.tag in DELETED or each.tag in {FALLBACK, BOX}:
            continue
        yield each
        yield from live(each)


def fresh(element: Element) -> Element:
    """A copy that may stand next to its original: without ids of its own, markers, notes and comments."""
    copy = deepcopy(element)
    for each in list(copy.iter()):
        for key in _OWN_IDS & set(each.attrib):
            del each.attrib[key]
        if each.tag in _MARKERS or each.tag in DELETED:
            remove(each)
    for name in ("w:commentReference", "w:footnoteReference", "w:endnoteReference"):
        for each in list(copy.iter(qn(name))):
            remove(ancestor(each, R))
    return copy


def put_in_order(parent: Element, new: Element, later: tuple[str, ...]) -> None:
    """Add `new` to `parent` in place of one of the same name, before the first of the names in `later`.

    The schema of most properties is a sequence, and Word refuses a file that breaks it.
    """
    remove(parent.find(new.tag))
    names = set(map(qn, later))
    before = next((each for each in parent if each.tag in names), None)
    if before is None:
        parent.append(new)
    else:
        before.addprevious(new)
