"""Fill content controls by type, like Word."""

import re
from datetime import date

from flows.adapters.report_docx import controls
from flows.adapters.report_docx.elements import ancestor, has, make, only_control, remove
from flows.adapters.report_docx.model import EditError, pieces
from flows.adapters.report_docx.writing import add_lines, clean_look, has_marks, runs_of, write_container
from flows.common.word_xml import NAMESPACES, TBL, TC, TR, Element, P, R, attribute, child, qn, val

_TICKED = frozenset({"checked", "x", "yes", "true", "1", "\u2612", "\u2611", "\u2713", "\u2714", "[x]"})
_EMPTY = frozenset({"unchecked", "no", "false", "0", "", "\u2610", "[ ]"})
_STATES = {True: ("w14:checkedState", 0x2612), False: ("w14:uncheckedState", 0x2610)}

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBERS = {name[:3].lower(): number for number, name in enumerate(_MONTHS, 1)}
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


def fill_control(control: Element, text: str, where: str) -> None:
    """Write a cleaned text into a control (`w:sdt`) and mark it as filled.

    For a checkbox it is a word such as `checked`; for a date any date that `read_date` reads; for a dropdown
    one of its choices.

    Raises:
        EditError: the control is locked, takes no text, or does not take this one.
    """
    kind = controls.control_type(control)
    content = child(control, "w:sdtContent")
    name = controls.name_of(control)
    if kind not in controls.FILLABLE or content is None:
        raise EditError(where, f"{name}, which takes no text", "a control for text", "leave it as it is")
    if has(content, TBL, TR):
        raise EditError(
            where,
            f"{name}, which holds a table",
            "a control that holds text alone",
            "set the places within it, or delete it",
        )
    shown = _checked_text(control, kind, text, where)
    prompt = controls.shows_prompt(control)
    base = child(control, "w:sdtPr", "w:rPr") if prompt else None
    _unmark(control)
    cell = child(content, "w:tc")
    if kind == "checkbox":
        _tick(control, content, ticked=shown == "checked")
    elif cell is not None or child(content, "w:p") is not None:
        write_container(content if cell is None else cell, shown, prompt=prompt, base=base)
    else:
        _write_inline(control, content, shown, prompt=prompt, base=base)
    if child(control, "w:sdtPr", "w:temporary") is not None:
        controls.unwrap(control)  # Word removes such a control with the first edit


def _unmark(control: Element) -> None:
    """Mark it as filled: remove its prompt and the data binding with which Word would overwrite it."""
    if child(control, "w:sdtPr") is None:
        control.insert(0, make("w:sdtPr"))
    for name in ("w:showingPlcHdr", "w:dataBinding", "w15:dataBinding"):
        for each in control.findall(f"w:sdtPr/{name}", NAMESPACES):
            remove(each)


def _checked_text(control: Element, kind: str, text: str, where: str) -> str:
    """Return the displayed text, and store a date or a choice in the control's properties."""
    if kind == "rich text":
        return text
    name = controls.name_of(control)
    if has_marks(text):
        raise EditError(where, f"bold or italic text for {name}", "plain text", "leave out the stars")
    plain = "".join(piece.text for piece in pieces(text))
    if kind == "text":
        if "\n" in plain and not controls.takes_lines(control):
            raise EditError(
                where,
                f"{plain.count(chr(10)) + 1} lines for {name}",
                "one line",
                "write it as one line, or insert paragraphs after it",
            )
        return plain
    plain = plain.strip()
    if kind == "checkbox":
        if plain.lower() not in _TICKED | _EMPTY:
            raise EditError(where, f"the text {plain!r} for {name}", "checked or unchecked")
        return "checked" if plain.lower() in _TICKED else "unchecked"
    if kind == "date":
        return _date_text(control, plain, where)
    return _choice_text(control, kind, plain, where)


def _date_text(control: Element, text: str, where: str) -> str:
    settings = control.find("w:sdtPr/w:date", NAMESPACES)
    if not text:
        settings.attrib.pop(qn("w:fullDate"), None)
        return ""
    form = val(settings, "w:dateFormat")
    day = read_date(text, form)
    if day is None:
        raise EditError(
            where,
            f"the text {text!r} for {controls.name_of(control)}, which is no date or may mean two",
            "a date such as 2031-04-30 or 30 April 2031",
            "write the month by its name, or put what is no date into the text beside the control",
        )
    settings.set(qn("w:fullDate"), f"{day.isoformat()}T00:00:00Z")
    english = val(settings, "w:lid", default="en").lower().startswith("en")
    # Only English month and day names are known; in other languages the text stays as written.
    named = "MMM" in form or "ddd" in form
    shown = show_date(day, form) if form and (english or not named) else None
    return shown or text


