"""The state of reading one Word document, and the text of a paragraph while it is built."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from flows.common.word_xml import Element, attribute, qn
from flows.readers.docx.colours import WHITE
from flows.readers.docx.numbering import Numbering
from flows.readers.docx.styles import Styles
from flows.readers.ooxml import Package, Relationship
from flows.readers.shared.notation import collapsed, struck_out
from flows.schema.document import Block, Notice

MAX_ANCHOR = 500  # stretches of text that are kept of what a comment is about


@dataclass(slots=True)
class Field:
    """An open field: its code comes first, its result after `separate`."""

    code: str = ""
    in_code: bool = True
    line: int = 0  # identity of the line that its result begins on
    start: tuple[int, int, int] = (0, 0, 0)  # position of that line before the result


@dataclass(frozen=True, slots=True)
class Box:
    """A text box found inside a paragraph; it is read after the paragraph."""

    content: Element
    grounds: frozenset[str] | None  # None: what is outside shows through


@dataclass(frozen=True, slots=True)
class NoteMark:
    """A reference to a footnote or endnote: `kind` is `footnote` or `endnote`."""

    kind: str
    key: str
    label: str


@dataclass(frozen=True, slots=True)
class CommentMark:
    """A reference to a comment."""

    key: str


After = Block | Box | NoteMark | CommentMark


@dataclass(slots=True)
class Comment:
    """One comment of `comments.xml`, its reply and done marks from `commentsExtended.xml`."""

    element: Element
    author: str
    date: str
    parent: str = ""
    done: bool = False


@dataclass(slots=True)
class Context:
    """State that the parts of the reader share."""

    path: Path
    package: Package
    styles: Styles
    numbering: Numbering
    links: dict[str, Relationship]
    notices: list[Notice] = field(default_factory=list[Notice])
    place: str = "document"
    page: frozenset[str] = frozenset({WHITE})  # possible colours of the pages
    floating: frozenset[str] = frozenset()  # fills of shapes that may stand behind a text box
    grounds: frozenset[str] = frozenset({WHITE})
    fields: list[Field] = field(default_factory=list[Field])
    paired: set[Element] = field(default_factory=set[Element])
    notes: dict[str, dict[str, Element]] = field(default_factory=dict[str, dict[str, Element]])
    notes_gone: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    note_forms: dict[str, str] = field(default_factory=dict[str, str])
    story_links: dict[str, dict[str, Relationship]] = field(
        default_factory=dict[str, dict[str, Relationship]]
    )  # of the parts with notes and comments: each part has its own
    note_counts: dict[str, int] = field(default_factory=dict[str, int])
    comments: dict[str, Comment] = field(default_factory=dict[str, Comment])
    open_comments: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    anchors: dict[str, str] = field(default_factory=dict[str, str])
    comments_read: list[str] = field(default_factory=list[str])
    revisions: Counter[str] = field(default_factory=Counter[str])  # `inserted`, `deleted`, `moved`
    paragraphs: int = 0
    tables: int = 0

    def notice(self, kind: str, detail: str, place: str = "") -> None:
        """Report something that is not in the text."""
        self.notices.append(Notice(kind, place or self.place, detail))

    def in_code(self) -> bool:
        """Whether the current text is a field's code, which is not shown."""
        return any(entry.in_code for entry in self.fields)

    @contextmanager
    def at(
        self, place: str, links: dict[str, Relationship] | None = None, grounds: frozenset[str] | None = None
    ) -> Generator[None]:
        """Read a nested part (note, header, cell, box), then restore the reader's position."""
        before = (self.place, self.links, self.grounds, self.fields)
        self.place = place
        self.links = self.links if links is None else links
        self.grounds = self.grounds if grounds is None else grounds
        self.fields = []
        try:
            yield
        finally:
            self.place, self.links, self.grounds, self.fields = before

    def pair_fields(self, root: Element) -> None:
        """Find paired field marks: an unpaired one must not hide the text after it."""
        begun: list[list[Element]] = []
        for mark in root.iter(qn("w:fldChar")):
            kind = attribute(mark, "w:fldCharType")
            if kind == "begin":
                begun.append([mark])
            elif begun:
                begun[-1].append(mark)
                if kind == "end":
                    self.paired.update(begun.pop())


@dataclass(slots=True)
class Line:
    """A paragraph under construction: pieces of text with their strike mark, and blocks that follow it."""

    segments: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    after: list[After] = field(default_factory=list[After])
    hidden: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def position(self) -> tuple[int, int, int]:
        """How many stretches of text, things after it and hidden stretches there are so far."""
        return len(self.segments), len(self.after), len(self.hidden)

    def text(self) -> str:
        """The paragraph's text, white space collapsed, struck text between `~~`."""
        return collapsed(struck_out(self.segments))


def emit(line: Line, context: Context, text: str, *, strike: bool = False, hidden: str | None = None) -> None:
    """Append text, unless it is a field's code or invisible."""
    if not text or context.in_code():
        return
    if hidden and text.strip():
        line.hidden.append((hidden, text))
        return
    line.segments.append((text, strike))
    for anchor in context.open_comments.values():
        if len(anchor) < MAX_ANCHOR:
            anchor.append(text)
