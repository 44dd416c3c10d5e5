"""Build tables in the formatting of the document's other tables."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from flows.adapters.report_docx import controls
from flows.adapters.report_docx.elements import inside, make, put_in_order, remove, required_child
from flows.adapters.report_docx.places import grid_of
from flows.adapters.report_docx.reading import is_plain, paragraphs_in
from flows.adapters.report_docx.writing import clean_look, like, look_of, runs_of
from flows.common.word_xml import SDT, TC, TR, Element, child, qn, val


def build_table(
    rows: Sequence[Sequence[str]], *, header: bool, width: int, style_id: str, model: Element | None
) -> Element:
    """Build a table of `width`, in the formatting of `model` or of the style.

    Args:
        rows: cleaned texts with inline marks.
        header: whether the first row is a header, repeated on each page.
        width: in twentieths of a point.
        style_id: id of a table style, used without a model.
        model: a table of at least two rows and columns.
    """
    table = make("w:tbl")
    table.append(_table_properties(style_id, model))
    widths = column_widths(rows, width)
    grid = make("w:tblGrid")
    grid.extend([make("w:gridCol", w=str(each)) for each in widths])
    table.append(grid)
    models = [] if model is None else [grid_of(row) for row in inside(model, TR)]
    for number, texts in enumerate(rows):
        heads = header and number == 0
        row = make("w:tr")
        properties = make("w:trPr")
        properties.append(make("w:cantSplit"))
        if heads:
            properties.append(make("w:tblHeader"))
        row.append(properties)
        cells = [] if not models else models[0 if heads else 1]
        for column, text in enumerate(texts):
            like_cell = cells[min(column, len(cells) - 1, 1)][0] if cells else None
            row.append(_cell(text, widths[column], like_cell, heads=heads))
        table.append(row)
    return table


def _table_properties(style_id: str, model: Element | None) -> Element:
    if model is None:
        own = make("w:tblPr")
        own.extend([make("w:tblStyle", val=style_id), make("w:tblLook", val="04A0")])
    else:
        own = deepcopy(required_child(model, "w:tblPr"))
    # Not copied, as specific to the model: position, width, description, tracked changes.
    for name in ("w:tblpPr", "w:tblOverlap", "w:tblW", "w:tblCaption", "w:tblDescription", "w:tblPrChange"):
        remove(child(own, name))
    later = (
        "w:jc",
        "w:tblCellSpacing",
        "w:tblInd",
        "w:tblBorders",
        "w:shd",
        "w:tblLayout",
        "w:tblCellMar",
        "w:tblLook",
    )
    put_in_order(own, make("w:tblW", w="5000", type="pct"), later)
    return own


def _cell(text: str, width: int, model: Element | None, *, heads: bool) -> Element:
    cell = make("w:tc")
    own = make("w:tcPr")
    own.append(make("w:tcW", w=str(width), type="dxa"))
    for name in ("w:tcBorders", "w:shd", "w:tcMar", "w:vAlign"):
        found = child(model, "w:tcPr", name)
        if found is not None:
            own.append(deepcopy(found))
    cell.append(own)
    first = next(iter(paragraphs_in(model)), None) if model is not None else None
    for line in text.split("\n"):
        paragraph = make("w:p") if first is None else like(first)
        remove(child(paragraph, "w:pPr", "w:numPr"))
        if not heads:
            remove(child(paragraph, "w:pPr", "w:jc"))
        prompt = first is not None and any(controls.shows_prompt(each) for each in first.iter(SDT))
        look = None if first is None else clean_look(look_of(first), prompt=prompt, bare=not heads)
        plain = look is None or child(look, "w:b") is None
        if heads and plain and child(own, "w:shd") is None:
            look = make("w:rPr") if look is None else look
            look = child(runs_of("**x**", look)[0], "w:rPr")
        paragraph.extend(runs_of(line, look) if line else [])
        cell.append(paragraph)
    return cell


def column_widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Compute column widths that fill `width`, avoid breaking words and give long texts more space.

    Args:
        rows: texts, every row equally long.
        width: in twentieths of a point.

    Returns:
        Widths that sum to `width`.
    """
    letter, margin = 120, 230  # of 11-point text and of a cell, in twentieths of a point
    columns = list(zip(*rows, strict=True))
    least = [
        margin + letter * max(len(word) for text in each for word in [*text.split(), ""]) for each in columns
    ]
    wanted = [
        margin + letter * max(len(line) for text in each for line in text.split("\n")) for each in columns
    ]
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
    if not all(is_plain(cell) for row in rows[:2] for cell in inside(row, TC)):
        return False
    style = val(table, "w:tblPr", "w:tblStyle")
    borders = (child(table, "w:tblPr", "w:tblBorders"), child(rows[1], "w:tc", "w:tcPr", "w:tcBorders"))
    drawn = any(
        side.get(qn("w:val"), "nil") not in {"nil", "none"}
        for each in borders
        if each is not None
        for side in each
    )
    return drawn or (style not in {"", "TableNormal"} and all(each is None for each in borders))