def _choice_text(control: Element, kind: str, text: str, where: str) -> str:
    entry = control.find(f"w:sdtPr/w:{'dropDownList' if kind == 'dropdown' else 'comboBox'}", NAMESPACES)
    if not text:
        entry.attrib.pop(qn("w:lastValue"), None)
        return ""
    listed = controls.choices(control)
    exact = [each for each in listed if text in {each.shown, each.value}]
    folded = [each for each in listed if text.casefold() in {each.shown.casefold(), each.value.casefold()}]
    found = next(iter([*exact, *folded]), None)
    if found is None and kind == "dropdown":
        raise EditError(
            where,
            f"the text {text!r} for {controls.name_of(control)}",
            "one of its choices: " + " | ".join(each.shown for each in listed),
            "write one of them as it stands",
        )
    entry.set(qn("w:lastValue"), text if found is None else found.value)
    return text if found is None else found.shown


def _tick(control: Element, content: Element, *, ticked: bool) -> None:
    settings = control.find("w:sdtPr/w14:checkbox", NAMESPACES)
    mark = child(settings, "w14:checked")
    if mark is None:
        mark = settings.makeelement(qn("w14:checked"))
        settings.insert(0, mark)
    mark.set(qn("w14:val"), "1" if ticked else "0")
    name, usual = _STATES[ticked]
    state = child(settings, name)
    code, font = attribute(state, "w14:val", f"{usual:x}"), attribute(state, "w14:font", "MS Gothic")
    runs = list(content.iter(R))
    look = clean_look(child(runs[0], "w:rPr")) if runs else None
    look = make("w:rPr") if look is None else look
    look.remove_all("w:rFonts")
    fonts = {"ascii": font, "hAnsi": font, "eastAsia": font, "hint": "eastAsia"}
    for key, value in fonts.items():
        look.get_or_add_rFonts().set(qn(f"w:{key}"), value)
    new = runs_of(chr(int(code, 16)), look)[0]
    if runs:
        runs[0].addprevious(new)
        for run in runs:
            remove(run)
    else:
        next(content.iter(P), content).append(new)


def _write_inline(
    control: Element, content: Element, text: str, *, prompt: bool, base: Element | None
) -> None:
    """Fill a control within a paragraph, which can't hold two paragraphs.

    Where it fills a paragraph of the body, it takes the first line, and the others follow as paragraphs like
    it. Beside other text and in a cell, whose row may be copied, lines are parted by line breaks in it.
    """
    runs = list(content.iter(R))
    marked = has_marks(text)
    old = child(runs[0], "w:rPr") if runs else None
    look = clean_look(old, prompt=prompt, bare=marked) if base is None else clean_look(base, bare=marked)
    paragraph = next(control.iterancestors(P))
    alone = only_control(paragraph) is control and controls.control_type(control) == "rich text"
    alone = alone and ancestor(control, TC) is None
    for each in list(content):
        content.remove(each)
    first, *others = text.split("\n") if alone else [text]
    content.extend(runs_of(first, look))
    add_lines(paragraph, others, look)


def read_date(text: str, form: str = "") -> date | None:
    """Parse a date; None if there is none or it is ambiguous.

    Accepts ISO (2031-04-30), 20310430, English month names (30 April 2031, 30Apr31, April 30, 2031) and
    digits only (04/30/2031) in the order of `form`, as they are ambiguous: the date format of the control, as
    Word writes it, such as `d MMMM yyyy`.
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
    whole = number and _MONTHS[number - 1].lower()
    return number if whole and (whole.startswith(name.lower()) or name.lower() == "sept") else 0


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year + _CENTURY if year < 100 else year, month, day)  # noqa: PLR2004 -- two digits
    except ValueError:
        return None


def show_date(day: date, form: str) -> str | None:
    """Format a day in a Word date format; None if the format has unsupported parts.

    A format is such as `dddd, d MMMM yyyy`; literal text is in apostrophes.
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
        name = _MONTHS[day.month - 1]
        return {"M": f"{day.month}", "MM": f"{day.month:02}", "MMM": name[:3], "MMMM": name}[code]
    return f"{day.year % 100:02}" if len(code) <= 2 else f"{day.year:04}"  # noqa: PLR2004 -- y, yy
