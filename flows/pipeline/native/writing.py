"""The tools that write the report. Each call opens, edits and saves it."""

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Any

from flows.adapters.report_docx import Block, Place, ReportDocument
from flows.common.errors import StaffbenchError
from flows.common.text import plural
from flows.pipeline.native.folder import REPORT, Folder
from flows.pipeline.native.offered import (
    MAX_REPORT,
    MAX_TEXT,
    MAX_WORD,
    Delete,
    Entry,
    Fill,
    Insert,
    NewBlock,
    Rows,
    Show,
    Start,
)
from flows.pipeline.native.toolbox import ToolAnswer, ToolFault, encodable, page_of

_REPORT = "/".join(REPORT)
_NAMED = 20  # places that an answer names
_PART = re.compile(r"([a-z]+)(\d+)")
_NUMBERED = re.compile(r"(.*?)(\d+)")


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
        ToolFault: there is no report, the entries overlap, or a text is too long.
        StaffbenchError: a place does not exist, or can't take its text.
    """
    for entry in wanted.entries:
        _check_text(entry.text, entry.place)

    def change(document: ReportDocument) -> str:
        places = document.places()
        order = {place.place_id: number for number, place in enumerate(places)}
        _check_disjoint(wanted.entries, places)
        # In reverse order, since a text of several paragraphs renumbers later places.
        for entry in sorted(wanted.entries, key=lambda entry: order.get(entry.place, -1), reverse=True):
            document.set_text(entry.place, entry.text)
        return f"{plural(len(wanted.entries), 'place')} filled."

    return _edited(folder, change)


def insert(folder: Folder, wanted: Insert) -> ToolAnswer:
    """Insert blocks.

    Raises:
        ToolFault: there is no report, or a text is too long.
        StaffbenchError: the place does not exist, or a block is invalid.
    """
    for number, block in enumerate(wanted.blocks, 1):
        for text in (block.text, *(cell for row in block.rows for cell in row)):
            _check_text(text, f"block {number}")
    blocks = [_block(number, block) for number, block in enumerate(wanted.blocks, 1)]

    def change(document: ReportDocument) -> str:
        document.insert(wanted.after, blocks)
        return f"{len(blocks)} block{'s' * (len(blocks) != 1)} inserted."

    return _edited(folder, change)


def add_rows(folder: Folder, wanted: Rows) -> ToolAnswer:
    """Add rows to a table; on an error, none is added.

    Raises:
        ToolFault: there is no report, or a text is too long.
        StaffbenchError: the place is not a cell, or a row does not fit.
    """
    for cells in wanted.rows:
        for text in cells:
            _check_text(text, wanted.cell)

    def change(document: ReportDocument) -> str:
        for cells in reversed(wanted.rows):  # each goes directly below the cell's row
            document.add_row(wanted.cell, cells)
        return f"{len(wanted.rows)} row{'s' * (len(wanted.rows) != 1)} added."

    return _edited(folder, change)


def delete(folder: Folder, wanted: Delete) -> ToolAnswer:
    """Delete places; on an error, none is deleted.

    Raises:
        ToolFault: there is no report, or a range is none.
        StaffbenchError: a place does not exist, or can't be deleted.
    """

    def change(document: ReportDocument) -> str:
        known = [place.place_id for place in document.places()]
        ids = list(dict.fromkeys(each for name in wanted.places for each in _range(name, known)))
        document.delete(*ids)
        return f"{ids[0]} is deleted." if len(ids) == 1 else f"{len(ids)} places deleted."

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
    more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    verb = "place still shows" if len(left) == 1 else "places still show"
    return f"{len(left)} {verb} a prompt or a placeholder: {', '.join(left[:_NAMED])}{more}." if left else ""


def _read(folder: Folder) -> bytes:
    data, why = folder.report()
    if data is None:
        raise ToolFault(_REPORT, f"no report ({why})", "one that is begun", "call start_report first")
    return data


def _edited(folder: Folder, change: Callable[[ReportDocument], str]) -> ToolAnswer:
    document = ReportDocument.open(_read(folder))
    before, size = document.elements(), _size(document)
    done = change(document)
    if _size(document) > max(size, MAX_REPORT):
        found = f"it would have {_size(document):,} characters"
        raise ToolFault(_REPORT, found, f"at most {MAX_REPORT:,}", "write less")
    folder.write(_REPORT, document.to_bytes())
    sentences = [done, f"{_REPORT} is saved.", moves_text(before, document.elements()), _unfilled(document)]
    return ToolAnswer(encodable(" ".join(sentence for sentence in sentences if sentence)))


def moves_text(before: Sequence[tuple[Any, str]], after: Sequence[tuple[Any, str]]) -> str:
    """Say which places are new and which have another id; empty if neither.

    Both are the element and the id of each place, in order.
    """
    known = {id(element): place for element, place in before}
    new = [place for element, place in after if id(element) not in known]
    moved = [(known[id(e)], place) for e, place in after if known.get(id(e), place) != place]
    units = list(dict.fromkeys(_moved_unit(old, now) for old, now in moved))
    phrases = [f"{old} {'are' if '-' in old else 'is'} now {now}" for old, now in _runs(units)]
    more = f"; and {len(phrases) - _NAMED} more, which show_report lists" if len(phrases) > _NAMED else ""
    sentences = [f"New: {', '.join(old for old, _ in _runs([(p, p) for p in new])[:_NAMED])}."] if new else []
    sentences += [f"Moved: {'; '.join(phrases[:_NAMED])}{more}."] if phrases else []
    return " ".join(sentences)


def _moved_unit(old: str, now: str) -> tuple[str, str]:
    """Return the outermost part whose number differs: `t2r3c1`, `t1r3c1` gives `t2`, `t1`."""
    parts, others = _PART.findall(old), _PART.findall(now)
    if [part[0] for part in parts] != [part[0] for part in others]:
        return old, now
    depth = next(n for n, pair in enumerate(zip(parts, others, strict=True), 1) if pair[0] != pair[1])
    return "".join(map("".join, parts[:depth])), "".join(map("".join, others[:depth]))


def _runs(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Combine consecutive numbers that moved alike: p5, p6 to p2, p3 gives `p5-p6`, `p2-p3`."""
    runs: list[list[tuple[str, str]]] = []
    for pair in pairs:
        if runs and all(_follows(last, here) for last, here in zip(runs[-1][-1], pair, strict=True)):
            runs[-1].append(pair)
        else:
            runs.append([pair])
    ends = [(run[0], run[-1]) for run in runs]
    return [a if a == b else (f"{a[0]}-{b[0]}", f"{a[1]}-{b[1]}") for a, b in ends]


