"""Read Word documents (.docx, .docm, .dotx, .dotm; transitional and strict) from their XML.

python-docx has no notes, text boxes, places of comments or tracked changes, and does not open strict
files, templates or files with macros.
"""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from flows.common.errors import ReadError
from flows.common.text import plural
from flows.common.word_xml import Element, attribute, child, qn, switch, val
from flows.readers.docx.colours import Palette
from flows.readers.docx.context import Comment, Context
from flows.readers.docx.drawing import floating_fills
from flows.readers.docx.numbering import Numbering
from flows.readers.docx.story import Story
from flows.readers.docx.styles import Styles
from flows.readers.ooxml import Package, Program, opened
from flows.schema.document import Block, BlockKind, Notice

_REVISED = (
    "[Reader's note: this document has tracked changes. Insertions are read as text, deletions are left "
    "out, moved text stands at its new place.]"
)
_WORD = Program("Word", "a Word document", ".docx", ("wordprocessingml", "ms-word"))
_DRAFT_LENGTH = 16  # of an ISO time: date, hours and minutes


def read(data: bytes, path: Path) -> tuple[list[Block], list[Notice]]:
    """Read one Word file whole.

    Raises:
        ReadError: it is damaged, protected, no Word file, or carries code that its name does not say.
    """
    package, macro = opened(data, path, _WORD)
    root = package.xml(package.main)
    bodies = root.findall(qn("w:body"))
    if not bodies:
        raise ReadError(path, "a document without a body", "w:body in its main part", "save it again in Word")
    context = _context(package, path, root)
    if len(bodies) > 1:
        context.notice("mended_layout", f"the file has {len(bodies)} bodies; they are read one after another")
    if macro:
        context.notice("macro", "the file carries VBA code; it is neither run nor read")
    context.pair_fields(root)
    shown, unused = _referenced(root, context)
    for part in (root, *(package.xml(target) for target in shown if package.has(target))):
        behind, floating = floating_fills(part, context.styles.palette)
        context.page |= behind
        context.floating |= floating
    context.grounds = context.page
    story = Story(context, counted=True)
    for body in bodies:
        story.read(body)
    context.place = "document"
    for key in context.comments:  # those without a mark in the text: Word shows them in its list
        story.comment(key, "document")
    blocks = list(story.blocks)
    heads, feet = _heads_and_feet(shown, unused, context)
    inserted, deleted, moved = (context.revisions[kind] for kind in ("inserted", "deleted", "moved"))
    if inserted or deleted or moved:
        heads.insert(0, Block(BlockKind.note, _REVISED, "document"))
        counts = plural(inserted, "tracked insertion"), plural(deleted, "deletion"), plural(moved, "move")
        context.notices.insert(0, Notice("revisions", "document", ", ".join(counts)))
    return [*heads, *blocks, *feet], context.notices


def _context(package: Package, path: Path, main: Element) -> Context:
    links = package.relationships(package.main)
    parts = {link.kind: link.target for link in links.values() if not link.external}
    root = partial(package.root, links)
    settings, theme = root("settings"), None
    with suppress(ReadError):  # it has colours only, and most places repeat them
        theme = root("theme")
    styles = Styles(root("styles"), Palette(theme, settings))
    context = Context(path, package, styles, Numbering(root("numbering"), styles.lists), links)
    displayed = settings is not None and bool(switch(settings, "w:displayBackgroundShape"))
    context.page = frozenset({styles.palette.page(main, displayed=displayed)})
    for kind, form in (("footnote", "decimal"), ("endnote", "lowerRoman")):
        notes = root(f"{kind}s")
        if notes is not None:
            context.pair_fields(notes)
            context.story_links[kind] = package.relationships(parts[f"{kind}s"])
            context.notes[kind] = {
                attribute(note, "w:id"): note
                for note in notes.iterfind(qn(f"w:{kind}"))
                if attribute(note, "w:type", "normal") == "normal"
            }
        setting = None if settings is None else child(settings, f"w:{kind}Pr", "w:numFmt")
        context.note_forms[kind] = val(setting, default=form)
    comments = root("comments")
    if comments is not None:
        context.comments = _comments(comments, root("commentsExtended"))
        context.story_links["comment"] = package.relationships(parts["comments"])
    return context


