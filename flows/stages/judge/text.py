"""Texts of others inside a prompt: no invisible text, no forged elements; and quotes of them in a reply."""

import re
import unicodedata
from functools import lru_cache
from html import unescape

from flows.schema.fence import fenced

_LINE_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")

# Characters that a person does not see but a model does, by the kind that is reported; each in one kind.
_HIDDEN = {
    "control": re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufdd0-\ufdef\ufffe\uffff]"),
    "zero_width": re.compile(
        "[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
        "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
    ),
    "bidirectional": re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"),
    "tag": re.compile("[\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"),
    "variation_selector": re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]"),
    "surrogate": re.compile("[\ud800-\udfff]"),
}

_ELEMENTS = (
    "rubric", "item", "requirement", "ground_truth", "pass_condition", "fail_condition", "brief",
    "criteria", "criterion", "expert_report", "report",
)  # fmt: skip
"""Elements of a judge's prompts."""

_SHORTEST = 6  # letters and digits of a part of a quote: shorter ones are in any brief
_LEFT_OUT = re.compile(r"\.\.\.|…|\[…\]")
_MOST_MARKS = 30  # on one letter: the bound of the Stream-Safe Text Format, Unicode Annex 15


def escape(text: str) -> str:
    """Escape `&`, `<`, `>` and `"` for an element or an attribute."""
    return _as_entities(text).replace('"', "&quot;")


@lru_cache(maxsize=128)
def shield(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the text for a judge, and the kinds of what was removed.

    Line breaks become line feeds; invisible characters are removed; the rest is composed (NFC); `&`, `<`,
    `>` and look-alikes of `<` before an element's name become entities, so no text closes or forges an
    element. No visible word is changed. Time is linear in the length.

    Returns:
        The shielded text, and the kinds of what was removed, in a fixed order: `control`,
        `zero_width`, `bidirectional`, `tag`, `variation_selector`, `surrogate` (half of a
        character), `combining_marks` (beyond 30 on one letter).
    """
    if text.isascii():
        # Only control characters can hide in ASCII, which is composed already.
        plain, count = _HIDDEN["control"].subn("", _LINE_BREAKS.sub("\n", text))
        return _as_entities(plain), ("control",) if count else ()
    text = _LINE_BREAKS.sub("\n", text)
    removed: list[str] = []
    used = "".join(set(text))  # a few hundred characters instead of the whole text
    for kind, pattern in _HIDDEN.items():
        if pattern.search(used):
            text = pattern.sub("", text)
            removed.append(kind)
    marks = "".join(sorted(character for character in used if unicodedata.combining(character)))
    if marks:
        # Composing sorts the marks on a letter in quadratic time: minutes for a megabyte.
        text, count = re.subn(f"([{marks}]{{{_MOST_MARKS}}})[{marks}]+", r"\1", text)
        if count:
            removed.append("combining_marks")
    return _as_entities(unicodedata.normalize("NFC", text)), tuple(removed)


def _as_entities(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text if text.isascii() else fenced(text, *_ELEMENTS)


def is_quoted(quote: str, brief_text: str) -> bool:
    """True if every part of the quote is in the brief, in order.

    Compared are letters and digits: case, marks, white space and markup don't count. `...` marks what a quote
    leaves out. A part of fewer than six letters and digits is no evidence.

    Escaped characters of the brief are read as what they stand for.
    """
    text = _plain(brief_text)
    place = 0
    for part in _LEFT_OUT.split(quote):
        words = _plain(part)
        if len(words) < _SHORTEST or (place := text.find(words, place)) < 0:
            return False
        place += len(words)
    return True


@lru_cache(maxsize=64)
def _plain(text: str) -> str:
    """Reduce a text to its words, joined by single spaces."""
    return " ".join(re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", unescape(text)).casefold()))