def _follows(last: str, here: str) -> bool:
    one, other = _NUMBERED.fullmatch(last), _NUMBERED.fullmatch(here)
    return one is not None and other is not None and one[1] == other[1] and int(other[2]) == int(one[2]) + 1


def _range(name: str, known: Sequence[str]) -> list[str]:
    """Return the ids that an entry of `delete` means: itself, or all from one place to another."""
    first, dash, last = (part.strip() for part in name.partition("-"))
    if not dash:
        return [first]
    missing = [each for each in (first, last) if each not in known]
    if missing:
        raise ToolFault(name, f"no place {missing[0]}", "a range between two places that show_report lists")
    start, end = known.index(first), known.index(last)
    if start > end:
        raise ToolFault(name, f"{last} stands before {first}", f"{last}-{first}")
    return list(known[start : end + 1])


def _check_text(text: str, where: str) -> None:
    """Refuse a text that no reader would take, and that would take minutes to lay out."""
    if len(text) > MAX_TEXT:
        raise ToolFault(where, f"a text of {len(text):,} characters", f"at most {MAX_TEXT:,}", "write less")
    longest = max(map(len, text.split()), default=0)
    if longest > MAX_WORD:
        found = f"a word of {longest:,} characters"
        raise ToolFault(where, found, f"at most {MAX_WORD}", "part it by spaces")


def _size(document: ReportDocument) -> int:
    return sum(len(place.text) for place in document.places())


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
    kind = place.kind if place.level is None else f"{place.kind} {place.level}"
    style = f"style {place.style}" if place.style else ""
    about = filter(None, (kind, style, place.hint, "to be filled" if place.unfilled else ""))
    text = place.text.replace("\n", "\n    ")  # indented, so that text can't be taken for a place
    return f"{place.place_id} ({'; '.join(about)}): {text}"
