"""Source files as text with provenance."""

from dataclasses import dataclass, field
from enum import StrEnum


class BlockKind(StrEnum):
    """The kind of a block. The kinds are the same for every file format."""

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
    sheet = "sheet"  # first line of a worksheet: its name and whether it is hidden
    form = "form"  # field and value of a PDF form
    metadata = "metadata"  # e-mail headers, list of attachments
    note = "note"  # a remark by the reader: uncertain layout, no text layer, revisions


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a document, in reading order."""

    kind: BlockKind
    # Its text in Markdown: headings with `#`, list items with their printed numbers, pipe tables. Never
    # empty.
    text: str
    place: str  # where it is: `paragraph 12`, `page 3`, `Stocks!A1:F20`
    level: int | None = None  # heading or list depth, from 1; None if not applicable


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the reader left out of the text or repaired."""

    # A short stable identifier: `hidden_text`, `revisions`, `no_text_layer`, `uncertain_layout`, `macro`,
    # `mended_encoding`, ...
    kind: str
    place: str  # as in `Block`
    detail: str  # what was found; for hidden text, the text itself


@dataclass(frozen=True, slots=True)
class Document:
    """One source file, read completely."""

    name: str  # file name, as used by evidence and citations
    media: str  # `docx`, `pdf`, `xlsx`, `csv`, `md`, `txt` or `eml`
    sha256: str  # of the file's bytes
    reader: str  # name and version of the reader, as `docx/3`; part of the packet's key
    blocks: tuple[Block, ...]  # in reading order
    notices: tuple[Notice, ...] = field(default=())  # what was left out or repaired, in reading order

    @property
    def text(self) -> str:
        """The blocks, separated by blank lines."""
        return "\n\n".join(block.text for block in self.blocks)


@dataclass(frozen=True, slots=True)
class Packet:
    """All documents of a scenario as one text, in order, with provenance."""

    scenario_id: str
    documents: tuple[Document, ...]  # in the order of the scenario
    text: str  # the text that a writer gets
    digest: str  # sha256 over the text and every document's name, hash and reader version
