"""Rows and tables: add a row, delete one, build a table that looks like its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from flows.adapters.report_docx import controls
from flows.adapters.report_docx.elements import ancestor, fresh, inside, make, put_in_order, remove
from flows.adapters.report_docx.filling import fill_control, unwrap
from flows.adapters.report_docx.model import EditError
from flows.adapters.report_docx.places import cell_control, grid_of, merge_of
from flows.adapters.report_docx.writing import write_container
from flows.common.word_xml import SDT, TBL, TR, Element, child, qn, switch, val

_AFTER_SPAN = (
    *("w:hMerge", "w:vMerge", "w:tcBorders", "w:shd", "w:noWrap", "w:tcMar", "w:textDirection"),
    *(
        "w:tcFitText",
        "w:vAlign",
        "w:hideMark",
        "w:headers",
        "w:cellIns",
        "w:cellDel",
        "w:cellMerge",
        "w:tcPrChange",
    ),
)
_AFTER_VMERGE = _AFTER_SPAN[2:]
_TRACKED_ROW = ("w:ins", "w:del", "w:trPrChange")


def add_row(cell: Element, texts: Sequence[str], where: str) -> None:
    """Insert a row after that of `cell`, with its formatting; after a header row with that of the next row.

    Cells that are merged downwards through the row are merged through the new one too, and take no text.
    A control in a cell is filled; the new row's controls are copies with their own ids.

    Args:
        cell: a cell, or anything within one.
        texts: cleaned texts of the new row's cells from left to right.
        where: the place, for errors.

    Raises:
        EditError: it is no cell, the number of texts is wrong, or a control refuses its text.
    """
    row = ancestor(cell, TR) if cell.tag != TR else cell
    if row is None:
        raise EditError(where, "no table around it", "the id of a cell, such as t1r2c1")
    table = ancestor(row, TBL)
    rows = list(inside(table, TR))
    at = next(number for number, each in enumerate(rows) if each is row)
    below = rows[at + 1] if at + 1 < len(rows) else None
    heading = switch(row, "w:trPr", "w:tblHeader")
    model = below if heading and below is not None and not switch(below, "w:trPr", "w:tblHeader") else row
    holder = _repeated(model)
    new = fresh(holder)
    new_row = new if new.tag == TR else next(new.iter(TR))
    open_cells = _merged(new_row, model, below)
    if len(texts) != len(open_cells):
        raise EditError(
            where,
            f"{len(texts)} texts for a row of {len(open_cells)} cells",
            f"{len(open_cells)} texts",
            "write '' for a cell that stays empty",
        )
    properties = child(new_row, "w:trPr")
    for name in ("w:tblHeader", *_TRACKED_ROW) if properties is not None else ():
        remove(child(properties, name))
    for each, text in zip(open_cells, texts, strict=True):
        _fill_cell(each, new_row, text, where)
    _number_controls(new, table)
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
            put_in_order(child(cell, "w:tcPr"), make("w:vMerge"), _AFTER_VMERGE)
            kind = "continue"
        elif kind == "restart":
            remove(child(cell, "w:tcPr", "w:vMerge"))
            kind = ""
        if kind == "continue":
            _write_plain(cell, "")
        else:
            found.append(cell)
    return found


def _fill_cell(cell: Element, row: Element, text: str, where: str) -> None:
    around = cell_control(cell, row)
    within = [each for each in cell.iter(SDT) if controls.control_type(each) in controls.FILLABLE]
    control = around if around is not None else within[0] if len(within) == 1 else None
    if control is None:
        _write_plain(cell, text)
    else:
        fill_control(control, text, where)


def _write_plain(cell: Element, text: str) -> None:
    """Give a copied cell a text alone: what else its model holds is the model's own."""
    for control in list(cell.findall(SDT)):
        unwrap(control)
    for table in list(inside(cell, TBL)):
        remove(table)
    write_container(cell, text)


def _number_controls(new: Element, old: Element) -> None:
    """Give each control in `new` an id that no other control of the document has."""
    root = old.getroottree().getroot()
    used = [val(each, "w:sdtPr", "w:id") for each in root.iter(SDT)]
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
    row = ancestor(cell, TR)
    table = ancestor(row, TBL)
    rows = list(inside(table, TR))
    if len(rows) == 1:
        raise EditError(where, "the only row of its table", "a table of several rows", "delete the table")
    at = next(number for number, each in enumerate(rows) if each is row)
    under = {place: each for each, place, _ in grid_of(rows[at + 1])} if at + 1 < len(rows) else {}
    for each, place, _ in grid_of(row):
        next_cell = under.get(place)
        if merge_of(each) == "restart" and next_cell is not None and merge_of(next_cell) == "continue":
            width = child(next_cell, "w:tcPr", "w:tcW")
            copy = deepcopy(each)
            if width is not None and child(copy, "w:tcPr", "w:tcW") is not None:
                copy.find(qn("w:tcPr")).replace(child(copy, "w:tcPr", "w:tcW"), deepcopy(width))
            next_cell.getparent().replace(next_cell, copy)
    holder = _repeated(row)
    remove(holder)
