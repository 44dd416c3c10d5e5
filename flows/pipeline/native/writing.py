"""The tools that write the report. Each call opens, edits and saves it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from flows.adapters.report_docx import Block, Place, ReportDocument
from flows.common.errors import StaffbenchError
from flows.common.text import plural
from flows.pipeline.native.answers import ToolAnswer, ToolFault, encodable, page_of
from flows.pipeline.native.arguments import Delete, Entry, Fill, Insert, NewBlock, Row, Show, Start
from flows.pipeline.native.folder import Folder
from flows.pipeline.native.paths import REPORT

_REPORT = "/".join(REPORT)
_NAMED = 20  # places that an answer names


def start_report(folder: Folder, wanted: Start, page_chars: int) -> ToolAnswer:
    """Start a new report.

    Raises:
        PathRefused: see `Folder.read`.
        ToolFault: the template is not a Word document.
        StaffbenchError: the template can't be opened.
    """
    origin = "a blank document"
    if wanted.template:
        origin, data = folder.read(wanted.template)
        if PurePosixPath(origin).suffix.lower() != ".docx":
            raise ToolFault(origin, "no .docx", "a Word attachment, or no template")
        document = ReportDocument.open(data)
    else:
        document = ReportDocument.blank()
    replaced = folder.report()[0] is not None
    folder.write(_REPORT, document.to_bytes())
    begun = f"{_REPORT} is begun from {origin}{' and replaces the one before' * replaced}. Its places:"
    return ToolAnswer(encodable(f"{begun}\n\n{_listed(document, 0, page_chars)}"))


def show_report(folder: Folder, wanted: Show, page_chars: int) -> ToolAnswer:
    """List one part of the report's places.

    Raises:
        ToolFault: there is no report, or the offset is out of range.
    """
    return ToolAnswer(encodable(_listed(ReportDocument.open(_read(folder)), wanted.offset, page_chars)))


def fill(folder: Folder, wanted: Fill) -> ToolAnswer:
    """Replace the text of places; on an error, none is changed.

    Raises:
        ToolFault: there is no report, or the entries overlap.
        StaffbenchError: a place does not exist, or can't take its text.
    """

    def change(document: ReportDocument) -> str:
        places = document.places()
        order = {place.place_id: number for number, place in enumerate(places)}
        _check_disjoint(wanted.entries, places)
        # In reverse order, since a text of several paragraphs renumbers later places.
        for entry in sorted(wanted.entries, key=lambda entry: order.get(entry.place, -1), reverse=True):
            document.set_text(entry.place, entry.text)
        count = len(wanted.entries)
        return f"{plural(count, 'place')} filled."

    return _edited(folder, change)


def insert(folder: Folder, wanted: Insert) -> ToolAnswer:
    """Insert blocks.

    Raises:
        ToolFault: there is no report.
        StaffbenchError: the place does not exist, or a block is invalid.
    """
    blocks = [_block(number, block) for number, block in enumerate(wanted.blocks, 1)]

    def change(document: ReportDocument) -> str:
        document.insert(wanted.after, blocks)
        return f"{len(blocks)} block{'s' * (len(blocks) != 1)} inserted."

    return _edited(folder, change)


def add_row(folder: Folder, wanted: Row) -> ToolAnswer:
    """Add a row to a table.

    Raises:
        ToolFault: there is no report.
        StaffbenchError: the place is not a cell, or the row does not fit.
    """

    def change(document: ReportDocument) -> str:
        document.add_row(wanted.cell, wanted.cells)
        return "A row is added."

    return _edited(folder, change)


def delete(folder: Folder, wanted: Delete) -> ToolAnswer:
    """Delete a place.

    Raises:
        ToolFault: there is no report.
        StaffbenchError: the place does not exist, or can't be deleted.
    """

    def change(document: ReportDocument) -> str:
        document.delete(wanted.place)
        return f"{wanted.place} is deleted."

    return _edited(folder, change)


def plain_report(title: str, paragraphs: Sequence[str]) -> bytes:
    """Return a report of a title and paragraphs of plain text; an empty document without both."""
    document = ReportDocument.blank()
    # Asterisks in them are not emphasis.
    blocks = [Block("paragraph", text.replace("*", "\\*")) for text in paragraphs]
    document.insert(None, [*([Block("heading", title, level=1)] if title else []), *blocks])
    return document.to_bytes()


def unfilled(data: bytes) -> str:
    """Name the places of a report that are left to fill in; empty if there are none."""
    return _unfilled(ReportDocument.open(data))


def _unfilled(document: ReportDocument) -> str:
    left = [place.place_id for place in document.places() if place.unfilled]
    if not left:
        return ""
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    verb = "place still shows" if len(left) == 1 else "places still show"
    return f"{len(left)} {verb} a prompt or a placeholder: {', '.join(left[:_NAMED])}{more}."


def _read(folder: Folder) -> bytes:
    data, why = folder.report()
    if data is None:
        raise ToolFault(_REPORT, f"no report ({why})", "one that is begun", "call start_report first")
    return data


def _edited(folder: Folder, change: Callable[[ReportDocument], str]) -> ToolAnswer:
    document = ReportDocument.open(_read(folder))
    before = _numbered(document)
    done = change(document)
    folder.write(_REPORT, document.to_bytes())
    sentences = [done, f"{_REPORT} is saved."]
    if _numbered(document) != before:
        sentences.append("Place numbers have changed: call show_report before the next edit.")
    return ToolAnswer(encodable(" ".join([*sentences, _unfilled(document)]).strip()))


def _numbered(document: ReportDocument) -> list[tuple[str, str]]:
    return [(place.place_id, place.kind) for place in document.places()]


def _check_disjoint(entries: Sequence[Entry], places: Sequence[Place]) -> None:
    """Refuse two entries for one place, or for a place and one inside it: one text would be lost."""
    ids = [entry.place for entry in entries]
    repeated = sorted({place_id for place_id in ids if ids.count(place_id) > 1})
    if repeated:
        raise ToolFault("fill", f"two entries for {', '.join(repeated)}", "one entry for each place")
    for number, place in enumerate(places):
        if place.place_id not in ids or "holds" not in place.hint:
            continue
        for inner in places[number + 1 :]:
            if not (inner.kind == "control" or inner.place_id.startswith(place.place_id)):
                break
            if inner.place_id in ids:
                found = f"entries for {place.place_id} and for {inner.place_id}, which may lie in it"
                raise ToolFault("fill", found, "one of them", "fill the inner places, one by one")


def _block(number: int, block: NewBlock) -> Block:
    rows = tuple(tuple(row) for row in block.rows)
    try:
        return Block(block.kind, block.text, block.level, rows, block.header)
    except StaffbenchError as error:
        where = f"block {number}, {error.where}"
        raise ToolFault(where, error.found, error.expected, error.remedy) from error


def _listed(document: ReportDocument, offset: int, page_chars: int) -> str:
    lines = [_line(place) for place in document.places()]
    return page_of("\n".join(lines) or "(no place)", offset, page_chars, f"{_REPORT}: {len(lines)} places")


def _line(place: Place) -> str:
    about = [place.kind if place.level is None else f"{place.kind} {place.level}"]
    if place.style:
        about.append(f"style {place.style}")
    if place.hint:
        about.append(place.hint)
    if place.unfilled:
        about.append("to be filled")
    text = place.text.replace("\n", "\n    ")  # indented, so that text can't be taken for a place
    return f"{place.place_id} ({'; '.join(about)}): {text}"
