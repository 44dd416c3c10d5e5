"""Convert spelled-out numbers to digits."""

from __future__ import annotations

import re

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_UNITS = {word: value for value, word in enumerate(_SMALL.split())}
_ROUND = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: 10 * value for value, word in enumerate(_ROUND.split(), 2)}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_ORDINAL_WORDS = (
    "first:1st second:2nd third:3rd fourth:4th fifth:5th sixth:6th seventh:7th eighth:8th ninth:9th"
)
_ORDINALS = {
    word: short for word, _, short in (pair.partition(":") for pair in f"{_ORDINAL_WORDS} tenth:10th".split())
}
_WORD = "|".join(sorted((*_UNITS, *_TENS, *_SCALES), key=len, reverse=True))
_RUN = re.compile(rf"\b(?:{_WORD})(?:(?:\s+and\s+|\s+|-)(?:{_WORD}))*\b")
_JOIN = re.compile(r"[\s-]+")
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b(?!-)")
_A_SCALE = re.compile(r"\ban?\s+(hundred|thousand|million|billion|dozen)\b")
_DOZEN = re.compile(r"\b(\d+|two|three|four|five|six)\s+dozen\b")
_FRACTION = re.compile(
    # "a third of", "a quarter full", but not "a third convoy"; "two thirds" of anything.
    r"\b(?:(two|three)[\s-]+(third|quarter|fifth)s\b|(?:an?[\s-]+|one[\s-]+)?(half|third|quarter|fifth)\b"
    r"(?=\s+(?:of|its|the|their|full|strength)\b))"
)
_PARTS = {"half": 50.0, "third": 100 / 3, "quarter": 25.0, "fifth": 20.0}


def spell_in_digits(text: str) -> str:
    """Convert "twelve hundred" to 1200, "two thirds of" to 66.7% and "third" to 3rd in lower-case `text`.

    "one" alone is not converted, as it is mostly a pronoun. A run that is not one number, such as "five six",
    becomes several.
    """
    text = _DOZEN.sub(lambda m: str(12 * (_UNITS.get(m[1]) or int(m[1]))), text)
    text = _A_SCALE.sub(lambda m: "12" if m[1] == "dozen" else f"1 {m[1]}", text)
    text = _FRACTION.sub(_fraction, text)
    text = _RUN.sub(_digits, text)
    return _ORDINAL.sub(lambda m: _ORDINALS[m[0]], text)


def _fraction(match: re.Match[str]) -> str:
    count, part = (_UNITS[match[1]], match[2]) if match[1] else (1, match[3])
    return f"{count * _PARTS[part]:.4g}%"


def _digits(match: re.Match[str]) -> str:
    words = [word for word in _JOIN.split(match[0]) if word != "and"]
    if words == ["one"]:
        return match[0]
    if words[0] in _SCALES:  # "1.9 billion": the number before it is in digits already
        return match[0]
    numbers: list[int] = []
    total, current, last = 0, 0, 0  # `last`: size of the last small part, to split "five six"
    for word in words:
        if word in _SCALES:
            scale = _SCALES[word]
            if scale == _SCALES["hundred"]:
                current *= scale
            else:
                total, current = total + current * scale, 0
            last = scale
            continue
        small = _UNITS.get(word, _TENS.get(word, 0))
        if last and not (last >= 100 or (last in _TENS.values() and 0 < small < 10)):  # noqa: PLR2004 -- place values
            numbers.append(total + current)
            total, current = 0, 0
        current += small
        last = small or 1
    numbers.append(total + current)
    return " ".join(str(number) for number in numbers)
