"""Words of which only one can be true: a brief that gives another one than the truth is wrong."""

from __future__ import annotations

import re

# One line a scale; a value is named by its first word and written by any of its words.
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
    """For each scale in turn, the values of it that lower-case `text` names."""
    words = set(_WORD.findall(text))
    return tuple(frozenset(scale[word] for word in words if word in scale) for scale in _SCALES)


def contradiction(
    truth: tuple[frozenset[str], ...], said: tuple[frozenset[str], ...]
) -> tuple[str, str] | None:
    """The true and the said value of the first scale on which they differ; None where there is none.

    A scale counts only where the truth names exactly one value of it and the text names others and
    not that one.
    """
    for true, offered in zip(truth, said, strict=True):
        if len(true) == 1 and offered and not true & offered:
            return next(iter(true)), min(offered)
    return None
