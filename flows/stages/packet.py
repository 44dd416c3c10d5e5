"""Assemble documents into a packet, and check evidence against it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from html import escape

from flows.common.digests import canonical_json, sha256_text
from flows.common.errors import ScenarioError, StaffbenchError
from flows.schema.document import Document, Packet
from flows.schema.fence import fenced
from flows.schema.scenario import Evidence, Item

PACKET_VERSION = "1"
"""Increment when documents are assembled differently."""

COPY = "copy the quote from the packet (staffbench packets --show)"
"""What to do about a quote that is not found."""

MARGIN = " | "
"""What separates the place of a block from its text."""

_ELEMENTS = ("assignment", "packet", "document")  # elements of prompts that contain a document
_ALIKE = 0.5  # share of a quote's words from which a place is named
_SPACE = re.compile(r"\s+")
_TABLE_RULE = re.compile(r"\|(\s*:?-+:?\s*\|)+|<br>")


def assemble_packet(scenario_id: str, documents: Sequence[Document]) -> Packet:
    """Join all documents of a scenario in order, each in an element with its name that none can forge."""
    parts = [
        f'<document number="{number}" name="{_attribute(document.name)}">\n'
        f"{fenced(document.text, *_ELEMENTS)}\n</document>"
        for number, document in enumerate(documents, 1)
    ]
    text = "\n\n".join(parts)
    sources = [[document.name, document.sha256, document.reader] for document in documents]
    digest = sha256_text(
        canonical_json({"version": PACKET_VERSION, "sources": sources, "text": sha256_text(text)})
    )
    return Packet(scenario_id, tuple(documents), text, digest)


def placed_text(packet: Packet) -> str:
    """Return the packet with the place of each block in a margin: `page 3 | text`.

    The margin takes the place of the elements that separate documents for a model; the text is the same.
    """
    lines: list[str] = []
    for number, document in enumerate(packet.documents, 1):
        lines += [f"{number}. {document.name}", ""]
        width = max((len(block.place) for block in document.blocks), default=0)
        for block in document.blocks:
            text = fenced(block.text, *_ELEMENTS).split("\n")
            lines += [f"{block.place if not n else '':{width}}{MARGIN}{line}" for n, line in enumerate(text)]
            lines.append("")
    return "\n".join(lines).rstrip("\n")


def _attribute(name: str) -> str:
    # A file name may contain line breaks, lone surrogates or bidirectional characters.
    plain = escape(name, quote=False).replace('"', "&quot;")
    return "".join(sign if sign.isprintable() else f"&#{ord(sign)};" for sign in plain)


def missing_evidence(items: Iterable[Item], packet: Packet) -> list[StaffbenchError]:
    """Return an error for each quote that is not found in its document."""
    return [
        ScenarioError(f"{packet.scenario_id}/rubric.yaml", f"{item_id}: {found}", expected, COPY)
        for item_id, found, expected in missing_quotes(items, packet)
    ]


def missing_quotes(items: Iterable[Item], packet: Packet) -> Iterator[tuple[str, str, str]]:
    """Yield item, what is wrong and what is expected for each quote that is not found in its document.

    White space is folded, and table and Markdown marks are ignored: only the words of a quote count.
    """
    texts = {document.name: _plain(document.text) for document in packet.documents}
    for item in items:
        for evidence in item.source:
            quote = _plain(evidence.quote)
            if quote not in texts.get(evidence.document, ""):
                holders = [name for name, text in texts.items() if quote in text]
                found = f"quote not found in {evidence.document}: {evidence.quote!r}"
                yield item.item_id, found, _nearest(evidence, packet, holders)


def _nearest(evidence: Evidence, packet: Packet, holders: Sequence[str]) -> str:
    """Name a document that has the quote, or the place of its own document that is most like it."""
    if holders:
        return f"{holders[0]}, which has these words"
    quote = _plain(evidence.quote).split()
    best = (0.0, "", "")
    for document in packet.documents:
        for block in document.blocks if document.name == evidence.document else ():
            words = _plain(block.text).split()
            matcher = SequenceMatcher(None, words, quote, autojunk=False)
            match = matcher.find_longest_match()
            share = sum(found.size for found in matcher.get_matching_blocks()) / max(1, len(quote))
            if match.size and share > best[0]:
                start = max(0, match.a - match.b)
                best = (share, block.place, " ".join(words[start : start + len(quote)]))
    if best[0] < _ALIKE:
        return "words of that document"
    return f"words of that document; the nearest are at {best[1]}: {best[2]!r}"


def _plain(text: str) -> str:
    words = _TABLE_RULE.sub(" ", text).replace("|", " ").replace("\\", " ").replace("*", "")
    return _SPACE.sub(" ", words).strip()
