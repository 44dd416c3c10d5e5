"""Format Excel's day counts: dates and times as ISO 8601, durations as displayed."""

import datetime as dt

_LAST_SERIAL = 2_958_466  # 31 December 9999; Excel shows no date beyond


def moment(number: float, units: str, marks: list[tuple[str, str]], *, from_1904: bool) -> str | None:
    """Format a count of days as date, time or duration by its format; None outside the range of dates.

    `units` are the letters of date and time that the format has, `marks` its tokens: kind and text.
    """
    # Digits after the point of a time format are fractions of a second.
    decimals = min(sum(1 for kind, _ in marks if kind == "digit"), 3)
    ticks = round(abs(number) * 86400 * 10**decimals)
    sign = "-" if number < 0 else ""
    if any(kind == "elapsed" for kind, _ in marks):
        return sign + _elapsed(ticks, decimals, marks)
    # In the 1904 system a negative count is shown as its absolute value with a sign.
    if not (-_LAST_SERIAL if from_1904 else 0) < number + (not from_1904 and number == 0) < _LAST_SERIAL:
        return None
    whole, tick = divmod(ticks, 86400 * 10**decimals)
    second, fraction = divmod(tick, 10**decimals)
    clock = f"{second // 3600:02}:{second % 3600 // 60:02}:{second % 60:02}"
    has_time = "h" in units or "s" in units
    time_alone = has_time and ((not from_1904 and number < 1) or not set(units) & set("dye"))
    day = _day(whole, from_1904=from_1904)
    date = "" if time_alone else day
    if "d" not in units and set(units) & set("ye"):
        months = any(kind == "date" and text.startswith("m") for kind, text in marks)
        date = date[:-3] if months else date[:-6]
    time = ""
    if has_time:
        time = clock + (f".{fraction:0{decimals}}" if decimals else "") if "s" in units else clock[:5]
        time += "Z" if any(kind == "text" and text.strip() in {"Z", "z"} for kind, text in marks) else ""
    return sign + f"{date} {time}".strip()


def _day(whole: int, *, from_1904: bool) -> str:
    """Format a day count. Excel has a day 0 of January 1900 and, as day 60, a nonexistent 29 February."""
    if from_1904:
        return str(dt.date(1904, 1, 1) + dt.timedelta(days=whole))
    known = {0: "1900-01-00", 60: "1900-02-29"}.get(whole)
    return known or str(dt.date(1899, 12, 31 if whole < 60 else 30) + dt.timedelta(days=whole))  # noqa: PLR2004 -- as said


def _elapsed(ticks: int, decimals: int, marks: list[tuple[str, str]]) -> str:
    """Format a duration such as `[h]:mm` or `[mm]:ss.0`; the unit in brackets is not reduced."""
    seconds, fraction = divmod(ticks, 10**decimals)
    through = {mark[0] for kind, mark in marks if kind == "elapsed"}
    text = ""
    for kind, mark in marks:
        if kind in {"elapsed", "date"} and mark[0] in "hms":
            size, turn = {"h": (3600, 24), "m": (60, 60), "s": (1, 60)}[mark[0]]
            count = seconds // size
            text += str(count if mark[0] in through else count % turn).zfill(len(mark))
        elif kind == "digit":
            text += f"{fraction:0{decimals}}" if text.endswith(".") else ""
        elif kind != "half":
            text += mark
    return text
