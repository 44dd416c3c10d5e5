# ruff: noqa: RUF001 -- signs that look alike are what this module is about
"""Group words into lines and lines into paragraphs."""

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from operator import attrgetter
from statistics import median

from flows.readers.pdf.paint.runs import Word

MARKER = re.compile(
    r"[•●○◦▪■□❑➢‣⁃∙·*–—-]$|\(?(?:[0-9]{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]$|(?:[0-9]{1,3}\.)+[0-9]{1,3}\.?$|\((?:[0-9]{1,3}|[A-Za-z]|[ivxIVX]{1,5})\)$"
)
BULLET = re.compile(r"[•●○◦▪■□❑➢‣⁃∙·]$")
_SUSPENDED = frozenset({"and", "or", "to", "und"})  # pre- and post-war
_MIXED = 3  # such neighbours that are taken for mixed columns; one or two are accents or signs
_PROSE_WORDS = 3  # words of a line from which it can be running text
_COMPOUND = 3  # letters that the parts of a compound have at least: 'to' and 'in' begin too many words
GAP = 1.8  # heights of type; a gap from here on parts columns
_SAME_LINE = 0.5  # share of the lower one's height that two words overlap by if they stand on one line


@dataclass(slots=True)
class Line:
    """Words on one line of one column, from left to right; or one table or image."""

    words: list[Word] = field(default_factory=list[Word])

    @property
    def x0(self) -> float:
        """Left edge."""
        return self.words[0].x0

    @property
    def x1(self) -> float:
        """Right edge."""
        return max(word.x1 for word in self.words)

    @property
    def top(self) -> float:
        """Upper edge."""
        return min(word.top for word in self.words)

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return max(word.bottom for word in self.words)

    @property
    def middle(self) -> float:
        """Its vertical middle."""
        return (self.top + self.bottom) / 2

    @property
    def size(self) -> float:
        """The type size of most of its words."""
        return median(word.size for word in self.words)

    @property
    def bold(self) -> bool:
        """Whether all of it is bold."""
        return all(word.bold for word in self.words)

    @property
    def has_gap(self) -> bool:
        """Whether it has a gap as wide as between columns: such a line is a row and does not wrap."""
        words = self.words[1:] if is_marker(self.words[0].text) else self.words
        return any(right.x0 - left.x1 > GAP * right.size for left, right in pairwise(words))

    @property
    def segments(self) -> list[list[Word]]:
        """Its words, split at gaps as wide as between columns."""
        parts = [[self.words[0]]]
        for left, right in pairwise(self.words):
            if right.x0 - left.x1 > GAP * right.size:
                parts.append([])
            parts[-1].append(right)
        return parts

    @property
    def text(self) -> str:
        """Its words; pieces that touch are one word, a gap as between columns is a tab."""
        parts: list[str] = []
        end = None
        for word in self.words:
            if end is not None and word.x0 - end > 0.12 * word.size:
                parts.append("\t" if word.x0 - end > GAP * word.size else " ")
            parts.append(word.text)
            end = word.x1
        return "".join(parts)


def lines_of(words: Iterable[Word]) -> list[Line]:
    """Group words into lines from top to bottom; a table or image is a line of its own."""
    lines: list[Line] = []
    open_lines: deque[tuple[float, float, Line]] = deque(maxlen=4)
    for word in sorted(words, key=attrgetter("middle", "x0")):
        if word.item is not None:
            lines.append(Line([word]))
            continue
        best: Line | None = None
        for top, bottom, line in reversed(open_lines):
            overlap = min(bottom, word.bottom) - max(top, word.top)
            if overlap >= _SAME_LINE * min(bottom - top, word.bottom - word.top):
                best = line
                break
        if best is None:
            best = Line()
            lines.append(best)
            open_lines.append((word.top, word.bottom, best))
        best.words.append(word)
    for line in lines:
        line.words.sort(key=attrgetter("x0"))
    lines.sort(key=lambda line: (line.top, line.x0))
    return lines


def interleaved(lines: list[Line]) -> bool:
    """Whether lines of two columns seem to alternate: several neighbours overlap in height, side by side."""
    pairs = 0
    for above, below in pairwise(lines):
        overlap = min(above.bottom, below.bottom) - max(above.top, below.top)
        beside = below.x0 > above.x1 or above.x0 > below.x1
        pairs += beside and overlap > 0.1 * min(above.size, below.size)
    return pairs >= _MIXED


