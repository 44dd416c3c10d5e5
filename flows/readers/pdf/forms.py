"""What stands on a page beside its text: form fields, typed annotations, comments."""

from __future__ import annotations

import importlib
from typing import Any

from flows.readers.words import collapsed, flat
from flows.schema.document import Block, BlockKind

_MARKUP = {
    "Text",
    "Highlight",
    "Underline",
    "StrikeOut",
    "Squiggly",
    "Caret",
    "Square",
    "Circle",
    "Line",
    "Polygon",
}
_PARENTS = 20
MAX_ANNOTATIONS = 5000


def _resolved(value: Any) -> Any:
    resolve1: Any = importlib.import_module("pdfminer.pdftypes").resolve1
    return resolve1(value)


def _string(value: Any) -> str:
    """A PDF string or name as text."""
    literal: Any = importlib.import_module("pdfminer.psparser").PSLiteral
    decode_text: Any = importlib.import_module("pdfminer.utils").decode_text
    value = _resolved(value)
    if isinstance(value, literal):
        return str(value.name)
    if isinstance(value, bytes):
        return str(decode_text(value))
    if isinstance(value, list):
        entries: list[Any] = value  # pyright: ignore[reportUnknownVariableType] -- pdfminer has no types
        return ", ".join(filter(None, (_string(entry) for entry in entries)))
    return "" if value is None else str(value)


def _keys(value: Any) -> dict[str, Any]:
    """A PDF dictionary; an empty one for anything else."""
    value = _resolved(value)
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] -- pdfminer has no types


def _inherited(entry: Any, name: str) -> Any:
    for _ in range(_PARENTS):
        keys = _keys(entry)
        if name in keys:
            return _resolved(keys[name])
        entry = keys.get("Parent")
    return None


def _name(entry: Any) -> str:
    names: list[str] = []
    for _ in range(_PARENTS):
        keys = _keys(entry)
        if "T" in keys:
            names.append(flat(_string(keys["T"])))
        entry = keys.get("Parent")
    return ".".join(reversed(names))


def _field(data: dict[str, Any]) -> str | None:
    kind, value = _string(_inherited(data, "FT")), _inherited(data, "V")
    if kind == "Btn":
        flags = _inherited(data, "Ff")
        if isinstance(flags, int) and flags & 0x10000:  # a push button does, it holds nothing
            return None
        state = _string(data.get("AS")) or _string(value)
        chosen = state not in {"", "Off"}
        own = next((key for key in _keys(_keys(data.get("AP")).get("N")) if key != "Off"), "")
        label = f" ({own})" if own and own not in {"Yes", "On", "1"} else ""
        return ("☒" if chosen else "☐") + label
    return collapsed(_string(value))


def _details(data: dict[str, Any]) -> str:
    author, when = flat(_string(data.get("T"))), _string(data.get("M")).removeprefix("D:")
    said = f" by {author}" if author else ""
    if len(when) >= 8 and when[:8].isdigit():  # noqa: PLR2004 -- year, month, day
        said += f", {when[:4]}-{when[4:6]}-{when[6:8]}"
    return said


def beside(page: Any, number: int) -> list[Block]:
    """Fields with their values, typed notes and comments of a page, from top to bottom."""
    blocks: list[Block] = []
    place = f"page {number}"
    annotations: list[Any] = sorted(page.annots, key=lambda a: (a["top"], a["x0"]))
    for annotation in annotations[:MAX_ANNOTATIONS]:
        data: dict[str, Any] = annotation["data"]
        kind = _string(data.get("Subtype"))
        text = collapsed(_string(data.get("Contents")))
        flags = _resolved(data.get("F"))
        if isinstance(flags, int) and flags & 0x2 and kind != "Popup":
            continue  # hidden on screen and on paper; its caller reports nothing, as nobody sees it
        if kind == "Widget":
            value = _field(data)
            if value is not None:
                label = flat(_string(_inherited(data, "TU"))) or _name(data) or "without a name"
                blocks.append(Block(BlockKind.form, f"[Form field: {label}] {value or '(empty)'}", place))
        elif kind == "FreeText" and text:
            blocks.append(Block(BlockKind.textbox, f"[Text box] {text}", place))
        elif kind in _MARKUP and text:
            blocks.append(Block(BlockKind.comment, f"[Comment{_details(data)}] {text}", place))
        elif kind == "FileAttachment":
            blocks.append(Block(BlockKind.comment, f"[Attached file, not read] {text}".rstrip(), place))
    return blocks
