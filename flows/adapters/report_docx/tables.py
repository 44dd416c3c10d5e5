"""Rows and tables: add a row, delete one, build a table that looks like its neighbours."""

from collections.abc import Sequence
from copy import deepcopy

from flows.adapters.report_docx import controls
from flows.adapters.report_docx.elements import DELETED, ancestor, has, inside, make, put_before, remove
from flows.adapters.report_docx.filling import fill_control
from flows.adapters.report_docx.model import EditError
from flows.adapters.report_docx.places import grid_of, merge_of
from flows.adapters.report_docx.writing import (
    clean_look,
    emphasise,
    like,
    look_of,
    runs_of,
    write_container,
)
from flows.common.word_xml import SDT, TBL, TC, TR, Element, P, R, attribute, child, qn, switch, val

_TRACKED_ROW = ("w:ins", "w:del", "w:trPrChange")
_OWN_IDS = frozenset(map(qn, ("w14:paraId", "w14:textId")))
_MARKERS = frozenset(
    map(
        qn,
        (
            *("w:bookmarkStart", "w:bookmarkEnd", "w:commentRangeStart", "w:commentRangeEnd"),
            *("w:permStart", "w:permEnd", "w:proofErr", "w:moveFromRangeStart", "w:moveFromRangeEnd"),
            *("w:moveToRangeStart", "w:moveToRangeEnd", "w:lastRenderedPageBreak"),
        ),
    )
)
_NOTE_MARKS = tuple(map(qn, ("w:commentReference", "w:footnoteReference", "w:endnoteReference")))
# Not copied from a model, as its own: position, width, description, tracked changes.
_OF_MODEL = ("w:tblpPr", "w:tblOverlap", "w:tblW", "w:tblCaption", "w:tblDescription", "w:tblPrChange")
# CT_TblPr is a sequence (ECMA-376 part 1, 17.4.60): what may follow the width of a table.
_AFTER_WIDTH = (
    *("w:jc", "w:tblCellSpacing", "w:tblInd", "w:tblBorders", "w:shd", "w:tblLayout", "w:tblCellMar"),
    "w:tblLook",
)
_LETTER, _MARGIN = 120, 230  # of 11-point text and of a cell, in twentieths of a point


def add_row(cell: Element, texts: Sequence[str], where: str) -> None:
    """Insert a row after that of `cell`, with its formatting; after a header row with that of the next row.

    Cells that are merged downwards through the row are merged through the new one too, and take no text. A
    control in a cell is filled; the new row's controls are copies with their own ids. `cell` may be anything
    within one; `texts` are cleaned, of the new cells from left to right.

    Raises:
        EditError: it is no cell, the number of texts is wrong, or a control refuses its text.
    """
    row = ancestor(cell, TR)
    if row is None:
        raise EditError(where, "no table around it", "the id of a cell, such as t1r2c1")
    rows = list(inside(next(row.iterancestors(TBL)), TR))
    below = next(iter(rows[rows.index(row) + 1 :]), None)
    heading = switch(row, "w:trPr", "w:tblHeader")
    model = below if heading and below is not None and not switch(below, "w:trPr", "w:tblHeader") else row
    new = _fresh(_repeated(model))
    new_row = next(new.iter(TR))
    open_cells = _merged(new_row, model, below)
    if len(texts) != len(open_cells):
        raise EditError(
            where,
            f"{len(texts)} texts for a row of {len(open_cells)} cells",
            f"{len(open_cells)} texts",
            "write '' for a cell that stays empty",
        )
    for name in ("w:tblHeader", *_TRACKED_ROW):
        remove(child(new_row, "w:trPr", name))
    for each, text in zip(open_cells, texts, strict=True):
        _fill_cell(each, text, where)
    _number_controls(new, row)
    _repeated(row).addnext(new)


def _repeated(row: Element) -> Element:
    """The row, or the item of a repeating section that holds this row alone."""
    item = row.getparent().getparent() if row.getparent() is not None else None
    if item is not None and item.tag == SDT and controls.control_type(item) == "repeated item":
        return item if len(list(inside(item, TR))) == 1 else row
    return row


