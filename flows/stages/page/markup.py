"""Untrusted text as HTML: escaped, with invisible characters made visible; and addresses of pages."""

import re
from functools import lru_cache
from html import escape
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from flows.schema.brief import Brief

_UNUSUAL = re.compile(r"[^\n\t -~]")
# Invisible characters in Unicode categories of visible ones: joiners, fillers, variation selectors, the
# blank Braille cell.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_SPACES = "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"  # wide enough to be seen, and common in documents


def own(text: str) -> Markup:
    """Escape `text` for HTML and show invisible and bidirectional characters as code points.

    Line feeds, tabs and right-to-left letters are kept; the enclosing element isolates the latter.
    """
    # Escape first: this does not change non-ASCII characters.
    return Markup(_UNUSUAL.sub(_marked, escape(text.replace("\r\n", "\n"))))


def visible(value: Any) -> Any:
    """Prepare a template value: apply `own` to text that is not HTML already."""
    return own(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def attribute(text: str) -> Markup:
    """Escape `text` for a double-quoted attribute, without markup."""
    return Markup(escape(plain(text.replace("\n", " "))))


def plain(text: str) -> str:
    """Show invisible and bidirectional characters as code points, without markup."""
    return _UNUSUAL.sub(lambda match: _shown(match.group()), text)


def address(*parts: str) -> Markup:
    """Return a relative URL of path segments, each quoted so that it can't add a folder or a query."""
    quoted = (part if part == ".." else quote(part, safe="") for part in parts)
    return Markup(escape("/".join(quoted)))


def link(page: str, text: str) -> Markup:
    """Return a link to an address."""
    return Markup('<a href="{}">{}</a>').format(page, own(text))


def brief_file(brief: Brief) -> str:
    """Return the file name of a brief's page, in the folder of its condition's page."""
    return f"{brief.scenario_id}-{brief.seed}.html"


def attempt_path(condition: str, scenario_id: str, seed: int) -> tuple[str, str, str]:
    """Return the path of an attempt's page in the site: two folders and a name."""
    return "attempts", condition, f"{scenario_id}-{seed}.html"


def _marked(match: re.Match[str]) -> str:
    shown = _shown(match.group())
    return shown if len(shown) == 1 else f'<b class="mark">{shown}</b>'


@lru_cache(maxsize=4096)
def _shown(character: str) -> str:
    if character in _SPACES or (character.isprintable() and not _BLANK.match(character)):
        return character
    return f"U+{ord(character):04X}"
