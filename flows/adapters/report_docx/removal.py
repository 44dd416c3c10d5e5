"""Delete paragraphs and controls, and clean up after an edit: comments, bookmarks, twins of boxes."""

from collections.abc import Sequence
from copy import deepcopy

from flows.adapters.report_docx.controls import around
from flows.adapters.report_docx.elements import (
    ALTERNATE,
    BOX,
    CHOICE,
    FALLBACK,
    SDT_CONTENT,
    ancestor,
    clear,
    has_pictures,
    inline_controls,
    inside,
    make,
    paragraph_text,
    put_before,
    remove,
)
from flows.adapters.report_docx.writing import write_container, write_paragraph
from flows.common.word_xml import SDT, TBL, TC, TR, Element, P, child, qn

_PAIRS = tuple(
    (qn(f"w:{name}Start"), qn(f"w:{name}End"))
    for name in ("bookmark", "perm", "commentRange", "moveFromRange", "moveToRange")
)
_ID = qn("w:id")


def delete_paragraph(paragraph: Element) -> None:
    """Delete a paragraph, or empty it where Word needs one."""
    section = child(paragraph, "w:pPr", "w:sectPr") is not None
    holder = paragraph.getparent()
    if section or _is_last_paragraph(paragraph) or _parts_tables(paragraph):
        clear(paragraph)
    elif holder.tag == SDT_CONTENT and len(holder) == 1:
        control = holder.getparent()
        if ancestor(control, P) is None and not _needed(control):
            remove(control)
        else:
            write_paragraph(paragraph, "")
    else:
        remove(paragraph)


def _needed(control: Element) -> bool:
    """Whether a control is all that its container holds, or parts two tables."""
    siblings = [*control.itersiblings(P, SDT), *control.itersiblings(P, SDT, preceding=True)]
    return not siblings or _parts_tables(control)


def _parts_tables(element: Element) -> bool:
    """Whether a block stands between two tables, which would become one without it."""
    before, after = element.getprevious(), element.getnext()
    return before is not None and after is not None and before.tag == TBL == after.tag


def _is_last_paragraph(paragraph: Element) -> bool:
    """Whether its container would be left without a paragraph at its end."""
    container = container_of(paragraph)
    if container is None or paragraph.getparent() is not container:
        return False
    blocks = _blocks(container)
    if not any(each.tag == P for each in blocks if each is not paragraph):
        return True
    before = paragraph.getprevious()
    return blocks[-1] is paragraph and before is not None and before.tag == TBL


def delete_control(control: Element) -> None:
    """Delete a control with what it holds; a cell is emptied, a paragraph that held nothing else goes too."""
    where = around(control)
    if where == "inline":
        paragraph = next(control.iterancestors(P))
        remove(control)
        blank = not paragraph_text(paragraph).strip() and not has_pictures(paragraph)
        if blank and not inline_controls(paragraph):
            delete_paragraph(paragraph)
    elif where == "cell":
        cell = next(control.iter(TC))
        for table in list(inside(cell, TBL)):
            remove(table)
        write_container(cell, "")
        control.addprevious(cell)
        remove(control)
    elif where == "row":
        table = next(control.iterancestors(TBL))
        held = list(inside(control, TR))
        remove(table if all(row in held for row in inside(table, TR)) else control)
    else:
        if _needed(control):
            control.addnext(make("w:p"))
        remove(control)


def commented(roots: Sequence[Element]) -> set[str]:
    """Return ids of the comments with a text range."""
    return {str(each.get(_ID)) for root in roots for each in root.iter(qn("w:commentReference"))}


def drop_comments(roots: Sequence[Element], gone: set[str], comments: Element | None) -> None:
    """Delete the comments in `gone`, whose text was removed, with their marks."""
    marks = [each for root in roots for each in root.iter(qn("w:commentRangeStart"), qn("w:commentRangeEnd"))]
    for each in (*marks, *(() if comments is None else comments)):
        if each.get(_ID) in gone:
            remove(each)


def drop_halves(roots: Sequence[Element]) -> None:
    """Delete range marks whose other end was removed."""
    for root in roots:
        for tags in _PAIRS:
            starts, ends = (list(root.iter(tag)) for tag in tags)
            whole = {each.get(_ID) for each in starts} & {each.get(_ID) for each in ends}
            for each in (*starts, *ends):
                if each.get(_ID) not in whole:
                    remove(each)


def copy_to_twin(alternate: Element) -> None:
    """Copy the text of an edited text box to its VML fallback."""
    choice, fallback = alternate.find(CHOICE), alternate.find(FALLBACK)
    if choice is None or fallback is None:
        return
    new, old = list(choice.iter(BOX)), list(fallback.iter(BOX))
    if len(new) != len(old):
        remove(fallback)  # the twin can't be matched; the newer one stands for itself
        return
    for box, twin in zip(new, old, strict=True):
        twin[:] = [deepcopy(each) for each in box]


def _blocks(container: Element) -> list[Element]:
    return [each for each in container if each.tag not in {qn("w:tcPr"), qn("w:sectPr")}]


def is_closed(container: Element) -> bool:
    """Whether a cell, body, box, header or footer is not empty and ends with no table, as Word wants it."""
    blocks = _blocks(container)
    return bool(blocks) and blocks[-1].tag != TBL


def close_container(container: Element) -> None:
    """End a container with an empty paragraph."""
    put_before(container, make("w:p"), "w:sectPr")


def part_tables(tables: Sequence[Element]) -> None:
    """Put an empty paragraph between each of the tables and one right next to it: Word would join the two."""
    for table in tables:
        before, after = table.getprevious(), table.getnext()
        if before is not None and before.tag == TBL:
            table.addprevious(make("w:p"))
        if after is not None and after.tag == TBL:
            table.addnext(make("w:p"))


def container_of(element: Element) -> Element | None:
    """The cell, text box, body, header or footer that an element is, or the nearest around it."""
    holders = (TC, BOX, qn("w:body"), qn("w:hdr"), qn("w:ftr"))
    return ancestor(element, *holders)


def twin_of(element: Element) -> Element | None:
    """What holds both twins of the text box around an element."""
    box = element if element.tag == BOX else ancestor(element, BOX)
    return None if box is None else ancestor(box, ALTERNATE)
