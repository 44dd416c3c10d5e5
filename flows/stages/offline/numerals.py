"""Convert spelled-out numbers to digits."""

from __future__ import annotations

import re

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {
    **{word: value for value, word in enumerate(_SMALL.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), 2)},
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_WORD = "|".join(sorted((*_VALUES, *_SCALES), key=len, reverse=True))
# A run begins with a value: the scale of "1.9 billion" stays a word.
_RUN = re.compile(rf"\b(?:{'|'.join(_VALUES)})(?:(?:\s+and\s+|\s+|-)(?:{_WORD}))*\b")
_TWENTY, _HUNDRED = 20, 100


def spell_in_digits(text: str) -> str:
    """Convert "twelve hundred" to 1200 in lower-case `text`.

    "one" alone is not converted, as it is mostly a pronoun. A run that is not one number, such as "five six",
    becomes several.
    """
    return _RUN.sub(_digits, text)


def _digits(match: re.Match[str]) -> str:
    words = [word for word in re.split(r"[\s-]+", match[0]) if word != "and"]
    if words == ["one"]:
        return match[0]
    numbers: list[int] = []
    total, current, last = 0, 0, None  # `last`: the previous word's value, to split "five six"
    for word in words:
        if word in _SCALES:
            last = _SCALES[word]
            if last == _HUNDRED:
                current *= last
            else:
                total, current = total + current * last, 0
            continue
        value = _VALUES[word]
        is_joined = last is None or last >= _HUNDRED or (last >= _TWENTY and 0 < value < 10)  # noqa: PLR2004 -- "forty two"
        if not is_joined:
            numbers.append(total + current)
            total, current = 0, 0
        current, last = current + value, value
    numbers.append(total + current)
    return " ".join(map(str, numbers))
