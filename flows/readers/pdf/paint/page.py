"""Read one page: its words and shapes in reading orientation, normalised."""

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from math import cos, radians, sin
from typing import Any

from flows.common.errors import ReadError
from flows.readers.pdf.paint.annotations import Annotation, annotations_of, stamped
from flows.readers.pdf.paint.chars import Char, chars_of, known, normalize
from flows.readers.pdf.paint.drawing import Drawing
from flows.readers.pdf.paint.ink import Box, in_frame, ink_of
from flows.readers.pdf.paint.marks import check_boxes, parted, rows, strike
from flows.readers.pdf.paint.runs import Word, rotated, words_of
from flows.readers.pdf.paint.seen import hidden_reasons
from flows.readers.pdf.source import Source

MAX_CHARS = 200_000
MAX_SHOWN = 8 * MAX_CHARS  # bytes of strings; escapes and codes of two bytes in hex take up to eight
IMAGE_SHARE = 0.01  # of the page; smaller images are rules, bullets and logos
MAX_IMAGES = 200
TINY = 1.5  # points; text below can't be read on paper
_SCAN = 0.5  # share of the page that images cover, for it to be a scan
_DOUBLED = 0.6  # points
_SHADOW = 0.1  # of the size; the narrowest letters of a word are twice as far apart
_BELOW = 0.2  # of the size that a letter like g reaches below its line
_SKEW = 10  # degrees by which a baseline may be off, as on a scan


@dataclass(slots=True)
class PageText:
    """The content of one page."""

    number: int  # from 1
    width: float  # in points, in reading orientation, as height
    height: float
    page: Any  # the pdfplumber page in the same orientation, with the shapes that pdfium finds
    words: list[Word] = field(default_factory=list[Word])  # in the main reading direction
    sideways: list[str] = field(default_factory=list[str])  # marked lines of text in other directions
    hidden: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])  # reason and text
    broken: int = 0  # characters without a known meaning
    composed: int = 0  # accents that were composed with their letters
    turned: int = 0  # degrees by which the page was rotated for reading
    image_share: float = 0.0  # share of its area that the largest image covers
    drawn: bool = False  # whether anything is drawn on it
    images: list[Box] = field(default_factory=list[Box])  # boxes of images without text on them
    count: int = 0  # number of characters, visible or not
    recognised: bool = False  # whether its text is the invisible layer of a text recognition (OCR)
    annotations: list[Annotation] = field(default_factory=list[Annotation])  # from top to bottom
    stamps: list[str] = field(default_factory=list[str])  # the painted text of its stamps, line by line
    links: list[str] = field(default_factory=list[str])  # addresses of links without words


