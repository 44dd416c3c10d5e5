"""Compare the fonts of a Word file with those of its rendering."""

from __future__ import annotations

import importlib
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MAX_PART = 64 * 1024 * 1024
_MAX_CHAIN = 20  # maximum chain of base styles; Word allows 11
_STORY = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml")
# Name of a font subset in a PDF: 'ABCDEF+LiberationSans-BoldItalic'.
_SUBSET = re.compile(r"^[A-Z]{6}\+")
_STYLE = re.compile(
    r"[-,](?:bold|italic|oblique|regular|roman|light|medium|semibold|condensed|mt|ps)+$|(?:ps)?mt$"
)

# Metric-compatible fonts: lines and pages break at the same places.
_SAME_WIDTHS = {
    "Arial": "Liberation Sans",
    "Helvetica": "Liberation Sans",
    "Times New Roman": "Liberation Serif",
    "Courier New": "Liberation Mono",
    "Calibri": "Carlito",
    "Cambria": "Caladea",
}


@dataclass(frozen=True, slots=True)
class Fonts:
    """Fonts of one rendering.

    Attributes:
        named: fonts of the file's text, by number of characters, most first; None if unknown (not a
            Word file, or parts could not be read).
        drawn: fonts of the rendering, sorted.
        replaced: fonts of `named` that were replaced in the rendering. Lines and pages may then break
            elsewhere than in Word, unless the widths are equal. Fonts of table styles, East Asian and
            right-to-left text are ignored.
    """

    named: tuple[str, ...] | None
    drawn: tuple[str, ...]
    replaced: tuple[str, ...] | None

    @classmethod
    def of(cls, named: tuple[str, ...] | None, drawn: Iterable[str]) -> Fonts:
        """Compare named fonts with drawn ones."""
        names = tuple(sorted({_SUBSET.sub("", name) for name in drawn}))
        keys = {_key(name) for name in names}
        lacking = None if named is None else tuple(name for name in named if _key(name) not in keys)
        return cls(named, names, lacking)

    def __str__(self) -> str:
        """Format as one line next to a page count."""
        drawn = ", ".join(self.drawn) or "none"
        if self.replaced is None:
            return f"fonts drawn: {drawn}; fonts asked for: not known"
        keys = {_key(name) for name in self.drawn}
        alike = {name for name in self.replaced if _key(_SAME_WIDTHS.get(name, "")) in keys}
        lacking = ", ".join(
            f"{name} (by {_SAME_WIDTHS[name]}, of equal widths)" if name in alike else name
            for name in self.replaced
        )
        return f"fonts drawn: {drawn}" + (f"; not installed and replaced: {lacking}" if lacking else "")


def _key(name: str) -> str:
    plain = _SUBSET.sub("", name).lower().replace(" ", "")
    before = ""
    while before != plain:
        before, plain = plain, _STYLE.sub("", plain)
    return plain


def named_fonts(path: Path) -> tuple[str, ...] | None:
    """Return the fonts of a Word file's text, most used first; None if unknown."""
    etree: Any = importlib.import_module("lxml.etree")
    try:
        with zipfile.ZipFile(path) as package:
            parts = {name: _root(package, name, etree) for name in package.namelist() if _wanted(name)}
    except (OSError, ValueError, zipfile.BadZipFile, RuntimeError, NotImplementedError, etree.XMLSyntaxError):
        return None
    styles = _Styles(parts.get("word/styles.xml"), _theme(parts))
    counts: Counter[str] = Counter()
    for name, root in parts.items():
        if _STORY.fullmatch(name):
            counts.update(dict(_runs(root, styles)))
    return tuple(name for name, _ in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _wanted(name: str) -> bool:
    return bool(_STORY.fullmatch(name)) or name == "word/styles.xml" or name.startswith("word/theme/theme")


def _root(package: zipfile.ZipFile, name: str, etree: Any) -> Any:
    with package.open(name) as part:
        data = part.read(_MAX_PART + 1)
    if len(data) > _MAX_PART or b"<!DOCTYPE" in data:
        raise ValueError(name)
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def _theme(parts: dict[str, Any]) -> dict[str, str]:
    """Return the Latin fonts of `majorHAnsi` and `minorHAnsi`."""
    root = next((part for name, part in sorted(parts.items()) if name.startswith("word/theme/")), None)
    found: dict[str, str] = {}
    if root is None:
        return found
    for kind in ("major", "minor"):
        latin: Any = root.find(f".//{_A}{kind}Font/{_A}latin")
        if latin is not None and latin.get("typeface"):
            found[kind] = str(latin.get("typeface"))
    return found


class _Styles:
    def __init__(self, root: Any, theme: dict[str, str]) -> None:
        self._theme = theme
        self._styles: dict[str, Any] = {}
        self._default: dict[str, str] = {}
        self._base = ""
        for style in () if root is None else root.iter(f"{_W}style"):
            key = str(style.get(f"{_W}styleId"))
            self._styles[key] = style
            if style.get(f"{_W}default") in {"1", "true", "on"}:
                self._default[str(style.get(f"{_W}type"))] = key
        if root is not None:
            self._base = self.font(root.find(f"{_W}docDefaults/{_W}rPrDefault/{_W}rPr"))

    def font(self, properties: Any) -> str:
        """Return the Latin font in run properties; may be empty."""
        fonts = None if properties is None else properties.find(f"{_W}rFonts")
        if fonts is None:
            return ""
        for name in ("ascii", "hAnsi"):
            themed = str(fonts.get(f"{_W}{name}Theme") or "")
            if themed[:5] in self._theme:  # 'majorHAnsi', 'minorAscii', ...
                return self._theme[themed[:5]]
            if fonts.get(f"{_W}{name}"):
                return str(fonts.get(f"{_W}{name}"))
        return ""

    def chain(self, key: str | None, kind: str) -> str:
        """Return the font of a style or its base styles; of the default style if none is given."""
        for _ in range(_MAX_CHAIN):
            style = self._styles.get(key or self._default.get(kind, ""))
            if style is None:
                return ""
            found = self.font(style.find(f"{_W}rPr"))
            if found:
                return found
            base = style.find(f"{_W}basedOn")
            if base is None:
                return ""
            key = str(base.get(f"{_W}val"))
        return ""

    @property
    def base(self) -> str:
        """Return the font of the document's defaults, else Word's default."""
        return self._base or "Times New Roman"


def _runs(root: Any, styles: _Styles) -> Iterator[tuple[str, int]]:
    """Yield fonts with numbers of characters, for every story."""
    counts: Counter[str] = Counter()
    for paragraph in root.iter(f"{_W}p"):
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        whole = styles.chain(None if style is None else style.get(f"{_W}val"), "paragraph") or styles.base
        for run in paragraph.iter(f"{_W}r"):
            length = sum(len((text.text or "").strip()) for text in run.iterfind(f"{_W}t"))
            if not length:
                continue
            properties = run.find(f"{_W}rPr")
            character = None if properties is None else properties.find(f"{_W}rStyle")
            named = "" if character is None else styles.chain(character.get(f"{_W}val"), "character")
            counts[styles.font(properties) or named or whole] += length
    yield from counts.items()
