"""What stands beside the cells of a sheet: comments, charts, images, text boxes, printed lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from flows.readers.charts import drawn_text
from flows.readers.ooxml import Element, Package, Relationship
from flows.readers.words import collapsed, flat
from flows.readers.xlsx.book import R, S, Sheet, rich_text
from flows.readers.xlsx.grid import Grid, letters
from flows.schema.document import Block, BlockKind

_T = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"
_XDR = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_CODE = re.compile(r'&(?:"[^"]*"|[0-9]+|K[0-9A-Fa-f]{6}|[BIUESXYHOG])')
_PARTS = re.compile(r"&([LCR])")
_FIELDS = {"&P": "[page]", "&N": "[pages]", "&D": "[date]", "&T": "[time]", "&F": "[file]", "&Z": "[path]"}


def comments(package: Package, links: dict[str, Relationship], sheet: str) -> Iterator[Block]:
    """Comments of a sheet with author and cell, threads first said first."""
    threads = [link.target for link in links.values() if link.kind == "threadedComment"]
    threaded: set[str] = set()
    people = _people(package) if threads else {}
    for part in threads:
        for entry in package.xml(part).iterfind(f"{_T}threadedComment"):
            cell = str(entry.get("ref"))
            threaded.add(cell)
            said = "Reply" if entry.get("parentId") else "Comment"
            done = ", resolved" if entry.get("done") == "1" else ""
            who = people.get(str(entry.get("personId")), "unknown author")
            when = str(entry.get("dT") or "")[:16].replace("T", " ")
            text = collapsed(str(entry.findtext(f"{_T}text") or ""))
            yield _comment(f"{said} by {who}, {when}{done}", text, sheet, cell)
    for link in links.values():
        if link.kind != "comments" or not package.has(link.target):
            continue
        root = package.xml(link.target)
        authors = [flat(str(author.text or "")) for author in root.iterfind(f"{S}authors/{S}author")]
        for entry in root.iterfind(f"{S}commentList/{S}comment"):
            cell = str(entry.get("ref"))
            if cell in threaded:
                continue  # Excel writes a thread a second time as a plain comment, for older programs
            at = int(entry.get("authorId") or 0)
            who = authors[at] if at < len(authors) else ""
            said = f"Comment by {who}" if who else "Comment"
            yield _comment(said, collapsed(rich_text(entry)), sheet, cell)


def _comment(said: str, text: str, sheet: str, cell: str) -> Block:
    return Block(BlockKind.comment, f"[{said}, on {cell}] {text}".rstrip(), f"{sheet}!{cell}")


def _people(package: Package) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in package.names():
        if name.startswith("xl/persons/") and name.endswith(".xml"):
            for person in package.xml(name).iterfind(f"{_T}person"):
                found[str(person.get("id"))] = str(person.get("displayName"))
    return found


def drawings(
    package: Package, links: dict[str, Relationship], sheet: str, chart_text: Callable[[Element, str], str]
) -> Iterator[Block]:
    """Charts, images and text boxes that float over a sheet, in the order of the file."""
    for link in links.values():
        if link.kind != "drawing" or link.external or not package.has(link.target):
            continue
        targets = package.relationships(link.target)
        for anchor in package.xml(link.target):
            place = _anchor(anchor, sheet)
            for part in anchor.iter():
                name = str(part.tag)
                if name.endswith(("/chart}chart", "/chartex}chart")):
                    chart = targets.get(str(part.get(f"{R}id")))
                    if chart is not None and package.has(chart.target):
                        yield Block(BlockKind.image, chart_text(package.xml(chart.target), ""), place)
                elif name == f"{_XDR}pic":
                    shape = next(part.iter(f"{_XDR}cNvPr"), None)
                    alt = "" if shape is None else flat(str(shape.get("descr") or ""))
                    yield Block(
                        BlockKind.image, f"[Image: {alt}]" if alt else "[Image without description]", place
                    )
                elif name == f"{_XDR}txBody":
                    text = "\n".join(drawn_text(line) for line in part.iter(f"{_A}p"))
                    if text.strip():
                        yield Block(BlockKind.textbox, f"[Text box] {collapsed(text)}", place)


def _anchor(anchor: Element, sheet: str) -> str:
    start = anchor.find(f"{_XDR}from")
    if start is None:
        return sheet
    column, row = (int(start.findtext(f"{_XDR}{name}") or 0) for name in ("col", "row"))
    return f"{sheet}!{letters(column + 1)}{row + 1}"


def printed_lines(grid: Grid, sheet: Sheet) -> Iterator[Block]:
    """Header and footer that a sheet prints on each page."""
    for kind, text in ((BlockKind.header, grid.header), (BlockKind.footer, grid.footer)):
        parts = _PARTS.split(text)[2::2] if _PARTS.search(text) else [text]
        lines = [flat(_plain(part, sheet.name)) for part in parts]
        shown = "\n".join(line for line in lines if line)
        if shown:
            yield Block(kind, f"[{kind.value.capitalize()}] {shown}", f"{sheet.name}, printed {kind.value}")


def _plain(text: str, sheet: str) -> str:
    for code, field in _FIELDS.items():
        text = text.replace(code, field)
    return _CODE.sub("", text.replace("&A", sheet)).replace("&&", "&")
