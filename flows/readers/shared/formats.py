"""Format numbers as Excel does, by their number format (ISO/IEC 29500-1, 18.8.30 and 18.8.31).

Dates become ISO 8601, to the precision of the format; everything else is as Excel displays it.
"""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from flows.readers.shared.moments import moment

BUILTIN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0;("$"#,##0)',
    6: '"$"#,##0;("$"#,##0)', 7: '"$"#,##0.00;("$"#,##0.00)', 8: '"$"#,##0.00;("$"#,##0.00)',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "m/d/yyyy",
    15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
    37: "#,##0;(#,##0)", 38: "#,##0;[Red](#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;[Red](#,##0.00)", 41: '#,##0;(#,##0);"-"', 42: '"$"#,##0;"$"(#,##0);"$"-',
    43: '#,##0.00;(#,##0.00);"-"', 44: '"$"#,##0.00;"$"(#,##0.00);"$"-',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|_(?P<gap>.)|\*(?P<fill>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<general>General)|(?P<half>AM/PM|A/P)|(?P<power>E[+-])|(?P<date>[ymdhsYMDHSeEgGbB]+)"
    r"|(?P<digit>[0#?])|(?P<other>.)",
    re.DOTALL | re.IGNORECASE,
)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[\d.]+)")
_TESTS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, ">": operator.gt, "=": operator.eq,
    "<=": operator.le, ">=": operator.ge, "<>": operator.ne,
}  # fmt: skip
_SMALLEST, _LARGEST = 1e-4, 1e11  # beyond these Excel writes powers of ten
_DIGITS = 15  # Excel keeps and shows at most fifteen
_GENERAL = frozenset({"general", "", "@"})


@dataclass(slots=True)
class _Section:
    tokens: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    condition: tuple[str, float] | None = None
    units: str = ""  # letters of date and time that occur, elapsed ones in upper case
    colour: str = ""  # in lower case: `red`, `color10`


@lru_cache(maxsize=1024)
def _sections(code: str) -> list[_Section]:  # noqa: C901 -- one case a mark of the format
    sections = [_Section()]
    for match in _TOKEN.finditer(code[:1000]):
        kind, text = match.lastgroup or "other", match.group(match.lastgroup or 0)
        now = sections[-1]
        if (kind, text) == ("other", ";"):
            sections.append(_Section())
        elif kind == "bracket":
            condition = _CONDITION.match(text)
            if text.startswith("$"):
                now.tokens.append(("text", text[1:].split("-")[0]))
            elif condition:
                now.condition = (condition.group(1), float(condition.group(2)))
            elif text and set(text.lower()) <= set("hms"):
                now.units += text[0].upper()
                now.tokens.append(("elapsed", text.lower()))
            else:
                now.colour = text.lower()
        elif kind == "date":
            if text.lower().strip("eg") or "e" not in text.lower():
                now.units += "".join(dict.fromkeys(text.lower()))
                now.tokens.append(("date", text.lower()))
        elif kind == "half":
            now.units += "h" if "h" not in now.units else ""
        elif kind in {"quoted", "escaped", "gap"}:
            now.tokens.append(("text", " " if kind == "gap" else text))
        elif kind != "fill":
            now.tokens.append((kind, text))
    return sections[:4]


def _choose(sections: Sequence[_Section], number: float) -> tuple[_Section, float] | None:
    """Return the section that applies and its value: the absolute value in the section for negatives."""
    numeric = sections[:3]
    if any(section.condition for section in numeric):
        for section in numeric:
            if section.condition is None or _TESTS[section.condition[0]](number, section.condition[1]):
                return section, number
        return None
    if number < 0 and len(numeric) > 1:
        return numeric[1], -number
    return numeric[2 if number == 0 and len(numeric) > 2 else 0], number  # noqa: PLR2004 -- the third section is for zero


def general(number: float) -> str:
    """Format a number as General: integers in full, others in up to eleven characters."""
    if number == int(number) and abs(number) < 10**_DIGITS:
        return str(int(number))
    size = abs(number)
    if not _SMALLEST <= size < _LARGEST:
        mantissa, _, exponent = f"{number:.5E}".partition("E")
        return f"{mantissa.rstrip('0').rstrip('.')}E{exponent}"
    return f"{number:.{max(0, 10 - len(str(int(size))))}f}".rstrip("0").rstrip(".")


def format_number(number: float, code: str, *, from_1904: bool = False) -> str:
    """Format `number` as Excel displays it, by a format such as `#,##0.00` or `dd/mm/yyyy`.

    A date is a count of days, `from_1904` in files of old Macs.

    Returns:
        The text; '' where the format shows nothing (`;;;`). A number outside the range of dates is
        shown as General.
    """
    chosen = None if code.lower() in _GENERAL else _choose(_sections(code), number)
    if chosen is None:
        return general(number)
    section, value = chosen
    if section.units:
        return moment(number, section.units, section.tokens, from_1904=from_1904) or general(number)
    if any(kind == "general" for kind, _ in section.tokens):
        return "".join(
            general(value) if kind == "general" else text for kind, text in section.tokens if kind != "date"
        )
    return _digits(value, section)


def colour_named(code: str, number: float | None) -> str:
    """Return the colour that a number format gives a number, such as `red` or `color10`; else ''."""
    chosen = None if number is None else _choose(_sections(code), number)
    return chosen[0].colour if chosen else ""


def text_shown(code: str) -> tuple[str, str]:
    """Return what a number format with `@` adds before and after a text: `"Ref "@` gives `Ref `, ''."""
    for section in reversed(_sections(code)):
        if ("other", "@") in section.tokens:
            before, _, after = "".join(text for _, text in section.tokens).partition("@")
            return before, after
    return "", ""


