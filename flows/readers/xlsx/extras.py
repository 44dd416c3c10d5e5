"""Text of a sheet outside its cells: comments, input messages, printed headers and footers."""

import re
from collections.abc import Iterator

from flows.readers.ooxml import Relationship
from flows.readers.shared.notation import collapsed, flat, shifted, struck_out
from flows.readers.xlsx.book import Book
from flows.readers.xlsx.grid import Grid
from flows.readers.xlsx.styles import Font, S, as_shown, unescaped
from flows.schema.document import Block, BlockKind, Notice

_T = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"
_CODE = re.compile(
    r'&"[^"]*"|&[0-9]+|&K(?:[0-9A-Fa-f]{6}|[0-9]{2}[+-][0-9]{3})|&[BIUEOH]|&(?P<sign>[LCRSXYPNDTFZAG&])'
    r"|(?P<text>[^&]+|&)"
)
_FIELDS = {
    "P": "[page]", "N": "[pages]", "D": "[date]", "T": "[time]", "F": "[file]", "Z": "[path]", "G": "[Image]",
    "&": "&",
}  # fmt: skip
_SHIFTS = {"X": 1, "Y": -1}
_PAGES = (
    ("first", "differentFirst", " of the first page"),
    ("odd", "", ""),
    ("even", "differentOddEven", " of even pages"),
)


def comments(book: Book, links: dict[str, Relationship], sheet: str) -> Iterator[Block]:
    """Comments of a sheet with author and cell; threads first, in order."""
    package = book.package
    threads = [link.target for link in links.values() if link.kind == "threadedComment"]
    threaded: set[str] = set()
    people = {
        str(person.get("id")): str(person.get("displayName"))
        for name in (package.names() if threads else ())
        if name.startswith("xl/persons/") and name.endswith(".xml")
        for person in package.xml(name).iterfind(f"{_T}person")
    }
    for part in threads:
        for entry in package.xml(part).iterfind(f"{_T}threadedComment"):
            cell = str(entry.get("ref"))
            threaded.add(cell)
            said = "Reply" if entry.get("parentId") else "Comment"
            done = ", resolved" if entry.get("done") == "1" else ""
            who = people.get(str(entry.get("personId")), "unknown author")
            when = str(entry.get("dT") or "")[:16].replace("T", " ")
            text = collapsed(unescaped(entry.findtext(f"{_T}text")))
            yield _comment(f"{said} by {who}, {when}{done}", text, sheet, cell)
    for part in package.targets(links, "comments"):
        root = package.xml(part)
        authors = [flat(unescaped(author.text)) for author in root.iterfind(f"{S}authors/{S}author")]
        for entry in root.iterfind(f"{S}commentList/{S}comment"):
            cell = str(entry.get("ref"))
            if cell in threaded:
                continue  # Excel writes a thread a second time as a plain comment, for older programs
            at = int(entry.get("authorId") or 0)
            who = authors[at] if at < len(authors) else ""
            said = f"Comment by {who}" if who else "Comment"
            body = entry.find(f"{S}text")
            text = "" if body is None else as_shown(book.text(body), Font())[0]
            yield _comment(said, collapsed(text), sheet, cell)


def _comment(said: str, text: str, sheet: str, cell: str) -> Block:
    return Block(BlockKind.comment, f"[{said}, on {cell}] {text}".rstrip(), f"{sheet}!{cell}")


def inputs(grid: Grid, sheet: str) -> Iterator[Block]:
    """What Excel says beside a cell when it is chosen (the input message of a data validation)."""
    for where, text in grid.inputs:
        yield Block(BlockKind.comment, f"[Input message on {where}] {collapsed(text)}", f"{sheet}!{where}")


def printed_lines(grid: Grid, sheet: str, notices: list[Notice]) -> Iterator[Block]:
    """Headers and footers that a sheet prints, each text once; what its settings leave out is reported."""
    for kind in (BlockKind.header, BlockKind.footer):
        seen: set[str] = set()
        for which, setting, pages in _PAGES:
            text = _laid_out(grid.printed.get(which + kind.value.capitalize(), ""), sheet)
            place = f"{sheet}, printed {kind.value}{pages}"
            if not text or text in seen:
                continue
            if setting and setting not in grid.printed:
                notices.append(
                    Notice("unused_header", place, f"not printed with the sheet's settings: {text}")
                )
                continue
            seen.add(text)
            yield Block(kind, f"[{kind.value.capitalize()}] {text}", place)


def _laid_out(code: str, sheet: str) -> str:
    """The text of a header's code, its left, middle and right part on a line each."""
    runs: dict[str, list[tuple[str, bool]]] = {"L": [], "C": [], "R": []}
    part, struck, shift = "C", False, 0
    for match in _CODE.finditer(code):
        sign, text = match.group("sign"), match.group("text")
        if sign in {"L", "C", "R"}:
            part, struck, shift = sign, False, 0
        elif sign == "S":
            struck = not struck
        elif sign in _SHIFTS:
            shift = 0 if shift == _SHIFTS[sign] else _SHIFTS[sign]
        elif sign is not None or text:
            shown = text or (sheet if sign == "A" else _FIELDS.get(str(sign), ""))
            runs[part].append((shifted(shown, shift), struck))
    lines = [flat(struck_out(stretches)) for stretches in runs.values()]
    return "\n".join(line for line in lines if line)
