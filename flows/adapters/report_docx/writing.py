"""Write text into paragraphs and runs, keeping formatting and removing tracked changes and prompts."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from flows.adapters.report_docx.elements import ancestor, inside, live, make, put_in_order, remove
from flows.adapters.report_docx.model import Piece, pieces
from flows.adapters.report_docx.reading import has_pictures, is_hidden, looks_unfilled, paragraph_text
from flows.common.word_xml import SDT, Element, P, R, child, qn, val

_TRACKED_LOOK = ("w:rPrChange", "w:ins", "w:del", "w:moveFrom", "w:moveTo")
_HIDDEN_LOOK = ("w:vanish", "w:webHidden", "w:specVanish")
# How templates format prompts.
_PROMPT_LOOK = ("w:rStyle", "w:color", "w:highlight", "w:shd", "w:i", "w:iCs")
_BOLD, _ITALIC = ("w:b", "w:bCs"), ("w:i", "w:iCs")
# CT_RPr is a sequence (ECMA-376 part 1, 17.3.2.28): what may follow bold and italic.
_AFTER_ITALIC = (
    *("w:caps", "w:smallCaps", "w:strike", "w:dstrike", "w:outline", "w:shadow", "w:emboss", "w:imprint"),
    *("w:noProof", "w:snapToGrid", "w:vanish", "w:webHidden", "w:color", "w:spacing", "w:w", "w:kern"),
    *("w:position", "w:sz", "w:szCs", "w:highlight", "w:u", "w:effect", "w:bdr", "w:shd", "w:fitText"),
    *("w:vertAlign", "w:rtl", "w:cs", "w:em", "w:lang", "w:eastAsianLayout", "w:specVanish", "w:oMath"),
)
_LATER = {
    "w:b": ("w:bCs", "w:i", "w:iCs", *_AFTER_ITALIC),
    "w:bCs": ("w:i", "w:iCs", *_AFTER_ITALIC),
    "w:i": ("w:iCs", *_AFTER_ITALIC),
    "w:iCs": _AFTER_ITALIC,
}
_BREAK, _TAB, _TEXT = qn("w:br"), qn("w:tab"), qn("w:t")
_STARTS = frozenset(map(qn, ("w:bookmarkStart", "w:permStart")))
_ENDS = frozenset(map(qn, ("w:bookmarkEnd", "w:permEnd")))


def runs_of(line: str, look: Element | None, *, soft: bool = False) -> list[Element]:
    """Runs for a line that may hold inline marks, each in a copy of `look` (`w:rPr`)."""
    return [_run(piece, look, soft=soft) for piece in pieces(line)]


def _run(piece: Piece, look: Element | None, *, soft: bool) -> Element:
    run = make("w:r")
    own = make("w:rPr") if look is None else deepcopy(look)
    for name in (*(_BOLD if piece.bold else ()), *(_ITALIC if piece.italic else ())):
        put_in_order(own, make(name), _LATER[name])
    if len(own):
        run.append(own)
    for at, line in enumerate(piece.text.split("\n") if soft else [piece.text]):
        if at:
            run.append(make("w:br"))
        for place, part in enumerate(line.split("\t")):
            if place:
                run.append(make("w:tab"))
            if part:
                text = make("w:t")
                text.text = part
                text.set(qn("xml:space"), "preserve")
                run.append(text)
    return run


def clean_look(look: Element | None, *, prompt: bool = False, bare: bool = False) -> Element | None:
    """A copy of run properties fit for new text.

    Args:
        look: the `w:rPr` of what stood there.
        prompt: it was a prompt, whose grey, slant and background don't belong to the answer.
        bare: the new text says itself what is bold and italic.
    """
    if look is None:
        return None
    own = make("w:rPr")
    for each in look:
        own.append(deepcopy(each))
    gone = (
        *_TRACKED_LOOK,
        *_HIDDEN_LOOK,
        *(_PROMPT_LOOK if prompt else ()),
        *(_BOLD + _ITALIC if bare else ()),
    )
    for name in gone:
        remove(own.find(qn(name)))
    if val(own, "w:rStyle") in {"PlaceholderText", "Hyperlink", "CommentReference", "FootnoteReference"}:
        remove(own.find(qn("w:rStyle")))
    return own


def look_of(paragraph: Element, skipped: Sequence[Element] = ()) -> Element | None:
    """Run properties of most of a paragraph's text; those of its mark where it has none."""
    best, most = child(paragraph, "w:pPr", "w:rPr"), 0
    for run in live(paragraph):
        if run.tag != R or run in skipped or is_hidden(run):
            continue
        length = sum(len(str(text.text or "")) for text in run.findall(_TEXT))
        if length > most:
            best, most = child(run, "w:rPr"), length
    return best


