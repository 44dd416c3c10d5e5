"""Text that others wrote as HTML: escaped, and with nothing in it that can't be seen."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

_UNUSUAL = re.compile(r"[^\n\t -~]")
# Invisible, though Unicode counts them as letters, marks or symbols: joiners, fillers, variation
# selectors, the blank Braille cell.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_SPACES = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"  # wide enough to be seen, and common in documents


def own(text: str) -> Markup:
    """`text` as HTML: escaped, and every character that hides or turns text shown as its number.

    Line feeds and tabs stay. Right-to-left letters stay too: the element around it isolates them.
    """
    # Escaping first: it leaves every character that is not ASCII alone.
    return Markup(_UNUSUAL.sub(_marked, escape(text.replace("\r\n", "\n"))))


def visible(value: Any) -> Any:
    """What a template prints of a value: `own` of any text that is not HTML already."""
    return own(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def attribute(text: str) -> Markup:
    """`text` for an attribute's value between double quotes, where no mark-up can stand."""
    plain = _UNUSUAL.sub(lambda match: _shown(match.group()), text.replace("\n", " "))
    return Markup(escape(plain))


def address(*parts: str) -> Markup:
    """A relative address of path segments, each quoted whole: no segment opens a folder or a query."""
    quoted = (part if part == ".." else quote(part, safe="") for part in parts)
    return Markup(escape("/".join(quoted)))


def words(name: str) -> str:
    """A name of an enumeration as people read it."""
    return name.replace("_", " ")


def count_of(part: int, whole: int) -> str:
    """A count, with the whole where it is not all of it."""
    return str(part) if part == whole else f"{part} of {whole}"


def plural(count: str, noun: str) -> str:
    """A count with its noun, which takes an s where it is several."""
    return f"{count} {noun}" if count == "1" else f"{count} {noun}s"


def _marked(match: re.Match[str]) -> str:
    shown = _shown(match.group())
    return shown if len(shown) == 1 else f'<b class="mark">{shown}</b>'


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    if character in _SPACES or (character.isprintable() and not _BLANK.match(character)):
        return character
    return f"U+{ord(character):04X}"
