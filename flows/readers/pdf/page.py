"""One page: its words and ruled tables in the frame that a person reads it in, mended and checked."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from flows.readers.contrast import unreadable
from flows.readers.pdf.mend import known, mend

MAX_CHARS = 200_000
MAX_SHAPES = 20_000  # lines and boxes; finding tables among more takes minutes
_UP, _DOWN = 90, 270  # degrees, anticlockwise
IMAGE_SHARE = 0.01  # of the page; smaller images are rules, bullets and logos
MAX_IMAGES = 200
TINY = 1.5  # points; text below can't be read on paper


@dataclass(slots=True)
class Word:
    """A word, or a whole table or image that the text flows around (`item`)."""

    text: str
    x0: float
    top: float
    x1: float
    bottom: float
    size: float
    bold: bool = False
    item: Any = None

    @property
    def middle(self) -> float:
        """Its vertical middle."""
        return (self.top + self.bottom) / 2


@dataclass(slots=True)
class PageText:
    """What one page holds.

    Attributes:
        number: from 1.
        width, height: in points, in the frame that it is read in.
        words: of the main direction of reading.
        sideways: words of another direction, as lines of text.
        hidden: text that can't be seen, with the reason.
        broken: characters without a known meaning.
        mended: characters that were put right.
        page: the pdfplumber page in the same frame.
        turned: by how many degrees the page was turned to be read.
        image_share: share of its area that the largest image covers.
        drawn: whether anything is drawn on it.
        images: boxes of the images that no text stands on.
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
    images: list[tuple[float, float, float, float]] = field(
        default_factory=list[tuple[float, float, float, float]]
    )


def _angle(char: dict[str, Any]) -> int:
    """Direction of a character's baseline in degrees, counted anticlockwise: 0, 90, 180 or 270."""
    a, b = char["matrix"][:2]
    if abs(a) >= abs(b):
        return 0 if a >= 0 else 180
    return 90 if b > 0 else 270


def _turned(page: Any, degrees: int) -> Any:
    """The same page laid out anew, turned clockwise by `degrees`."""
    again: Any = importlib.import_module("pdfplumber.page").Page
    source = page.page_obj
    source.rotate = (source.rotate + degrees) % 360
    source.attrs["Rotate"] = source.rotate
    return again(page.pdf, source, page_number=page.page_number, initial_doctop=0)


def read_page(page: Any, number: int) -> PageText:
    """Read the words of a page.

    A page whose text mostly runs sideways is turned first, as a person would turn it. Doubled
    characters (printed twice for bold) count once.
    """
    angles = Counter(_angle(char) for char in page.chars if str(char["text"]).strip())
    turn = angles.most_common(1)[0][0] if angles else 0
    if turn:
        page = _turned(page, turn)
    found = PageText(number, float(page.width), float(page.height), page, turned=turn)
    area = found.width * found.height or 1.0
    shares = [_area(image, found) / area for image in page.images]
    found.image_share = max(shares, default=0.0)
    found.drawn = bool(page.images or page.curves or page.rects or page.lines)
    chars = _distinct(page.chars)
    chars, found.hidden = _visible(chars, page)
    main = [char for char in chars if _angle(char) == 0]
    found.mended = mend(main)
    for char in main:
        char["text"], broken = known(char)
        found.broken += broken
    found.words = _words(main)
    for image, share in zip(page.images, shares, strict=True):
        box = tuple(float(image[edge]) for edge in ("x0", "top", "x1", "bottom"))
        x0, top, x1, bottom = box
        behind = any(x0 < (word.x0 + word.x1) / 2 < x1 and top < word.middle < bottom for word in found.words)
        if share >= IMAGE_SHARE and not behind and len(found.images) < MAX_IMAGES:
            found.images.append((x0, top, x1, bottom))
    for angle in (90, 180, 270):
        found.sideways += _sideways([char for char in chars if _angle(char) == angle], angle, found)
    return found


def _area(image: dict[str, Any], found: PageText) -> float:
    wide = min(image["x1"] - image["x0"], found.width)
    high = min(image["bottom"] - image["top"], found.height)
    return max(wide, 0) * max(high, 0)


