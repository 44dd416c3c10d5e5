"""Mutually exclusive words: a brief with another value than the truth is wrong."""

from __future__ import annotations

import re

# One scale per line; a value is named by its first word and expressed by any of its words.
_TABLE = """
    high; medium moderate; low
    red; amber; green; black
    north northern northward; south southern southward; east eastern eastward; west western westward
    rise rises rose rising increase increases increased; fall falls fell falling decrease decreases decreased
    accepted accepts approved agreed; rejected rejects refused denied declined
    permitted allowed authorised authorized; prohibited forbidden banned barred
    upstream; downstream
    maximum; minimum
    supporting; supported
    left; right
"""


def _scales() -> list[dict[str, str]]:
    return [
        {word: value.split()[0] for value in line.split(";") for word in value.split()}
        for line in _TABLE.strip().splitlines()
    ]


_SCALES = _scales()
_WORD = re.compile(r"[a-z]+")


def values(text: str) -> tuple[frozenset[str], ...]:
    """Return for each scale the values named in lower-case `text`."""
    words = set(_WORD.findall(text))
    return tuple(frozenset(scale[word] for word in words if word in scale) for scale in _SCALES)


def contradiction(
    truth: tuple[frozenset[str], ...], said: tuple[frozenset[str], ...]
) -> tuple[str, str] | None:
    """Return the true and stated value of the first scale on which they differ; None if there is none.

    A scale only counts if the truth has exactly one value and the text has others but not that one.
    """
    for true, offered in zip(truth, said, strict=True):
        if len(true) == 1 and offered and not true & offered:
            return next(iter(true)), min(offered)
    return None