def write_paragraph(
    paragraph: Element, text: str, *, prompt: bool = False, base: Element | None = None
) -> Element:
    """Replace the text of a paragraph; each further line becomes a paragraph like it.

    Pictures, text boxes, page breaks and bookmarks stay. Leading runs whose text the new text repeats stay
    as they are, so that a bold label before a prompt remains bold. In a paragraph that had line breaks
    of its own, a line feed is a line break again.

    Args:
        paragraph: `w:p`, in a document.
        text: cleaned text with inline marks.
        prompt: what stands there is a prompt, whatever it looks like.
        base: run properties for the text; None for those of what stands there.

    Returns:
        The last paragraph written.
    """
    soft = any(
        each.tag == _BREAK and each.get(qn("w:type"), "textWrapping") == "textWrapping"
        for each in live(paragraph)
    )
    lines = [text] if soft else text.split("\n")
    marked = any(piece.bold or piece.italic for piece in pieces(text))
    kept = [] if marked else _repeated(paragraph, lines[0])
    prompt = prompt or looks_unfilled(paragraph)
    if base is None:
        look = clean_look(look_of(paragraph, kept), prompt=prompt, bare=marked)
    else:
        look = clean_look(base, bare=marked)
    _accept_mark(paragraph)
    rest = lines[0][sum(len(paragraph_text_of(run)) for run in kept) :]
    _rebuild(paragraph, kept, runs_of(rest, look, soft=soft) if rest or not kept else [])
    last = paragraph
    for line in lines[1:]:
        copy = like(paragraph)
        copy.extend(runs_of(line, look))
        last.addnext(copy)
        last = copy
    section = child(paragraph, "w:pPr", "w:sectPr")
    if section is not None and last is not paragraph:
        # A section ends with the paragraph that holds its properties.
        put_in_order(paragraph_properties(last), section, ("w:pPrChange",))
    return last


def paragraph_text_of(run: Element) -> str:
    """Text of one run."""
    holder = make("w:p")
    holder.append(deepcopy(run))
    return paragraph_text(holder)


def _repeated(paragraph: Element, line: str) -> list[Element]:
    """Leading runs whose text the line begins with, up to the end of a word."""
    kept: list[Element] = []
    start = 0
    allowed = {qn("w:rPr"), _TEXT, _TAB}
    found: list[Element] = []
    for run in paragraph:
        if run.tag in {qn("w:pPr"), *_STARTS, *_ENDS, qn("w:proofErr")}:
            continue
        if run.tag != R or {each.tag for each in run} - allowed or is_hidden(run):
            break
        text = paragraph_text_of(run)
        if not line.startswith(text, start):
            break
        start += len(text)
        found.append(run)
        before, after = line[start - 1 : start], line[start : start + 1]
        if not (before.isalnum() and after.isalnum()):
            kept = list(found)
    return kept


def _rebuild(paragraph: Element, kept: list[Element], runs: list[Element]) -> None:
    """Replace all that the paragraph holds by `kept` and `runs`, with pictures and marks around them."""
    before: list[Element] = []
    after: list[Element] = []
    seen_text = False
    for each in list(live(paragraph)):
        if each.tag in _STARTS:
            before.append(each)
        elif each.tag in _ENDS:
            after.append(each)
        elif each.tag == R and each not in kept:
            seen_text = seen_text or bool(paragraph_text_of(each).strip())
            stays = _without_text(each)
            if stays is not None:
                (after if seen_text else before).append(stays)
        elif each in kept:
            seen_text = True
    own = child(paragraph, "w:pPr")
    for each in list(paragraph):
        if each is not own:
            paragraph.remove(each)
    paragraph.extend([*before, *kept, *runs, *after])


def _without_text(run: Element) -> Element | None:
    """What of a run stays when its text goes: pictures and page breaks; None if nothing does."""
    page = [each for each in run.findall(_BREAK) if each.get(qn("w:type")) in {"page", "column"}]
    if not page and not has_pictures(run):
        return None
    picture = ancestor(run, SDT)
    if picture is not None and child(picture, "w:sdtPr", "w:picture") is not None:
        return picture
    for each in list(run):
        if each.tag in {_TEXT, _TAB} or (each.tag == _BREAK and each not in page):
            run.remove(each)
    return run


def _accept_mark(paragraph: Element) -> None:
    """Drop tracked changes of the paragraph's mark and properties."""
    own = child(paragraph, "w:pPr")
    if own is not None:
        remove(own.find(qn("w:pPrChange")))
        mark = child(own, "w:rPr")
        for name in _TRACKED_LOOK if mark is not None else ():
            remove(child(mark, name))


def paragraph_properties(paragraph: Element) -> Element:
    """Its `w:pPr`, made where it is missing."""
    own = child(paragraph, "w:pPr")
    if own is None:
        own = make("w:pPr")
        paragraph.insert(0, own)
    return own


def like(paragraph: Element) -> Element:
    """An empty paragraph with the properties of another, but for the end of a section."""
    new = make("w:p")
    own = child(paragraph, "w:pPr")
    if own is not None:
        new.append(deepcopy(own))
        for name in ("w:sectPr", "w:pageBreakBefore", "w:pPrChange"):
            remove(child(new, "w:pPr", name))
        _accept_mark(new)
    return new


def write_container(
    container: Element, text: str, *, prompt: bool = False, base: Element | None = None
) -> None:
    """Replace the paragraphs of a cell, text box or control; each line keeps the look of its like.

    The first line takes the place of the first paragraph with text, the second that of the second, and
    so on; lines beyond take after the last. Paragraphs that hold pictures alone stay.
    """
    all_of_it = list(inside(container, P))
    filled = [each for each in all_of_it if paragraph_text(each).strip()]
    free = [each for each in all_of_it if not has_pictures(each)]
    models = filled or free[:1]
    if not models:
        models = [make("w:p")]
        container.append(models[0])
    lines = text.split("\n")
    used = models[: len(lines)]
    for paragraph in all_of_it:
        if paragraph not in used and (paragraph in filled or paragraph in free):
            if has_pictures(paragraph):
                _rebuild(paragraph, [], [])
            else:
                remove(paragraph)
    for paragraph, line in zip(used[:-1], lines, strict=False):
        write_paragraph(paragraph, line, prompt=prompt, base=base)
    write_paragraph(used[-1], "\n".join(lines[len(used) - 1 :]), prompt=prompt, base=base)
