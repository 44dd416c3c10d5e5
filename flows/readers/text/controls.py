"""Text shown by the controls of an HTML form: values, ticks, chosen options."""

from __future__ import annotations

from flows.readers.markup import Element
from flows.readers.words import flat

CONTROLS = frozenset(["input", "select", "textarea"])
_UNSEEN = frozenset(["hidden", "password"])
_TICKS = frozenset(["checkbox", "radio"])
_BUTTONS = {"submit": "Submit", "reset": "Reset"}


def shown(element: Element) -> tuple[str, str]:
    """Return the text that a control shows, and its hidden text."""
    if element.tag == "textarea":
        return str(element.text_content()).strip("\n"), ""
    if element.tag == "select":
        return _options(element), ""
    kind = str(element.get("type") or "text").strip().lower()
    value = flat(str(element.get("value") or ""))
    if kind in _TICKS:
        return _tick(element, "checked"), ""
    if kind in _UNSEEN:
        return "", value
    if kind == "image":
        return f"[Image: {flat(str(element.get('alt') or ''))}]", ""
    hint = flat(str(element.get("placeholder") or ""))
    return value or _BUTTONS.get(kind, "") or (f"[empty: {hint}]" if hint else ""), ""


def _tick(element: Element, name: str) -> str:
    return "☒" if element.get(name) is not None else "☐"


def _options(element: Element) -> str:
    options = list(element.iter("option"))
    labels = [flat(str(option.get("label") or option.text_content())) for option in options]
    size = str(element.get("size") or "1")
    if element.get("multiple") is not None or (size.isdigit() and size not in {"0", "1"}):
        ticks = [_tick(option, "selected") for option in options]
        return ", ".join(f"{tick} {label}" for tick, label in zip(ticks, labels, strict=True))
    chosen = [
        label for option, label in zip(options, labels, strict=True) if option.get("selected") is not None
    ]
    return (chosen or labels[:1] or [""])[-1]
