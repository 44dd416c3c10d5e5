"""Write text into paragraphs and runs, keeping formatting and removing tracked changes and prompts."""

import re
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from flows.adapters.report_docx.elements import (
    ancestor,
    clear,
    has_pictures,
    is_hidden,
    is_line_break,
    live,
    looks_unfilled,
    make,
    paragraph_text,
    paragraphs_in,
    remove,
)
from flows.adapters.report_docx.model import Piece, pieces
from flows.common.word_xml import SDT, Element, R, child, qn, val

_TRACKED_LOOK = ("w:rPrChange", "w:ins", "w:del", "w:moveFrom", "w:moveTo")
_HIDDEN_LOOK = ("w:vanish", "w:webHidden", "w:specVanish")
# How templates format prompts.
_PROMPT_LOOK = ("w:rStyle", "w:color", "w:highlight", "w:shd", "w:i", "w:iCs")
_EMPHASIS = ("w:b", "w:bCs", "w:i", "w:iCs")
_NO_TEXT_LOOK = frozenset({"PlaceholderText", "Hyperlink", "CommentReference", "FootnoteReference"})
_BREAK, _TAB, _TEXT = qn("w:br"), qn("w:tab"), qn("w:t")
_STARTS = frozenset(map(qn, ("w:bookmarkStart", "w:permStart")))
_ENDS = frozenset(map(qn, ("w:bookmarkEnd", "w:permEnd")))


def runs_of(text: str, look: Element | None) -> list[Element]:
    """Runs for a text that may hold inline marks and line feeds, each in a copy of `look` (`w:rPr`)."""
    return [_run(piece, look) for piece in pieces(text)]


def _run(piece: Piece, look: Element | None) -> Element:
    own = make("w:rPr") if look is None else deepcopy(look)
    emphasise(own, bold=piece.bold, italic=piece.italic)
    run = make("w:r", *([own] if len(own) else []))
    for part in re.split(r"([\t\n])", piece.text):
        if part in {"\t", "\n"}:
            run.append(make("w:tab" if part == "\t" else "w:br"))
        elif part:
            text = make("w:t")
            text.text = part
            text.set(qn("xml:space"), "preserve")
            run.append(text)
    return run


def emphasise(look: Element, *, bold: bool = False, italic: bool = False) -> None:
    """Make run properties bold or italic, in complex scripts too."""
    font: Any = look
    for name in (*(("b", "bCs") if bold else ()), *(("i", "iCs") if italic else ())):
        font.remove_all(f"w:{name}")
        getattr(font, f"get_or_add_{name}")()


def clean_look(look: Element | None, *, prompt: bool = False, bare: bool = False) -> Element | None:
    """A copy of run properties (`w:rPr`) fit for new text.

    A `prompt` has grey, slant and background that don't belong to the answer; where `bare`, the new text says
    itself what is bold and italic.
    """
    if look is None:
        return None
    own = make("w:rPr", *map(deepcopy, look))
    own.remove_all(
        *_TRACKED_LOOK, *_HIDDEN_LOOK, *(_PROMPT_LOOK if prompt else ()), *(_EMPHASIS if bare else ())
    )
    if val(own, "w:rStyle") in _NO_TEXT_LOOK:
        own.remove_all("w:rStyle")
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
) -> None:
    """Replace the text of a paragraph (`w:p`); each further line becomes a paragraph like it.

    Pictures, text boxes, page breaks and bookmarks stay. Leading runs whose text the new text repeats stay as
    they are, so that a bold label before a prompt remains bold. In a paragraph that had line breaks of its
    own, a line feed is a line break again.

    The text is cleaned, with inline marks. Where `prompt`, what stands there is one, whatever it looks like.
    The text gets the run properties `base`; None for those of what stands there.
    """
    lines = [text] if any(map(is_line_break, live(paragraph))) else text.split("\n")
    marked = has_marks(text)
    kept = [] if marked else _repeated(paragraph, lines[0])
    if base is None:
        prompt = prompt or looks_unfilled(paragraph)
        look = clean_look(look_of(paragraph, kept), prompt=prompt, bare=marked)
    else:
        look = clean_look(base, bare=marked)
    _accept_mark(paragraph)
    rest = lines[0][sum(len(_run_text(run)) for run in kept) :]
    _rebuild(paragraph, kept, runs_of(rest, look) if rest or not kept else [])
    add_lines(paragraph, lines[1:], look)


