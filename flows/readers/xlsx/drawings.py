"""Floating objects of a sheet: charts, images, text boxes, diagrams."""

from __future__ import annotations

from collections.abc import Iterator

from flows.readers.markup import Element, walked
from flows.readers.ooxml import Package, Relationship
from flows.readers.shared.charts import chart_text, diagram_text, drawn_text
from flows.readers.shared.notation import collapsed, flat, image, letters
from flows.readers.xlsx.book import R
from flows.schema.document import Block, BlockKind, Notice

_XDR = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
CONTROL = "{http://schemas.microsoft.com/office/drawing/2010/main}compatExt"
_SHAPES = {f"{_XDR}{name}" for name in ("sp", "pic", "graphicFrame")}


def drawings(
    package: Package, links: dict[str, Relationship], sheet: str, notices: list[Notice]
) -> Iterator[Block]:
    """Charts, images, text boxes and diagrams over a sheet, in the order of the file.

    Form controls are drawn here a second time; `controls` reads them.
    """
    for drawing in package.targets(links, "drawing"):
        targets = package.relationships(drawing)
        shown: set[str] = set()  # charts and diagrams: each has one frame
        for anchor in package.xml(drawing):
            place = place_of(anchor, sheet)
            for part in walked(anchor):
                if part.tag not in _SHAPES or next(part.iter(CONTROL), None) is not None:
                    continue
                block = _shape(package, targets, part, place, notices, shown=shown)
                hidden = next(part.iter(f"{_XDR}cNvPr"), {}).get("hidden") in {"1", "true"}
                if block is not None and hidden:
                    notices.append(Notice("hidden_text", place, f"hidden drawing: {flat(block.text)}"))
                elif block is not None:
                    yield block


def _shape(
    package: Package,
    targets: dict[str, Relationship],
    part: Element,
    place: str,
    notices: list[Notice],
    *,
    shown: set[str],
) -> Block | None:
    properties = next(part.iter(f"{_XDR}cNvPr"), {})
    alt = flat(str(properties.get("descr") or properties.get("title") or ""))
    target = _target(part, targets)
    if part.tag == f"{_XDR}pic":
        return Block(BlockKind.image, image(alt) + target, place)
    if part.tag == f"{_XDR}sp":
        text = collapsed("\n".join(drawn_text(line) for line in part.iter(f"{_A}p")))
        if text:
            return Block(BlockKind.textbox, f"[Text box] {text}{target}", place)
        text = f"[Shape: {alt}]" if alt else "[Shape]"
        return Block(BlockKind.image, text + target, place) if alt or target else None
    for inner in walked(part):
        name = str(inner.tag)
        key = inner.get(f"{R}dm") if name.endswith("/diagram}relIds") else inner.get(f"{R}id")
        found = targets.get(str(key))
        if found is None or not package.has(found.target) or found.target in shown:
            continue
        shown.add(found.target)
        if name.endswith("/diagram}relIds"):
            text = diagram_text(package.xml(found.target))
            return Block(BlockKind.textbox, f"[Text box] {text}", place) if text else None
        if name.endswith(("/chart}chart", "/chartex}chart")):
            return Block(BlockKind.image, chart_text(package.xml(found.target), alt), place)
    data = next(part.iter(f"{_A}graphicData"), None)
    if data is not None:
        kind = str(data.get("uri")).rstrip("/").rpartition("/")[2]
        name = next((str(inner.get("name")) for inner in data if inner.get("name")), "")
        notices.append(
            Notice("unread_part", place, f"a drawing of kind {kind} is not read: {name}".rstrip(": "))
        )
    return None


def _target(part: Element, targets: dict[str, Relationship]) -> str:
    """The address that a shape leads to, as ` (https://example.org)`; ''."""
    click = next(part.iter(f"{_A}hlinkClick"), None)
    link = None if click is None else targets.get(str(click.get(f"{R}id")))
    return f" ({link.target})" if link is not None and link.target else ""


def place_of(anchor: Element, sheet: str) -> str:
    """The cell that a drawing starts in; the sheet where it has none."""
    start = anchor.find(f"{_XDR}from")
    if start is None:
        return sheet
    column, row = (int(start.findtext(f"{_XDR}{name}") or 0) for name in ("col", "row"))
    return f"{sheet}!{letters(column + 1)}{row + 1}"
