"""Escape texts for elements of a prompt, so they can't close or forge an element."""

import re
import unicodedata
from functools import lru_cache

# Look-alikes of Latin letters and of the characters of a tag. Unicode's own compatibility forms
# (fullwidth, mathematical, circled) come from its tables.
_ALIKE = {
    "<": "\u02c2\u1438\u2039\u2329\u276c\u276e\u27e8\u3008\ufe64\uff1c",
    "/": "\u2044\u2215\u29f8\u2571\uff0f\\",
    "_": "\u203f\uff3f",
    "a": "\u0430\u03b1\u0251", "b": "\u044c", "c": "\u0441\u03f2", "d": "\u0501", "e": "\u0435\u03b5",
    "f": "\u0584", "g": "\u0581\u0261", "i": "\u0456\u03b9\u0131", "k": "\u043a\u03ba", "l": "\u04cf",
    "m": "\u043c", "n": "\u0578\u043f", "o": "\u043e\u03bf\u0585", "p": "\u0440\u03c1", "r": "\u0433",
    "s": "\u0455", "t": "\u0442\u03c4", "u": "\u057d\u03c5", "x": "\u0445\u03c7",
}  # fmt: skip
_FORMS = (*range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800), *range(0x24B6, 0x24EA), 0x017F, 0x212F, 0x2134)
_UNSEEN = "\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
_UNSEEN_RUN = re.compile(f"[{_UNSEEN}]")
_FILLER = "\0"


@lru_cache(maxsize=1)
def _letters() -> dict[int, str]:
    table = {ord(other): sign for sign, others in _ALIKE.items() for other in others}
    table |= {ord(letter.upper()): sign for code, sign in table.items() if (letter := chr(code)).isalpha()}
    for code in _FORMS:
        plain = unicodedata.normalize("NFKC", chr(code)).lower()
        if len(plain) == 1 and plain.isascii():
            table.setdefault(code, plain)
    return table


@lru_cache(maxsize=1)
def _openers() -> tuple[str, ...]:
    """Return `<` and its look-alikes."""
    return ("<", *(chr(code) for code, sign in _letters().items() if sign == "<"))


@lru_cache(maxsize=8)
def _tag(names: tuple[str, ...]) -> re.Pattern[str]:
    words = "|".join(f"{_FILLER}*".join(map(re.escape, name)) for name in names)
    return re.compile(rf"<(?=[\s/{_FILLER}]*(?:{words})(?!\w))", re.IGNORECASE)


def fenced(text: str, *names: str) -> str:
    """Replace the `<` of each tag of these elements, or of a look-alike, with `&lt;`.

    White space and slashes before the name, invisible characters in it, case and look-alike characters are
    ignored. All other characters are unchanged.

    `names` are the elements that contain the text, which is not trusted.
    """
    if not any(sign in text for sign in _openers()):
        return text  # what follows takes milliseconds for a brief
    seen = text
    if not text.isascii():
        # Same length as the text, so that positions match.
        seen = _UNSEEN_RUN.sub(_FILLER, text).translate(_letters())
    parts: list[str] = []
    end = 0
    for found in _tag(names).finditer(seen):
        parts += [text[end : found.start()], "&lt;"]
        end = found.end()
    return "".join([*parts, text[end:]])
