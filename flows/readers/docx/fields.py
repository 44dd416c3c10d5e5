"""Fields and links: what Word shows of them, and the targets of links."""

import re
from dataclasses import replace

from flows.common.word_xml import Element, attribute, child, number, qn, switch, val
from flows.readers.docx.context import Context, Field, Line, emit
from flows.readers.shared.notation import bare_address, flat
from flows.schema.document import Block, BlockKind

_TOKEN = re.compile(r'"([^"]*)"|(\S+)')
_BUTTON = re.compile(r"(?:MACROBUTTON|GOTOBUTTON)\s+\S+\s*(.*)", re.IGNORECASE | re.DOTALL)
# Word shows nothing for these: marks of an index or table, variables, commands of a mail merge, form fields
# (their state is read) and links without a text.
_SHOW_NOTHING = frozenset([
    "XE", "TC", "TA", "RD", "SET", "ASK", "PRIVATE", "ADVANCE", "NEXT", "NEXTIF", "SKIPIF", "HYPERLINK",
    "FORMTEXT", "FORMCHECKBOX", "FORMDROPDOWN",
])  # fmt: skip
_PAGE_NUMBERS = frozenset(["PAGE", "NUMPAGES", "SECTION", "SECTIONPAGES"])


def address(code: str) -> str:
    """Where a `HYPERLINK` field leads outside the document; '' for other fields and for bookmarks."""
    name, *tokens = [quoted or bare for quoted, bare in _TOKEN.findall(code)] or [""]
    if name.upper() != "HYPERLINK":
        return ""
    while tokens:
        token = tokens.pop(0)
        if not re.fullmatch(r"\\[a-z]", token, re.IGNORECASE):
            return token
        if token[1] in "lotLOT" and tokens:  # a place in the target, a tip and a frame take an argument
            tokens.pop(0)
    return ""


def link_target(line: Line, context: Context, begun: tuple[int, int, int], target: str) -> None:
    """Name the address of a link, begun at that position, unless its text or image says it already."""
    start, first, _ = begun
    shown = flat("".join(text for text, _ in line.segments[start:]))
    bare = bare_address(target)
    if shown and bare and bare not in shown and target not in shown:
        emit(line, context, f" ({target})")
    for at, item in enumerate(() if shown else line.after[first:], first):
        if isinstance(item, Block) and item.kind is BlockKind.image and target not in item.text:
            line.after[at] = replace(item, text=f"{item.text} ({target})")


def field_mark(mark: Element, line: Line, context: Context) -> None:
    """Follow one `w:fldChar`: code is read but not shown, results are; form fields show their state."""
    kind = attribute(mark, "w:fldCharType")
    if mark not in context.paired:
        return
    if kind == "begin":
        context.fields.append(Field())
        _form_field(mark, line, context)
    elif kind == "separate" and context.fields:
        entry = context.fields[-1]
        entry.in_code, entry.line, entry.start = False, id(line), line.position()
    elif kind == "end" and context.fields:
        entry = context.fields.pop()
        target = address(entry.code)
        if target and not entry.in_code and entry.line == id(line):
            link_target(line, context, entry.start, target)
        if entry.in_code:
            without_result(entry.code, line, context)


def without_result(code: str, line: Line, context: Context) -> None:
    """Report a field without a stored result: Word computes what it shows, the reader does not.

    A page number in a header or footer is not reported, as the text has no pages. Nor is a button, which
    shows the text in its code. A formula (`EQ`) and a number (`LISTNUM`, `AUTONUM`) never have a result:
    their code stands in the text.
    """
    code = flat(code)
    name = code.partition(" ")[0].upper()
    if not code or name in _SHOW_NOTHING or context.in_code():
        return
    if name in _PAGE_NUMBERS and ("header" in context.place or "footer" in context.place):
        return
    if button := _BUTTON.match(code):
        emit(line, context, button.group(1))
        return
    context.notice("unread_field", code)
    if name in {"EQ", "LISTNUM"} or name.startswith("AUTONUM"):
        emit(line, context, f"[{code}]")


def _form_field(mark: Element, line: Line, context: Context) -> None:
    """Check boxes and drop-down lists of old forms keep their state here, not in a result."""
    data = child(mark, "w:ffData")
    if data is None or any(entry.in_code for entry in context.fields[:-1]):
        return
    state, context.fields[-1].in_code = context.fields[-1].in_code, False
    box = child(data, "w:checkBox")
    if box is not None:
        states = (switch(box, name) for name in ("w:checked", "w:default"))
        checked = next((state for state in states if state is not None), False)
        emit(line, context, "☒ " if checked else "☐ ")
    choices = child(data, "w:ddList")
    if choices is not None:
        entries = [val(entry) for entry in choices.iterfind(qn("w:listEntry"))]
        at = number(val(choices, "w:result", default=val(choices, "w:default", default="0"))) or 0
        emit(line, context, entries[at] if 0 <= at < len(entries) else "")
    context.fields[-1].in_code = state
