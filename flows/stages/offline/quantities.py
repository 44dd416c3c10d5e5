"""Parse numbers, in digits or words, measures, dates and times in a sentence into comparable quantities."""

import re
from dataclasses import dataclass

_MINUTES_A_DAY = 24 * 60

_Reading = tuple[str, float, float | None]  # dimension, value, face


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number with its dimension."""

    text: str  # as written, in lower case, with spelled-out numbers as digits
    # `` (a bare number), `length` (metres), `mass` (kilograms), `duration` (minutes), `months`, `volume`
    # (litres), `speed` (km/h), `area` (square metres), `power` (kW), `temperature` (degrees Celsius),
    # `percent`, `clock` (minutes since midnight), `date` (100 x month + day) or `day` (of an unnamed month).
    dimension: str
    value: float  # in the dimension's unit
    face: float | None  # the number as written, without unit; None for dates and written-out times
    tolerance: float  # relative tolerance; above 0 if the text says "about"


# Dimension, size in its unit, names; `_` is a space within a name.
_UNIT_TABLE = """
    length 0.001 mm millimetre millimeter
    length 0.01 cm centimetre centimeter
    length 1 m metre meter
    length 1000 km kms kilometre kilometer
    length 1609.344 mile
    length 1852 nm nautical_mile
    length 0.3048 ft foot feet
    mass 0.001 g gram
    mass 1 kg kilo kilogram
    mass 1000 t tonne ton mt metric_ton
    duration 1 min mins minute
    duration 60 h hr hour
    duration 1440 d day
    duration 10080 week
    duration 20160 fortnight
    months 1 month mth
    months 12 year yr
    volume 1 l litre liter
    volume 1000 m3 cubic_metre cubic_meter
    speed 1 km/h kph kmh
    speed 1.852 kt kts knot
    speed 3.6 m/s
    area 1e6 km2 sq_km square_kilometre square_kilometer
    area 1e4 ha hectare
    power 1 kw kva
    power 1000 mw
    temperature 1 c \u00b0c degrees_c degrees_celsius
    percent 1 % percent per_cent pct percentage_point
