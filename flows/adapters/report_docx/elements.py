"""Create, traverse and read WordprocessingML elements, of python-docx's classes."""

import importlib
import re
from collections.abc import Iterator
from typing import Any

from flows.common.word_xml import SDT, Element, P, R, T, qn, switch, val

SDT_CONTENT, BOX, ALTERNATE = qn("w:sdtContent"), qn("w:txbxContent"), qn("mc:AlternateContent")
CHOICE, FALLBACK = qn("mc:Choice"), qn("mc:Fallback")
DELETED = frozenset(map(qn, ("w:del", "w:moveFrom")))
_WRAPPERS = frozenset(
    map(qn, ("w:sdt", "w:sdtContent", "w:customXml", "w:smartTag", "w:ins", "w:moveTo", "w:hyperlink"))
)
_SIGNS = {qn("w:tab"): "\t", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-", qn("w:softHyphen"): ""}
_BREAK, _SYMBOL = qn("w:br"), qn("w:sym")
_TRACKED = tuple(map(qn, ("w:ins", "w:del", "w:moveFrom", "w:moveTo", "w:rPrChange", "w:pPrChange")))
_NO_FIELDS = frozenset({"HYPERLINK", "FORMTEXT", "FORMCHECKBOX", "FORMDROPDOWN"})  # a person fills these
_PICTURES = tuple(map(qn, ("w:drawing", "w:pict", "w:object")))

# Prompts of templates: words in brackets, merge marks, Word's own phrases. Not a number of a note, [sic],
# a box to be ticked, or an address in angle brackets.
_PROMPT = re.compile(
    r"\[(?!sic\]|x\]|X\])(?=[^\[\]]*[^\W\d_])[^\[\]\n]+\]|\{\{[^{}\n]+\}\}|<(?![^<>\n]*[@:/])[^\W\d_][^<>\n]*>"
    r"|\b(?:click|tap)(?: or (?:click|tap))? (?:here|to)\b|\bchoose an item\b|_{4,}|\blorem ipsum\b",
    re.IGNORECASE,
)


def make(name: str, *children: Element, **attributes: str) -> Element:
    """A new element; attributes are given without their prefix, which is `w`."""
    parser: Any = importlib.import_module("docx.oxml.parser")
    new = parser.OxmlElement(name, {qn(f"w:{key}"): value for key, value in attributes.items()})
    new.extend(children)
    return new


def put_before(parent: Element, new: Element, *later: str) -> None:
    """Add `new` before the first child with one of the names in `later`, else at the end."""
    names = set(map(qn, later))
    before = next((each for each in parent if each.tag in names), None)
    if before is None:
        parent.append(new)
    else:
        before.addprevious(new)


def remove(element: Element | None) -> None:
    """Take an element, if it is there, out of its parent."""
    if element is not None and element.getparent() is not None:
        element.getparent().remove(element)


def clear(paragraph: Element) -> None:
    """Remove all that a paragraph holds but its properties."""
    for each in list(paragraph):
        if each.tag != qn("w:pPr"):
            paragraph.remove(each)


def ancestor(element: Element, *tags: str) -> Element | None:
    """The nearest ancestor with one of the tags."""
    return next(element.iterancestors(*tags), None)


def inside(element: Element, *tags: str) -> Iterator[Element]:
    """Children with one of the tags, looked for within wrappers (controls, insertions, links) as well."""
    for each in element:
        if each.tag in tags:
            yield each
        elif each.tag in _WRAPPERS:
            yield from inside(each, *tags)


def has(element: Element, *tags: str) -> bool:
    """Whether `inside` finds any."""
    return next(inside(element, *tags), None) is not None


def live(element: Element) -> Iterator[Element]:
    """All descendants in document order, without deletions, old VML twins and what is in text boxes."""
    for each in element:
        if not isinstance(each.tag, str) or each.tag in DELETED or each.tag in {FALLBACK, BOX}:
            continue
        yield each
        yield from live(each)


def paragraphs_in(container: Element) -> list[Element]:
    """Paragraphs right in a cell, body, box, header or control, those in block-level controls included."""
    return list(inside(container, P))


def inline_controls(paragraph: Element) -> list[Element]:
    """Controls within a paragraph, in order; those within another control come after it."""
    return [each for each in live(paragraph) if each.tag == SDT]


def only_control(paragraph: Element) -> Element | None:
    """The one control that holds all that is in the paragraph; None if there are more, or other text."""
    controls = inline_controls(paragraph)
    if len(controls) != 1 or has_pictures(paragraph):
        return None
    return None if any(str(text.text or "").strip() for text in _outside(paragraph)) else controls[0]


def _outside(paragraph: Element) -> list[Element]:
    """Texts of a paragraph that stand in no control within it."""
    depth = len(list(paragraph.iterancestors(SDT)))
    texts = (each for each in live(paragraph) if each.tag == T)
    return [each for each in texts if len(list(each.iterancestors(SDT))) == depth]


def paragraph_text(root: Element) -> str:
    """Text of a paragraph as if tracked changes were accepted, without hidden text and text boxes."""
    found = ""
    for each in live(root):
        parent = each.getparent()
        if parent is None or parent.tag != R or is_hidden(parent):
            continue
        if each.tag == T:
            found += str(each.text or "")
        elif each.tag == _BREAK:
            found += "\n" if is_line_break(each) else ""
        elif each.tag == _SYMBOL:
            found += _symbol(str(each.get(qn("w:char"), "")))
        else:
            found += _SIGNS.get(each.tag, "")
    return found


def _symbol(code: str) -> str:
    try:
        return chr(int(code, 16))
    except (ValueError, OverflowError):
        return ""


def is_line_break(element: Element) -> bool:
    """Whether it is a `w:br` that begins a line, not a page or column."""
    return element.tag == _BREAK and element.get(qn("w:type"), "textWrapping") == "textWrapping"


def is_hidden(run: Element) -> bool:
    """Whether Word leaves a run out of the page."""
    return bool(switch(run, "w:rPr", "w:vanish"))


def has_pictures(element: Element) -> bool:
    """Whether it holds a drawing, a picture or an embedded object, text boxes included."""
    return next(element.iter(*_PICTURES), None) is not None


def is_tracked(paragraph: Element) -> bool:
    """Whether it holds tracked changes, its mark's included."""
    return next(paragraph.iter(*_TRACKED), None) is not None


def looks_unfilled(paragraph: Element) -> bool:
    """Whether the paragraph, its controls aside, holds text that a template wants replaced."""
    for run in paragraph.iter(R):
        if val(run, "w:rPr", "w:rStyle") == "PlaceholderText" and ancestor(run, SDT) is None:
            return True
    shown = (str(text.text or "") for text in _outside(paragraph) if not is_hidden(text.getparent()))
    return _PROMPT.search("".join(shown)) is not None


def field_codes(paragraph: Element) -> list[str]:
    """What Word fills in by itself there, such as `PAGE`; form fields and links aside."""
    codes = [str(each.text or "") for each in live(paragraph) if each.tag == qn("w:instrText")]
    codes += [str(each.get(qn("w:instr"), "")) for each in live(paragraph) if each.tag == qn("w:fldSimple")]
    names = [code.split()[0].upper() for code in codes if code.split()]
    return [name for name in dict.fromkeys(names) if name.isalpha() and name not in _NO_FIELDS]


def cuts_field(element: Element) -> bool:
    """Whether a field begins within `element` and ends outside of it, or the other way round."""
    depth = 0
    for mark in element.iter(qn("w:fldChar")):
        depth += {"begin": 1, "end": -1}.get(str(mark.get(qn("w:fldCharType"))), 0)
        if depth < 0:
            return True
    return depth != 0
