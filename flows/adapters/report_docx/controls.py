"""Content controls (structured document tags, ECMA-376 part 1, 17.5.2): types, content and locks."""

from collections.abc import Iterable
from dataclasses import dataclass

from flows.adapters.report_docx.elements import (
    BOX,
    SDT_CONTENT,
    ancestor,
    has,
    inside,
    only_control,
    paragraphs_in,
    remove,
)
from flows.adapters.report_docx.model import EditError
from flows.common.word_xml import (
    NAMESPACES,
    SDT,
    TBL,
    TC,
    TR,
    Element,
    P,
    T,
    attribute,
    child,
    qn,
    switch,
    tag,
    val,
)

_TYPES = {
    "w:text": "text",
    "w:date": "date",
    "w:dropDownList": "dropdown",
    "w:comboBox": "combo box",
    "w14:checkbox": "checkbox",
    "w:picture": "picture",
    "w:docPartObj": "building block",
    "w:docPartList": "building block",
    "w:group": "group",
    "w:equation": "equation",
    "w:citation": "citation",
    "w:bibliography": "bibliography",
    "w15:repeatingSection": "repeating section",
    "w15:repeatingSectionItem": "repeated item",
}
_HOLDING = frozenset({"rich text", "group", "building block"})  # may have blocks put into them
FILLABLE = frozenset({"text", "rich text", "date", "dropdown", "combo box", "checkbox"})
_OFF = frozenset({"0", "false", "off"})
_NO_CONTENT = frozenset({"contentLocked", "sdtContentLocked"})
_NO_DELETION = frozenset({"sdtLocked", "sdtContentLocked"})


@dataclass(frozen=True, slots=True)
class Choice:
    """An entry of a dropdown: what is shown, and what is stored."""

    shown: str
    value: str


def control_type(control: Element) -> str:
    """Return its type as in hints, such as `dropdown`; rich text by default."""
    entries = child(control, "w:sdtPr")
    names = (tag(each) for each in (() if entries is None else entries))
    return next((_TYPES[name] for name in names if name in _TYPES), "rich text")


def shows_prompt(control: Element) -> bool:
    """Whether it shows its prompt instead of content."""
    return bool(switch(control, "w:sdtPr", "w:showingPlcHdr"))


def choices(control: Element) -> list[Choice]:
    """Return the choices of a dropdown or combo box, without the prompt entry."""
    entries = [
        (attribute(item, "w:displayText"), attribute(item, "w:value"))
        for name in ("w:dropDownList", "w:comboBox")
        for item in control.findall(f"w:sdtPr/{name}/w:listItem", NAMESPACES)
    ]
    return [Choice(shown or value, value) for shown, value in entries if value]


def is_checked(control: Element) -> bool:
    """Whether a checkbox is ticked."""
    mark = child(control, "w:sdtPr", "w14:checkbox", "w14:checked")
    return mark is not None and attribute(mark, "w14:val", "1") not in _OFF


def name_of(control: Element) -> str:
    """Return its name for errors: title or tag, and type."""
    named = val(control, "w:sdtPr", "w:alias") or val(control, "w:sdtPr", "w:tag")
    kind = control_type(control)
    return f"the {kind} control {named!r}" if named else f"a {kind} control"


def describe(control: Element) -> str:
    """Return the hint of a control: title, tag, type, choices, prompt, lock."""
    title, mark = val(control, "w:sdtPr", "w:alias"), val(control, "w:sdtPr", "w:tag")
    kind = control_type(control)
    listed = " | ".join(choice.shown for choice in choices(control))
    form = val(control, "w:sdtPr", "w:date", "w:dateFormat")
    prompt = _shown(control) if shows_prompt(control) and kind != "checkbox" else ""
    parts = (
        (title, f"title {title!r}"),
        (mark and mark != title, f"tag {mark!r}"),
        (True, kind),
        (listed, f"choices: {listed}"),
        (kind == "date" and form, f"format {form}"),
        (kind == "text" and not takes_lines(control), "one line"),
        (prompt, f"prompt {prompt!r}"),
        (_content_locked(control), "locked"),
    )
    return "; ".join(part for is_so, part in parts if is_so)


def _shown(control: Element) -> str:
    paragraphs = list(control.iter(P)) or [control]
    lines = ("".join(str(text.text or "") for text in each.iter(T)) for each in paragraphs)
    return " ".join(" ".join(lines).split())


