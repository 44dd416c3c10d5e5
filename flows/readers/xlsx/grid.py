"""One worksheet, streamed: the text of its cells, merged ranges, hidden rows and columns."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from flows.common.errors import ReadError
from flows.readers.markup import Element
from flows.readers.ooxml import Relationship
from flows.readers.shared.formats import colour_named, format_number, shows_nothing, text_shown
from flows.readers.shared.notation import letters
from flows.readers.xlsx.book import Book, R, Sheet
from flows.readers.xlsx.places import EVERYWHERE, Formulas, Span, position, spans
from flows.readers.xlsx.styles import Runs, Style, as_shown, unescaped
from flows.readers.xlsx.unseen import Unseen, styled_tables
from flows.schema.document import Notice

MAX_CELLS = 4_000_000
MAX_COLUMNS = 16_384
MAX_RANGES = 100_000  # ranges with conditional formats, and characters of a list of them
MAX_LINKED = 1000  # cells that one link is written to
_BESIDE = 3  # characters that a cell takes in a pipe table besides its text
_LINK = re.compile(r'HYPERLINK\("([^"]+)"', re.IGNORECASE)


@dataclass(slots=True)
class Grid:
    """The cells of a sheet that hold something: `rows[row][column]`, both from 1, rows in order."""

    rows: dict[int, dict[int, str]] = field(default_factory=dict[int, dict[int, str]])
    merges: list[Span] = field(default_factory=list[Span])
    hidden_rows: set[int] = field(default_factory=set[int])
    hidden_columns: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    printed: dict[str, str] = field(default_factory=dict[str, str])  # the sheet's `headerFooter`, or None
    # Prompts of cells: where, and what Excel says when one is chosen.
    inputs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    # Form controls by the id of their shape: id of the relationship, name.
    controls: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])


def _is_on(element: Element, name: str) -> bool:
    return element.get(name) in {"1", "true"}


class _Reader:
    def __init__(self, book: Book, sheet: Sheet, links: dict[str, Relationship]) -> None:
        self.book = book
        self.sheet = sheet
        self.links = links
        self.grid = Grid()
        self.cells = 0
        self.at_row = 0
        self.unseen = Unseen(book, sheet)
        self.unseen.striped = styled_tables(book.package, links)
        self.unseen.is_bare_known = all(link.kind != "image" for link in links.values())
        self.unknown: dict[str, None] = {}  # signs of symbol fonts
        self.lost: list[str] = []  # cells whose shared text is not in the file
        self.formulas = Formulas()
        self.formatted: dict[tuple[str, str], str] = {}
        self.styles: dict[str | None, tuple[Style, bool]] = {}
        self.shows_formulas = sheet.kind.endswith("Macrosheet")
        self.shows_zeros = True
        self.boxes = {str(at) for at, style in enumerate(book.styles) if style.is_box}

    def view(self, element: Element) -> None:
        self.shows_formulas |= _is_on(element, "showFormulas")
        self.shows_zeros = element.get("showZeros") not in {"0", "false"}

    def row(self, element: Element) -> None:
        stated = element.get("r")
        self.at_row = int(stated) if stated and stated.isdecimal() else self.at_row + 1
        if _is_on(element, "hidden") or element.get("ht") == "0":
            self.grid.hidden_rows.add(self.at_row)
        column = 0
        found: dict[int, str] = {}
        for cell in element:
            reference = cell.get("r")
            place = position(reference) if reference else None
            column = place[1] if place else column + 1
            if not len(cell) and cell.get("s") not in self.boxes:
                continue
            text = self.cell(cell, column)
            if text:
                found[column] = text
        self.count(len(found), sum(map(len, found.values())))
        if found:
            self.grid.rows.setdefault(self.at_row, {}).update(found)

    def count(self, cells: int, chars: int) -> None:
        self.cells += cells
        self.book.spend(chars + _BESIDE * cells)
        if self.cells > MAX_CELLS:
            raise ReadError(
                self.book.package.path,
                f"more than {MAX_CELLS:,} cells",
                "a workbook that a person could read",
                "leave out the sheets that the packet does not need",
            )

    def style(self, key: str | None) -> tuple[Style, bool]:
        """A cell's style, and whether it leaves text as it is."""
        found = self.styles.get(key)
        if found is None:
            style = self.book.style(key)
            plain = (
                as_shown("a", style.font)[0] == "a"
                and not set(style.code) & set(";[@")
                and not style.hides(style.font.colour)
            )
            found = self.styles[key] = (style, plain)
        return found

    def cell(self, cell: Element, column: int) -> str:
        kind = cell.get("t") or "n"
        parts = {str(part.tag).rpartition("}")[2]: part for part in cell}
        formula, inline = parts.get("f"), parts.get("is")
        raw = str(parts["v"].text or "") if "v" in parts else None
        style, plain = self.style(cell.get("s"))
        if style.is_box and kind in {"b", "n"} and (kind == "b" or not raw) and inline is None:
            return "☒" if (raw or "").strip() == "1" else "☐"
        here = "" if formula is None else f"{letters(column)}{self.at_row}"
        origin = None if formula is None else self.formulas.origin(formula, here)
        if inline is not None:
            text = self.book.text(inline)
        elif origin and self.shows_formulas:
            return f"={self.formulas.at(origin, here)}"
        elif raw is None or (formula is not None and not raw and kind != "str"):
            return f"[formula, never calculated: ={self.formulas.at(origin, here)}]" if origin else ""
        elif kind == "e" and cell.get("vm"):
            text = self.book.rich_value(cell.get("vm"), raw)
        else:
            text = self.value(raw, kind, style, column)
        link = _LINK.match(origin[0]) if origin else None
        if link and isinstance(text, str) and text and link.group(1) not in text:
            text = f"{text} ({link.group(1)})"
        if plain and self.shows_zeros and isinstance(text, str):
            return text
        return self.seen(text, style, _number(raw) if kind == "n" else None, column)

    def seen(self, text: str | Runs, style: Style, number: float | None, column: int) -> str:
        """Return the visible text of the cell; the rest is recorded."""
        runs = ((text, None),) if isinstance(text, str) else text
        if number is None and "@" in style.code:
            before, after = text_shown(style.code)
            runs = ((before, None), *runs, (after, None))
        whole, unknown = as_shown(runs, style.font)
        self.unknown.update(dict.fromkeys(unknown))
        blank = shows_nothing(style.code, number) or (number == 0 and not self.shows_zeros)
        if blank and whole.strip():
            self.unseen.report(self.at_row, column, whole)
            return ""
        override = self.book.colours.named(colour_named(style.code, number)) if "[" in style.code else ""
        hidden = [run for run in runs if style.hides(override or (run[1] or style.font).colour)]
        text = "".join(run for run, _ in hidden)
        if text.strip():
            kept = as_shown(tuple(run for run in runs if run not in hidden), style.font)[0]
            self.unseen.suspect(self.at_row, column, kept, text, bare=style.grounds == ())
        return whole

    def value(self, raw: str, kind: str, style: Style, column: int) -> str | Runs:
        if kind == "s":
            at = int(raw) if raw.strip().isdecimal() else -1
            if 0 <= at < len(self.book.strings):
                return self.book.strings[at]
            self.lost.append(f"{letters(column)}{self.at_row}")
            return "[missing text]" if raw.strip() else ""
        if kind == "b":
            return "TRUE" if raw.strip() in {"1", "true"} else "FALSE"
        if kind != "n" or not raw.strip():
            return raw.replace("T", " ").removesuffix(" 00:00:00") if kind == "d" else unescaped(raw)
        key = (raw, style.code)
        text = self.formatted.get(key)
        if text is None:
            text = self.number(raw, style.code)
            if len(self.formatted) < 100_000:  # noqa: PLR2004 -- most sheets repeat few values; bound the rest
                self.formatted[key] = text
        return text

    def number(self, raw: str, code: str) -> str:
        try:
            text = format_number(float(raw), code, from_1904=self.book.from_1904)
            # What its format hides is reported as it is; `#` shows nothing for zero, and hides nothing.
            return format_number(float(raw), "General") if shows_nothing(code, float(raw)) else text
        except (ValueError, ArithmeticError):
            return raw

    def merge(self, element: Element) -> None:
        self.count(1, 0)
        self.grid.merges += [span for span in spans(str(element.get("ref", ""))[:40])[:1] if span.area > 1]

    def column(self, element: Element) -> None:
        hidden = _is_on(element, "hidden") or element.get("width") == "0"
        if hidden and len(self.grid.hidden_columns) < MAX_COLUMNS:
            self.grid.hidden_columns.append((int(element.get("min", 0)), int(element.get("max", 0))))

    def hyperlink(self, element: Element) -> None:
        link = self.links.get(str(element.get(f"{R}id")))
        inside = unescaped(element.get("location"))
        target = (link.target if link and link.external else "") + (f"#{inside}" if inside else "")
        # An entry of a table of contents says the name of the sheet that it leads to.
        sheet = inside.rpartition("!")[0].strip("'") if target.startswith("#") else ""
        bare = sheet or target.removeprefix("mailto:").removeprefix("#")
        for span in spans(str(element.get("ref", ""))[:40]) if target else ():
            last = span.bottom if span.area <= MAX_LINKED else span.top
            for row in range(span.top, last + 1):
                cells = self.grid.rows.get(row, {})
                for column in [at for at in cells if span.left <= at <= span.right]:
                    if bare not in cells[column]:
                        cells[column] += f" ({target})"
                        self.count(0, len(target))

    def printed(self, element: Element) -> None:
        self.grid.printed.update({str(key): "1" for key in element.attrib if _is_on(element, key)})
        for part in element:
            self.grid.printed[str(part.tag).rpartition("}")[2]] = unescaped(part.text)

    def conditional(self, element: Element) -> None:
        where = str(element.get("sqref") or element.findtext("{*}sqref") or "")
        self.unseen.painted += spans(where[:MAX_RANGES])
        if len(where) > MAX_RANGES or len(self.unseen.painted) > MAX_RANGES:
            self.unseen.painted = [EVERYWHERE]

    def prompt(self, element: Element) -> None:
        words = [unescaped(element.get(name)) for name in ("promptTitle", "prompt")]
        where = str(element.get("sqref") or element.findtext("{*}sqref") or "")
        if any(words) and element.get("showInputMessage") in {"1", "true"}:
            self.grid.inputs.append((where, ": ".join(word for word in words if word)))

    def control(self, element: Element) -> None:
        found = str(element.get(f"{R}id")), str(element.get("name") or "")
        self.grid.controls.setdefault(str(element.get("shapeId")), found)


