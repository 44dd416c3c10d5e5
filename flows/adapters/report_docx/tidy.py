"""Clean up after an edit: comments and bookmarks of removed text, fallbacks of text boxes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from flows.adapters.report_docx.elements import ALTERNATE, BOX, CHOICE, FALLBACK, ancestor, make, remove
from flows.common.word_xml import TBL, TC, Element, P, child, qn

_PAIRS = tuple(
    (qn(f"w:{name}Start"), qn(f"w:{name}End"))
    for name in ("bookmark", "perm", "commentRange", "moveFromRange", "moveToRange")
)
_ID = qn("w:id")


def commented(roots: Sequence[Element]) -> set[str]:
    """Return ids of the comments with a text range."""
    return {str(each.get(_ID)) for root in roots for each in root.iter(qn("w:commentReference"))}


def drop_comments(roots: Sequence[Element], gone: set[str], comments: Element | None) -> None:
    """Delete the comments in `gone`, whose text was removed, with their marks."""
    for root in roots:
        for mark in list(root.iter(qn("w:commentRangeStart"), qn("w:commentRangeEnd"))):
            if mark.get(_ID) in gone:
                remove(mark)
    for comment in list(comments) if comments is not None else ():
        if comment.get(_ID) in gone:
            remove(comment)


def drop_halves(roots: Sequence[Element]) -> None:
    """Delete range marks whose other end was removed."""
    for root in roots:
        for start_tag, end_tag in _PAIRS:
            starts, ends = list(root.iter(start_tag)), list(root.iter(end_tag))
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
        for each in list(twin):
            twin.remove(each)
        twin.extend([deepcopy(each) for each in box])


def is_closed(container: Element) -> bool:
    """Whether a cell, body, box, header or footer is not empty and ends with no table, as Word wants it."""
    blocks = [each for each in container if each.tag not in {qn("w:tcPr"), qn("w:sectPr")}]
    return bool(blocks) and blocks[-1].tag != TBL


def close_container(container: Element) -> None:
    """End a container with an empty paragraph."""
    section = child(container, "w:sectPr")
    if section is None:
        container.append(make("w:p"))
    else:
        section.addprevious(make("w:p"))


def part_tables(tables: Sequence[Element]) -> None:
    """Put an empty paragraph between each of the tables and one right next to it: Word would join the two."""
    for table in tables:
        before, after = table.getprevious(), table.getnext()
        if before is not None and before.tag == TBL:
            table.addprevious(make("w:p"))
        if after is not None and after.tag == TBL:
            table.addnext(make("w:p"))


def container_of(element: Element) -> Element | None:
    """The nearest cell, text box, body, header or footer around an element."""
    return ancestor(element, TC, BOX, qn("w:body"), qn("w:hdr"), qn("w:ftr"))


def twin_of(element: Element) -> Element | None:
    """What holds both twins of the text box around an element."""
    box = element if element.tag == BOX else ancestor(element, BOX)
    return None if box is None else ancestor(box, ALTERNATE)


def parts_tables(element: Element) -> bool:
    """Whether a block stands between two tables, which would become one without it."""
    before, after = element.getprevious(), element.getnext()
    return before is not None and after is not None and before.tag == TBL == after.tag


def is_last_paragraph(paragraph: Element) -> bool:
    """Whether its container would be left without a paragraph at its end."""
    container = container_of(paragraph)
    if container is None or paragraph.getparent() is not container:
        return False
    blocks = [each for each in container if each.tag not in {qn("w:tcPr"), qn("w:sectPr")}]
    if not any(each.tag == P for each in blocks if each is not paragraph):
        return True
    before = paragraph.getprevious()
    return blocks[-1] is paragraph and before is not None and before.tag == TBL
