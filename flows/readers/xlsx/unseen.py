"""Invisible text of a sheet: in the colour of its background, or covered by a merged range."""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from flows.common.errors import ReadError
from flows.readers.ooxml import Package, Relationship
from flows.readers.shared.notation import letters
from flows.readers.xlsx.book import Book, Sheet
from flows.readers.xlsx.places import Span, spans
from flows.schema.document import Notice

MAX_NOTICES = 200
MAX_WORK = 5_000_000  # steps; sheets of real workbooks take a tenth at most

Rows = dict[int, dict[int, str]]


@dataclass(frozen=True, slots=True)
class _Suspect:
    """Text in the colour of its cell, until the sheet's formats that depend on conditions are known."""

    row: int
    column: int
    kept: str  # what stays of the cell without it
    text: str
    bare: bool  # whether the cell has no fill of its own


@dataclass(slots=True)
class Unseen:
    """Collect the invisible text of one sheet, and report it."""

    book: Book
    sheet: Sheet
    # Ranges whose colours are not known: conditional formats.
    painted: list[Span] = field(default_factory=list[Span])
    # Ranges where a cell without fill has a ground that is not known: tables with a style.
    striped: list[Span] = field(default_factory=list[Span])
    is_bare_known: bool = True  # whether a cell without fill is white; a sheet may have a picture behind
    _suspects: list[_Suspect] = field(default_factory=list[_Suspect])
    _found: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])

    def report(self, row: int, column: int, text: str, why: str = "not visible in its cell") -> None:
        """Record text that was left out of a cell."""
        self.book.spend(len(text))
        self._found.append((f"{self.sheet.name}!{letters(column)}{row}", why, text))

    def suspect(self, row: int, column: int, kept: str, text: str, *, bare: bool) -> None:
        """Record text in the colour of its background; `remove_unseen` decides."""
        self._suspects.append(_Suspect(row, column, kept, text, bare))

    def remove_unseen(self, rows: Rows, merges: list[Span]) -> list[Notice]:
        """Remove invisible text from `rows` and return notices about it."""
        self._colours(rows)
        self._covered(rows, merges)
        notices = [
            Notice("hidden_text", place, f"{why}: {text}") for place, why, text in self._found[:MAX_NOTICES]
        ]
        more = self._found[MAX_NOTICES:]
        if more:
            texts = "; ".join(f"{place.rpartition('!')[2]}: {text}" for place, _, text in more)
            detail = f"{len(more)} more cells whose text is not visible: {texts}"
            notices.append(Notice("hidden_text", self.sheet.name, detail))
        return notices

    def _colours(self, rows: Rows) -> None:
        unknown = self.painted + self.striped
        if len(self._suspects) * len(unknown) > MAX_WORK:
            return  # too many conditions to check: text that may be visible stays
        for one in self._suspects:
            if one.bare and not self.is_bare_known:
                continue
            if any(span.holds(one.row, one.column) for span in (unknown if one.bare else self.painted)):
                continue
            self.report(one.row, one.column, one.text)
            if one.kept:
                rows[one.row][one.column] = one.kept
            else:
                rows[one.row].pop(one.column, None)  # a row may come twice

    def _covered(self, rows: Rows, merges: list[Span]) -> None:
        numbers = sorted(rows)
        work = 0
        for merge in merges:
            inside = numbers[bisect_left(numbers, merge.top) : bisect_right(numbers, merge.bottom)]
            work += 1 + sum(1 + len(rows[row]) for row in inside)
            if work > MAX_WORK:
                raise ReadError(
                    self.book.package.path,
                    f"merged ranges of sheet {self.sheet.name!r} that cover each other many times",
                    "a complete workbook",
                    "open it in Excel, let it repair the file and save it",
                )
            shown = rows.get(merge.top, {}).get(merge.left, "")
            for row in inside:
                covered = [column for column in rows[row] if merge.left <= column <= merge.right]
                for column in covered:
                    if (row, column) == (merge.top, merge.left):
                        continue
                    text = rows[row].pop(column)
                    if text != shown:
                        self.report(row, column, text, f"behind the merged range {merge.name}")
        for row in [row for row in numbers if not rows[row]]:
            del rows[row]


def styled_tables(package: Package, links: dict[str, Relationship]) -> list[Span]:
    """Ranges of a sheet's tables that have a style, which paints their rows."""
    found: list[Span] = []
    for part in package.targets(links, "table"):
        root = package.xml(part)
        style = root.find("{*}tableStyleInfo")
        if style is not None and style.get("name"):
            found += spans(str(root.get("ref") or ""))
    return found
