"""Build inserted blocks in the formatting of their surroundings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flows.adapters.report_docx import lists
from flows.adapters.report_docx.data_tables import build_table, serves_as_model
from flows.adapters.report_docx.elements import AFTER_SPACING, ancestor, make, put_in_order, remove
from flows.adapters.report_docx.model import Block, clean
from flows.adapters.report_docx.reading import looks_unfilled, paragraph_text, paragraphs_in
from flows.adapters.report_docx.styles import ListPlace, Styles
from flows.adapters.report_docx.writing import clean_look, like, look_of, paragraph_properties, runs_of
from flows.common.word_xml import SDT, TBL, TC, Element, P, child, qn, val

_TEXT_LOOK = frozenset(map(qn, ("w:rFonts", "w:sz", "w:szCs", "w:lang")))
_OWN_PLACE = ("w:framePr", "w:pBdr", "w:shd")
_NO_TEXT_STYLES = ("title", "subtitle", "caption", "header", "footer", "toc", "signature", "date")
# In twentieths of a point: US Letter, an inch, minimum table width, space after a table.
_PAGE, _MARGIN, _LEAST, _APART = 12240, 1440, 1440, 120


@dataclass(slots=True)
class Builder:
    """Builds blocks for one spot of a document.

    Attributes:
        document: a python-docx document.
        styles: its styles.
        container: the body, cell, header, text box or control that the blocks go into.
        after: the element before them; None at the start of the body.
    """

    document: Any
    styles: Styles
    container: Element
    after: Element | None

    def build(self, blocks: Sequence[Block]) -> list[Element]:
        """Elements for the blocks, in order."""
        built: list[Element] = []
        running = self._list_before()
        for block in blocks:
            if block.kind == "table":
                built.append(self._table(block))
                continue
            for line in clean(block.text, f"a {block.kind}").split("\n"):
                paragraph, running = self._paragraph(block, line, running)
                if block.kind != "heading" and built and built[-1].tag == TBL:
                    _set_apart(paragraph)
                built.append(paragraph)
        return built

    def _paragraph(
        self, block: Block, line: str, running: ListPlace | None
    ) -> tuple[Element, ListPlace | None]:
        if block.kind == "heading":
            return self._heading(block.level, line), None
        if block.kind == "paragraph":
            return self._text(line), None if line.rstrip().endswith(":") else running
        return self._item(block, line, running)

    def _heading(self, level: int, line: str) -> Element:
        def same(each: Element) -> bool:
            return self.styles.kind_of(each) == ("heading", level)

        model = self._nearest(same, everywhere=True)
        if model is not None:
            new = like(model)
            new.extend(runs_of(line, clean_look(look_of(model), prompt=looks_unfilled(model))))
            return new
        name = f"heading {level}" if level else "Title"
        return _styled(lists.ensure_style(self.styles, name), line, None)

    def _text(self, line: str) -> Element:
        model = self._nearest(self._is_text)
        if model is None:
            return _styled("", line, None)
        new = like(model)
        new.extend(runs_of(line, _text_look(model)))
        remove(child(new, "w:pPr", "w:keepNext"))
        return new

    def _item(self, block: Block, line: str, running: ListPlace | None) -> tuple[Element, ListPlace | None]:
        def same(each: Element) -> bool:
            listed = self.styles.list_of(each)
            return (
                listed is not None
                and (listed.kind, listed.level) == (block.kind, block.level - 1)
                and self.styles.heading_level(each) is None
            )

        model = self._nearest(same, everywhere=True)
        if model is not None:
            new = like(model)
            new.extend(runs_of(line, _text_look(model)))
            listed = self.styles.list_of(model)
            assert listed is not None
        else:
            style_id, listed = lists.list_for(self.document, self.styles, block.kind, block.level)
            new = _styled(style_id, line, _text_look(self._nearest(self._is_text)))
            lists.set_list(new, listed)
        if block.kind == "bullet":
            return new, running
        if block.level == 1 or running is None:
            running = lists.restarted(self.styles, listed) if running is None else running
        own = ListPlace(running.number_id, listed.level, "number")
        if self.styles.list_form(own.number_id, own.level) not in {None, "bullet"}:
            lists.set_list(new, own)
        return new, running

    def _list_before(self) -> ListPlace | None:
        """Return the numbered list to continue: no heading and no lead-in with a colon in between."""
        if self.after is None:
            return None
        for each in _upwards(self.after):
            if each.tag == TBL:
                continue
            listed = self.styles.list_of(each)
            if self.styles.heading_level(each) is not None:
                return None
            if listed is not None and listed.kind == "number":
                return listed
            if listed is None and paragraph_text(each).rstrip().endswith(":"):
                return None
        return None

    def _table(self, block: Block) -> Element:
        body = self.document.element.body
        tables = [each for each in body.iter(TBL) if serves_as_model(each)]
        order = _order(body)
        here = order.get(self.after, 0)

        def distance(table: Element) -> tuple[bool, int]:
            return order[table] > here, abs(order[table] - here)

        tables.sort(key=distance)
        rows = [[clean(text, "a table") for text in row] for row in block.rows]
        style = "" if tables else lists.ensure_style(self.styles, "Table Grid", "table")
        return build_table(
            rows,
            header=block.header,
            width=self._width(),
            style_id=style,
            model=tables[0] if tables else None,
        )

    def _width(self) -> int:
        """Return the width between the margins or in the cell, in twentieths of a point."""
        cell = self.container if self.container.tag == TC else ancestor(self.container, TC)
        if cell is not None:
            wide = child(cell, "w:tcPr", "w:tcW")
            text = "" if wide is None or wide.get(qn("w:type")) != "dxa" else str(wide.get(qn("w:w")))
            return max(_LEAST, _number(text, 2 * _LEAST) - 230)
        section = self._section()
        page, margins = child(section, "w:pgSz"), child(section, "w:pgMar")
        wide = _number(None if page is None else page.get(qn("w:w")), _PAGE)
        for side in ("w:left", "w:right"):
            wide -= _number(None if margins is None else margins.get(qn(side)), _MARGIN)
        columns = child(section, "w:cols")
        count = _number(None if columns is None else columns.get(qn("w:num")), 1)
        return max(_LEAST, wide // max(1, count))

    def _section(self) -> Element | None:
        """Return the properties of the blocks' section: the first that ends after them."""
        body = self.document.element.body
        found = list(body.iter(qn("w:sectPr")))
        if self.after is None:
            return found[0] if found else None
        order = _order(body)
        here = order.get(self.after, 0)
        return next((each for each in found if order[each] > here), found[-1] if found else None)

    def _nearest(self, wanted: Callable[[Element], bool], *, everywhere: bool = False) -> Element | None:
        """Return the nearest matching paragraph: after the spot, before it, then anywhere in the body."""
        own = paragraphs_in(self.container)
        start = next((at for at, each in enumerate(own) if each is self.after), None)
        if start is None:
            start = len(own) - 1 if self.after is None or not own else _before(own, self.after)
        near = [*own[start::-1], *own[start + 1 :]] if own and start >= 0 else own
        found = next((each for each in near if wanted(each)), None)
        if found is None and everywhere:
            body = self.document.element.body
            found = next((each for each in body.iter(P) if wanted(each)), None)
        return found

    def _is_text(self, paragraph: Element) -> bool:
        own = child(paragraph, "w:pPr")
        text = paragraph_text(paragraph).strip() or next(paragraph.iter(SDT), None) is not None
        return bool(
            text
            and self.styles.kind_of(paragraph)[0] == "paragraph"
            and not self.styles.name(paragraph).lower().startswith(_NO_TEXT_STYLES)
            and val(own, "w:jc") not in {"center", "right", "end"}
            and all(child(own, name) is None for name in _OWN_PLACE)
        )


