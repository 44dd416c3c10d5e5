"""One page: its words and shapes in the frame that a person reads it in, mended and checked."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from math import cos, radians, sin
from typing import Any

from flows.readers.pdf.ink import Box, Char, Shape, box_of, chars_of, ink_of
from flows.readers.pdf.mend import known, mend
from flows.readers.pdf.objects import Annotation, annotations
from flows.readers.pdf.runs import Word, rotated, words_of
from flows.readers.pdf.seen import hidden_reasons, in_frame
from flows.readers.pdf.source import Source
from flows.readers.pdf.stamps import stamped
from flows.readers.pdf.struck import strike
from flows.schema.errors import ReadError

pdfplumber_page: Any = importlib.import_module("pdfplumber.page")

MAX_CHARS = 200_000
MAX_SHOWN = 8 * MAX_CHARS  # bytes of strings; escapes and codes of two bytes in hex take up to eight
IMAGE_SHARE = 0.01  # of the page; smaller images are rules, bullets and logos
MAX_IMAGES = 200
TINY = 1.5  # points; text below can't be read on paper
_SCAN = 0.5  # share of the page that images cover, for it to be a scan
_BELOW = 0.2  # of the size that a letter like g reaches below its line
_SKEW = 10  # degrees by which a baseline may be off, as on a scan

__all__ = ["MAX_CHARS", "PageText", "Word", "read_page"]


@dataclass(slots=True)
class PageText:
    """What one page holds.

    Attributes:
        number: from 1.
        width, height: in points, in the frame that it is read in.
        words: of the main direction of reading.
        sideways: words of another direction, as lines of text that say so.
        hidden: text that can't be seen, with the reason.
        broken: characters without a known meaning.
        mended: characters that were put right.
        page: the pdfplumber page in the same frame, with the shapes that pdfium finds.
        turned: by how many degrees the page was turned to be read.
        image_share: share of its area that the largest image covers.
        drawn: whether anything is drawn on it.
        images: boxes of the images that no text stands on.
        count: characters of its content, seen or not.
        recognised: whether its text is the invisible layer that text recognition puts onto a scan.
        annotations: what stands beside its content, from top to bottom.
        stamps: the drawn text of its stamps, line by line.
        links: addresses of links that have no words.
    """

    number: int
    width: float
    height: float
    page: Any
    words: list[Word] = field(default_factory=list[Word])
    sideways: list[str] = field(default_factory=list[str])
    hidden: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    broken: int = 0
    mended: int = 0
    turned: int = 0
    image_share: float = 0.0
    drawn: bool = False
    images: list[Box] = field(default_factory=list[Box])
    count: int = 0
    recognised: bool = False
    annotations: list[Annotation] = field(default_factory=list[Annotation])
    stamps: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])


def read_page(source: Source, number: int) -> PageText:
    """Read the words of a page.

    A page whose text mostly runs sideways is turned first, as a person would turn it. Doubled
    characters (printed twice for bold) count once.

    Raises:
        ReadError: it has more than MAX_CHARS characters.
    """
    if source.pdf is not None:
        page = source.pdf.pages[number - 1].page_obj
        source.load.check(page, f"page {number}", source.path, MAX_SHOWN)
    sheet, own = stamped(source.sheets, number - 1)
    text_page = sheet.get_textpage()
    count = text_page.count_chars()
    if count > MAX_CHARS:
        raise ReadError(
            source.path, f"{count:,} characters on page {number}", f"at most {MAX_CHARS:,}", "split it"
        )
    ink = ink_of(sheet)
    chars = chars_of(text_page, ink)
    reasons = hidden_reasons(
        sheet, chars, ink, layers_off=source.layers_off, patterns=source.patterns(number)
    )
    crop, shown = sheet.get_bbox(), sheet.get_rotation()
    for char in chars:
        char.angle = (char.angle - shown) % 360
    angles = Counter(_straight(char) for char in chars if char.size and char.text.strip())
    turn = max((angle for angle in angles if angle is not None), key=lambda angle: angles[angle], default=0)
    total = (shown + turn) % 360
    for char in chars:
        char.angle = (char.angle - turn) % 360
        char.x0, char.top, char.x1, char.bottom = in_frame(char.place, crop, total)
        char.origin = in_frame((*char.origin, *char.origin), crop, total)[:2]
        if _straight(char) == 0:
            _fit(char)
        char.top = char.bottom - char.size
    for char, after in pairwise(chars):
        if char.run is after.run and char.x0 < after.x0 < char.x1 and _straight(char) == 0:
            char.x1 = after.x0  # the box of a letter like f reaches into the space behind it
    left, top, right, bottom = in_frame(crop, crop, total)
    wide, high = right - left, bottom - top
    shapes = [_object(shape, number, high, crop, total) for shape in ink.shapes]
    found = PageText(number, wide, high, _Drawing(number, wide, high, shapes), turned=turn, count=count)
    if source.pdf is not None:
        found.annotations = annotations(source.pdf.pages[number - 1].page_obj, crop, total)
    images = [in_frame(box, crop, total) for box in ink.images]
    area = found.width * found.height or 1.0
    shares = [_area(image, found) / area for image in images]
    found.image_share = max(shares, default=0.0)
    found.drawn = bool(ink.covers)
    chars = _visible(found, chars, reasons, scan=sum(shares) > _SCAN)
    on_stamps = [char for char in chars if char.run.top_level >= own]
    found.stamps = _rows([char for char in on_stamps if _straight(char) == 0]) + _sideways(on_stamps)
    chars = [char for char in chars if char.run.top_level < own]
    main = [char for char in chars if not char.size or _straight(char) == 0]
    found.mended = mend(main)
    found.broken = sum(map(_known, chars))
    found.words = words_of(main)
    for box, share in zip(images, shares, strict=True):
        x0, top, x1, bottom = box
        behind = any(x0 < (word.x0 + word.x1) / 2 < x1 and top < word.middle < bottom for word in found.words)
        if share >= IMAGE_SHARE and not behind and len(found.images) < MAX_IMAGES:
            found.images.append(box)
    found.sideways = _sideways(chars)
    rules = [(s["x0"], s["top"], s["x1"], s["bottom"]) for s in shapes if s["height"] < s["width"]]
    strike(found.words, rules, [box for a in found.annotations if a.kind == "StrikeOut" for box in a.pieces])
    text_page.close()
    sheet.close()
    return found


def _straight(char: Char) -> int | None:
    """Direction of a baseline: 0, 90, 180 or 270 degrees, anticlockwise; None for a slanting one."""
    nearest = round(char.angle / 90) * 90
    return nearest % 360 if abs(char.angle - nearest) <= _SKEW else None


def _fit(char: Char) -> None:
    """Let a character begin at its origin; the box around it is too wide where it slants."""
    slant = radians((char.angle + 180) % 360 - 180)
    if slant:
        along, across = cos(slant), abs(sin(slant))
        wide, high = char.x1 - char.x0, char.bottom - char.top
        advance = (wide * along - high * across) / (along * along - across * across)
        char.x1 = char.origin[0] + advance * along
    if char.size:
        char.x0 = min(char.origin[0], char.x1)
        char.bottom = char.origin[1] + _BELOW * char.size  # fonts of one line may state other depths


def _area(image: Box, found: PageText) -> float:
    wide = min(image[2], found.width) - max(image[0], 0)
    high = min(image[3], found.height) - max(image[1], 0)
    return max(wide, 0) * max(high, 0)


class _Drawing(pdfplumber_page.Page):
    """The shapes of a page for pdfplumber, which finds ruled tables among them."""

    def __init__(self, number: int, wide: float, high: float, shapes: list[dict[str, Any]]) -> None:
        self.page_number = number
        self.root_page = self
        self.rotation = self.initial_doctop = 0
        self.bbox = self.mediabox = self.cropbox = (0, 0, wide, high)
        kinds = ("char", "line", "rect", "curve", "image", "annot")
        self._objects = {kind: [s for s in shapes if s["object_type"] == kind] for kind in kinds}

    def close(self) -> None:
        """Let go of the shapes."""
        self._objects = {}


def _object(shape: Shape, number: int, high: float, crop: Box, turn: int) -> dict[str, Any]:
    points = [in_frame((x, y, x, y), crop, turn)[:2] for x, y in shape.points]
    x0, top, x1, bottom = box_of(points)
    return {
        "object_type": shape.kind,
        "page_number": number,
        "pts": points,
        "x0": x0,
        "x1": x1,
        "top": top,
        "bottom": bottom,
        "doctop": top,
        "y0": high - bottom,
        "y1": high - top,
        "width": x1 - x0,
        "height": bottom - top,
        "linewidth": shape.width,
        "fill": shape.filled,
        "stroke": shape.stroked,
        "non_stroking_color": shape.fill and tuple(part / 255 for part in shape.fill),
        "stroking_color": shape.stroke and tuple(part / 255 for part in shape.stroke),
    }


def _known(char: Char) -> int:
    char.text, broken = known(char.text)
    return broken


def _visible(found: PageText, chars: list[Char], reasons: list[str], *, scan: bool) -> list[Char]:
    """Characters that can be seen, those printed twice once; the others go into `found.hidden`."""

    def off(char: Char) -> bool:
        x, y = (char.x0 + char.x1) / 2, (char.top + char.bottom) / 2
        return not (0 <= x <= found.width and 0 <= y <= found.height)

    drawn = [bool(char.size and char.text.strip()) for char in chars]
    inked = sum(drawn)
    # Some files give a frame that none of their text is in; viewers show them all the same.
    framed = 2 * sum(real and off(char) for char, real in zip(chars, drawn, strict=True)) <= inked
    # Text recognition writes invisible text over the picture of a page, or visible text under it.
    layer = sum(reason in {"invisible", "covered"} for reason in reasons)
    found.recognised = scan and layer > 0.9 * inked
    kept: list[Char] = []
    hidden: list[tuple[str, list[str]]] = []
    seen: dict[tuple[str, int, int], Any] = {}
    why = ""
    for char, real, reason in zip(chars, drawn, reasons, strict=True):
        if not real:  # a space or a line end belongs to what stands before it
            if why:
                hidden[-1][1].append(char.text)
            else:
                kept.append(char)
            continue
        before, why = why, "" if found.recognised and reason in {"invisible", "covered"} else reason
        if framed and off(char):
            why = "outside the page"
        elif char.size < TINY:
            why = "one-point"
        if not why:
            if not _doubled(char, seen):
                kept.append(char)
            continue
        if why != before:
            hidden.append((why, []))
            kept.append(Char("\n", (0, 0, 0, 0), 0.0, 0.0, char.run))
        hidden[-1][1].append(char.text)
    found.hidden = [(why, " ".join("".join(parts).split())) for why, parts in hidden]
    return kept


def _doubled(char: Char, seen: dict[tuple[str, int, int], Any]) -> bool:
    """Whether another text object has printed the same at the same place, within half a point."""
    x, y = round(char.x0 * 2), round(char.bottom * 2)
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            run = seen.get((char.text, x + dx, y + dy))
            if run is not None and run is not char.run:
                return True
    seen[char.text, x, y] = char.run
    return False


def _rows(chars: list[Char]) -> list[str]:
    """Text line by line."""
    rows: dict[int, list[Word]] = {}
    for word in words_of(chars):
        rows.setdefault(round(word.middle / max(word.size, 1)), []).append(word)
    return [
        " ".join(word.text for word in sorted(row, key=lambda w: w.x0)) for _, row in sorted(rows.items())
    ]


def _sideways(chars: list[Char]) -> list[str]:
    """Text that runs in another direction than the page, line by line; slanting text is a watermark."""
    groups: dict[int, list[Char]] = {}
    for char in chars:
        if char.size and _straight(char) != 0:
            groups.setdefault(_straight(char) or round(char.angle), []).append(char)
    lines: list[str] = []
    for angle, group in sorted(groups.items()):
        straight = angle in (90, 180, 270)
        rotated(group, angle, straight=straight)
        mark = "[Sideways]" if straight else "[Watermark]"
        lines += [f"{mark} {text}" for text in _rows(group)]
    return lines