def is_marker(text: str) -> bool:
    """Whether a word is a bullet or the number of a list item."""
    return bool(MARKER.match(text))


class Hyphens:
    """Join words that were split at line ends; the rest of the document shows their spelling."""

    def __init__(self, words: Iterable[str]) -> None:
        self._known = {word.strip(".,;:()[]\"'").lower() for word in words}

    def joined(self, before: str, behind: str) -> str:
        """Join two lines.

        A hyphen between small letters goes, unless the document has the word with its hyphen
        elsewhere and not without; a hyphen before a capital or a digit stays.
        """
        if before.endswith("\u00ad"):
            return before[:-1] + behind
        tail, head = re.search(r"(\w[\w-]*)[-\u2010]$", before), re.match(r"\w+", behind)
        if not tail or not head or head.group() in _SUSPENDED:
            return f"{before} {behind}"
        one, two = tail.group(1).lower(), head.group().lower()
        plain, kept = one + two, f"{one}-{two}"
        # A capital, a figure or a second hyphen is never the place where a word was cut.
        if not head.group()[0].islower() or not one[-1].isalpha() or "-" in one:
            return before + behind
        compound = min(len(one), len(two)) >= _COMPOUND and {one, two} <= self._known
        if len(one) == 1 or (plain not in self._known and (compound or kept in self._known)):
            return before + behind
        return before[:-1] + behind

    def text_of(self, group: list[Line]) -> str:
        """The text of a paragraph's lines, line ends joined."""
        text = group[0].text
        for line in group[1:]:
            text = self.joined(text, line.text)
        return text


def paragraphs(lines: list[Line], right: float, *, narrow: bool = False) -> list[list[Line]]:
    """Group the lines of one column, from top to bottom, into paragraphs.

    A line goes on in the next one if the next one's first word had no room left on it, up to `right`, and
    nothing else (a gap, a marker, a change of size or weight) says that something new begins. Lines of one or
    two words wrap where it is `narrow`, as a cell is; in a column they are a list.
    """
    gaps = [(below.top - above.bottom, above.size) for above, below in pairwise(lines)]
    usual = median([gap for gap, size in gaps if gap < 2 * size] or [0.0])
    groups: list[list[Line]] = []
    for stretch in _stretches(lines, usual):
        own = max(line.x1 for line in stretch)
        full = sum(line.x1 > own - line.size for line in stretch)
        # It wraps at its own right edge if two lines at least end there, else at the column's.
        edge = own if full >= 2 and full * 3 >= len(stretch) else right  # noqa: PLR2004 -- one line makes no margin
        groups.append([stretch[0]])
        for line in stretch[1:]:
            if _goes_on(groups[-1], line, edge, narrow=narrow):
                groups[-1].append(line)
            else:
                groups.append([line])
    return groups


def _stretches(lines: list[Line], usual: float) -> list[list[Line]]:
    """Split lines at gaps, tables and changes of type size."""
    stretches: list[list[Line]] = []
    for line in lines:
        last = stretches[-1][-1] if stretches else None
        if (
            last is None
            or last.words[0].item is not None
            or line.words[0].item is not None
            or line.top - last.bottom > max(usual, 0) + 0.45 * last.size
            or abs(line.size - last.size) > 0.15 * last.size
        ):
            stretches.append([line])
        else:
            stretches[-1].append(line)
    return stretches


def _goes_on(group: list[Line], line: Line, right: float, *, narrow: bool) -> bool:
    last, first = group[-1], line.words[0]
    size = last.size
    if last.has_gap or line.has_gap:
        return False
    if not narrow and len(group) == 1 and max(len(last.words), len(line.words)) < _PROSE_WORDS:
        return False
    if line.bold != last.bold and (line.bold or len(group) == 1):
        return False
    if (
        len(line.words) > 1
        and is_marker(first.text)
        and (BULLET.match(first.text) or line.x0 <= group[0].x0 + size)
    ):
        return False
    if len(group) > 1 and line.x0 > last.x0 + 0.9 * size and not is_marker(group[0].words[0].text):
        return False
    return last.x1 + 0.3 * size + (first.x1 - first.x0) > right - 0.6 * size
