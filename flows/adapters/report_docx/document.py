"""A Word report that is edited place by place."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from flows.adapters.report_docx import controls, removal
from flows.adapters.report_docx.blocks import Builder
from flows.adapters.report_docx.elements import (
    BOX,
    ancestor,
    cuts_field,
    has,
    remove,
)
from flows.adapters.report_docx.filling import fill_control
from flows.adapters.report_docx.model import Block, EditError, Place, clean
from flows.adapters.report_docx.package import open_package, related_root, write_package
from flows.adapters.report_docx.places import Found, find_places
from flows.adapters.report_docx.styles import Styles, blank_document
from flows.adapters.report_docx.tables import add_row, delete_row
from flows.adapters.report_docx.writing import write_container, write_paragraph
from flows.common.word_xml import SDT, TBL, TC, TR, Element, P, R, qn

_PAGES = (("default", ""), ("first", "first page"), ("even", "even pages"))


class ReportDocument:
    """A document in memory. A failed edit raises and leaves the document unchanged.

    Each edit may renumber places: list them again before the next edit, or edit from the end to the start.
    """

    def __init__(self, document: Any) -> None:
        self._document = document
        self._body: Element = document.element.body
        self._styles = Styles(document)
        self._found: dict[str, Found] | None = None

    @classmethod
    def blank(cls) -> ReportDocument:
        """Create an empty document: US Letter, Arial 11, styles for titles, headings, lists and tables."""
        return cls(blank_document())

    @classmethod
    def open(cls, data: bytes) -> ReportDocument:
        """Open a template or report from the bytes of its .docx or .dotx file.

        Raises:
            ReadError: the file can't be opened within the readers' bounds; see `open_package`.
        """
        return cls(open_package(data))

    def places(self) -> list[Place]:
        """Return all places: the body with its tables, controls and boxes, then headers, then footers.

        A merged cell is listed once, at its first row and column. A control that fills a paragraph replaces
        it in the list, as does a cell its only paragraph.
        """
        return [found.place for found in self._all().values() if found.listed]

    def set_text(self, place_id: str, text: str) -> None:
        r"""Replace the text of a place, keeping its format; tracked changes, prompt and comments go.

        Args:
            place_id: a paragraph, heading, list item, cell, text box or control.
            text: lines become separate paragraphs. `**bold**` and `*italic*` are
                read, `\*` is a star. For a control see `fill_control`. An empty text empties the place.

        Raises:
            EditError: there is no such place, or it takes no such text.
        """
        element = self._find(place_id)
        text = clean(text, place_id)
        _refuse_table(element, place_id)
        element = controls.written(element)
        controls.refuse_locked(element, place_id)
        with self._change(element):
            if element.tag == SDT:
                fill_control(element, text, place_id)
                return
            controls.refuse_replacing(element, place_id)
            _refuse_open_field(element, place_id)
            if element.tag == P:
                write_paragraph(element, text)
                return
            if has(element, TBL):
                raise EditError(
                    place_id,
                    "it contains a table, which the text would replace",
                    "a place that holds text alone",
                    "set the places within it, one by one",
                )
            for control in list(element.findall(SDT)):
                controls.unwrap(control)
            write_container(element, text)

    def insert(self, after: str | None, blocks: Sequence[Block]) -> None:
        """Insert blocks after a place, in the document's styles and the formatting of their neighbours.

        Args:
            after: what they follow. After a cell or a text box they stand in it, at its end; after a control
                within a paragraph they follow that paragraph; None: they stand at the start of the body.
            blocks: what is inserted, in order. Numbers go on with the list before them unless a heading or
                a paragraph that ends in a colon stands between.

        Raises:
            EditError: there is no such place, or it is locked.
        """
        container, spot = (self._body, None) if after is None else controls.spot_after(self._find(after))
        target = spot if spot is not None else container
        controls.refuse_locked(target, after or "the start", beside=spot is not None)
        blank = after is None and _is_blank(self._body)
        with self._change(target):
            built = Builder(self._body, self._styles, container, spot).build(blocks)
            at = 0 if spot is None else container.index(spot) + 1
            container[at:at] = built
            removal.part_tables([each for each in built if each.tag == TBL])
            if blank and built and built[-1].tag == P:
                remove(built[-1].getnext())

    def add_row(self, cell_id: str, cells: Sequence[str]) -> None:
        """Insert a row after that of a cell, with its formatting; see `tables.add_row`.

        Args:
            cell_id: a cell, or a place within one.
            cells: texts of the new row, from left to right.

        Raises:
            EditError: no such cell, another number of texts than cells, or a control that refuses its text.
        """
        element = self._find(cell_id)
        _refuse_table(element, cell_id)
        texts = [clean(text, cell_id) for text in cells]
        row = ancestor(element, TR)
        controls.refuse_locked(row if row is not None else element, cell_id)
        with self._change(element):
            add_row(element, texts, cell_id)

    def delete(self, *place_ids: str) -> None:
        """Delete paragraphs, whole rows of cells, tables, text boxes, or controls with what they hold.

        The last paragraph of a cell, header or body, and one that ends a section or parts two tables, is
        emptied instead: Word needs it.

        Args:
            place_ids: from before the first deletion; a place inside another goes with it.

        Raises:
            EditError: no such place, or one can't go. Others may be gone by then: don't keep the document.
        """
        elements = [(self._find(place_id), place_id) for place_id in place_ids]
        roots = self._roots()
        for element, place_id in reversed(elements):
            # Not getroottree: lxml also returns the document's root for removed elements.
            if [element, *element.iterancestors()][-1] in roots:
                self._delete(element, place_id)

    def elements(self) -> list[tuple[Element, str]]:
        """Return the element and id of each place, to compare ids before and after an edit."""
        return [(found.element, place_id) for place_id, found in self._all().items() if found.listed]

    def _delete(self, element: Element, place_id: str) -> None:
        target = ancestor(element, TR) if element.tag == TC else element
        controls.refuse_locked(target, place_id, deleting=True)
        _refuse_open_field(target, place_id)
        with self._change(target):
            if element.tag == TC:
                delete_row(element, place_id)
            elif element.tag == P:
                removal.delete_paragraph(element)
            elif element.tag == SDT:
                removal.delete_control(element)
            elif element.tag == BOX:
                holder = ancestor(element, R)
                remove(holder if holder is not None else element)
            else:
                remove(element)

    def to_bytes(self) -> bytes:
        """Return the .docx file: equal documents give equal bytes, without timestamps or generator."""
        return write_package(self._document)

    def _all(self) -> dict[str, Found]:
        if self._found is None:
            heads, feet = self._margins("header"), self._margins("footer")
            found = find_places(self._styles, self._body, heads, feet)
            self._found = {each.place.place_id: each for each in found}
        return self._found

    def _margins(self, kind: str) -> list[tuple[Element, str]]:
        """Return roots of the headers or footers, each once, with their pages."""
        parts = self._document.part.related_parts
        found: dict[int, tuple[Element, str]] = {}
        for section in self._body.iter(qn("w:sectPr")):
            for page, hint in _PAGES:
                for reference in section.findall(qn(f"w:{kind}Reference")):
                    if reference.get(qn("w:type"), "default") == page:
                        part = parts.get(str(reference.get(qn("r:id"))))
                        if part is not None and hasattr(part, "element"):
                            found.setdefault(id(part), (part.element, hint))
        return list(found.values())

    def _roots(self) -> list[Element]:
        margins = [*self._margins("header"), *self._margins("footer")]
        return [self._document.element, *(root for root, _ in margins)]

    @contextmanager
    def _change(self, element: Element) -> Generator[None]:
        """Clean up after an edit of `element`."""
        roots = self._roots()
        before = removal.commented(roots)
        container = element if element.tag in {TC, BOX} else removal.container_of(element)
        closed = container is not None and removal.is_closed(container)
        twins = removal.twin_of(element)
        yield
        self._found = None
        gone = before - removal.commented(roots)
        if gone:
            removal.drop_comments(roots, gone, related_root(self._document, "/comments"))
        removal.drop_halves(roots)
        if container is not None and closed and not removal.is_closed(container):
            removal.close_container(container)
        if twins is not None:
            removal.copy_to_twin(twins)

    def _find(self, place_id: str) -> Element:
        known = self._all()
        if place_id not in known:
            near = [each for each in known if each[:1] == place_id[:1]][-1:]
            last = f"; the last of that kind is {near[0]}" if near else ""
            raise EditError(
                place_id,
                "no such place",
                f"an id from the list of places{last}",
                "list the places again: an edit renumbers them",
            )
        return known[place_id].element


def _refuse_table(element: Element, where: str) -> None:
    if element.tag == TBL:
        raise EditError(where, "a table", "one of its cells", f"name a cell, such as {where}r1c1")


def _refuse_open_field(element: Element, where: str) -> None:
    """Reject an edit that would leave a partial field, such as one line of a table of contents."""
    if cuts_field(element):
        raise EditError(
            where,
            "part of a field that goes over several paragraphs, as a table of contents does",
            "text that stands for itself",
            "leave it: Word fills it from the headings",
        )


def _is_blank(body: Element) -> bool:
    """Whether a body is one empty paragraph, as of a new document."""
    blocks = [each for each in body if each.tag != qn("w:sectPr")]
    return len(blocks) == 1 and blocks[0].tag == P and not any(each.tag != qn("w:pPr") for each in blocks[0])
