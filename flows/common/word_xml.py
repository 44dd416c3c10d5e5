"""Names of WordprocessingML elements and access to them: `w:p`, as the standard (ECMA-376) writes them."""

from functools import cache
from typing import Any

# lxml ships no types; an element is Any wherever it is used.
Element = Any

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
    "xml": "http://www.w3.org/XML/1998/namespace",
}
_PREFIX = {address: prefix for prefix, address in NAMESPACES.items() if prefix != "xml"}
_OFF = frozenset({"0", "false", "off"})
_short: dict[str, str] = {}


@cache
def qn(name: str) -> str:
    """The qualified name for lxml: `w:p` to `{http://...}p`."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


P, R, T, TBL, TR, TC, SDT = (qn(f"w:{name}") for name in ("p", "r", "t", "tbl", "tr", "tc", "sdt"))


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


def child(element: Element | None, *names: str) -> Element | None:
    """The first child along a path of names: `child(p, 'w:pPr', 'w:numPr')`; None if any is missing."""
    for name in names:
        if element is None:
            return None
        element = element.find(qn(name))
    return element


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """An attribute of an element that may be missing."""
    value = None if element is None else element.get(qn(name))
    return default if value is None else str(value)


def val(element: Element | None, *names: str, default: str = "") -> str:
    """`w:val` of the child along a path of names, of the element itself without names."""
    return attribute(child(element, *names), "w:val", default)


def switch(element: Element | None, *names: str) -> bool | None:
    """An on/off property such as `w:b`: None where it is absent, true without a value (17.17.4)."""
    found = child(element, *names)
    return None if found is None else val(found, default="true") not in _OFF


def number(text: str) -> int | None:
    """An integer attribute, None where it is none (files carry `12.5`, `12pt`, nothing)."""
    try:
        return int(text)
    except ValueError:
        return None