def read_page(source: Source, number: int) -> PageText:
    """Read the words of a page.

    A page whose text mostly runs sideways is rotated first. Characters painted twice (for bold) count
    once.

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
    chars = chars_of(text_page, ink, codes_are_names=source.drawn_fonts_are_named(number))
    reasons = hidden_reasons(
        sheet, chars, ink, layers_off=source.layers_off, patterns=source.patterns(number)
    )
    crop, shown = sheet.get_bbox(), sheet.get_rotation()
    turn = _place(chars, crop, shown)
    total = (shown + turn) % 360
    left, top, right, bottom = in_frame(crop, crop, total)
    wide, high = right - left, bottom - top
    drawing = Drawing(number, (wide, high), ink.shapes, lambda box: in_frame(box, crop, total))
    found = PageText(number, wide, high, drawing, turned=turn, count=count)
    if source.pdf is not None:
        found.annotations = annotations_of(source.pdf.pages[number - 1].page_obj, crop, total)
    images = [in_frame(box, crop, total) for box in ink.images]
    shares = [_area(image, found) for image in images]
    found.image_share = max(shares, default=0.0)
    found.drawn = bool(ink.covers)
    chars = _visible(found, chars, reasons, scan=sum(shares) > _SCAN)
    on_stamps = [char for char in chars if char.run.top_level >= own]
    found.stamps = rows(words_of(char for char in on_stamps if _straight(char.angle) == 0)) + _sideways(
        on_stamps
    )
    chars = [char for char in chars if char.run.top_level < own]
    main = [char for char in chars if not char.size or _straight(char.angle) == 0]
    found.composed = normalize(main)
    for char in chars:
        char.text, broken = known(char.text)
        found.broken += broken
    found.words, over = parted(main)
    large = (image for image, share in zip(images, shares, strict=True) if share >= IMAGE_SHARE)
    found.images = [
        (x0, top, x1, bottom)
        for x0, top, x1, bottom in large
        if not any(x0 < (w.x0 + w.x1) / 2 < x1 and top < w.middle < bottom for w in found.words)
    ][:MAX_IMAGES]
    found.sideways = over + _sideways(chars)
    found.words += check_boxes(drawing.objects, found.words)
    strike(
        found.words,
        drawing.rules(),
        [box for a in found.annotations if a.kind == "StrikeOut" for box in a.pieces],
    )
    text_page.close()
    sheet.close()
    return found


@lru_cache(maxsize=4096)
def _straight(angle: float) -> int | None:
    """Direction of a baseline: 0, 90, 180 or 270 degrees, anticlockwise; None for others."""
    nearest = round(angle / 90) * 90
    return nearest % 360 if abs(angle - nearest) <= _SKEW else None


def _place(chars: list[Char], crop: Box, shown: int) -> int:
    """Set the edges of characters in reading orientation; return the page's rotation in degrees."""
    for char in chars:
        char.angle = (char.angle - shown) % 360
    angles = Counter(_straight(char.angle) for char in chars if char.size and char.text.strip())
    turn = max((angle for angle in angles if angle is not None), key=lambda angle: angles[angle], default=0)
    for char in chars:
        char.angle = (char.angle - turn) % 360
        char.x0, char.top, char.x1, char.bottom = in_frame(char.place, crop, (shown + turn) % 360)
        char.origin = in_frame((*char.origin, *char.origin), crop, (shown + turn) % 360)[:2]
        if _straight(char.angle) == 0:
            _fit(char)
        char.top = char.bottom - char.size
    for char, after in pairwise(chars):
        if char.run is after.run and char.x0 < after.x0 < char.x1 and _straight(char.angle) == 0:
            char.x1 = after.x0  # the box of a letter like f reaches into the space behind it
    return turn


def _fit(char: Char) -> None:
    """Set the edges of a character from its origin; the box of a slanted one is too wide."""
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
    return max(wide, 0) * max(high, 0) / (found.width * found.height or 1.0)


def _visible(found: PageText, chars: list[Char], reasons: list[str], *, scan: bool) -> list[Char]:
    """Return visible characters, without duplicates; the others go into `found.hidden`."""

    def off(char: Char) -> bool:
        x, y = (char.x0 + char.x1) / 2, (char.top + char.bottom) / 2
        return not (0 <= x <= found.width and 0 <= y <= found.height)

    drawn = [bool(char.size and char.text.strip()) for char in chars]
    inked = sum(drawn)
    # In some files all text is outside the page's box; viewers show it.
    framed = 2 * sum(real and off(char) for char, real in zip(chars, drawn, strict=True)) <= inked
    # Text recognition writes invisible text over the picture of a page, or visible text under it.
    layer = sum(reason in {"invisible", "covered"} for reason in reasons)
    found.recognised = scan and layer > 0.9 * inked
    kept: list[Char] = []
    hidden: list[tuple[str, list[str]]] = []
    seen: dict[tuple[str, int, int], Char] = {}
    why = ""
    for char, real, reason in zip(chars, drawn, reasons, strict=True):
        if not real:  # a space or a line end belongs to the preceding character
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


def _doubled(char: Char, seen: dict[tuple[str, int, int], Char]) -> bool:
    """Whether another text object has painted the same character here, or next to it as a shadow."""
    near = max(_DOUBLED, _SHADOW * char.size)
    x, y = round(char.x0 / near), round(char.bottom / near)
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            other = seen.get((char.text, x + dx, y + dy))
            if other is None or other.run is char.run:
                continue
            if abs(other.x0 - char.x0) <= near and abs(other.bottom - char.bottom) <= near:
                return True
    seen[char.text, x, y] = char
    return False


def _sideways(chars: list[Char]) -> list[str]:
    """Return text in other directions, line by line; slanted text is a watermark."""
    groups: dict[int, list[Char]] = {}
    for char in chars:
        straight = _straight(char.angle)
        if char.size and straight != 0:
            groups.setdefault(straight or round(char.angle), []).append(char)
    lines: list[str] = []
    for angle, group in sorted(groups.items()):
        straight = angle in (90, 180, 270)
        rotated(group, angle, straight=straight)
        mark = "[Sideways]" if straight else "[Watermark]"
        lines += [f"{mark} {text}" for text in rows(words_of(group))]
    return lines