def has_marks(text: str) -> bool:
    """Whether a text says itself what is bold or italic."""
    return any(piece.bold or piece.italic for piece in pieces(text))


def add_lines(paragraph: Element, lines: Sequence[str], look: Element | None) -> None:
    """Add a paragraph like this one for each further line."""
    last = paragraph
    for line in lines:
        new = like(paragraph)
        new.extend(runs_of(line, look))
        last.addnext(new)
        last = new
    section = child(paragraph, "w:pPr", "w:sectPr")
    if section is not None and last is not paragraph:
        last.set_sectPr(section)  # a section ends with the paragraph that holds its properties


def _run_text(run: Element) -> str:
    return paragraph_text(make("w:p", deepcopy(run)))


def _repeated(paragraph: Element, line: str) -> list[Element]:
    """Leading runs whose text the line begins with, up to the end of a word."""
    kept: list[Element] = []
    found: list[Element] = []
    start = 0
    for run in paragraph:
        if run.tag in {qn("w:pPr"), *_STARTS, *_ENDS, qn("w:proofErr")}:
            continue
        if run.tag != R or {each.tag for each in run} - {qn("w:rPr"), _TEXT, _TAB} or is_hidden(run):
            break
        text = _run_text(run)
        if not line.startswith(text, start):
            break
        start += len(text)
        found.append(run)
        if not (line[start - 1 : start].isalnum() and line[start : start + 1].isalnum()):
            kept = list(found)
    return kept


def _rebuild(paragraph: Element, kept: Sequence[Element], runs: Sequence[Element]) -> None:
    """Replace all that the paragraph holds by `kept` and `runs`, with pictures and marks around them."""
    before: list[Element] = []
    after: list[Element] = []
    seen_text = False
    for each in list(live(paragraph)):
        if each.tag in _STARTS:
            before.append(each)
        elif each.tag in _ENDS:
            after.append(each)
        elif each in kept:
            seen_text = True
        elif each.tag == R:
            seen_text = seen_text or bool(_run_text(each).strip())
            stays = _without_text(each)
            if stays is not None:
                (after if seen_text else before).append(stays)
    clear(paragraph)
    paragraph.extend([*before, *kept, *runs, *after])


def _without_text(run: Element) -> Element | None:
    """What of a run stays when its text goes: pictures and page breaks; None if nothing does."""
    breaks = run.findall(_BREAK)
    page = [each for each in breaks if each.get(qn("w:type")) in {"page", "column"}]
    if not page and not has_pictures(run):
        return None
    picture = ancestor(run, SDT)
    if child(picture, "w:sdtPr", "w:picture") is not None:
        return picture
    for each in list(run):
        if each.tag in {_TEXT, _TAB} or (each.tag == _BREAK and each not in page):
            run.remove(each)
    return run


def _accept_mark(paragraph: Element) -> None:
    remove(child(paragraph, "w:pPr", "w:pPrChange"))
    mark: Any = child(paragraph, "w:pPr", "w:rPr")
    if mark is not None:
        mark.remove_all(*_TRACKED_LOOK)


def like(paragraph: Element) -> Element:
    """An empty paragraph with the properties of another, but for the end of a section."""
    own = child(paragraph, "w:pPr")
    if own is None:
        return make("w:p")
    new = make("w:p", deepcopy(own))
    new.pPr.remove_all("w:sectPr", "w:pageBreakBefore")
    _accept_mark(new)
    return new


def write_container(
    container: Element, text: str, *, prompt: bool = False, base: Element | None = None
) -> None:
    """Replace the paragraphs of a cell, text box or control; each line keeps the look of its like.

    The first line takes the place of the first paragraph with text, the second that of the second, and
    so on; lines beyond take after the last. Paragraphs that hold pictures alone stay.
    """
    every = paragraphs_in(container)
    filled = [each for each in every if paragraph_text(each).strip()]
    free = [each for each in every if not has_pictures(each)]
    models = filled or free[:1]
    if not models:
        models = [make("w:p")]
        container.append(models[0])
    lines = text.split("\n")
    used = models[: len(lines)]
    for paragraph in every:
        if paragraph in used:
            continue
        if paragraph in free:
            remove(paragraph)
        elif paragraph in filled:
            _rebuild(paragraph, [], [])
    for paragraph, line in zip(used[:-1], lines, strict=False):
        write_paragraph(paragraph, line, prompt=prompt, base=base)
    write_paragraph(used[-1], "\n".join(lines[len(used) - 1 :]), prompt=prompt, base=base)
