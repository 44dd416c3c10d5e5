"""Content controls (structured document tags, ECMA-376 part 1, 17.5.2): types, content and locks."""

from __future__ import annotations

from dataclasses import dataclass

from flows.adapters.report_docx.model import EditError
from flows.common.word_xml import SDT, Element, P, T, child, qn, switch, val

_TYPES = {
    qn("w:text"): "text",
    qn("w:date"): "date",
    qn("w:dropDownList"): "dropdown",
    qn("w:comboBox"): "combo box",
    qn("w14:checkbox"): "checkbox",
    qn("w:picture"): "picture",
    qn("w:docPartObj"): "building block",
    qn("w:docPartList"): "building block",
    qn("w:group"): "group",
    qn("w:equation"): "equation",
    qn("w:citation"): "citation",
    qn("w:bibliography"): "bibliography",
    qn("w15:repeatingSection"): "repeating section",
    qn("w15:repeatingSectionItem"): "repeated item",
}
FILLABLE = frozenset({"text", "rich text", "date", "dropdown", "combo box", "checkbox"})
_NO_CONTENT = frozenset({"contentLocked", "sdtContentLocked"})
_NO_DELETION = frozenset({"sdtLocked", "sdtContentLocked"})


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry of a dropdown: what is shown, and what is stored."""

    shown: str
    value: str


def properties(control: Element) -> Element:
    """Return its `w:sdtPr`, created if missing."""
    found = child(control, "w:sdtPr")
    if found is None:
        found = control.makeelement(qn("w:sdtPr"))
        control.insert(0, found)
    return found


def control_type(control: Element) -> str:
    """Return its type as in hints, such as `dropdown`; rich text by default."""
    entries = child(control, "w:sdtPr")
    for each in () if entries is None else entries:
        if each.tag in _TYPES:
            return _TYPES[each.tag]
    return "rich text"


def shows_prompt(control: Element) -> bool:
    """Whether it shows its prompt instead of content."""
    return bool(switch(control, "w:sdtPr", "w:showingPlcHdr"))


def choices(control: Element) -> list[Choice]:
    """Return the choices of a dropdown or combo box, without the prompt entry."""
    for name in ("w:dropDownList", "w:comboBox"):
        listed = child(control, "w:sdtPr", name)
        if listed is not None:
            entries = [
                (str(item.get(qn("w:displayText")) or ""), str(item.get(qn("w:value")) or ""))
                for item in listed.findall(qn("w:listItem"))
            ]
            return [Choice(shown or value, value) for shown, value in entries if value]
    return []


def is_checked(control: Element) -> bool:
    """Whether a checkbox is ticked."""
    mark = child(control, "w:sdtPr", "w14:checkbox", "w14:checked")
    return mark is not None and mark.get(qn("w14:val"), "1") not in {"0", "false", "off"}


def name_of(control: Element) -> str:
    """Return its name for errors: title or tag, and type."""
    named = val(control, "w:sdtPr", "w:alias") or val(control, "w:sdtPr", "w:tag")
    kind = control_type(control)
    return f"the {kind} control {named!r}" if named else f"a {kind} control"


def describe(control: Element) -> str:
    """Return the hint of a control: title, tag, type, choices, prompt, lock."""
    title, tag = val(control, "w:sdtPr", "w:alias"), val(control, "w:sdtPr", "w:tag")
    kind = control_type(control)
    parts = [f"title {title!r}"] if title else []
    if tag and tag != title:
        parts.append(f"tag {tag!r}")
    parts.append(kind)
    listed = choices(control)
    if listed:
        parts.append("choices: " + " | ".join(choice.shown for choice in listed))
    if kind == "date":
        form = val(control, "w:sdtPr", "w:date", "w:dateFormat")
        parts += [f"format {form}"] if form else []
    if kind == "text" and not takes_lines(control):
        parts.append("one line")
    prompt = _shown(control) if shows_prompt(control) else ""
    if prompt and kind != "checkbox":
        parts.append(f"prompt {prompt!r}")
    if content_locked(control):
        parts.append("locked")
    return "; ".join(parts)


def _shown(control: Element) -> str:
    paragraphs = list(control.iter(P)) or [control]
    lines = ("".join(str(text.text or "") for text in each.iter(T)) for each in paragraphs)
    return " ".join(" ".join(lines).split())


def takes_lines(control: Element) -> bool:
    """Whether it may have several lines, which only some plain-text controls may not."""
    text = child(control, "w:sdtPr", "w:text")
    return text is None or str(text.get(qn("w:multiLine"), "0")) not in {"0", "false", "off"}


def content_locked(control: Element) -> bool:
    """Whether its content is locked."""
    return val(control, "w:sdtPr", "w:lock") in _NO_CONTENT


def refuse_locked(element: Element, where: str, *, deleting: bool = False, beside: bool = False) -> None:
    """Reject an edit of locked content.

    Args:
        element: the edited element, or the control with the content.
        where: the place, for the message.
        deleting: whether `element` is deleted with all controls in it.
        beside: whether something is inserted next to `element`, which is not changed.

    Raises:
        EditError: a control around it, itself or one in it is locked.
    """
    own = [element] if element.tag == SDT and not deleting and not beside else []
    holders = [*own, *element.iterancestors(SDT)]
    for control in holders:
        if content_locked(control):
            raise _locked(control, where, "its content can't be changed")
        if control_type(control) != "group":
            continue
        # A group only allows changes in its own controls.
        if holders[0] is control and control is not element:
            raise _locked(control, where, "only the controls in it can be changed")
    if deleting:
        for control in element.iter(SDT):
            if val(control, "w:sdtPr", "w:lock") in _NO_DELETION:
                raise _locked(control, where, "it can't be deleted")


def refuse_replacing(element: Element, where: str) -> None:
    """Reject overwriting an element with a control that may not be deleted."""
    for control in element.iter(SDT):
        if control is not element and val(control, "w:sdtPr", "w:lock") in _NO_DELETION:
            raise _locked(control, where, "it can't be written over")


def _locked(control: Element, where: str, what: str) -> EditError:
    return EditError(
        where,
        f"{name_of(control)} is locked: {what}",
        "a place outside of it",
        "leave it as the template has it",
    )


def unmark(control: Element) -> None:
    """Mark it as filled: remove its prompt and the data binding with which Word would overwrite it."""
    entries = properties(control)
    for name in ("w:showingPlcHdr", "w:dataBinding", "w15:dataBinding"):
        for each in entries.findall(qn(name)):
            entries.remove(each)
