"""Compare the fonts of a Word file with those of its rendering."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from flows.common.errors import ReadError
from flows.common.word_xml import Element, attribute, child, qn, val
from flows.readers.ooxml import Package

_MAX_CHAIN = 20  # maximum chain of base styles; Word allows 11
_STORY = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml")
_PART = re.compile(rf"{_STORY.pattern}|word/styles\.xml|word/theme/theme.*")
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
    """Fonts of one rendering."""

    # Fonts of the file's text, by number of characters, most first; None if unknown (not a Word file, or
    # parts could not be read).
    named: tuple[str, ...] | None
    drawn: tuple[str, ...]  # fonts of the rendering, sorted
    # Fonts of `named` that were replaced in the rendering. Lines and pages may then break elsewhere than in
    # Word, unless the widths are equal. Fonts of table styles, East Asian and right-to-left text are ignored.
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
    try:
        package = Package(path.read_bytes(), path)
        parts = {name: package.xml(name) for name in package.names() if _PART.fullmatch(name)}
    except (OSError, ReadError):
        return None
    theme = next((root for name, root in parts.items() if name.startswith("word/theme/")), None)
    styles = _Styles(parts.get("word/styles.xml"), theme)
    counts: Counter[str] = Counter()
    for name, root in parts.items():
        if _STORY.fullmatch(name):
            counts += styles.used_in(root)
    return tuple(name for name, _ in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


class _Styles:
    """Latin fonts by the styles and the theme of a document."""

    def __init__(self, root: Element | None, theme: Element | None) -> None:
        self._theme: dict[str, str] = {}  # of `majorHAnsi` and `minorHAnsi`, by their first letters
        for kind in ("major", "minor"):
            latin = None if theme is None else theme.find(f".//{qn(f'a:{kind}Font')}/{qn('a:latin')}")
            if latin is not None and latin.get("typeface"):
                self._theme[kind] = str(latin.get("typeface"))
        self._styles: dict[str, Element] = {}
        self._default: dict[str, str] = {}
        for style in () if root is None else root.iter(qn("w:style")):
            key = attribute(style, "w:styleId")
            self._styles[key] = style
            if attribute(style, "w:default") in {"1", "true", "on"}:
                self._default[attribute(style, "w:type")] = key
        self._base = self._font(child(root, "w:docDefaults", "w:rPrDefault", "w:rPr")) or "Times New Roman"

    def _font(self, properties: Element | None) -> str:
        fonts = child(properties, "w:rFonts")
        for name in ("w:ascii", "w:hAnsi"):
            themed = attribute(fonts, f"{name}Theme")[:5]  # 'majorHAnsi', 'minorAscii', ...
            if found := self._theme.get(themed) or attribute(fonts, name):
                return found
        return ""

    def _of_style(self, key: str, kind: str) -> str:
        """Return the font of a style or its base styles; of the default style if none is given."""
        key = key or self._default.get(kind, "")
        for _ in range(_MAX_CHAIN):
            style = self._styles.get(key)
            if found := self._font(child(style, "w:rPr")):
                return found
            key = val(style, "w:basedOn")
        return ""

    def used_in(self, root: Element) -> Counter[str]:
        """Return the numbers of characters in a story, by font."""
        counts: Counter[str] = Counter()
        for paragraph in root.iter(qn("w:p")):
            whole = self._of_style(val(paragraph, "w:pPr", "w:pStyle"), "paragraph") or self._base
            for run in paragraph.iter(qn("w:r")):
                length = sum(len((text.text or "").strip()) for text in run.iterfind(qn("w:t")))
                if length:
                    style = val(run, "w:rPr", "w:rStyle")
                    named = self._of_style(style, "character") if style else ""
                    counts[self._font(child(run, "w:rPr")) or named or whole] += length
        return counts