def _number(raw: str | None) -> float | None:
    try:
        return float(raw or "")
    except ValueError:
        return None


def read_grid(book: Book, sheet: Sheet, links: dict[str, Relationship], notices: list[Notice]) -> Grid:
    """Read a sheet's cells as a person sees them, in one pass.

    Raises:
        ReadError: the sheet is damaged, or holds more cells than MAX_CELLS or text than MAX_TEXT.
    """
    reader = _Reader(book, sheet, links)
    work: dict[str, Callable[[Element], None]] = {
        "sheetView": reader.view,
        "row": reader.row,
        "mergeCell": reader.merge,
        "col": reader.column,
        "hyperlink": reader.hyperlink,
        "headerFooter": reader.printed,
        "conditionalFormatting": reader.conditional,
        "dataValidation": reader.prompt,
        "control": reader.control,
    }
    for element in book.package.streamed(sheet.part, list(work)):
        work[str(element.tag).rpartition("}")[2]](element)
    grid = reader.grid
    notices += reader.unseen.remove_unseen(grid.rows, grid.merges)
    if reader.lost:
        more = f" and {len(reader.lost) - 20} more" if reader.lost[20:] else ""
        detail = f"the file does not hold the text of {', '.join(reader.lost[:20])}{more}"
        notices.append(Notice("missing_text", sheet.name, detail))
    notices += [Notice("unknown_symbol", sheet.name, code) for code in reader.unknown]
    grid.rows = dict(sorted(grid.rows.items()))
    return grid
