"""Headers and footers: lines at the same place of most pages that differ only in page numbers."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from flows.readers.pdf.layout.lines import Line, lines_of
from flows.readers.pdf.layout.tables import RuledTable
from flows.readers.pdf.paint.page import PageText
from flows.readers.pdf.paint.runs import Word, item_at
from flows.readers.shared.signs import numeral

_MARGIN = 0.14  # share of the height at either end in which running lines stand
_SAME = 4.0  # points by which their height may differ
_APART = 0.6  # distance to the text, in heights of type, that a running line has at least
_WIDER = 1.25  # and in distances between the lines of the text
_FAR = 2.0  # heights of type that are enough in any case
_SIDE = 0.25  # share of the width at either side in which a number without 'page' stands
_STEADY = 0.8  # share of a part's pages, or of its left or right ones, that have its header
_PART = 3  # pages of one part that have the line, for it to be the part's header
_ROMAN = {numeral(value, "lowerRoman"): value for value in range(1, 400)}
_NUMBER = r"(?P<n>\d{1,4}|[ivxlc]{1,8}|[IVXLC]{1,8})(?:\s*(?:of|/|von|de|sur|di)\s*(?P<total>\d{1,4}))?"
_PAGE = re.compile(
    rf"\b(?:pages?|pg|p|seite|página|pagina|sheet|slide|folio)\b[.:]?\s*{_NUMBER}\b", re.IGNORECASE
)
_BARE = re.compile(rf"[-–—\[(\s]*{_NUMBER}[-–—\])\s]*")  # noqa: RUF001 -- dashes around page numbers

Key = tuple[str, str]  # text with '#' for its page number; how the number is counted, '' without one


@dataclass(frozen=True, slots=True)
class _Candidate:
    page: PageText
    line: Line
    upper: bool
    level: float  # points from the edge of the page


def take_out(
    pages: list[PageText], tables: Mapping[int, list[RuledTable]]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Remove repeated headers and footers from the pages' words.

    A running line is at the same height on most pages, separate from the text and the `tables` of each page,
    and only a page number differs. Parts of a document may have their own. Other lines stay, as do all lines
    of a document whose pages would otherwise be empty.

    Returns:
        Headers and footers, each with the pages it is on: `('SECRET', 'pages 1-12')`; text as on the
        first of them.
    """
    turns = Counter(page.turned for page in pages if page.words)
    upright = [page for page in pages if page.words and page.turned == turns.most_common(1)[0][0]]
    groups = list(_repeated(upright))
    spacing = {page.number: _spacing(page) for page in upright}
    boxes = {
        page.number: list(map(item_at, [*page.images, *(table.box for table in tables.get(page.number, ()))]))
        for page in upright
    }
    while True:
        groups = _on_most_pages(groups, len(upright))
        running = {id(word) for group in groups for c in group for word in c.line.words}
        bodies = {
            page.number: [w for w in page.words if id(w) not in running] + boxes[page.number]
            for page in upright
        }
        kept = [group for group in groups if _is_apart(group, bodies, spacing)]
        if len(kept) == len(groups):
            break
        groups = kept
    found: list[tuple[bool, int, float, str, str]] = []
    taken: dict[int, set[int]] = defaultdict(set)
    for group in sorted(groups, key=len, reverse=True):
        new = [c for c in group if not any(id(word) in taken[c.page.number] for word in c.line.words)]
        if len(new) < 2:  # noqa: PLR2004 -- the rest is in a larger group
            continue
        for candidate in new:
            taken[candidate.page.number].update(id(word) for word in candidate.line.words)
        first = new[0]
        level = first.level if first.upper else -first.level
        found.append((first.upper, first.page.number, level, first.line.text, _where(new)))
    for page in upright:
        page.words = [word for word in page.words if id(word) not in taken[page.number]]
    found.sort()
    heads = [(text, where) for upper, _, _, text, where in found if upper]
    return heads, [(text, where) for upper, _, _, text, where in found if not upper]


def _repeated(pages: list[PageText]) -> Iterator[list[_Candidate]]:
    """Lines near an edge that are the same on two pages at least, in order of their pages."""
    same: dict[tuple[Key, bool], list[_Candidate]] = defaultdict(list)
    for page in pages:
        upper_edge, lower_edge = page.height * _MARGIN, page.height * (1 - _MARGIN)
        near = [w for w in page.words if w.item is None and (w.bottom < upper_edge or w.top > lower_edge)]
        for line in lines_of(near):
            upper = line.bottom < upper_edge
            level = line.top if upper else page.height - line.bottom
            for key in _keys(line, page):
                same[key, upper].append(_Candidate(page, line, upper, level))
    for candidates in same.values():
        group: list[_Candidate] = []
        for candidate in sorted(candidates, key=lambda c: (c.level, c.page.number)):
            if group and candidate.level - group[-1].level > _SAME:
                yield from _ordered(group)
                group = []
            group.append(candidate)
        yield from _ordered(group)


