"""Find the places of a document in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from flows.adapters.report_docx import controls
from flows.adapters.report_docx.elements import ALTERNATE, BOX, CHOICE, inside, live
from flows.adapters.report_docx.model import Place, PlaceKind
from flows.adapters.report_docx.reading import (
    field_codes,
    inline_controls,
    is_tracked,
    looks_unfilled,
    only_control,
    paragraph_text,
    paragraphs_in,
    texts_of,
)
from flows.adapters.report_docx.styles import Styles
from flows.common.text import plural
from flows.common.word_xml import SDT, TBL, TC, TR, Element, P, child, qn, val

_BLOCKS = (P, TBL)
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


@dataclass(slots=True)
class Finder:
    """Walks through a document and numbers its places.

    Attributes:
        styles: the document's styles and lists.
    """

    styles: Styles
    _counts: Counter[str] = field(default_factory=Counter[str])

    def find(
        self, body: Element, heads: Sequence[tuple[Element, str]], feet: Sequence[tuple[Element, str]]
    ) -> list[Found]:
        """Return all places.

        Args:
            body: `w:body`.
            heads: headers with the pages they stand on, empty for all; in the order of the sections.
            feet: the same for footers.
        """
        found = list(self._blocks(body, _Scope("")))
        for number, (root, pages) in enumerate(heads, 1):
            found += self._blocks(root, _Scope(f"h{number}", "header", pages))
        for number, (root, pages) in enumerate(feet, 1):
            found += self._blocks(root, _Scope(f"f{number}", "footer", pages))
        return found

    def _blocks(self, container: Element, scope: _Scope) -> Iterator[Found]:
        """Places in a body, header, cell, text box or control around blocks."""
        for each in container:
            if each.tag == SDT:
                yield from self._block_control(each, scope)
            elif each.tag == P:
                yield from self._paragraph(each, scope)
            elif each.tag == TBL:
                yield from self._table(each, scope)
            elif isinstance(each.tag, str) and next(inside(each, *_BLOCKS), None) is not None:
                yield from self._blocks(each, scope)

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
        yield from self._blocks(content, inner)

    def _control(self, control: Element, paragraphs: list[Element] | None) -> Found:
        """A control; `paragraphs` are those whose text it holds, None if it holds other places."""
        self._counts["s"] += 1
        kind = controls.control_type(control)
        prompt = controls.shows_prompt(control)
        hint = controls.describe(control)
        text = ""
        if kind == "checkbox":
            text = "checked" if controls.is_checked(control) else "unchecked"
        elif paragraphs is None or (len(paragraphs) >= _SEVERAL and not prompt):
            hint += "; holds the places after it"
        elif not prompt:
            text = texts_of(paragraphs)
        holder = next(control.iterancestors(P), paragraphs[0] if paragraphs else None)
        style = self.styles.name(holder) if holder is not None else ""
        unfilled = prompt and kind != "checkbox"
        place = Place(f"s{self._counts['s']}", "control", text, style, None, hint, unfilled)
        return Found(place, control)

    def _paragraph(self, paragraph: Element, scope: _Scope) -> Iterator[Found]:
        place_id = scope.next_id("p")
        inner = list(inline_controls(paragraph))
        alone = only_control(paragraph)
        hints = [scope.hint] if scope.hint else []
        unfilled = looks_unfilled(paragraph)
        hints += ["placeholder"] if unfilled else []
        hints += ["tracked changes"] if is_tracked(paragraph) else []
        if inner and alone is None:
            first = self._counts["s"] + 1
            hints.append(
                f"holds the control{'s' if len(inner) > 1 else ''} "
                + ", ".join(f"s{first + at}" for at in range(len(inner)))
            )
        hints += [f"field {code}" for code in field_codes(paragraph)]
        own, level = self.styles.kind_of(paragraph)
        kind, level = (own, level) if scope.kind is None else (scope.kind, None)
        text, style = paragraph_text(paragraph), self.styles.name(paragraph)
        place = Place(place_id, kind, text, style, level, "; ".join(hints), unfilled)
        yield Found(place, paragraph, scope.listed and alone is None)
        for control in inner:
            yield self._control(control, [control])
        for box in _boxes(paragraph):
            yield from self._box(box)

    def _box(self, box: Element) -> Iterator[Found]:
        self._counts["x"] += 1
        place_id = f"x{self._counts['x']}"
        yield from self._holder(box, place_id, "textbox", [])

    def _holder(self, holder: Element, place_id: str, kind: PlaceKind, hints: list[str]) -> Iterator[Found]:
        """A cell or text box: one place where it holds one paragraph, else one around its places."""
        paragraphs = paragraphs_in(holder)
        one = len(paragraphs) == 1 and _holds_text(holder, paragraphs) and child(holder, "w:sdt") is None
        one = one and next(inline_controls(paragraphs[0]), None) is None
        unfilled = one and looks_unfilled(paragraphs[0])
        if one:
            hints = [
                *hints,
                *(["placeholder"] if unfilled else []),
                *(["tracked changes"] if is_tracked(paragraphs[0]) else []),
            ]
        else:
            hints = [*hints, "holds the places after it"]
        place = Place(
            place_id,
            kind,
            texts_of(paragraphs) if one else "",
            self.styles.name(paragraphs[0]) if paragraphs else "",
            None,
            "; ".join(hints),
            unfilled,
        )
        yield Found(place, holder)
        yield from self._blocks(holder, _Scope(place_id, listed=not one))

    def _table(self, table: Element, scope: _Scope) -> Iterator[Found]:
        place_id = scope.next_id("t")
        rows = list(inside(table, TR))
        grid = [grid_of(row) for row in rows]
        columns = max((at + span for row in grid for _, at, span in row), default=0)
        hints = [
            *([scope.hint] if scope.hint else []),
            f"{plural(len(rows), 'row')}, {plural(columns, 'column')}",
        ]
        style = self.styles.name_by_id(val(table, "w:tblPr", "w:tblStyle"))
        yield Found(Place(place_id, "table", "", style, None, "; ".join(hints)), table)
        for number, row in enumerate(rows, 1):
            for cell, at, span in grid[number - 1]:
                if merge_of(cell) == "continue":
                    continue
                tall = _height(grid, number - 1, at) if merge_of(cell) == "restart" else 1
                spans = [f"spans {span} columns"] if span > 1 else []
                spans += [f"spans {tall} rows"] if tall > 1 else []
                yield from self._cell(cell, row, f"{place_id}r{number}c{at + 1}", spans)

    def _cell(self, cell: Element, row: Element, place_id: str, hints: list[str]) -> Iterator[Found]:
        control = cell_control(cell, row)
        if control is None:
            yield from self._holder(cell, place_id, "cell", hints)
            return
        # A control around a cell: the control has the cell's text.
        place = Place(place_id, "cell", "", "", None, "; ".join([*hints, "holds the places after it"]))
        yield Found(place, cell)
        paragraphs = paragraphs_in(cell)
        simple = _holds_text(cell, paragraphs)
        yield self._control(control, paragraphs if simple else None)
        shown = len(paragraphs) > 1 and not controls.shows_prompt(control)
        yield from self._blocks(cell, _Scope(place_id, listed=shown or not simple))


def _holds_text(container: Element, paragraphs: list[Element]) -> bool:
    """Whether it holds paragraphs without tables, further controls or text boxes."""
    if next(inside(container, TBL, TR, TC), None) is not None:
        return False
    if any(each.tag == SDT for each in live(container)):
        return False
    return all(not _boxes(paragraph) for paragraph in paragraphs)


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


def cell_control(cell: Element, row: Element) -> Element | None:
    """The innermost control around a cell alone; None if there is none."""
    for each in cell.iterancestors():
        if each is row:
            break
        if each.tag == SDT:
            return each if len(list(inside(each, TC))) == 1 else None
    return None


def grid_of(row: Element) -> list[tuple[Element, int, int]]:
    """Cells of a row with the column of the grid at which each begins (from 0) and the columns it spans."""
    at = _number(val(row, "w:trPr", "w:gridBefore"), 0)
    found: list[tuple[Element, int, int]] = []
    for cell in inside(row, TC):
        span = max(1, _number(val(cell, "w:tcPr", "w:gridSpan"), 1))
        found.append((cell, at, span))
        at += span
    return found


def _number(text: str, usual: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else usual  # noqa: PLR2004 -- no file has more columns


def merge_of(cell: Element) -> str:
    """`restart` for the topmost of cells merged downwards, `continue` for the others, else empty."""
    mark = child(cell, "w:tcPr", "w:vMerge")
    return "" if mark is None else str(mark.get(qn("w:val"), "continue"))


def _height(grid: list[list[tuple[Element, int, int]]], row: int, at: int) -> int:
    tall = 1
    for cells in grid[row + 1 :]:
        below = next((cell for cell, place, _ in cells if place == at), None)
        if below is None or merge_of(below) != "continue":
            break
        tall += 1
    return tall
