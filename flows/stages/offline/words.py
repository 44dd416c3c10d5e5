"""Canonical forms of words: stems, synonyms, abbreviations."""

from __future__ import annotations

import re
from functools import lru_cache

from flows.stages.offline.lexicon import DOUBT_WORDS, IRREGULAR, STOP_WORDS, SUFFIXES
from flows.stages.offline.synonyms import PHRASES, SYNONYMS

_STOP = frozenset(STOP_WORDS.split())
_IRREGULAR = {form: base for form, _, base in (pair.partition(":") for pair in IRREGULAR.split())}
_ROUNDS = 3
_DOUBLED = 3


def _suffixes() -> list[tuple[str, str, int]]:
    """Return (suffix, replacement, minimum remaining letters), longest suffix first."""
    table: list[tuple[str, str, int]] = []
    for line in SUFFIXES.strip().splitlines():
        least, _, suffixes = line.strip().partition(": ")
        table.extend((s, "y" if s in ("ies", "ied") else "", int(least)) for s in suffixes.split())
    return sorted(table, key=lambda row: -len(row[0]))


_SUFFIXES = _suffixes()


def stem(word: str) -> str:
    """Return a crude stem: irregular forms by table, then without up to three common suffixes."""
    word = word.removesuffix("'s").rstrip("'")
    word = _IRREGULAR.get(word, word)
    for _ in range(_ROUNDS):
        for suffix, instead, least in _SUFFIXES:
            if word.endswith(suffix) and len(word) - len(suffix) + len(instead) >= least:
                if suffix == "s" and word.endswith(("ss", "us", "is")):
                    continue
                word = word[: -len(suffix)] + instead
                break
        else:
            break
        if len(word) > _DOUBLED and word[-1] == word[-2] and word[-1] not in "sl":
            word = word[:-1]  # "running" by way of "runn"
    return word


def _synonyms() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in SYNONYMS.strip().splitlines():
        stems = [stem(word) for word in line.split()]
        for one in stems:
            # A word in two groups belongs to the first, so that groups don't merge.
            table.setdefault(one, table.get(stems[0], stems[0]))
    return table


def _phrases() -> dict[str, str]:
    table: dict[str, str] = {}
    for line in PHRASES.strip().splitlines():
        word, _, expressions = line.strip().partition(": ")
        table.update(dict.fromkeys(expressions.split(", "), word))
    return table


_SYNONYMS = _synonyms()
_PHRASES = _phrases()
_PHRASE = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(_PHRASES, key=len, reverse=True))) + r")\b")


def join_phrases(text: str) -> str:
    """Replace the expressions of the table in lower-case `text` with single words."""
    return _PHRASE.sub(lambda match: _PHRASES[match[0]], text.lower())


@lru_cache(maxsize=65_536)
def canonical(word: str) -> tuple[str, ...]:
    """Return the canonical forms of a lower-case word: none for a word without content.

    A compound is split ("counter-battery"), a name with digits is joined ("ch-47" to ch47).
    """
    if word in _STOP:
        return ()
    if any(c.isdigit() for c in word):
        return (word if "+" in word else word.replace("-", ""),)
    parts = re.split(r"[-/.&+]", word) if not word.isalpha() else [word]
    stems = [stem(part) for part in parts if part and part not in _STOP]
    return tuple(_SYNONYMS.get(one, one) for one in stems if len(one) > 1)


DOUBT_KEYS = frozenset(key for word in DOUBT_WORDS.split() for key in canonical(word))
"""The canonical forms of words of certainty."""
