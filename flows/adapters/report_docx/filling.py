"""Fill content controls by type, like Word."""

from __future__ import annotations

from copy import deepcopy

from flows.adapters.report_docx import controls
from flows.adapters.report_docx.dates import read_date, show_date
from flows.adapters.report_docx.elements import ancestor, inside, make, put_in_order, remove, required_child
from flows.adapters.report_docx.model import EditError, pieces
from flows.adapters.report_docx.reading import only_control
from flows.adapters.report_docx.writing import (
    clean_look,
    like,
    runs_of,
    write_container,
)
from flows.common.word_xml import TBL, TC, TR, Element, P, R, child, qn, val

_TICKED = frozenset({"checked", "x", "yes", "true", "1", "\u2612", "\u2611", "\u2713", "\u2714", "[x]"})
_EMPTY = frozenset({"unchecked", "no", "false", "0", "", "\u2610", "[ ]"})
_STATES = {True: ("w14:checkedState", 0x2612), False: ("w14:uncheckedState", 0x2610)}
_AFTER_FONTS = (
    "w:b",
    "w:bCs",
    "w:i",
    "w:iCs",
    "w:caps",
    "w:color",
    "w:sz",
    "w:szCs",
    "w:highlight",
    "w:lang",
)


def fill_control(control: Element, text: str, where: str) -> None:
    """Write a text into a control and mark it as filled.

    Args:
        control: `w:sdt` in a document.
        text: cleaned text. For a checkbox a word such as `checked`; for a date any date that
            `read_date` reads; for a dropdown one of its choices.
        where: the place, for errors.

    Raises:
        EditError: the control is locked, takes no text, or does not take this one.
    """
    kind = controls.control_type(control)
    content = child(control, "w:sdtContent")
    if kind not in controls.FILLABLE or content is None:
        raise EditError(
            where,
            f"{controls.name_of(control)}, which takes no text",
            "a control for text",
            "leave it as it is",
        )
    if next(inside(content, TBL, TR), None) is not None:
        raise EditError(
            where,
            f"{controls.name_of(control)}, which holds a table",
            "a control that holds text alone",
            "set the places within it, or delete it",
        )
    shown = _checked_text(control, kind, text, where)
    prompt = controls.shows_prompt(control)
    base = child(control, "w:sdtPr", "w:rPr") if prompt else None
    controls.unmark(control)
    if kind == "checkbox":
        _tick(control, content, ticked=shown == "checked")
    elif child(content, "w:p") is not None or child(content, "w:tc") is not None:
        holder = child(content, "w:tc")
        write_container(content if holder is None else holder, shown, prompt=prompt, base=base)
    else:
        _write_inline(control, content, shown, prompt=prompt, base=base)
    if child(control, "w:sdtPr", "w:temporary") is not None:
        unwrap(control)  # Word removes such a control with the first edit


def _checked_text(control: Element, kind: str, text: str, where: str) -> str:
    """Return the displayed text, and store a date or a choice in the control's properties."""
    if kind == "rich text":
        return text
    plain = "".join(piece.text for piece in pieces(text))
    if any(piece.bold or piece.italic for piece in pieces(text)):
        raise EditError(
            where, f"bold or italic text for {controls.name_of(control)}", "plain text", "leave out the stars"
        )
    if kind == "text":
        if "\n" in plain and not controls.takes_lines(control):
            raise EditError(
                where,
                f"{plain.count(chr(10)) + 1} lines for {controls.name_of(control)}",
                "one line",
                "write it as one line, or insert paragraphs after it",
            )
        return plain
    stripped = plain.strip()
    if kind == "checkbox":
        return _checkbox_word(control, stripped, where)
    if kind == "date":
        return _date_text(control, stripped, where)
    return _choice_text(control, kind, stripped, where)


def _checkbox_word(control: Element, text: str, where: str) -> str:
    if text.lower() in _TICKED:
        return "checked"
    if text.lower() in _EMPTY:
        return "unchecked"
    raise EditError(where, f"the text {text!r} for {controls.name_of(control)}", "checked or unchecked")


def _date_text(control: Element, text: str, where: str) -> str:
    settings = required_child(control, "w:sdtPr", "w:date")
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
    entry = required_child(control, "w:sdtPr", "w:dropDownList" if kind == "dropdown" else "w:comboBox")
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
    settings = required_child(control, "w:sdtPr", "w14:checkbox")
    mark = child(settings, "w14:checked")
    if mark is None:
        mark = settings.makeelement(qn("w14:checked"))
        settings.insert(0, mark)
    mark.set(qn("w14:val"), "1" if ticked else "0")
    name, usual = _STATES[ticked]
    state = child(settings, name)
    code = usual if state is None else int(str(state.get(qn("w14:val"), f"{usual:x}")), 16)
    font = "MS Gothic" if state is None else str(state.get(qn("w14:font"), "MS Gothic"))
    runs = list(content.iter(R))
    look = clean_look(child(runs[0], "w:rPr")) if runs else None
    look = make("w:rPr") if look is None else look
    fonts = make("w:rFonts", ascii=font, hAnsi=font, eastAsia=font, hint="eastAsia")
    put_in_order(look, fonts, _AFTER_FONTS)
    new = runs_of(chr(code), look)
    if runs:
        runs[0].addprevious(new[0])
        for run in runs:
            remove(run)
        return
    (next(content.iter(P), content)).append(new[0])


def _write_inline(
    control: Element, content: Element, text: str, *, prompt: bool, base: Element | None
) -> None:
    """Fill a control within a paragraph, which can't hold two paragraphs.

    Where it fills a paragraph of the body, it takes the first line, and the others follow as paragraphs like
    it. Beside other text and in a cell, whose row may be copied, lines are parted by line breaks in it.
    """
    runs = list(content.iter(R))
    marked = any(piece.bold or piece.italic for piece in pieces(text))
    old = child(runs[0], "w:rPr") if runs else None
    look = clean_look(old, prompt=prompt, bare=marked) if base is None else clean_look(base, bare=marked)
    paragraph = control.getparent() if control.getparent().tag == P else next(control.iterancestors(P))
    alone = only_control(paragraph) is control and controls.control_type(control) == "rich text"
    alone = alone and ancestor(control, TC) is None
    for each in list(content):
        content.remove(each)
    lines = text.split("\n") if alone else [text]
    content.extend(runs_of(lines[0], look, soft=True))
    last = paragraph
    for line in lines[1:]:
        copy = like(paragraph)
        copy.extend(runs_of(line, look))
        last.addnext(copy)
        last = copy
    section = child(paragraph, "w:pPr", "w:sectPr")
    if section is not None and last is not paragraph:
        required_child(last, "w:pPr").append(deepcopy(section))
        remove(section)


def unwrap(control: Element) -> None:
    """Replace a control with its content."""
    content = child(control, "w:sdtContent")
    for each in list(content) if content is not None else ():
        control.addprevious(each)
    remove(control)


def around(control: Element) -> str:
    """Return what a control contains: `inline` text, `block` paragraphs, a `cell` or a `row`."""
    content = child(control, "w:sdtContent")
    if ancestor(control, P) is not None and ancestor(control, P, TC) is ancestor(control, P):
        return "inline"
    if (
        content is not None
        and next(inside(content, TR), None) is not None
        and child(content, "w:tbl") is None
    ):
        return "row"
    return "cell" if content is not None and child(content, "w:tc") is not None else "block"
