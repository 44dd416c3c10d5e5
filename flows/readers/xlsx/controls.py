"""Form controls of a sheet: check boxes, option buttons, lists and labels.

Excel keeps them twice: shape and label in the old drawing part (VML), the state since 2010 in a part of
each control as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flows.readers.ooxml import Element, Package, Relationship, parse_xml
from flows.readers.words import flat
from flows.readers.xlsx.places import letters
from flows.schema.document import Block, BlockKind, Notice

_V = "{urn:schemas-microsoft-com:vml}"
_X = "{urn:schemas-microsoft-com:office:excel}"
_O = "{urn:schemas-microsoft-com:office:office}"
_NAMES = {
    "checkbox": "Check box", "radio": "Option button", "button": "Button", "label": "Label",
    "gbox": "Group box", "drop": "Drop-down list", "list": "List", "spin": "Spin button",
    "scroll": "Scroll bar", "edit": "Text field", "editbox": "Text field", "dialog": "Dialog",
}  # fmt: skip
_BREAK = re.compile(rb"<br\s*>", re.IGNORECASE)
_ID = re.compile(r"_s(\d+)$")


def controls(
    package: Package,
    links: dict[str, Relationship],
    sheet: str,
    declared: dict[str, str],
    notices: list[Notice],
) -> Iterator[Block]:
    """Form controls with their state and label, in the order of the file.

    Args:
        package: of the workbook.
        links: of the sheet.
        sheet: its name.
        declared: id of the relationship that a control's state is found by, for each id of a shape.
        notices: takes what is not read.
    """
    for link in links.values():
        if link.kind != "vmlDrawing" or link.external or not package.has(link.target):
            continue
        # Excel writes HTML into these parts, whose <br> need no end.
        data = _BREAK.sub(b"<br/>", package.read(link.target))
        root = parse_xml(data, f"{package.path}!{link.target}", recover=True)
        for shape in () if root is None else root.iter(f"{_V}shape"):
            client = shape.find(f"{_X}ClientData")
            name = None if client is None else _NAMES.get(str(client.get("ObjectType")).lower())
            if client is None or name is None:
                continue
            key = _ID.search(str(shape.get(f"{_O}spid") or shape.get("id")))
            state = links.get(declared.get(key.group(1), "")) if key else None
            own = package.xml(state.target) if state and state.kind == "ctrlProp" else None
            text = _text(name, shape, client, own)
            place = _place(str(client.findtext(f"{_X}Anchor") or ""), sheet)
            if "visibility:hidden" in str(shape.get("style")).replace(" ", ""):
                notices.append(Notice("hidden_text", place, f"hidden form control: {text}"))
            elif text:
                yield Block(BlockKind.form, text, place)
    active = sum(link.kind == "control" for link in links.values())
    if active:
        notices.append(Notice("unread_part", sheet, f"ActiveX controls that are not read: {active}"))


def _text(name: str, shape: Element, data: Element, own: Element | None) -> str:
    box = shape.find(f"{_V}textbox")
    label = "" if box is None else flat("".join(str(text) for text in box.itertext()))
    if name in {"Check box", "Option button"}:
        state = str(data.findtext(f"{_X}Checked") or "0").strip() if own is None else str(own.get("checked"))
        mark = "☒" if state in {"1", "Checked"} else "☐"
        mixed = ", mixed" if state in {"2", "Mixed"} else ""
        return f"[{name}{mixed}] {mark} {label}".rstrip()
    attribute, tag = ("sel", "Sel") if name in {"Drop-down list", "List"} else ("val", "Val")
    value = data.findtext(f"{_X}{tag}") if own is None else own.get(attribute)
    source = data.findtext(f"{_X}FmlaRange") if own is None else own.get("fmlaRange")
    if tag == "Sel":
        chosen = f"entry {flat(value)} chosen" if value and value.strip() != "0" else "nothing chosen"
        return f"[{name}] {chosen}" + (f" of {flat(source)}" if source else "")
    if name in {"Spin button", "Scroll bar"}:
        return f"[{name}] {flat(value or '0')}"
    return f"[{name}] {label}" if label else ""


def _place(anchor: str, sheet: str) -> str:
    parts = [part.strip() for part in anchor.split(",")]
    if len(parts) < 3 or not (parts[0].isdecimal() and parts[2].isdecimal()):  # noqa: PLR2004 -- column, offset, row
        return sheet
    return f"{sheet}!{letters(int(parts[0]) + 1)}{int(parts[2]) + 1}"
