"""Delete paragraphs and controls."""

from __future__ import annotations

from flows.adapters.report_docx.elements import SDT_CONTENT, ancestor, inside, make, remove
from flows.adapters.report_docx.filling import around
from flows.adapters.report_docx.model import EditError
from flows.adapters.report_docx.reading import field_balance, has_pictures, inline_controls, paragraph_text
from flows.adapters.report_docx.tidy import is_last_paragraph, parts_tables
from flows.adapters.report_docx.writing import write_container, write_paragraph
from flows.common.word_xml import SDT, TBL, TC, TR, Element, P, child


def refuse_open_field(element: Element, where: str) -> None:
    """Reject an edit that would leave a partial field, such as one line of a table of contents.

    Raises:
        EditError: a field begins in `element` and ends outside of it, or the other way round.
    """
    if field_balance(element) != 0:
        raise EditError(
            where,
            "part of a field that goes over several paragraphs, as a table of contents does",
            "text that stands for itself",
            "leave it: Word fills it from the headings",
        )


def delete_paragraph(paragraph: Element) -> None:
    """Delete a paragraph, or empty it where Word needs one."""
    section = child(paragraph, "w:pPr", "w:sectPr") is not None
    holder = paragraph.getparent()
    if section or is_last_paragraph(paragraph) or parts_tables(paragraph):
        for each in list(paragraph):
            if each is not child(paragraph, "w:pPr"):
                paragraph.remove(each)
        return
    if holder.tag == SDT_CONTENT and len(holder) == 1:
        control = holder.getparent()
        if ancestor(control, P) is None and not _needed(control):
            remove(control)
            return
        write_paragraph(paragraph, "")
        return
    remove(paragraph)


def _needed(control: Element) -> bool:
    """Whether a control is all that its container holds, or parts two tables."""
    return parts_tables(control) or (
        not any(each.tag in {P, SDT} for each in control.itersiblings() or ())
        and not any(each.tag in {P, SDT} for each in control.itersiblings(preceding=True))
    )


def delete_control(control: Element) -> None:
    """Delete a control with what it holds; a cell is emptied, a paragraph that held nothing else goes too."""
    where = around(control)
    if where == "inline":
        paragraph = ancestor(control, P)
        remove(control)
        blank = not paragraph_text(paragraph).strip() and not has_pictures(paragraph)
        if blank and next(inline_controls(paragraph), None) is None:
            delete_paragraph(paragraph)
    elif where == "cell":
        cell = next(control.iter(TC))
        for table in list(inside(cell, TBL)):
            remove(table)
        write_container(cell, "")
        control.addprevious(cell)
        remove(control)
    elif where == "row":
        _delete_rows(control)
    else:
        if _needed(control):
            control.addnext(make("w:p"))
        remove(control)


def _delete_rows(control: Element) -> None:
    table = ancestor(control, TBL)
    held = list(inside(control, TR))
    left = [row for row in inside(table, TR) if row not in held]
    remove(control if left else table)
