"""The content of one paragraph as text: runs, fields, links, marks, tracked changes, equations."""

from collections.abc import Iterator
from contextlib import suppress

from flows.common.word_xml import Element, attribute, child, qn, tag
from flows.readers.docx import drawing
from flows.readers.docx.context import CommentMark, Context, Line, NoteMark, emit
from flows.readers.docx.equations import linear
from flows.readers.docx.fields import address, field_mark, link_target, without_result
from flows.readers.docx.styles import Look, why_hidden
from flows.readers.markup import branches
from flows.readers.shared.notation import flat, shifted
from flows.readers.shared.signs import in_font, numeral, symbol

_USUAL_SIZE = 20  # half-points, where no style says one
_SKIP = frozenset([
    "w:pPr", "w:rPr", "w:sdtPr", "w:sdtEndPr", "w:proofErr", "w:bookmarkStart", "w:bookmarkEnd",
    "w:lastRenderedPageBreak", "w:annotationRef", "w:footnoteRef", "w:endnoteRef", "w:separator",
    "w:continuationSeparator", "w:delInstrText", "w:smartTagPr", "w:customXmlPr", "w:permStart",
    "w:permEnd", "w:moveFromRangeStart", "w:moveFromRangeEnd", "w:moveToRangeStart",
    "w:moveToRangeEnd", "w:fldData", "w:rubyPr", "w:pgNum", "w:tblPr", "w:ffData",
])  # fmt: skip


def walk(element: Element, line: Line, context: Context, style: str) -> None:  # noqa: C901, PLR0912 -- one case an element
    """Read the children of a paragraph or of a container inside one."""
    for part in element:
        name = tag(part)
        if not name or name in _SKIP:
            continue
        match name:
            case "w:r":
                run(part, line, context, style)
            case "w:ins" | "w:moveTo":
                context.revisions["inserted"] += 1
                walk(part, line, context, style)
            case "w:del" | "w:moveFrom":
                deleted(part, context, moved=name == "w:moveFrom")
            case "w:hyperlink":
                start = line.position()
                walk(part, line, context, style)
                link = context.links.get(attribute(part, "r:id"))
                if link is not None and link.external:
                    link_target(line, context, start, link.target)
            case "w:fldSimple":
                start = line.position()
                walk(part, line, context, style)
                code = attribute(part, "w:instr")
                if target := address(code):
                    link_target(line, context, start, target)
                if line.position() == start and child(part, "w:r") is None:
                    without_result(code, line, context)
            case "m:oMathPara" | "m:oMath":
                emit(line, context, f" {linear(part)} " if name == "m:oMath" else f"\n{linear(part)}\n")
            case "mc:AlternateContent":
                before = line.position()
                for branch in branches(part):
                    walk(branch, line, context, style)
                    if before != line.position():
                        break
            case "w:commentRangeStart" | "w:commentRangeEnd":
                comment_range(part, context)
            case "w:drawing" | "w:pict" | "w:object":
                line.after.extend(drawing.contents(part, context))
            case "w:subDoc":
                context.notice("unread_part", "a linked sub-document, which is not in this file")
            case _:
                walk(part, line, context, style)


def comment_range(mark: Element, context: Context) -> None:
    """Begin or end the stretch of text that a comment is about."""
    key = attribute(mark, "w:id")
    if tag(mark) == "w:commentRangeStart":
        context.open_comments[key] = []
    elif key in context.open_comments:
        context.anchors[key] = flat("".join(context.open_comments.pop(key)))


def deleted(element: Element, context: Context, *, moved: bool = False, mark: Element | None = None) -> None:
    """Leave out deleted text and report it; moved text is read at its new place.

    `mark` says who deleted it and when, if not `element` itself.
    """
    mark = element if mark is None else mark
    away = moved or next(element.iter(qn("w:moveFrom")), None) is not None
    context.revisions["moved"] += away
    text = "" if moved else flat("".join(_deleted_text(element, context)))
    if away and not text:
        return
    context.revisions["deleted"] += 1
    if text:
        who = attribute(mark, "w:author") or "unknown author"
        when = f" on {attribute(mark, 'w:date')[:10]}" if attribute(mark, "w:date") else ""
        context.notice("revisions", f"deleted by {who}{when}: {text}")


def _deleted_text(element: Element, context: Context) -> Iterator[str]:
    """What goes with an element: its own text and its notes', without what was moved elsewhere."""
    for part in element.iter():
        match tag(part):
            case "w:t" | "w:delText" | "m:t" if next(part.iterancestors(qn("w:moveFrom")), None) is None:
                yield str(part.text or "")
            case "w:p" | "w:tab" | "w:br":
                yield " "
            case "w:footnoteReference" | "w:endnoteReference":
                kind, key = tag(part)[2:-9], attribute(part, "w:id")
                note = context.notes.get(kind, {}).get(key)
                if note is not None and (kind, key) not in context.notes_gone:
                    context.notes_gone.add((kind, key))  # once, however often a file refers to it
                    yield f" [{flat(''.join(_deleted_text(note, context)))}]"
            case _:
                pass


