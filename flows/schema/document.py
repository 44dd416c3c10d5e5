"""A source file as text with provenance."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class BlockKind(StrEnum):
    """What a block of a document is. The kinds are the same for every file format."""

    heading = "heading"
    paragraph = "paragraph"
    list_item = "list_item"
    table = "table"
    header = "header"
    footer = "footer"
    footnote = "footnote"
    endnote = "endnote"
    textbox = "textbox"
    comment = "comment"
    image = "image"
    sheet = "sheet"  # the line that opens a worksheet: its name, and whether it is hidden
    form = "form"  # a PDF form's field and value
    metadata = "metadata"  # e-mail headers, list of attachments
    note = "note"  # the reader speaking: uncertain layout, no text layer, revisions exist


@dataclass(frozen=True, slots=True)
class Block:
    """One stretch of a document, in reading order.

    Attributes:
        kind: what it is.
        text: its text, ready to be read: a heading has its `#` marks, a list item its number as
            printed, a table is a pipe table. Never empty.
        place: where a person finds it: `paragraph 12`, `page 3`, `Stocks!A1:F20`.
        level: heading or list depth, from 1; None where depth has no meaning.
    """

    kind: BlockKind
    text: str
    place: str
    level: int | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the reader saw and did not put into the text, or mended on the way.

    Attributes:
        kind: a short stable word: `hidden_text`, `revisions`, `no_text_layer`, `uncertain_layout`,
            `macro`, `mended_encoding`, ...
        place: as in `Block`.
        detail: what was seen; for hidden text, the text itself.
    """

    kind: str
    place: str
    detail: str


@dataclass(frozen=True, slots=True)
class Document:
    """One source file, read whole.

    Attributes:
        name: file name, the name that evidence and citations use.
        media: `docx`, `pdf`, `xlsx`, `csv`, `md`, `txt` or `eml`.
        sha256: of the file's bytes.
        reader: name and version of the reader, as `docx/3`; part of the packet's key.
        blocks: in reading order.
        notices: what was left out or mended, in reading order.
    """

    name: str
    media: str
    sha256: str
    reader: str
    blocks: tuple[Block, ...]
    notices: tuple[Notice, ...] = field(default=())

    @property
    def text(self) -> str:
        """The blocks, a blank line between them."""
        return "\n\n".join(block.text for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Packet:
    """All documents of a scenario as one text, in order, with provenance.

    Attributes:
        scenario_id: whose packet it is.
        documents: in the order of the scenario.
        text: what a writer is shown.
        digest: sha256 over the text and every document's name, hash and reader version.
    """

    scenario_id: str
    documents: tuple[Document, ...]
    text: str
    digest: str