def _distinct(chars: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Characters without those printed a second time at the same place (within half a point)."""
    seen: set[tuple[Any, ...]] = set()
    kept: list[dict[str, Any]] = []
    for char in chars:
        x, y = round(char["x0"] * 2), round(char["top"] * 2)
        key = (char["text"], x, y)
        near = ((char["text"], x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1))
        if str(char["text"]).strip() and any(place in seen for place in near):
            continue
        seen.add(key)
        kept.append(dict(char))
    return kept


def _hex(colour: Any) -> str | None:
    """A colour of pdfplumber (grey, RGB or CMYK, from 0 to 1) as six hex digits; None for others."""
    given: list[Any] = [colour] if isinstance(colour, (int, float)) else list(colour or ())
    if not all(isinstance(part, (int, float)) for part in given):
        return None
    parts = [min(max(float(part), 0.0), 1.0) for part in given]
    if len(parts) == 1:
        parts = parts * 3
    elif len(parts) == 4:  # noqa: PLR2004 -- cyan, magenta, yellow, black
        parts = [(1 - part) * (1 - parts[3]) for part in parts[:3]]
    if len(parts) != 3:  # noqa: PLR2004 -- red, green, blue
        return None
    return "".join(f"{round(part * 255):02X}" for part in parts)


def _visible(chars: list[dict[str, Any]], page: Any) -> tuple[list[dict[str, Any]], list[tuple[str, str]]]:
    fills = [
        (box, _hex(box.get("non_stroking_color")))
        for box in [*page.rects, *page.curves][:MAX_SHAPES]
        if box.get("fill")
    ]
    grounds: dict[str, bool] = {}
    left, top, right, bottom = page.bbox

    def off(char: dict[str, Any]) -> bool:
        x, y = (char["x0"] + char["x1"]) / 2, (char["top"] + char["bottom"]) / 2
        return not (left <= x <= right and top <= y <= bottom)

    # Some files give a frame that none of their text is in; viewers show them all the same.
    framed = 2 * sum(map(off, chars)) <= len(chars)
    kept: list[dict[str, Any]] = []
    hidden: list[tuple[str, list[str]]] = []
    for char in chars:
        colour = char["_colour"] = _hex(char.get("non_stroking_color"))
        x, y = (char["x0"] + char["x1"]) / 2, (char["top"] + char["bottom"]) / 2
        reason = ""
        if framed and off(char):
            reason = "outside the page"
        elif 0 < char["size"] < TINY and _angle(char) == 0:
            reason = "one-point"
        elif (
            colour
            and grounds.setdefault(colour, unreadable(colour, "FFFFFF"))
            and not _backed(x, y, colour, fills, page)
        ):
            reason = "the colour of its ground"
        if not reason:
            kept.append(char)
        elif hidden and hidden[-1][0] == reason:
            hidden[-1][1].append(str(char["text"]))
        else:
            hidden.append((reason, [str(char["text"])]))
    return kept, [(reason, "".join(parts).strip()) for reason, parts in hidden if "".join(parts).strip()]


def _backed(
    x: float, y: float, colour: str, fills: list[tuple[dict[str, Any], str | None]], page: Any
) -> bool:
    """Whether something stands behind a point that text of this light colour can be read on."""

    def inside(box: dict[str, Any]) -> bool:
        return box["x0"] <= x <= box["x1"] and box["top"] <= y <= box["bottom"]

    if any(inside(image) for image in page.images):
        return True
    return any(inside(box) and (fill is None or not unreadable(colour, fill)) for box, fill in fills)


def _words(chars: list[dict[str, Any]]) -> list[Word]:
    extractor_of: Any = importlib.import_module("pdfplumber.utils.text").WordExtractor
    # A space between words is a quarter of an em; the library's fixed three points glue small print.
    extractor = extractor_of(x_tolerance_ratio=0.15, y_tolerance=2, extra_attrs=["size", "fontname"])
    kept = [char for char in chars if char["text"]]
    pieces = [_word(word) for word in extractor.extract_words(kept)]
    return [word for word in pieces if word.text]


def _word(word: dict[str, Any]) -> Word:
    name = str(word["fontname"]).lower()
    bold = "bold" in name or "black" in name or "heavy" in name or name.endswith(("-medi", ",b"))
    return Word(
        str(word["text"]).strip(),
        float(word["x0"]),
        float(word["top"]),
        float(word["x1"]),
        float(word["bottom"]),
        float(word["size"]),
        bold,
    )


def _sideways(chars: list[dict[str, Any]], angle: int, found: PageText) -> list[str]:
    """Text that runs in another direction than the page, line by line."""
    if not chars:
        return []
    for char in chars:
        x0, x1, top, bottom = char["x0"], char["x1"], char["top"], char["bottom"]
        if angle == _UP:  # upwards: the left edge of the page is the top of the text
            char["x0"], char["x1"], char["top"], char["bottom"] = -bottom, -top, x0, x1
        elif angle == _DOWN:  # downwards
            char["x0"], char["x1"], char["top"], char["bottom"] = top, bottom, -x1, -x0
        else:
            char["x0"], char["x1"], char["top"], char["bottom"] = -x1, -x0, -bottom, -top
        char["size"] = char["bottom"] - char["top"]
        char["upright"] = True
        char["doctop"] = char["top"]
        char["text"], broken = known(char)
        found.broken += broken
    lines: dict[int, list[Word]] = {}
    for word in _words(chars):
        lines.setdefault(round(word.middle / max(word.size, 1)), []).append(word)
    return [
        " ".join(word.text for word in sorted(line, key=lambda w: w.x0)) for _, line in sorted(lines.items())
    ]