def _ordered(group: list[_Candidate]) -> Iterator[list[_Candidate]]:
    if len({candidate.page.number for candidate in group}) > 1:
        yield sorted(group, key=lambda c: (c.page.number, c.level))


def _keys(line: Line, page: PageText) -> Iterator[Key]:
    """What the lines of other pages are compared with: the text, and the text without its page number."""
    text = line.text
    yield text, ""
    match = _PAGE.search(text)
    if match is None:
        start = 0
        segments = text.split("\t")
        for at, segment in enumerate(segments):
            bare = _BARE.fullmatch(text, start, start + len(segment))
            start += len(segment) + 1
            outer = line.x0 < _SIDE * page.width if at == 0 else line.x1 > (1 - _SIDE) * page.width
            if bare and at in {0, len(segments) - 1} and (outer or len(segments) == 1):
                match = bare
                break
    # Roman letters may only look like a number.
    number = match["n"].lower() if match else ""
    value = int(number) if number.isdigit() else _ROMAN.get(number)
    if match and value is not None:
        style = "1" if match["n"].isdigit() else "i"
        counted = f"{style}{value - page.number:+d} of {match['total']}"
        yield f"{text[: match.start('n')]}#{text[match.end('n') :]}", counted


def _on_most_pages(groups: list[list[_Candidate]], count: int) -> list[list[_Candidate]]:
    """Groups on more than half of the pages, alone or as headers of parts that follow one another."""
    kept: list[list[_Candidate]] = []
    slots: list[list[list[_Candidate]]] = []
    for group in sorted(groups, key=lambda g: (g[0].upper, g[0].level)):
        on = [candidate.page.number for candidate in group]
        if 2 * len(on) > count:
            kept.append(group)
        # Left and right pages may alternate, and the first page of a chapter often has no header.
        elif len(on) >= _PART and sum(two - one <= 2 for one, two in pairwise(on)) >= _STEADY * (len(on) - 1):  # noqa: PLR2004 -- each second page
            last = slots[-1][-1][0] if slots else None
            if last and last.upper == group[0].upper and group[0].level - last.level <= _SAME:
                slots[-1].append(group)
            else:
                slots.append([group])
    for slot in slots:
        if 2 * len({candidate.page.number for group in slot for candidate in group}) > count:
            kept += slot
    return kept


def _spacing(page: PageText) -> float:
    lines = lines_of(word for word in page.words if word.item is None)
    gaps = [below.top - above.bottom for above, below in pairwise(lines) if below.top > above.bottom]
    return median(gaps or [0.0])


def _is_apart(group: list[_Candidate], bodies: dict[int, list[Word]], spacing: dict[int, float]) -> bool:
    """Whether the group stands apart from the text on most of its pages that have other text."""
    apart = beside = 0
    for candidate in group:
        line, number = candidate.line, candidate.page.number
        if candidate.upper:
            gaps = [(word.top - line.bottom, word) for word in bodies[number] if word.middle > line.middle]
        else:
            gaps = [(line.top - word.bottom, word) for word in bodies[number] if word.middle < line.middle]
        if not gaps:
            continue
        gap, nearest = min(gaps, key=lambda entry: entry[0])
        beside += 1
        # The edge of a table or an image parts them as well as a gap does.
        least = max(_APART * line.size, _WIDER * spacing[number]) if nearest.text else 0.0
        if gap >= min(least, _FAR * line.size):
            level = [word for word in bodies[number] if word.top < nearest.middle < word.bottom]
            apart += not _columns(line) & _columns(Line(sorted(level, key=lambda word: word.x0)))
    return beside > 1 and 2 * apart > beside


def _columns(line: Line) -> set[int]:
    """Where the columns of a row begin and end, to three points; margins, which all lines share, aside.

    The head of a table that is printed on each page stands over the columns of that table.
    """
    segments = line.segments
    edges = [segment[0].x0 for segment in segments[1:]] + [segment[-1].x1 for segment in segments[1:-1]]
    return {round(edge / 3) + near for edge in edges for near in (0, 1)}


def _where(group: list[_Candidate]) -> str:
    on = sorted({candidate.page.number for candidate in group})
    every = len(on) == on[-1] - on[0] + 1
    return "pages " + (f"{on[0]}-{on[-1]}" if every else ", ".join(map(str, on)))