def _merged(new: Element, model: Element, below: Element | None) -> list[Element]:
    """Set the vertical merges of a new row between its model and the row below; its cells that take text."""
    under = {at: merge_of(cell) for cell, at, _ in grid_of(below)} if below is not None else {}
    found: list[Element] = []
    for cell, at, _ in grid_of(new):
        kind = merge_of(cell)
        if kind == "restart" and under.get(at) == "continue" and model is not below:
            cell.vMerge = "continue"
            kind = "continue"
        elif kind == "restart":
            cell.vMerge, kind = None, ""
        if kind == "continue":
            _write_plain(cell, "")
        else:
            found.append(cell)
    return found


def _fill_cell(cell: Element, text: str, where: str) -> None:
    around = controls.cell_control(cell)
    within = [each for each in cell.iter(SDT) if controls.control_type(each) in controls.FILLABLE]
    control = around if around is not None else within[0] if len(within) == 1 else None
    if control is None:
        _write_plain(cell, text)
    else:
        fill_control(control, text, where)


def _write_plain(cell: Element, text: str) -> None:
    """Give a copied cell a text alone: what else its model holds is the model's own."""
    for control in list(cell.findall(SDT)):
        controls.unwrap(control)
    for table in list(inside(cell, TBL)):
        remove(table)
    write_container(cell, text)


def _fresh(element: Element) -> Element:
    """A copy that may stand next to its original: without ids of its own, markers, notes and comments."""
    copy = deepcopy(element)
    for each in list(copy.iter()):
        for key in _OWN_IDS & set(each.attrib):
            del each.attrib[key]
        if each.tag in _MARKERS or each.tag in DELETED:
            remove(each)
    for each in list(copy.iter(*_NOTE_MARKS)):
        remove(ancestor(each, R))
    return copy


def _number_controls(new: Element, old: Element) -> None:
    """Give each control in `new` an id that no other control of the document has."""
    used = [val(each, "w:sdtPr", "w:id") for each in old.getroottree().iter(SDT)]
    highest = max((int(each) for each in used if each.lstrip("-").isdecimal()), default=0)
    for number, control in enumerate(new.iter(SDT), max(highest, 0) + 1):
        mark = child(control, "w:sdtPr", "w:id")
        if mark is not None:
            mark.set(qn("w:val"), str(number))


def delete_row(cell: Element, where: str) -> None:
    """Delete the row of a cell; what is merged downwards from it goes on in the row below.

    Raises:
        EditError: it is the table's only row.
    """
    row = next(cell.iterancestors(TR))
    rows = list(inside(next(row.iterancestors(TBL)), TR))
    if len(rows) == 1:
        raise EditError(where, "the only row of its table", "a table of several rows", "delete the table")
    below = next(iter(rows[rows.index(row) + 1 :]), None)
    under = {} if below is None else {place: each for each, place, _ in grid_of(below)}
    for each, place, _ in grid_of(row):
        next_cell = under.get(place)
        if merge_of(each) == "restart" and next_cell is not None and merge_of(next_cell) == "continue":
            copy = deepcopy(each)
            own, width = child(copy, "w:tcPr", "w:tcW"), child(next_cell, "w:tcPr", "w:tcW")
            if own is not None and width is not None:
                own.getparent().replace(own, deepcopy(width))
            next_cell.getparent().replace(next_cell, copy)
    remove(_repeated(row))


