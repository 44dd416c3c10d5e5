"""Short names for elements and attributes of WordprocessingML, as the standard's text writes them."""

from __future__ import annotations

from functools import cache
from typing import Any

from flows.readers.markup import Element

NAMESPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
    "v": "urn:schemas-microsoft-com:vml",
    "o": "urn:schemas-microsoft-com:office:office",
    "w14": "http://schemas.microsoft.com/office/word/2010/wordml",
    "w15": "http://schemas.microsoft.com/office/word/2012/wordml",
}
_PREFIX = {address: prefix for prefix, address in NAMESPACES.items()}
_short: dict[str, str] = {}


def tag(element: Element) -> str:
    """`w:p` for a paragraph; the local name alone for a namespace not listed; '' for a comment node."""
    full: Any = element.tag
    name = _short.get(full) if isinstance(full, str) else ""
    if name is None:
        address, _, local = full.rpartition("}")
        prefix = _PREFIX.get(address[1:])
        name = f"{prefix}:{local}" if prefix else local
        if len(_short) < 5000:  # noqa: PLR2004 -- hostile files can't grow the table without end
            _short[full] = name
    return name


@cache
def full(name: str) -> str:
    """The name as lxml wants it: `w:p` to `{http://...}p`."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


def child(element: Element, *names: str) -> Element | None:
    """The first child along a path of names: `child(p, 'w:pPr', 'w:numPr')`; None if any is missing."""
    for name in names:
        if element is None:
            return None
        element = element.find(full(name))
    return element


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """An attribute of an element that may be missing."""
    value = None if element is None else element.get(full(name))
    return default if value is None else str(value)


def value(element: Element | None, default: str = "") -> str:
    """The `w:val` of an element that may be missing."""
    return attribute(element, "w:val", default)


def switch(element: Element | None) -> bool | None:
    """An on/off property: None where it is absent, true where it is present without a value."""
    if element is None:
        return None
    return value(element, "true") not in {"0", "false", "off"}


def number(text: str) -> int | None:
    """An integer attribute, None where it is none (files carry `12.5`, `12pt`, nothing)."""
    try:
        return int(text)
    except ValueError:
        return None