def is_date(code: str) -> bool:
    """Whether a number format shows a date or a time."""
    return code.lower() not in _GENERAL and bool(_sections(code)[0].units)


def shows_nothing(code: str, number: float | None) -> bool:
    """Whether a number format hides its value, as `;;;` does; `number` None for text."""
    if ";" not in code:
        return False
    sections = _sections(code)
    if number is None:
        return len(sections) == 4 and not sections[3].tokens  # noqa: PLR2004 -- the fourth is for text
    chosen = _choose(sections, number)
    return chosen is not None and not chosen[0].tokens and not chosen[0].units


def _digits(value: float, section: _Section) -> str:
    marks = section.tokens
    places = [at for at, (kind, _) in enumerate(marks) if kind == "digit"]
    if not places:
        return ("-" if value < 0 else "") + "".join(text for _, text in marks)
    if any(kind == "power" for kind, _ in marks):
        return _scientific(value, marks, places)
    if ("other", "/") in marks:
        return _fraction(value, marks)
    percent = marks.count(("other", "%"))
    dot = next((at for at, mark in enumerate(marks) if mark == ("other", ".")), len(marks))
    decimals = sum(1 for at in places if at > dot)
    needed = sum(1 for at in places if at > dot and marks[at][1] == "0")
    before = [at for at in places if at < dot]
    commas = [at for at, mark in enumerate(marks) if mark == ("other", ",")]
    last = before[-1] if before else dot
    scale = sum(1 for at in commas if last < at < dot or at > places[-1])
    thousands = any(before and before[0] < at < last for at in commas)
    with localcontext() as digits:
        digits.prec = 340
        exact = Decimal(repr(value)) * 100**percent / 1000**scale
        rounded = abs(exact).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    whole, _, rest = f"{rounded:f}".partition(".")
    rest = rest[:needed] + rest[needed:].rstrip("0")
    minimum = sum(1 for at in before if marks[at][1] == "0")
    whole = whole.lstrip("0").zfill(minimum) if whole.strip("0") or minimum else ""
    if thousands:
        whole = re.sub(r"(?<=\d)(?=(\d{3})+$)", ",", whole)
    sign = "-" if value < 0 and rounded else ""
    return sign + _laid_out(marks, before, dot, whole, rest, thousands=thousands)


def _laid_out(
    marks: list[tuple[str, str]], before: list[int], dot: int, whole: str, rest: str, *, thousands: bool
) -> str:
    """Fill digits into the format; literals stay between them, as in a telephone number."""
    signs: dict[int, str] = {}
    for at in () if thousands else reversed(before[1:]):
        signs[at], whole = whole[-1:], whole[:-1]
    if before:
        signs[before[0]] = whole
    text = ""
    decimals = iter(rest)
    for at, (kind, mark) in enumerate(marks):
        if kind == "digit":
            text += signs.get(at, "") if at < dot else next(decimals, "")
        elif at == dot:
            text += "." if rest or not before else ""
        elif (kind, mark) != ("other", ","):
            text += mark
    return text


def _scientific(value: float, marks: list[tuple[str, str]], places: list[int]) -> str:
    power = next(at for at, (kind, _) in enumerate(marks) if kind == "power")
    dot = next((at for at, mark in enumerate(marks[:power]) if mark == ("other", ".")), power)
    decimals = sum(dot < at < power for at in places)
    width = sum(at > power for at in places)
    step = sum(at < dot for at in places)  # ##0.0E+0 goes by thousands
    mantissa, _, exponent = f"{value:.{decimals}E}".partition("E")
    if step > 1:
        over = int(exponent) % step
        with localcontext() as digits:
            digits.prec = 340
            mantissa = f"{Decimal(repr(value)).scaleb(over - int(exponent)):.{decimals}f}"
        exponent = str(int(exponent) - over)
    sign = "-" if exponent.startswith("-") else "+" if "+" in marks[power][1] else ""
    before, after = (
        "".join(text for kind, text in part if kind in {"text", "other"})
        for part in (marks[: places[0]], marks[places[-1] + 1 :])
    )
    return f"{before}{mantissa}E{sign}{exponent.lstrip('+-').lstrip('0').zfill(width)}{after}"


def _fraction(value: float, marks: list[tuple[str, str]]) -> str:
    places = [at for at, mark in enumerate(marks) if mark[0] in {"digit", "other"} and mark[1] != " "]
    before, inside, after = (
        "".join(text for _, text in part)
        for part in (marks[: places[0]], marks[places[0] : places[-1] + 1], marks[places[-1] + 1 :])
    )
    text, after = before.strip(" ") + _parts_of_one(value, inside), after.strip(" ")
    return f"{text} {after}".strip() if after else text


def _parts_of_one(value: float, marks: str) -> str:
    """A number by a format such as `# ?/?`: whole, and parts of one."""
    above, below, *_ = marks.split("/")
    exact = Fraction(abs(value)).limit_denominator(10**15)
    fixed = re.match(r"\d+", below.strip())
    if fixed and int(fixed.group()):
        base = int(fixed.group())
        top = round(exact * base)
    else:
        near = exact.limit_denominator(10 ** min(max(below.count("?") + below.count("#"), 1), 4) - 1)
        top, base = near.numerator, near.denominator
    whole, rest = divmod(top, base)
    sign = "-" if value < 0 else ""
    if not re.search(r"[#0?]\s+[#0?]", above):
        return f"{sign}{top}/{base}"
    return sign + (f"{whole} {rest}/{base}" if whole and rest else f"{rest}/{base}" if rest else f"{whole}")