def run(element: Element, line: Line, context: Context, style: str) -> None:  # noqa: C901, PLR0912 -- one case an element
    """Read one run: text of one formatting."""
    properties = child(element, "w:rPr")
    seen = context.styles.run_look(properties, style)
    hidden = why_hidden(seen, context.grounds)
    if child(properties, "w:del") is not None:
        deleted(element, context)
        return
    for part in element:
        name = tag(part)
        if not name or name in _SKIP:
            continue
        text = ""
        match name:
            case "w:t":
                text = _shown(str(part.text or ""), seen, line, context, style)
            case "w:tab" | "w:ptab":
                text = "\t"
            case "w:br" | "w:cr":
                text = "\n"
            case "w:noBreakHyphen":
                text = "-"
            case "w:softHyphen" | "w:delText":
                pass
            case "w:sym":
                text = _symbol(part, context)
            case "w:fldChar":
                field_mark(part, line, context)
            case "w:instrText":
                if context.fields:
                    context.fields[-1].code += str(part.text or "")
            case "w:footnoteReference" | "w:endnoteReference":
                _note_mark(element, part, line, context, hidden)
            case "w:commentReference":
                line.after.append(CommentMark(attribute(part, "w:id")))
            case "w:ruby":
                _ruby(part, line, context, style)
            case "w:drawing" | "w:pict" | "w:object":
                if context.in_code():
                    continue
                if seen.vanish:
                    line.hidden.append(("hidden", "a drawing or image"))
                else:
                    line.after.extend(drawing.contents(part, context))
            case "w:contentPart":
                context.notice("unread_part", "ink or other content that Word draws itself")
            case _:
                # mc:AlternateContent holds what a run would hold, not runs.
                _alternatives(part, properties is not None and bool(seen.vanish), line, context, style)
        if text:
            emit(line, context, text, strike=bool(seen.strike), hidden=hidden)


def _alternatives(part: Element, hidden: bool, line: Line, context: Context, style: str) -> None:
    for branch in branches(part) if tag(part) == "mc:AlternateContent" else [part]:
        before = line.position()
        if hidden and child(branch, "w:rPr") is None:
            line.hidden.append(("hidden", flat(_plain(branch)) or "a drawing or image"))
            return
        run(branch, line, context, style)
        if before != line.position():
            return


def _plain(element: Element) -> str:
    return " ".join(str(part.text or "") for part in element.iter(qn("w:t")))


def _shown(text: str, seen: Look, line: Line, context: Context, style: str) -> str:
    shown, unknown = in_font(text, seen.font)
    for code in unknown:
        context.notice("unknown_symbol", code)
    before = line.segments[-1][0][-1:].strip() if line.segments else ""
    raised = seen.raised or 0
    if abs(raised) > 1 and not before:
        usual = context.styles.run_look(None, style).size or _USUAL_SIZE
        if (seen.size or usual) >= usual:  # a script is smaller than its paragraph
            return shown
    return shifted(shown, raised, behind_digit=before.isdigit() and " " not in text)


def _symbol(part: Element, context: Context) -> str:
    font, code = attribute(part, "w:font"), attribute(part, "w:char")
    with suppress(ValueError):
        if found := symbol(font, int(code, 16)):
            return found
    context.notice("unknown_symbol", f"{font} {code}")
    return f"[symbol {font} {code}]"


def _note_mark(run_element: Element, part: Element, line: Line, context: Context, hidden: str | None) -> None:
    kind = "footnote" if tag(part) == "w:footnoteReference" else "endnote"
    key = attribute(part, "w:id")
    if hidden:
        note = context.notes.get(kind, {}).get(key)
        line.hidden.append((hidden, "" if note is None else _plain(note)))
        return
    if context.in_code():
        return
    if attribute(part, "w:customMarkFollows") in {"1", "true", "on"}:
        line.after.append(NoteMark(kind, key, flat(_plain(run_element)) or "*"))
        return
    count = context.note_counts.get(kind, 0) + 1
    context.note_counts[kind] = count
    label = numeral(count, context.note_forms.get(kind, "decimal")) or str(count)
    emit(line, context, f"[^{label}]")
    line.after.append(NoteMark(kind, key, label))


def _ruby(part: Element, line: Line, context: Context, style: str) -> None:
    for name, before, behind in (("w:rubyBase", "", ""), ("w:rt", " (", ")")):
        inside = child(part, name)
        if inside is not None:
            emit(line, context, before)
            walk(inside, line, context, style)
            emit(line, context, behind)