def build_table(
    rows: Sequence[Sequence[str]], *, header: bool, width: int, style_id: str, model: Element | None
) -> Element:
    """Build a table in the formatting of `model`, or else of the style; `width` is in twentieths of a point.

    Texts are cleaned, with inline marks. A header row is repeated on each page. A model has at least two rows
    and columns.
    """
    widths = column_widths(rows, width)
    grid = make("w:tblGrid", *(make("w:gridCol", w=str(each)) for each in widths))
    table = make("w:tbl", _table_properties(style_id, model), grid)
    models = [] if model is None else [grid_of(row) for row in inside(model, TR)]
    for number, texts in enumerate(rows):
        heads = header and number == 0
        marks = ["w:cantSplit", "w:tblHeader"] if heads else ["w:cantSplit"]
        row = make("w:tr", make("w:trPr", *map(make, marks)))
        cells = [] if not models else models[0 if heads else 1]
        for column, text in enumerate(texts):
            like_cell = cells[min(column, len(cells) - 1, 1)][0] if cells else None
            row.append(_cell(text, widths[column], like_cell, heads=heads))
        table.append(row)
    return table


def _table_properties(style_id: str, model: Element | None) -> Element:
    if model is None:
        own = make("w:tblPr", make("w:tblStyle", val=style_id), make("w:tblLook", val="04A0"))
    else:
        own = deepcopy(model.tblPr)
    own.remove_all(*_OF_MODEL)
    put_before(own, make("w:tblW", w="5000", type="pct"), *_AFTER_WIDTH)
    return own


def _cell(text: str, width: int, model: Element | None, *, heads: bool) -> Element:
    own = make("w:tcPr", make("w:tcW", w=str(width), type="dxa"))
    for name in ("w:tcBorders", "w:shd", "w:tcMar", "w:vAlign"):
        found = child(model, "w:tcPr", name)
        if found is not None:
            own.append(deepcopy(found))
    cell = make("w:tc", own)
    first = next(inside(model, P), None) if model is not None else None
    for line in text.split("\n"):
        paragraph = make("w:p") if first is None else like(first)
        for name in ("w:numPr",) if heads else ("w:numPr", "w:jc"):
            remove(child(paragraph, "w:pPr", name))
        look = None
        if first is not None:
            prompt = any(controls.shows_prompt(each) for each in first.iter(SDT))
            look = clean_look(look_of(first), prompt=prompt, bare=not heads)
        if heads and child(look, "w:b") is None and child(own, "w:shd") is None:
            look = make("w:rPr") if look is None else look
            emphasise(look, bold=True)
        paragraph.extend(runs_of(line, look) if line else [])
        cell.append(paragraph)
    return cell


def column_widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Compute column widths that fill `width`, avoid breaking words and give long texts more space.

    They are in twentieths of a point and sum to `width`; every row is equally long.
    """
    columns = ["\n".join(column) for column in zip(*rows, strict=True)]
    least = [_MARGIN + _LETTER * max(map(len, column.split()), default=0) for column in columns]
    wanted = [_MARGIN + _LETTER * max(map(len, column.split("\n"))) for column in columns]
    if sum(wanted) <= width or sum(least) >= width:
        shares = wanted if sum(wanted) <= width else least
        found = [width * each // sum(shares) for each in shares]
    else:
        spare = width - sum(least)
        more = [want - need for want, need in zip(wanted, least, strict=True)]
        found = [need + spare * extra // sum(more) for need, extra in zip(least, more, strict=True)]
    found[-1] += width - sum(found)
    return found


def serves_as_model(table: Element) -> bool:
    """Whether a table can be a model: at least two rows and columns, with borders."""
    rows = list(inside(table, TR))
    if len(rows) < 2 or min(len(list(inside(row, TC))) for row in rows[:2]) < 2:  # noqa: PLR2004 -- as said
        return False
    cells = [cell for row in rows[:2] for cell in inside(row, TC)]
    if any(has(cell, TBL) or child(cell, "w:sdt") is not None for cell in cells):
        return False  # only paragraphs can be copied
    style = val(table, "w:tblPr", "w:tblStyle")
    borders = (child(table, "w:tblPr", "w:tblBorders"), child(rows[1], "w:tc", "w:tcPr", "w:tcBorders"))
    sides = [attribute(side, "w:val", "nil") for each in borders if each is not None for side in each]
    if any(side not in {"nil", "none"} for side in sides):
        return True
    return style not in {"", "TableNormal"} and borders == (None, None)
