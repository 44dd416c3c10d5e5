"""Form controls of a sheet: check boxes, option buttons, lists and labels.

Excel keeps them twice: shape and label in the old drawing part (VML), the state since 2010 in a part of
each control as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from flows.readers.markup import Element, parse_xml, walked
from flows.readers.ooxml import Package, Relationship
from flows.readers.shared.charts import drawn_text
from flows.readers.shared.notation import flat, letters
from flows.readers.xlsx.drawings import CONTROL, place_of
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
    declared: dict[str, tuple[str, str]],
    notices: list[Notice],
) -> Iterator[Block]:
    """Form controls with their state and label, in the order of the file.

    `declared` has for each id of a shape the id of the relationship to its state, and its name.
    """
    states = {
        key: package.xml(links[link].target)
        for key, (link, _) in declared.items()
        if link in links and links[link].kind == "ctrlProp" and package.has(links[link].target)
    }
    for key, client, label, style in _old_shapes(package, links):
        name = _NAMES.get(str(client.get("ObjectType")).lower())
        if name is None:
            continue
        text = _text(name, label, client, states.pop(key, None))
        place = _place(str(client.findtext(f"{_X}Anchor") or ""), sheet)
        if "visibility:hidden" in style.replace(" ", ""):
            notices.append(Notice("hidden_text", place, f"hidden form control: {text}"))
        elif text:
            yield Block(BlockKind.form, text, place)
    drawn = _drawn_labels(package, links, sheet) if states else {}
    for key, own in states.items():
        label, place = drawn.get(key, (declared[key][1], sheet))
        text = _text(_NAMES.get(str(own.get("objectType")).lower(), "Form control"), label, None, own)
        if text:
            yield Block(BlockKind.form, text, place)
    active = sum(link.kind == "control" for link in links.values())
    if active:
        notices.append(Notice("unread_part", sheet, f"ActiveX controls that are not read: {active}"))


def _old_shapes(package: Package, links: dict[str, Relationship]) -> Iterator[tuple[str, Element, str, str]]:
    """Id, data, label and style of each shape in the old drawing parts."""
    for part in package.targets(links, "vmlDrawing"):
        # Excel writes HTML into these parts, whose <br> need no end.
        data = _BREAK.sub(b"<br/>", package.read(part))
        root = parse_xml(data, f"{package.path}!{part}", recover=True)
        for shape in () if root is None else root.iter(f"{_V}shape"):
            client, box = shape.find(f"{_X}ClientData"), shape.find(f"{_V}textbox")
            key = _ID.search(str(shape.get(f"{_O}spid") or shape.get("id")))
            if client is not None:
                label = "" if box is None else flat("".join(str(text) for text in box.itertext()))
                yield key.group(1) if key else "", client, label, str(shape.get("style"))


def _drawn_labels(package: Package, links: dict[str, Relationship], sheet: str) -> dict[str, tuple[str, str]]:
    """Label and place of the controls in the new drawing parts, by the id of the shape."""
    found: dict[str, tuple[str, str]] = {}
    for anchor in (
        anchor for drawing in package.targets(links, "drawing") for anchor in package.xml(drawing)
    ):
        for part in walked(anchor):
            if part.tag == CONTROL:
                key = _ID.search(str(part.get("spid")))
                found[key.group(1) if key else ""] = (drawn_text(anchor), place_of(anchor, sheet))
    return found


def _text(name: str, label: str, old: Element | None, own: Element | None) -> str:
    """What a control shows, from its data in the old drawing or, where it has one, from its own part."""

    def value(new_name: str, old_name: str) -> str:
        if own is not None:
            return str(own.get(new_name) or "")
        return "" if old is None else str(old.findtext(f"{_X}{old_name}") or "").strip()

    if name in {"Check box", "Option button"}:
        state = value("checked", "Checked")
        mixed = ", mixed" if state in {"2", "Mixed"} else ""
        return f"[{name}{mixed}] {'☒' if state in {'1', 'Checked'} else '☐'} {label}".rstrip()
    if name in {"Drop-down list", "List"}:
        entry, source = value("sel", "Sel"), flat(value("fmlaRange", "FmlaRange"))
        chosen = f"entry {flat(entry)} chosen" if entry.strip("0") else "nothing chosen"
        return f"[{name}] {chosen}" + (f" of {source}" if source else "")
    if name in {"Spin button", "Scroll bar"}:
        return f"[{name}] {flat(value('val', 'Val')) or '0'}"
    return f"[{name}] {label}" if label else ""


def _place(anchor: str, sheet: str) -> str:
    parts = [part.strip() for part in anchor.split(",")]
    if len(parts) < 3 or not (parts[0].isdecimal() and parts[2].isdecimal()):  # noqa: PLR2004 -- column, offset, row
        return sheet
    return f"{sheet}!{letters(int(parts[0]) + 1)}{int(parts[2]) + 1}"
