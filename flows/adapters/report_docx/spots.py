"""Find the element to edit for a place, or to insert blocks after."""

from __future__ import annotations

from flows.adapters.report_docx import controls
from flows.adapters.report_docx.elements import BOX, SDT_CONTENT, inside
from flows.adapters.report_docx.filling import around
from flows.adapters.report_docx.places import cell_control
from flows.adapters.report_docx.reading import only_control, paragraphs_in
from flows.common.word_xml import SDT, TBL, TC, TR, Element, P, qn

_HOLDING = frozenset({"rich text", "group", "building block"})


def spot_after(element: Element) -> tuple[Element, Element | None]:
    """The container that blocks after an element go into, and what they follow there; None at its start."""
    if element.tag in {TC, BOX}:
        return element, element[-1] if len(element) and element[-1].tag != qn("w:tcPr") else None
    if element.tag == SDT:
        where = around(element)
        if where == "cell":
            cell = next(element.iter(TC))
            return cell, cell[-1]
        element = next(element.iterancestors(P)) if where == "inline" else element
    # Controls for plain text, dates and choices hold nothing else, nor do those that show their prompt:
    # what is inserted follows them.
    for control in list(element.iterancestors(SDT)):
        holds = controls.control_type(control) in _HOLDING and not controls.shows_prompt(control)
        if not holds and around(control) == "block":
            element = control
    return element.getparent(), element


def written(element: Element) -> Element:
    """What is written where a place is set: the control that holds all its text, if there is one."""
    if element.tag == TC:
        outer = cell_control(element, next(element.iterancestors(TR)))
        element = element if outer is None else outer
    if element.tag == P and element.getparent().tag == SDT_CONTENT:
        outer = element.getparent().getparent()
        if controls.shows_prompt(outer):
            return outer
    inner = _the_control(element)
    return element if inner is None else inner


def _the_control(element: Element) -> Element | None:
    """The control that holds all the text of a paragraph, cell or box; None if there is no such."""
    if element.tag == SDT:
        return None
    if element.tag == P:
        return only_control(element)
    if next(inside(element, TBL), None) is not None:
        return None
    blocks = [each for each in element if each.tag in {P, SDT}]
    if len(blocks) == 1 and blocks[0].tag == SDT:
        return blocks[0]
    paragraphs = paragraphs_in(element)
    return only_control(paragraphs[0]) if len(paragraphs) == 1 else None


def is_blank(body: Element) -> bool:
    """Whether a body is one empty paragraph, as of a new document."""
    blocks = [each for each in body if each.tag != qn("w:sectPr")]
    return len(blocks) == 1 and blocks[0].tag == P and not any(each.tag != qn("w:pPr") for each in blocks[0])
