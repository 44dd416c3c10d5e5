"""Floating objects of a sheet: charts, images, text boxes, diagrams, form controls.

Excel keeps a control twice: shape and label in the old drawing part (VML), the state since 2010 in a part of
each control as well.
"""

import re
from collections.abc import Iterator

from flows.readers.markup import Element, parse_xml, walked
from flows.readers.ooxml import Package, Relationship
from flows.readers.shared.charts import chart_text, diagram_text, drawn_text
from flows.readers.shared.notation import collapsed, flat, image, letters
from flows.readers.xlsx.book import R
from flows.schema.document import Block, BlockKind, Notice

_ABSENT: dict[str, str] = {}  # the attributes of an element that is not there
_XDR = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_CONTROL = "{http://schemas.microsoft.com/office/drawing/2010/main}compatExt"
_SHAPES = {f"{_XDR}{name}" for name in ("sp", "pic", "graphicFrame")}
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


def drawings(
    package: Package, links: dict[str, Relationship], sheet: str, notices: list[Notice]
) -> Iterator[Block]:
    """Charts, images, text boxes and diagrams over a sheet, in the order of the file.

    Form controls are drawn here a second time; `controls` reads them.
    """
    for drawing in package.targets(links, "drawing"):
        targets = package.relationships(drawing)
        shown: set[str] = set()  # charts and diagrams: each has one frame
        for anchor in package.xml(drawing):
            place = _place_of(anchor, sheet)
            for part in walked(anchor):
                if part.tag not in _SHAPES or next(part.iter(_CONTROL), None) is not None:
                    continue
                block = _shape(package, targets, part, place, notices, shown=shown)
                hidden = next(part.iter(f"{_XDR}cNvPr"), _ABSENT).get("hidden") in {"1", "true"}
                if block is not None and hidden:
                    notices.append(Notice("hidden_text", place, f"hidden drawing: {flat(block.text)}"))
                elif block is not None:
                    yield block


def _shape(
    package: Package,
    targets: dict[str, Relationship],
    part: Element,
    place: str,
    notices: list[Notice],
    *,
    shown: set[str],
) -> Block | None:
    properties = next(part.iter(f"{_XDR}cNvPr"), _ABSENT)
    alt = flat(str(properties.get("descr") or properties.get("title") or ""))
    target = _target(part, targets)
    if part.tag == f"{_XDR}pic":
        return Block(BlockKind.image, image(alt) + target, place)
    if part.tag == f"{_XDR}sp":
        text = collapsed("\n".join(drawn_text(line) for line in part.iter(f"{_A}p")))
        if text:
            return Block(BlockKind.textbox, f"[Text box] {text}{target}", place)
        text = f"[Shape: {alt}]" if alt else "[Shape]"
        return Block(BlockKind.image, text + target, place) if alt or target else None
    for inner in walked(part):
        name = str(inner.tag)
        key = inner.get(f"{R}dm") if name.endswith("/diagram}relIds") else inner.get(f"{R}id")
        found = targets.get(str(key))
        if found is None or not package.has(found.target) or found.target in shown:
            continue
        shown.add(found.target)
        if name.endswith("/diagram}relIds"):
            text = diagram_text(package.xml(found.target))
            return Block(BlockKind.textbox, f"[Text box] {text}", place) if text else None
        if name.endswith(("/chart}chart", "/chartex}chart")):
            return Block(BlockKind.image, chart_text(package.xml(found.target), alt), place)
    data = next(part.iter(f"{_A}graphicData"), None)
    if data is not None:
        kind = str(data.get("uri")).rstrip("/").rpartition("/")[2]
        name = next((str(inner.get("name")) for inner in data if inner.get("name")), "")
        notices.append(
            Notice("unread_part", place, f"a drawing of kind {kind} is not read: {name}".rstrip(": "))
        )
    return None


def _target(part: Element, targets: dict[str, Relationship]) -> str:
    """The address that a shape leads to, as ` (https://example.org)`; ''."""
    click = next(part.iter(f"{_A}hlinkClick"), None)
    link = None if click is None else targets.get(str(click.get(f"{R}id")))
    return f" ({link.target})" if link is not None and link.target else ""


def _place_of(anchor: Element, sheet: str) -> str:
    """The cell that a drawing starts in; the sheet where it has none."""
    start = anchor.find(f"{_XDR}from")
    if start is None:
        return sheet
    column, row = (int(start.findtext(f"{_XDR}{name}") or 0) for name in ("col", "row"))
    return f"{sheet}!{letters(column + 1)}{row + 1}"


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
        place = _cell_of(str(client.findtext(f"{_X}Anchor") or ""), sheet)
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
            if part.tag == _CONTROL:
                key = _ID.search(str(part.get("spid")))
                found[key.group(1) if key else ""] = (drawn_text(anchor), _place_of(anchor, sheet))
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


def _cell_of(anchor: str, sheet: str) -> str:
    parts = [part.strip() for part in anchor.split(",")]
    if len(parts) < 3 or not (parts[0].isdecimal() and parts[2].isdecimal()):  # noqa: PLR2004 -- column, offset, row
        return sheet
    return f"{sheet}!{letters(int(parts[0]) + 1)}{int(parts[2]) + 1}"
