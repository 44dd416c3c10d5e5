"""Parse length limits, and say how counts compare with them.

Only plain upper limits are read: `200 words`, `one full page`, `two pages, 350 words`, `at most 1,500
words`, `a 250-word limit`. Anything else (`about 200 words`, `200 to 300 words`, `half a page`,
`under a page`, `two pages or 350 words`) is reported as unread, never rounded to a limit.
"""

import re

from flows.schema.length import LengthLimit, LengthUnit

_COUNT = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBERS = {name: number for number, name in enumerate(_COUNT, 1)} | {"a": 1, "an": 1, "single": 1}

_NUMBER = rf"(?P<number>[1-9]\d*(?:,\d{{3}})*|{'|'.join(_NUMBERS)})"
_REPEAT = r"(?:\s*\((?P<repeat>[\w,]+)\))?"  # 'two (2) pages'
_BEFORE = (
    r"(?:(?:please\s+)?(?:keep\s+(?:it\s+)?to|limit(?:ed)?(?:\s+to)?|length(?:\s+limit)?|a?\s*limit\s+of|"
    r"at\s+most|(?:a\s+)?max(?:imum|\.)?(?:\s+of)?|up\s+to|not?\s+more\s+than|not\s+(?:to\s+)?exceed(?:ing)?|"
    r"no\s+longer\s+than|within)\s*(?::\s*)?)*(?:an?\s+(?=\d))?"
)
_ADJECTIVE = r"(?:(?:full|whole|single|total|typed|printed)[\s-]+)?"
_UNIT = r"(?P<unit>words?|pages?)"
_AFTER = (
    r"(?:\s+(?:in\s+total|total|in\s+all|max(?:imum|\.)?|at\s+most|or\s+(?:fewer|less)|limit|long))*"
    r"\s*(?:\((?:max(?:imum|\.)?|total|tables\s+included)\))?"
)
_PART = re.compile(rf"{_BEFORE}{_NUMBER}{_REPEAT}[\s-]+{_ADJECTIVE}{_UNIT}{_AFTER}", re.IGNORECASE)

_LONGEST = 500

# A comma with digits on both sides is part of a number, not a separator.
_SEPARATOR = re.compile(r"\s*(?:;|\+|&|\n|(?<!\d),|,(?!\d{3}(?!\d))|\band\b)\s*", re.IGNORECASE)


def parse_length_limit(text: str) -> LengthLimit:
    """Parse a length limit.

    If a unit is given twice, the smaller number counts: a report must keep both.

    Anything longer than 500 characters is prose and stays unread.

    Returns:
        The limits that are plainly stated; every other part of `text` under `unread`.
    """
    if len(text) > _LONGEST:
        return LengthLimit(text, None, None, (text,))
    found: dict[LengthUnit, int] = {}
    unread: list[str] = []
    for part in _SEPARATOR.split(text.strip().rstrip(".")):
        if not part:
            continue
        match = _PART.fullmatch(part)
        number = None if match is None else _number(match.group("number"))
        repeat = None if match is None else match.group("repeat")
        if match is None or number is None or (repeat is not None and _number(repeat) != number):
            unread.append(part)
            continue
        unit = LengthUnit.words if match.group("unit").lower().startswith("word") else LengthUnit.pages
        found[unit] = min(number, found.get(unit, number))
    return LengthLimit(text, found.get(LengthUnit.words), found.get(LengthUnit.pages), tuple(unread))


def _number(text: str) -> int | None:
    plain = text.lower()
    if plain in _NUMBERS:
        return _NUMBERS[plain]
    digits = plain.replace(",", "")
    return int(digits) if digits.isascii() and digits.isdigit() else None


def length_text(limit: LengthLimit, *, words: int | None, pages: int | None) -> str:
    """Compare counts, None if not counted: `212 of 200 words, 12 over; pages not measured (limit 1)`."""
    parts: list[str] = []
    for measure in limit.measures(words=words, pages=pages):
        unit = measure.unit.value if measure.limit != 1 else measure.unit.value.removesuffix("s")
        if measure.found is None:
            parts.append(f"{measure.unit.value} not measured (limit {measure.limit:,})")
        elif measure.found > measure.limit:
            over = measure.found - measure.limit
            parts.append(f"{measure.found:,} of {measure.limit:,} {unit}, {over:,} over")
        else:
            parts.append(f"{measure.found:,} of {measure.limit:,} {unit}")
    parts += [f"{part!r} is no limit that can be measured" for part in limit.unread]
    return "; ".join(parts) or "no limit"