"""


def _units() -> dict[str, tuple[str, float]]:
    rows = [line.split() for line in _UNIT_TABLE.strip().splitlines()]
    return {
        name.replace("_", " "): (dimension, float(size)) for dimension, size, *names in rows for name in names
    }


_UNITS = _units()
_MAGNITUDES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "mn": 1e6,
    "mln": 1e6,
    "billion": 1e9,
    "bn": 1e9,
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_YEAR = r"(?:,?[\s-]*(?:(?:19|20)\d\d\b|'?\d\d\b(?![:.,]?\d|\s*(?:%|[a-z]))))?"
_TH = r"(?:st|nd|rd|th)"
_ORD = f"{_TH}?"
# A number after one of these is a name: Berth 2, Phase 3, load class 30.
_LABEL = (
    r"(?:berth|phase|route|class|serial|tank|lane|objective|line|annex|pier|quay|gate|checkpoint|pir|ffir)s?"
)
_ZONE = r"(?:z|hrs?|hours|h|utc|gmt|local|lt|l|c)"
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_UNIT = "|".join(
    re.escape(unit) + ("s?" if unit.isalpha() and len(unit) > 1 else "")
    for unit in sorted(_UNITS, key=len, reverse=True)
)
_MAGNITUDE = "|".join(sorted(_MAGNITUDES, key=len, reverse=True))
_TOKEN = re.compile(
    rf"""
    (?P<dtg>\b(?P<dtg_d>[0-3]\d)\s?(?P<dtg_h>[0-2]\d)(?P<dtg_m>[0-5]\d)
        (?:\s?[a-z]\b\s*(?P<dtg_mon>{_MONTH})?|\s?(?P<dtg_mon2>{_MONTH}))
        (?:\s*(?:20)?\d\d\b(?![:.,]?\d|\s*%))?)
    |(?P<iso>\b\d{{4}}-(?P<iso_m>\d\d)-(?P<iso_d>\d\d)(?=\b|t\d))
    |(?P<dmy>\b(?P<dmy_d>\d\d?){_ORD}(?:\s*(?:-|to|and|or|/|until)\s*(?P<dmy_e>\d\d?){_ORD})?
        [\s-]*(?:of\s+)?(?P<dmy_m>{_MONTH}){_YEAR})
    |(?P<mdy>\b(?P<mdy_m>{_MONTH})\s+(?P<mdy_d>\d\d?){_ORD}\b(?:,\s*(?:19|20)\d\d\b)?
        (?![:.,]?\d|\s*(?:{_UNIT}|{_MAGNITUDE})\b))
    |(?P<colon>\b(?P<colon_h>[01]?\d|2[0-4]):(?P<colon_m>[0-5]\d)(?::\d\d)?(?:\s?{_ZONE}\b)?)
    |(?P<mil>\b(?P<mil_h>[01]\d|2[0-4])(?P<mil_m>[0-5]\d)(?P<mil_x>\s?{_ZONE}\b)?
        (?![\d,.]\d|%|\s?(?:k|m|km|t|kg)\b))
    |(?P<nth>\bthe\s+(?P<nth_d>[0-3]?\d){_TH}\b(?=\s*(?:[.,;:)]|$|(?:and|or|to|at|is|we|it|when|with)\b)))
    |(?P<label>\b(?P<label_of>{_LABEL})\s+(?:no\.?\s*)?(?P<label_n>\d+)\b
        (?![:.,]?\d|\s*(?:%|{_UNIT}|{_MAGNITUDE}|{_MONTH})\b))
    |(?P<number>(?<![\w.])(?P<lo>{_NUMBER})
        (?:\s?(?:-|to|and)\s?(?P<hi>{_NUMBER})(?=[\s-]*(?:{_UNIT}|{_MAGNITUDE}|%)(?!\w))
        |-(?P<hi2>{_NUMBER})(?![\w/]))?
        (?:[\s-]?(?P<mag>{_MAGNITUDE}|m(?=\s+(?:dollars|people|usd|eur|euros|residents|litres|tonnes)))(?!\w))?
        (?:[\s-]?(?P<unit>{_UNIT})(?!\w))?(?:x\b)?(?![a-z0-9]))
    |(?P<whole>\b(?:(?P<halfof>half(?:\s+an?|-))\s*|an?\s+)(?P<whole_u>hour|day|week|month|year|kilometre|tonne|mile)\b)
    |(?P<word>[a-z0-9]+(?:['+./&-][a-z0-9]+)*)
    """,
    re.VERBOSE,
)
_ABOUT = re.compile(
    r"(?:about|around|approximately|approx\.?|nearly|almost|roughly|some|circa|ca\.?|~|just under|just over|"
    r"under|over|within|"
    r"close to|a little (?:over|under)|in the order of)\s*(?:the\s+)?[$\u20ac\u00a3]?$"
)
_CLOSE = 1e-6
_ABOUT_DIGITS = 0.05
_ABOUT_WORDS = 0.15  # "just under an hour" is looser than "about 50 minutes"


def scan(text: str) -> list[str | Quantity]:
    """Tokenize a plain sentence into lower-case words and quantities, in order.

    "LP-4", "CH-47", "3rd" and "D+3" are names, so words; "one" alone is a word.
    """
    text = _RUN.sub(_digits, text.lower())
    tokens: list[str | Quantity] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup  # the outermost group closes last
        if kind == "word":
            tokens.append(match[0])
        elif kind == "label":
            tokens.extend((match["label_of"], match["label_n"]))
        else:
            about = _ABOUT.search(text, max(0, match.start() - 24), match.start()) is not None
            for dimension, value, face in _read(kind, match):
                tolerance = (_ABOUT_WORDS if kind == "whole" else _ABOUT_DIGITS) if about else 0.0
                tokens.append(Quantity(match[0], dimension, value, face, tolerance))
    return tokens


def _read(kind: str | None, match: re.Match[str]) -> list[_Reading]:
    """Return the quantities of a match: two for a range or a date-time group."""
    group = match.groupdict()
    found: list[_Reading] = []
    if kind == "number":
        found = _measure(group)
    elif kind == "whole":
        dimension, size = _UNITS[group["whole_u"]]
        found = [(dimension, size * (0.5 if group["halfof"] else 1.0), None)]
    elif kind == "nth":
        found = [("day", float(group["nth_d"]), None)]
    elif kind == "dtg":
        month = group["dtg_mon"] or group["dtg_mon2"]
        day = _dates(month, group["dtg_d"]) if month else [("day", float(group["dtg_d"]), None)]
        found = [*day, _clock(group["dtg_h"], group["dtg_m"])]
    elif kind in ("iso", "dmy", "mdy"):
        found = _dates(group[f"{kind}_m"], group[f"{kind}_d"], group.get(f"{kind}_e"))
    else:
        time = _clock(group[f"{kind}_h"], group[f"{kind}_m"])
        # "at 1120" is a time and "1120 residents" a number: an ambiguous one keeps its face.
        bare = kind == "mil" and not group["mil_x"]
        found = [(*time[:2], float(group["mil_h"] + group["mil_m"])) if bare else time]
    return found


def _dates(month: str, *days: str | None) -> list[_Reading]:
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
    return [("date", 100.0 * number + int(day), None) for day in days if day]


def _clock(hour: str, minute: str) -> _Reading:
    return "clock", float((int(hour) * 60 + int(minute)) % _MINUTES_A_DAY), None


def _measure(group: dict[str, str | None]) -> list[_Reading]:
    unit = group["unit"] or ""
    dimension, size = _UNITS.get(unit) or _UNITS.get(unit.removesuffix("s"), ("", 1.0))
    magnitude = group["mag"]
    scale = 1.0 if magnitude is None else _MAGNITUDES.get(magnitude, 1e6)
    found: list[_Reading] = []
    for digits in (group["lo"], group["hi"] or group["hi2"]):
        if digits:
            face = float(digits.replace(",", "")) * scale
            found.append((dimension, face * size, face))
    return found


def same(wanted: Quantity, offered: Quantity) -> bool:
    """True if both have the same value, in any unit or notation.

    A number without a unit equals one with a unit if the numerals are the same. A tolerance applies if
    either text says "about".
    """
    close = max(wanted.tolerance, offered.tolerance, _CLOSE)
    kinds = {wanted.dimension, offered.dimension}
    if wanted.dimension == offered.dimension and _near(wanted.value, offered.value, close):
        return True
    if kinds == {"day", "date"}:
        return wanted.value % 100 == offered.value % 100  # "the 14th" names no month
    if "" in kinds or "clock" in kinds:
        faces = (wanted.face, offered.face)
        return faces[0] is not None and faces[1] is not None and _near(faces[0], faces[1], close)
    return False


def _near(one: float, other: float, close: float) -> bool:
    return abs(one - other) <= close * max(abs(one), abs(other))


_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {
    **{word: value for value, word in enumerate(_SMALL.split())},
    **{word: 10 * value for value, word in enumerate(_TENS.split(), 2)},
}
_SPELLED_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_NUMERAL = "|".join(sorted((*_VALUES, *_SPELLED_SCALES), key=len, reverse=True))
# A run begins with a value: the scale of "1.9 billion" stays a word.
_RUN = re.compile(rf"\b(?:{'|'.join(_VALUES)})(?:(?:\s+and\s+|\s+|-)(?:{_NUMERAL}))*\b")
_TWENTY, _HUNDRED = 20, 100


def _digits(match: re.Match[str]) -> str:
    """Convert "twelve hundred" to 1200, and a run that is not one number, such as "five six", to several.

    "one" alone is not converted, as it is mostly a pronoun.
    """
    words = [word for word in re.split(r"[\s-]+", match[0]) if word != "and"]
    if words == ["one"]:
        return match[0]
    numbers: list[int] = []
    total, current, last = 0, 0, None  # `last`: the previous word's value, to split "five six"
    for word in words:
        if word in _SPELLED_SCALES:
            last = _SPELLED_SCALES[word]
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
