"""Headers and footers: lines that stand at the same place of most pages."""

from __future__ import annotations

import re
from collections import defaultdict

from flows.readers.pdf.lines import lines_of
from flows.readers.pdf.page import PageText, Word

_MARGIN = 0.14  # share of the height at either end in which furniture stands
_SAME = 4.0  # points by which its height may differ
_SHARE = 0.5  # share of the pages that it must be on, beyond at least two
_DIGITS = re.compile(r"\d+|\b[ivxl]+\b")


def take_out(pages: list[PageText]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Take repeated headers and footers out of the pages' words.

    Lines are the same if they differ in their numbers only and stand at the same height. A table's
    or an image's line never is furniture.

    Returns:
        Headers and footers, each with the pages it is on: `('SECRET', 'pages 1-12')`; text as on the
        first of them.
    """
    groups: dict[tuple[str, int, bool], list[tuple[PageText, str, list[Word]]]] = defaultdict(list)
    for page in pages:
        for line in lines_of(word for word in page.words if word.item is None):
            upper = line.bottom < page.height * _MARGIN
            if not upper and line.top < page.height * (1 - _MARGIN):
                continue
            level = line.top if upper else page.height - line.bottom
            key = (_DIGITS.sub("#", line.text), round(level / _SAME), upper)
            groups[key].append((page, line.text, line.words))
    heads: list[tuple[int, float, str, str]] = []
    feet: list[tuple[int, float, str, str]] = []
    for (_, level, upper), found in groups.items():
        on = sorted({page.number for page, _, _ in found})
        # Left and right pages may alternate, so half the pages are enough.
        if len(on) < 2 or len(on) < _SHARE * len(pages) - 1:  # noqa: PLR2004 -- once is no repetition
            continue
        taken = {id(word) for _, _, words in found for word in words}
        for page, _, _ in found:
            page.words = [word for word in page.words if id(word) not in taken]
        where = (
            f"pages {on[0]}-{on[-1]}" if len(on) == on[-1] - on[0] + 1 else "pages " + ", ".join(map(str, on))
        )
        (heads if upper else feet).append((on[0], level if upper else -level, found[0][1], where))
    heads.sort()
    feet.sort()
    return [(text, where) for _, _, text, where in heads], [(text, where) for _, _, text, where in feet]