def takes_lines(control: Element) -> bool:
    """Whether it may have several lines, which only some plain-text controls may not."""
    text = child(control, "w:sdtPr", "w:text")
    return text is None or attribute(text, "w:multiLine", "0") not in _OFF


def around(control: Element) -> str:
    """Return what a control contains: `inline` text, `block` paragraphs, a `cell` or a `row`."""
    nearest = ancestor(control, P, TC)
    if nearest is not None and nearest.tag == P:
        return "inline"
    content = child(control, "w:sdtContent")
    if content is not None and has(content, TR) and child(content, "w:tbl") is None:
        return "row"
    return "block" if child(content, "w:tc") is None else "cell"


def cell_control(cell: Element) -> Element | None:
    """The innermost control around a cell alone; None if there is none."""
    control = ancestor(cell, SDT, TR)
    alone = control is not None and control.tag == SDT and len(list(inside(control, TC))) == 1
    return control if alone else None


def spot_after(element: Element) -> tuple[Element, Element | None]:
    """The container that blocks after an element go into, and what they follow there; None at its start."""
    if element.tag in {TC, BOX}:
        return element, element[-1] if len(element) and element[-1].tag != qn("w:tcPr") else None
    if element.tag == SDT:
        where = around(element)
        if where == "cell":
            cell = next(element.iter(TC))
            return cell, cell[-1]
        element = next(element.iterancestors(P)) if where == "inline" else element
    # Controls for plain text, dates and choices hold nothing else, nor do those that show their prompt:
    # what is inserted follows them.
    for control in list(element.iterancestors(SDT)):
        holds = control_type(control) in _HOLDING and not shows_prompt(control)
        if not holds and around(control) == "block":
            element = control
    return element.getparent(), element


def written(element: Element) -> Element:
    """What is written where a place is set: the control that holds all its text, if there is one."""
    if element.tag == TC:
        outer = cell_control(element)
        element = element if outer is None else outer
    if element.tag == P and element.getparent().tag == SDT_CONTENT:
        outer = element.getparent().getparent()
        if shows_prompt(outer):
            return outer
    inner = _the_control(element)
    return element if inner is None else inner


def _the_control(element: Element) -> Element | None:
    """The control that holds all the text of a paragraph, cell or box; None if there is no such."""
    if element.tag == SDT:
        return None
    if element.tag == P:
        return only_control(element)
    if has(element, TBL):
        return None
    blocks = [each for each in element if each.tag in {P, SDT}]
    if len(blocks) == 1 and blocks[0].tag == SDT:
        return blocks[0]
    paragraphs = paragraphs_in(element)
    return only_control(paragraphs[0]) if len(paragraphs) == 1 else None


def unwrap(control: Element) -> None:
    """Replace a control with its content."""
    content = child(control, "w:sdtContent")
    for each in list(content) if content is not None else ():
        control.addprevious(each)
    remove(control)


def _content_locked(control: Element) -> bool:
    return val(control, "w:sdtPr", "w:lock") in _NO_CONTENT


def refuse_locked(element: Element, where: str, *, deleting: bool = False, beside: bool = False) -> None:
    """Reject an edit of locked content: of an element, or of the control with the content.

    `deleting` says that all controls in it go too, `beside` that something is inserted next to it, which does
    not change it.

    Raises:
        EditError: a control around it, itself or one in it is locked.
    """
    own = [element] if element.tag == SDT and not deleting and not beside else []
    holders = [*own, *element.iterancestors(SDT)]
    for control in holders:
        if _content_locked(control):
            raise _locked(control, where, "its content can't be changed")
        # A group only allows changes in its own controls.
        if control_type(control) == "group" and holders[0] is control and control is not element:
            raise _locked(control, where, "only the controls in it can be changed")
    if deleting:
        _refuse_in(element.iter(SDT), where, "it can't be deleted")


def refuse_replacing(element: Element, where: str) -> None:
    """Reject overwriting an element with a control that may not be deleted."""
    _refuse_in((each for each in element.iter(SDT) if each is not element), where, "it can't be written over")


def _refuse_in(found: Iterable[Element], where: str, what: str) -> None:
    for control in found:
        if val(control, "w:sdtPr", "w:lock") in _NO_DELETION:
            raise _locked(control, where, what)


def _locked(control: Element, where: str, what: str) -> EditError:
    return EditError(
        where,
        f"{name_of(control)} is locked: {what}",
        "a place outside of it",
        "leave it as the template has it",
    )
