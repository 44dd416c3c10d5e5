"""Build inserted blocks in the formatting of their surroundings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flows.adapters.report_docx.elements import (
    ancestor,
    looks_unfilled,
    make,
    paragraph_text,
    paragraphs_in,
    remove,
)
from flows.adapters.report_docx.model import Block, clean
from flows.adapters.report_docx.styles import ListKind, ListPlace, Styles, set_list
from flows.adapters.report_docx.tables import build_table, serves_as_model
from flows.adapters.report_docx.writing import clean_look, like, look_of, runs_of
from flows.common.word_xml import SDT, TBL, TC, Element, P, attribute, child, qn, val

_TEXT_LOOK = frozenset(map(qn, ("w:rFonts", "w:sz", "w:szCs", "w:lang")))
_OWN_PLACE = ("w:framePr", "w:pBdr", "w:shd")
_NO_TEXT_STYLES = ("title", "subtitle", "caption", "header", "footer", "toc", "signature", "date")
# In twentieths of a point: US Letter, an inch, minimum table width, space after a table.
_PAGE, _MARGIN, _LEAST, _APART = 12240, 1440, 1440, 120


@dataclass(slots=True)
class Builder:
    """Builds blocks for one spot of a document."""

    body: Element  # `w:body` of the document
    styles: Styles  # its styles
    container: Element  # the body, cell, header, text box or control that the blocks go into
    after: Element | None  # the element before them; None at the start of the body
    _running: ListPlace | None = None  # the numbered list that the next number goes on with

    def build(self, blocks: Sequence[Block]) -> list[Element]:
        """Elements for the blocks, in order."""
        built: list[Element] = []
        self._running = self._list_before()
        for block in blocks:
            if block.kind == "table":
                built.append(self._table(block))
                continue
            for line in clean(block.text, f"a {block.kind}").split("\n"):
                paragraph = self._paragraph(block, line)
                if block.kind != "heading" and built and built[-1].tag == TBL:
                    # Space between the table and the text after it.
                    spacing = paragraph.get_or_add_pPr().get_or_add_spacing()
                    spacing.set(qn("w:before"), str(_APART))
                built.append(paragraph)
        return built

    def _paragraph(self, block: Block, line: str) -> Element:
        match block.kind:
            case "heading":
                self._running = None
                return self._heading(block.level, line)
            case "bullet" | "number":
                return self._item(block.kind, block.level - 1, line)
            case _:
                self._running = None if line.rstrip().endswith(":") else self._running
                return self._text(line)

    def _heading(self, level: int, line: str) -> Element:
        model = self._nearest(lambda each: self.styles.kind_of(each) == ("heading", level), everywhere=True)
        if model is None:
            return _styled(self.styles.ensure(f"heading {level}" if level else "Title"), line, None)
        new = like(model)
        new.extend(runs_of(line, clean_look(look_of(model), prompt=looks_unfilled(model))))
        return new

    def _text(self, line: str) -> Element:
        model = self._nearest(self._is_text)
        if model is None:
            return _styled("", line, None)
        new = like(model)
        new.extend(runs_of(line, _text_look(model)))
        remove(child(new, "w:pPr", "w:keepNext"))
        return new

    def _item(self, kind: ListKind, level: int, line: str) -> Element:
        def same(each: Element) -> bool:
            listed = self.styles.list_of(each)
            at = None if listed is None else (listed.kind, listed.level)
            return at == (kind, level) and self.styles.heading_level(each) is None

        model = self._nearest(same, everywhere=True)
        listed = None if model is None else self.styles.list_of(model)
        if model is None or listed is None:
            style_id, listed = self.styles.list_for(kind, level + 1)
            new = _styled(style_id, line, _text_look(self._nearest(self._is_text)))
            set_list(new, listed)
        else:
            new = like(model)
            new.extend(runs_of(line, _text_look(model)))
        if kind == "number":
            self._running = self._running or self.styles.restarted(listed)
            own = ListPlace(self._running.number_id, listed.level, "number")
            if self.styles.list_form(own.number_id, own.level) not in {None, "bullet"}:
                set_list(new, own)
        return new

    def _list_before(self) -> ListPlace | None:
        """Return the numbered list to continue: no heading and no lead-in with a colon in between."""
        if self.after is None:
            return None
        own = [self.after] if self.after.tag == P else []
        for each in (*own, *self.after.itersiblings(P, preceding=True)):
            listed = self.styles.list_of(each)
            if self.styles.heading_level(each) is not None:
                return None
            if listed is not None and listed.kind == "number":
                return listed
            if listed is None and paragraph_text(each).rstrip().endswith(":"):
                return None
        return None

    def _table(self, block: Block) -> Element:
        order = _order(self.body)
        here = order.get(self.after, 0)
        models = [each for each in self.body.iter(TBL) if serves_as_model(each)]
        model = min(models, key=lambda each: (order[each] > here, abs(order[each] - here)), default=None)
        return build_table(
            [[clean(text, "a table") for text in row] for row in block.rows],
            header=block.header,
            width=self._width(),
            style_id="" if models else self.styles.ensure("Table Grid", "table"),
            model=model,
        )

    def _width(self) -> int:
        """Return the width between the margins or in the cell, in twentieths of a point."""
        cell = self.container if self.container.tag == TC else ancestor(self.container, TC)
        if cell is not None:
            wide = child(cell, "w:tcPr", "w:tcW")
            text = attribute(wide, "w:w") if attribute(wide, "w:type") == "dxa" else ""
            return max(_LEAST, _number(text, 2 * _LEAST) - 230)
        section = self._section()
        wide = _number(attribute(child(section, "w:pgSz"), "w:w"), _PAGE)
        for side in ("w:left", "w:right"):
            wide -= _number(attribute(child(section, "w:pgMar"), side), _MARGIN)
        columns = child(section, "w:cols")
        count = _number(attribute(columns, "w:num"), 1)
        return max(_LEAST, wide // max(1, count))

    def _section(self) -> Element | None:
        """Return the properties of the blocks' section: the first that ends after them."""
        order = _order(self.body)
        here = order.get(self.after, 0)
        found = list(self.body.iter(qn("w:sectPr")))
        return next((each for each in found if order[each] > here), found[-1] if found else None)

    def _nearest(self, wanted: Callable[[Element], bool], *, everywhere: bool = False) -> Element | None:
        """Return the nearest matching paragraph: before the spot, after it, then anywhere in the body."""
        near = paragraphs_in(self.container)
        start = len(near)
        if self.after is not None:
            earlier = {self.after, *self.after.itersiblings(preceding=True)}
            start = max((at for at, each in enumerate(near, 1) if each in earlier), default=0)
        far = self.body.iter(P) if everywhere else ()
        return next((each for each in (*reversed(near[:start]), *near[start:], *far) if wanted(each)), None)

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


def _order(body: Element) -> dict[Element, int]:
    """Position of each element of the body, with the elements as keys: lxml gives a dropped one a new id."""
    return {each: at for at, each in enumerate(body.iter())}


def _styled(style_id: str, line: str, look: Element | None) -> Element:
    style = [make("w:pStyle", val=style_id)] if style_id else []
    return make("w:p", make("w:pPr", *style), *runs_of(line, look))


def _text_look(model: Element | None) -> Element | None:
    """Return font and size of a paragraph's text, without character emphasis."""
    look = None if model is None else clean_look(look_of(model))
    if look is None:
        return None
    for each in list(look):
        if each.tag not in _TEXT_LOOK:
            look.remove(each)
    return look


def _number(text: str, usual: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 7 else usual  # noqa: PLR2004 -- no page is wider
