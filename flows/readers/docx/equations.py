"""Office equations (ISO/IEC 29500-1, 22.1) as linear text: `(a+b)/c`, `√(x)`, `∑_(i=1)^n▒x`."""

from collections.abc import Callable

from flows.common.word_xml import NAMESPACES, Element, tag

_SKIP = ("m:ctrlPr", "m:rPr", "w:rPr", "w:del", "w:moveFrom")


def _property(element: Element, group: str, name: str, absent: str = "") -> str:
    """A property's value; '' where it is there without one."""
    found = element.find(f"m:{group}/m:{name}", NAMESPACES)
    return absent if found is None else str(found.get(f"{{{NAMESPACES['m']}}}val", ""))


def _part(element: Element, name: str) -> str:
    found = element.find(f"m:{name}", NAMESPACES)
    return "" if found is None else linear(found)


def _parts(element: Element, name: str, between: str) -> str:
    return between.join(linear(part) for part in element if tag(part) == name)


def _group(text: str) -> str:
    """`text`, in round brackets unless it is one character, one word or one number."""
    return text if text.isalnum() or len(text) <= 1 else f"({text})"


def _scripts(element: Element) -> str:
    sub, sup = _part(element, "sub"), _part(element, "sup")
    return (f"_{_group(sub)}" if sub else "") + (f"^{_group(sup)}" if sup else "")


def _scripted(element: Element) -> str:
    return _part(element, "e") + _scripts(element)


def _delimited(element: Element) -> str:
    marks = (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    begin, between, end = (_property(element, "dPr", name, usual) for name, usual in marks)
    return begin + _parts(element, "m:e", between) + end


def _fraction(element: Element) -> str:
    top, bottom = _part(element, "num"), _part(element, "den")
    if _property(element, "fPr", "type") == "noBar":
        return f"{_group(top)}¦{_group(bottom)}"
    return f"{_group(top)}/{_group(bottom)}"


def _root(element: Element) -> str:
    degree = _part(element, "deg")
    return (_group(degree) if degree and degree != "2" else "") + f"√({_part(element, 'e')})"


def _accent(element: Element) -> str:
    inside = _part(element, "e")
    return (inside if len(inside) == 1 else f"({inside})") + _property(element, "accPr", "chr", "\u0302")


_WRITERS: dict[str, Callable[[Element], str]] = {
    "m:f": _fraction,
    "m:rad": _root,
    "m:nary": lambda e: _property(e, "naryPr", "chr", "∫") + _scripts(e) + " " + _part(e, "e"),
    "m:d": _delimited,
    "m:m": lambda e: f"[{_parts(e, 'm:mr', '; ')}]",
    "m:mr": lambda e: _parts(e, "m:e", ", "),
    "m:acc": _accent,
    "m:sSup": _scripted,
    "m:sSub": _scripted,
    "m:sSubSup": _scripted,
    "m:sPre": lambda e: _scripts(e) + _part(e, "e"),
    "m:func": lambda e: _part(e, "fName") + " " + _part(e, "e"),
    "m:limLow": lambda e: _part(e, "e") + "_" + _group(_part(e, "lim")),
    "m:limUpp": lambda e: _part(e, "e") + "^" + _group(_part(e, "lim")),
    "m:bar": lambda e: (
        f"({_part(e, 'e')})" + ("\u0304" if _property(e, "barPr", "pos") == "top" else "\u0332")
    ),
    "m:eqArr": lambda e: _parts(e, "m:e", "; "),
    "m:groupChr": lambda e: _part(e, "e"),
}


def linear(element: Element) -> str:
    """An equation, or a part of one, on one line.

    Structures without a linear form of their own are written as their parts in order, so that no
    symbol goes missing.
    """
    name = tag(element)
    if name in _SKIP or name.endswith("Pr"):
        return ""
    if name in {"m:t", "w:t"}:
        return str(element.text or "")
    writer = _WRITERS.get(name)
    if writer is not None:
        return writer(element)
    return "".join(linear(part) for part in element)