def _comments(root: Element, extended: Element | None) -> dict[str, Comment]:
    found: dict[str, Comment] = {}
    by_paragraph: dict[str, str] = {}
    for element in root.iterfind(qn("w:comment")):
        key = attribute(element, "w:id")
        while key in found:  # two of one id: the second is listed with those that no mark names
            key += "+"
        when = attribute(element, "w:date")[:_DRAFT_LENGTH].replace("T", " ")
        found[key] = Comment(element, attribute(element, "w:author"), when)
        for paragraph in element.iter(qn("w:p")):
            by_paragraph[attribute(paragraph, "w14:paraId")] = key
    for entry in () if extended is None else extended.iterfind(qn("w15:commentEx")):
        key = by_paragraph.get(attribute(entry, "w15:paraId"), "")
        if key in found:
            found[key].done = attribute(entry, "w15:done") in {"1", "true"}
            found[key].parent = by_paragraph.get(attribute(entry, "w15:paraIdParent"), "")
    return found


def _heads_and_feet(
    shown: dict[str, str], unused: dict[str, str], context: Context
) -> tuple[list[Block], list[Block]]:
    """Headers and footers of all sections, each content once; those that Word does not show are reported."""
    heads: list[Block] = []
    feet: list[Block] = []
    seen: set[tuple[str, ...]] = set()
    for target, place in {**shown, **unused}.items():
        blocks = _head_or_foot(target, place, context, used=target in shown)
        content = tuple(block.text for block in blocks)
        if content not in seen:
            (heads if "header" in place else feet).extend(blocks)
        seen.add(content)
    return heads, feet


def _referenced(root: Element, context: Context) -> tuple[dict[str, str], dict[str, str]]:
    """Parts of headers and footers with their places: those that Word shows, and the others."""
    settings = context.package.root(context.links, "settings")
    even = settings is not None and bool(switch(settings, "w:evenAndOddHeaders"))
    shown: dict[str, str] = {}
    every: dict[str, str] = {}
    current: dict[tuple[str, str], str] = {}  # a section without its own takes the one before
    words = {"first": "first-page ", "even": "even-page "}
    sections = [s for s in root.iter(qn("w:sectPr")) if s.getparent().tag != qn("w:sectPrChange")]
    for number, section in enumerate(sections, 1):
        for kind in ("header", "footer"):
            for reference in section.iterfind(qn(f"w:{kind}Reference")):
                link = context.links.get(attribute(reference, "r:id"))
                if link is not None and not link.external:
                    which = attribute(reference, "w:type", "default")
                    current[kind, which] = link.target
                    every.setdefault(link.target, f"{words.get(which, '')}{kind}, section {number}")
        active = {"first": bool(switch(section, "w:titlePg")), "even": even}
        for (kind, which), part in current.items():
            place = f"{words.get(which, '')}{kind}, section {number}"
            if active.get(which, True):
                shown.setdefault(part, place)
    return shown, {part: place for part, place in every.items() if part not in shown}


def _head_or_foot(target: str, place: str, context: Context, *, used: bool) -> list[Block]:
    if not context.package.has(target):
        return []
    part = context.package.xml(target)
    context.pair_fields(part)
    text, alongside = Story(context).part(part, place, links=context.package.relationships(target))
    if not used:
        text = "\n".join(filter(None, [text, *(block.text for block in alongside)]))
        if text:
            context.notice("unused_header", f"not shown by Word with the document's settings: {text}", place)
        return []
    kind = BlockKind.header if "header" in place else BlockKind.footer
    # A text box or an image in a header repeats on each page with it: it is header too.
    own = [Block(kind, text, place)] if text else []
    return [replace(b, kind=kind, text=f"[{kind.value.title()}] {b.text}") for b in own + alongside]
