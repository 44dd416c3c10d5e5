"""A Word report that is edited place by place."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from flows.adapters.report_docx import controls, tidy
from flows.adapters.report_docx.blocks import Builder
from flows.adapters.report_docx.defaults import blank_package
from flows.adapters.report_docx.elements import BOX, ancestor, inside, remove
from flows.adapters.report_docx.filling import fill_control, unwrap
from flows.adapters.report_docx.model import Block, EditError, Place, clean
from flows.adapters.report_docx.package import open_package, write_package
from flows.adapters.report_docx.places import Finder, Found
from flows.adapters.report_docx.removal import delete_control, delete_paragraph, refuse_open_field
from flows.adapters.report_docx.spots import is_blank, spot_after, written
from flows.adapters.report_docx.styles import Styles
from flows.adapters.report_docx.tables import add_row, delete_row
from flows.adapters.report_docx.writing import write_container, write_paragraph
from flows.common.word_xml import SDT, TBL, TC, TR, Element, P, R, qn

_NUMBERING, _COMMENTS = "/numbering", "/comments"
_PAGES = (("default", ""), ("first", "first page"), ("even", "even pages"))


class ReportDocument:
    """A document in memory. A failed edit raises and leaves the document unchanged.

    Each edit may renumber places: list them again before the next edit, or edit from the end to the start.
    """

    def __init__(self, document: Any) -> None:
        self._document = document
        self._found: dict[str, Found] | None = None
        numbering = next(
            (
                link.target_part.element
                for link in document.part.rels.values()
                if link.reltype.endswith(_NUMBERING) and _is_inside(link)
            ),
            None,
        )
        self._styles = Styles(document.styles.element, numbering)

    @classmethod
    def blank(cls) -> ReportDocument:
        """Create an empty document: US Letter, Arial 11, styles for titles, headings, lists and tables."""
        return cls(open_package(blank_package()))

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
        self._set(self._find(place_id).element, place_id, clean(text, place_id))

    def fill(self, texts: Mapping[str, str]) -> list[EditError]:
        """Set several places, with ids from before the first edit.

        Args:
            texts: texts by place, as for `set_text`; set in this order.

        Returns:
            The errors of places that were not set; the others were.
        """
        known = dict(self._all())
        faults: list[EditError] = []
        for place_id, text in texts.items():
            try:
                self._set(self._living(place_id, known), place_id, clean(text, place_id))
            except EditError as fault:
                faults.append(fault)
        return faults

    def _set(self, element: Element, place_id: str, text: str) -> None:
        if element.tag == TBL:
            raise EditError(place_id, "a table", "one of its cells", f"name a cell, such as {place_id}r1c1")
        element = written(element)
        controls.refuse_locked(element, place_id)
        with self._change(element):
            if element.tag == SDT:
                fill_control(element, text, place_id)
                return
            controls.refuse_replacing(element, place_id)
            refuse_open_field(element, place_id)
            if element.tag == P:
                write_paragraph(element, text)
                return
            if next(inside(element, TBL), None) is not None:
                raise EditError(
                    place_id,
                    "it contains a table, which the text would replace",
                    "a place that holds text alone",
                    "set the places within it, one by one",
                )
            for control in list(element.findall(SDT)):
                unwrap(control)
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
        body: Element = self._document.element.body
        container, spot = (body, None) if after is None else spot_after(self._find(after).element)
        target = spot if spot is not None else container
        controls.refuse_locked(target, after or "the start", beside=spot is not None)
        blank = after is None and is_blank(body)
        with self._change(target):
            built = Builder(self._document, self._styles, container, spot).build(blocks)
            last = spot
            for element in built:
                if last is None:
                    container.insert(0, element)
                else:
                    last.addnext(element)
                last = element
            tidy.part_tables([each for each in built if each.tag == TBL])
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
        element = self._find(cell_id).element
        if element.tag == TBL:
            raise EditError(cell_id, "a table", "one of its cells", f"name a cell, such as {cell_id}r1c1")
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
        elements = [(self._find(place_id).element, place_id) for place_id in place_ids]
        roots = self._roots()
        for element, place_id in reversed(elements):
            if [element, *element.iterancestors()][-1] in roots:
                self._delete(element, place_id)

    def elements(self) -> list[tuple[Element, str]]:
        """Return the element and id of each place, to compare ids before and after an edit."""
        return [(found.element, place_id) for place_id, found in self._all().items() if found.listed]

    def _delete(self, element: Element, place_id: str) -> None:
        target = ancestor(element, TR) if element.tag == TC else element
        controls.refuse_locked(target, place_id, deleting=True)
        refuse_open_field(target, place_id)
        with self._change(target):
            if element.tag == TC:
                delete_row(element, place_id)
            elif element.tag == P:
                delete_paragraph(element)
            elif element.tag == SDT:
                delete_control(element)
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
            finder = Finder(self._styles)
            heads, feet = self._margins("header"), self._margins("footer")
            found = finder.find(self._document.element.body, heads, feet)
            self._found = {each.place.place_id: each for each in found}
        return self._found

    def _margins(self, kind: str) -> list[tuple[Element, str]]:
        """Return roots of the headers or footers, each once, with their pages."""
        parts = self._document.part.related_parts
        found: dict[int, tuple[Element, str]] = {}
        for section in self._document.element.body.iter(qn("w:sectPr")):
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
        before = tidy.commented(roots)
        container = element if element.tag in {TC, BOX} else tidy.container_of(element)
        closed = container is not None and tidy.is_closed(container)
        twins = tidy.twin_of(element)
        yield
        self._found = None
        gone = before - tidy.commented(roots)
        if gone:
            tidy.drop_comments(roots, gone, self._comments())
        tidy.drop_halves(roots)
        if container is not None and closed and not tidy.is_closed(container):
            tidy.close_container(container)
        if twins is not None:
            tidy.copy_to_twin(twins)

    def _comments(self) -> Element | None:
        links = self._document.part.rels.values()
        ours = (link for link in links if link.reltype.endswith(_COMMENTS) and _is_inside(link))
        return next((link.target_part.element for link in ours), None)

    def _living(self, place_id: str, known: dict[str, Found]) -> Element:
        """Return the element of a place from before some edits, if it is still in the document."""
        element = self._find(place_id, known).element
        # Not getroottree: lxml also returns the document's root for removed elements.
        if [element, *element.iterancestors()][-1] not in self._roots():
            raise EditError(place_id, "a place that went with an earlier edit", "", "list the places again")
        return element

    def _find(self, place_id: str, known: dict[str, Found] | None = None) -> Found:
        known = self._all() if known is None else known
        found = known.get(place_id)
        if found is None:
            kind = place_id[:1]
            near = [each for each in known if each[:1] == kind][-1:]
            last = f"; the last of that kind is {near[0]}" if near else ""
            raise EditError(
                place_id,
                "no such place",
                f"an id from the list of places{last}",
                "list the places again: an edit renumbers them",
            )
        return found


def _is_inside(link: Any) -> bool:
    """Whether a relationship leads to a part of the package that python-docx has parsed."""
    return not link.is_external and hasattr(link.target_part, "element")
