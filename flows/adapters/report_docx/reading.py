"""Read the visible text of a paragraph, and detect placeholders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flows.adapters.report_docx.elements import ancestor, inside, live
from flows.common.word_xml import SDT, TBL, Element, P, R, T, child, qn, switch, val

_SIGNS = {qn("w:tab"): "\t", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-", qn("w:softHyphen"): ""}
_BR, _SYM = qn("w:br"), qn("w:sym")
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


def paragraph_text(paragraph: Element) -> str:
    """Its text as if tracked changes were accepted, without hidden text and what is in text boxes."""
    return "".join(_texts(paragraph))


def _texts(root: Element) -> Iterator[str]:
    for each in live(root):
        parent = each.getparent()
        if parent is None or parent.tag != R or is_hidden(parent):
            continue
        if each.tag == T:
            yield str(each.text or "")
        elif each.tag == _BR:
            yield "\n" if each.get(qn("w:type"), "textWrapping") == "textWrapping" else ""
        elif each.tag == _SYM:
            yield _symbol(str(each.get(qn("w:char"), "")))
        else:
            yield _SIGNS.get(each.tag, "")


def _symbol(code: str) -> str:
    try:
        return chr(int(code, 16))
    except (ValueError, OverflowError):
        return ""


def is_hidden(run: Element) -> bool:
    """Whether Word leaves a run out of the page."""
    return bool(switch(run, "w:rPr", "w:vanish"))


def texts_of(paragraphs: list[Element]) -> str:
    """Texts of several paragraphs, one a line."""
    return "\n".join(map(paragraph_text, paragraphs))


def has_pictures(element: Element) -> bool:
    """Whether it holds a drawing, a picture or an embedded object, text boxes included."""
    return next(element.iter(*_PICTURES), None) is not None


def is_tracked(paragraph: Element) -> bool:
    """Whether it holds tracked changes, its mark's included."""
    return next(paragraph.iter(*_TRACKED), None) is not None


def looks_unfilled(paragraph: Element) -> bool:
    """Whether the paragraph, its controls aside, holds text that a template wants replaced."""
    if any(
        val(run, "w:rPr", "w:rStyle") == "PlaceholderText" and ancestor(run, SDT) is None
        for run in paragraph.iter(R)
    ):
        return True
    outside = "".join(
        str(text.text or "")
        for text in live(paragraph)
        if text.tag == T and not _in_control(text, paragraph) and not is_hidden(text.getparent())
    )
    return _PROMPT.search(outside) is not None


def _in_control(element: Element, paragraph: Element) -> bool:
    for each in element.iterancestors():
        if each is paragraph:
            return False
        if each.tag == SDT:
            return True
    return False


def only_control(paragraph: Element) -> Element | None:
    """The one control that holds all that is in the paragraph; None if there are more, or other text."""
    controls = list(inline_controls(paragraph))
    if len(controls) != 1 or has_pictures(paragraph):
        return None
    others = (
        text
        for text in live(paragraph)
        if text.tag == T and str(text.text or "").strip() and not _in_control(text, paragraph)
    )
    return controls[0] if next(others, None) is None else None


def inline_controls(paragraph: Element) -> Iterator[Element]:
    """Controls within a paragraph, in order; those within another control come after it."""
    return (each for each in live(paragraph) if each.tag == SDT)


def paragraphs_in(container: Element) -> list[Element]:
    """Paragraphs right in a cell, body, box, header or control, those in block-level controls included."""
    return list(inside(container, P))


def field_balance(element: Element) -> int | None:
    """Fields begun less fields ended within `element`; None if one ends that began before it."""
    depth = 0
    for mark in element.iter(qn("w:fldChar")):
        kind = mark.get(qn("w:fldCharType"))
        depth += {"begin": 1, "end": -1}.get(str(kind), 0)
        if depth < 0:
            return None
    return depth


def field_codes(paragraph: Element) -> list[str]:
    """What Word fills in by itself there, such as `PAGE`; form fields and links aside."""
    codes = [str(each.text or "") for each in live(paragraph) if each.tag == qn("w:instrText")]
    codes += [str(each.get(qn("w:instr"), "")) for each in live(paragraph) if each.tag == qn("w:fldSimple")]
    names = [code.split()[0].upper() for code in codes if code.split()]
    return [name for name in dict.fromkeys(names) if name.isalpha() and name not in _NO_FIELDS]


def is_plain(container: Element) -> bool:
    """Whether it holds paragraphs alone: no table and no control around paragraphs."""
    return next(inside(container, TBL), None) is None and child(container, "w:sdt") is None
