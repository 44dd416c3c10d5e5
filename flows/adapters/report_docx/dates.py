"""Parse written dates, and format them like Word's date controls."""

from __future__ import annotations

import re
from datetime import date

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBERS = {name[:3].lower(): number for number, name in enumerate(MONTHS, 1)}
_MONTH = r"(?P<month>[A-Za-z]{3,9})\.?"
_WEEKDAY = r"(?:(?:" + "|".join(f"{day[:3]}(?:{day[3:]})?" for day in _DAYS) + r"),? )?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})-(?P<number>\d{1,2})-(?P<day>\d{1,2})(?:T00:00:00Z?)?",
        r"(?P<year>\d{4})(?P<number>\d{2})(?P<day>\d{2})",
        _WEEKDAY + r"(?P<day>\d{1,2})(?:st|nd|rd|th)?[ -]?" + _MONTH + r",?[ -]?(?P<year>\d{4}|\d{2})",
        _WEEKDAY + _MONTH + r" ?(?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4})",
    )
)
_NUMERIC = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})")
_TOKEN = re.compile(r"'([^']*)'|(d{1,4}|M{1,4}|y{1,4})|([^A-Za-z']+)|([A-Za-z]+)")
_CENTURY = 2000  # of a year of two digits


def read_date(text: str, form: str = "") -> date | None:
    """Parse a date; None if there is none or it is ambiguous.

    Accepts ISO (2031-04-30), 20310430, English month names (30 April 2031, 30Apr31, April 30, 2031) and
    digits only (04/30/2031) in the order of `form`, as they are ambiguous.

    Args:
        text: the text.
        form: date format of the control, as Word writes it, such as `d MMMM yyyy`.
    """
    text = " ".join(text.split())
    for shape in _FORMS:
        match = shape.fullmatch(text)
        if match:
            parts = match.groupdict()
            month = int(parts["number"]) if parts.get("number") else _month(str(parts["month"]))
            return _day(int(parts["year"]), month, int(parts["day"]))
    match = _NUMERIC.fullmatch(text)
    order = re.sub(r"[^dMy]", "", re.sub(r"'[^']*'", "", form))
    order = re.sub(r"(.)\1+", r"\1", order)
    if match and order in {"dMy", "Mdy"}:
        first, second = int(match[1]), int(match[3])
        return _day(int(match[4]), *((second, first) if order == "dMy" else (first, second)))
    return None


def _month(name: str) -> int:
    number = _NUMBERS.get(name[:3].lower(), 0)
    whole = number and MONTHS[number - 1].lower()
    return number if whole and (whole.startswith(name.lower()) or name.lower() == "sept") else 0


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year + _CENTURY if year < 100 else year, month, day)  # noqa: PLR2004 -- two digits
    except ValueError:
        return None


def show_date(day: date, form: str) -> str | None:
    """Format a day in a Word date format; None if the format has unsupported parts.

    Args:
        day: the day.
        form: such as `dddd, d MMMM yyyy`; literal text is in apostrophes.
    """
    shown = ""
    for quoted, code, between, unknown in _TOKEN.findall(form):
        if unknown:
            return None
        shown += _shown(day, code) if code else quoted or between
    return shown


def _shown(day: date, code: str) -> str:
    if code[0] == "d":
        name = _DAYS[day.weekday()]
        return {"d": f"{day.day}", "dd": f"{day.day:02}", "ddd": name[:3], "dddd": name}[code]
    if code[0] == "M":
        name = MONTHS[day.month - 1]
        return {"M": f"{day.month}", "MM": f"{day.month:02}", "MMM": name[:3], "MMMM": name}[code]
    return f"{day.year % 100:02}" if len(code) <= 2 else f"{day.year:04}"  # noqa: PLR2004 -- y, yy