def _before(paragraphs: list[Element], spot: Element) -> int:
    """Position of the last paragraph before `spot` among its siblings; -1 if there is none."""
    earlier = set(spot.itersiblings(preceding=True))
    return max((at for at, each in enumerate(paragraphs) if each in earlier), default=-1)


def _order(body: Element) -> dict[Element, int]:
    """Position of each element of the body, with the elements as keys: lxml gives a dropped one a new id."""
    return {each: at for at, each in enumerate(body.iter())}


def _upwards(spot: Element) -> Iterator[Element]:
    """`spot` and the paragraphs and tables before it in its container, from below."""
    if spot.tag in {P, TBL}:
        yield spot
    yield from spot.itersiblings(P, TBL, preceding=True)


def _styled(style_id: str, line: str, look: Element | None) -> Element:
    new, own = make("w:p"), make("w:pPr")
    if style_id:
        own.append(make("w:pStyle", val=style_id))
    new.append(own)
    new.extend(runs_of(line, look))
    return new


def _set_apart(paragraph: Element) -> None:
    """Add space between a table and the text after it, if the text has none."""
    own = paragraph_properties(paragraph)
    spacing = child(own, "w:spacing")
    if spacing is None:
        spacing = make("w:spacing")
        put_in_order(own, spacing, AFTER_SPACING)
    spacing.set(qn("w:before"), str(_APART))


def _text_look(model: Element | None) -> Element | None:
    """Return font and size of a paragraph's text, without character emphasis."""
    look = None if model is None else clean_look(look_of(model))
    if look is None:
        return None
    for each in list(look):
        if each.tag not in _TEXT_LOOK:
            look.remove(each)
    return look


def _number(text: object, usual: int) -> int:
    shown = str(text or "")
    return int(shown) if shown.isdecimal() and len(shown) < 7 else usual  # noqa: PLR2004 -- no page is wider
