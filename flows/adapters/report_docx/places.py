"""Find the places of a document in order."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from flows.adapters.report_docx import controls
from flows.adapters.report_docx.elements import (
    ALTERNATE,
    BOX,
    CHOICE,
    field_codes,
    has,
    inline_controls,
    inside,
    is_tracked,
    live,
    looks_unfilled,
    only_control,
    paragraph_text,
    paragraphs_in,
)
from flows.adapters.report_docx.model import Place, PlaceKind
from flows.adapters.report_docx.styles import Styles
from flows.common.text import plural
from flows.common.word_xml import SDT, TBL, TC, TR, Element, P, attribute, child, val

_HOLDS = "holds the places after it"
_SEVERAL = 2


@dataclass(frozen=True, slots=True)
class Found:
    """A place and the element that it stands for; one that is not `listed` can be named all the same."""

    place: Place
    element: Element
    listed: bool = True


@dataclass(slots=True)
class _Scope:
    """Where the walk is: the story's prefix of ids, its kind and hint, and what is counted in it.

    A scope that is not `listed` only lets its places be named.
    """

    prefix: str
    kind: PlaceKind | None = None
    hint: str = ""
    listed: bool = True
    counts: Counter[str] = field(default_factory=Counter[str])

    def next_id(self, letter: str) -> str:
        self.counts[letter] += 1
        return f"{self.prefix}{letter}{self.counts[letter]}"


def find_places(
    styles: Styles,
    body: Element,
    heads: Sequence[tuple[Element, str]],
    feet: Sequence[tuple[Element, str]],
) -> list[Found]:
    """Return all places of a document, numbered.

    Headers and footers come in the order of the sections, with the pages they stand on, empty for all.
    """
    finder = _Finder(styles)
    found = list(finder.blocks(body, _Scope("")))
    for number, (root, pages) in enumerate(heads, 1):
        found += finder.blocks(root, _Scope(f"h{number}", "header", pages))
    for number, (root, pages) in enumerate(feet, 1):
        found += finder.blocks(root, _Scope(f"f{number}", "footer", pages))
    return found


@dataclass(slots=True)
class _Finder:
    styles: Styles
    counts: Counter[str] = field(default_factory=Counter[str])  # of controls and boxes, which go on in all

    def blocks(self, container: Element, scope: _Scope) -> Iterator[Found]:
        """Places in a body, header, cell, text box or control around blocks."""
        for each in container:
            if each.tag == SDT:
                yield from self._block_control(each, scope)
            elif each.tag == P:
                yield from self._paragraph(each, scope)
            elif each.tag == TBL:
                yield from self._table(each, scope)
            elif isinstance(each.tag, str) and has(each, P, TBL):
                yield from self.blocks(each, scope)

    def _block_control(self, control: Element, scope: _Scope) -> Iterator[Found]:
        content = child(control, "w:sdtContent")
        if content is None:
            return
        paragraphs = paragraphs_in(content)
        simple = _holds_text(content, paragraphs)
        fillable = controls.control_type(control) in controls.FILLABLE
        yield self._control(control, paragraphs if simple and fillable else None)
        # The paragraphs of a text are listed one by one only where there are several.
        shown = (fillable and simple and len(paragraphs) < _SEVERAL) or controls.shows_prompt(control)
        inner = _Scope(scope.prefix, scope.kind, scope.hint, scope.listed and not shown, scope.counts)
        yield from self.blocks(content, inner)

    def _control(self, control: Element, paragraphs: list[Element] | None) -> Found:
        """A control; `paragraphs` are those whose text it holds, None if it holds other places."""
        self.counts["s"] += 1
        kind, prompt = controls.control_type(control), controls.shows_prompt(control)
        hint = controls.describe(control)
        text = ""
        if kind == "checkbox":
            text = "checked" if controls.is_checked(control) else "unchecked"
        elif paragraphs is None or (len(paragraphs) >= _SEVERAL and not prompt):
            hint += f"; {_HOLDS}"
        elif not prompt:
            text = _texts(paragraphs)
        holder = next(control.iterancestors(P), paragraphs[0] if paragraphs else None)
        style = self.styles.name(holder) if holder is not None else ""
        unfilled = prompt and kind != "checkbox"
        place = Place(f"s{self.counts['s']}", "control", text, style, None, hint, unfilled)
        return Found(place, control)

    def _paragraph(self, paragraph: Element, scope: _Scope) -> Iterator[Found]:
        place_id = scope.next_id("p")
        inner = inline_controls(paragraph)
        alone = only_control(paragraph)
        marks, unfilled = _marks(paragraph)
        hints = [*([scope.hint] if scope.hint else []), *marks]
        if inner and alone is None:
            ids = [f"s{self.counts['s'] + at}" for at in range(1, len(inner) + 1)]
            hints.append(f"holds the control{'s' * (len(inner) > 1)} {', '.join(ids)}")
        hints += [f"field {code}" for code in field_codes(paragraph)]
        own, level = self.styles.kind_of(paragraph)
        kind, level = (own, level) if scope.kind is None else (scope.kind, None)
        text, style = paragraph_text(paragraph), self.styles.name(paragraph)
        place = Place(place_id, kind, text, style, level, "; ".join(hints), unfilled)
        yield Found(place, paragraph, scope.listed and alone is None)
        for control in inner:
            yield self._control(control, [control])
        for box in _boxes(paragraph):
            self.counts["x"] += 1
            yield from self._holder(box, f"x{self.counts['x']}", "textbox", [])

    def _holder(self, holder: Element, place_id: str, kind: PlaceKind, hints: list[str]) -> Iterator[Found]:
        """A cell or text box: one place where it holds one paragraph, else one around its places."""
        paragraphs = paragraphs_in(holder)
        one = len(paragraphs) == 1 and child(holder, "w:sdt") is None and _holds_text(holder, paragraphs)
        marks, unfilled = _marks(paragraphs[0]) if one else ([_HOLDS], False)
        text = _texts(paragraphs) if one else ""
        style = self.styles.name(paragraphs[0]) if paragraphs else ""
        yield Found(Place(place_id, kind, text, style, None, "; ".join([*hints, *marks]), unfilled), holder)
        yield from self.blocks(holder, _Scope(place_id, listed=not one))

    def _table(self, table: Element, scope: _Scope) -> Iterator[Found]:
        place_id = scope.next_id("t")
        rows = list(inside(table, TR))
        grid = [grid_of(row) for row in rows]
        columns = max((at + span for row in grid for _, at, span in row), default=0)
        size = f"{plural(len(rows), 'row')}, {plural(columns, 'column')}"
        hint = f"{scope.hint}; {size}" if scope.hint else size
        style = self.styles.name_by_id(val(table, "w:tblPr", "w:tblStyle"))
        yield Found(Place(place_id, "table", "", style, None, hint), table)
        for number, cells in enumerate(grid, 1):
            for cell, at, span in cells:
                if merge_of(cell) == "continue":
                    continue
                tall = _height(grid, number - 1, at) if merge_of(cell) == "restart" else 1
                spans = [f"spans {span} columns"] if span > 1 else []
                spans += [f"spans {tall} rows"] if tall > 1 else []
                yield from self._cell(cell, f"{place_id}r{number}c{at + 1}", spans)

    def _cell(self, cell: Element, place_id: str, hints: list[str]) -> Iterator[Found]:
        control = controls.cell_control(cell)
        if control is None:
            yield from self._holder(cell, place_id, "cell", hints)
            return
        # A control around a cell: the control has the cell's text.
        place = Place(place_id, "cell", "", "", None, "; ".join([*hints, _HOLDS]))
        yield Found(place, cell)
        paragraphs = paragraphs_in(cell)
        simple = _holds_text(cell, paragraphs)
        yield self._control(control, paragraphs if simple else None)
        shown = len(paragraphs) > 1 and not controls.shows_prompt(control)
        yield from self.blocks(cell, _Scope(place_id, listed=shown or not simple))


def _texts(paragraphs: list[Element]) -> str:
    return "\n".join(map(paragraph_text, paragraphs))


def _marks(paragraph: Element) -> tuple[list[str], bool]:
    """Hints about the text of a paragraph, and whether it is left to fill in."""
    unfilled = looks_unfilled(paragraph)
    marks = (("placeholder", unfilled), ("tracked changes", is_tracked(paragraph)))
    return [mark for mark, is_so in marks if is_so], unfilled


def _holds_text(container: Element, paragraphs: list[Element]) -> bool:
    """Whether it holds paragraphs without tables, further controls or text boxes."""
    if has(container, TBL, TR, TC) or any(each.tag == SDT for each in live(container)):
        return False
    return not any(map(_boxes, paragraphs))


def _boxes(paragraph: Element) -> list[Element]:
    """Contents of its text boxes; the older twin that Word keeps of each is left out."""
    found: list[Element] = []
    for box in paragraph.iter(BOX):
        holders = list(box.iterancestors(P))
        if holders[0] is not paragraph:
            continue
        twins = next(box.iterancestors(ALTERNATE), None)
        choice = next(box.iterancestors(CHOICE), None)
        if twins is None or choice is not None or next(twins.iter(CHOICE), None) is None:
            found.append(box)
    return found


def grid_of(row: Element) -> list[tuple[Element, int, int]]:
    """Cells of a row with the column of the grid at which each begins (from 0) and the columns it spans."""
    at = _number(val(row, "w:trPr", "w:gridBefore"))
    found: list[tuple[Element, int, int]] = []
    for cell in inside(row, TC):
        span = max(1, _number(val(cell, "w:tcPr", "w:gridSpan")))
        found.append((cell, at, span))
        at += span
    return found


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0  # noqa: PLR2004 -- no file has more columns


def merge_of(cell: Element) -> str:
    """`restart` for the topmost of cells merged downwards, `continue` for the others, else empty."""
    mark = child(cell, "w:tcPr", "w:vMerge")
    return "" if mark is None else attribute(mark, "w:val", "continue")


def _height(grid: list[list[tuple[Element, int, int]]], row: int, at: int) -> int:
    tall = 1
    for cells in grid[row + 1 :]:
        below = next((cell for cell, place, _ in cells if place == at), None)
        if below is None or merge_of(below) != "continue":
            break
        tall += 1
    return tall
