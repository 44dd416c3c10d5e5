"""Assemble documents into a packet, and check evidence against it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from flows.common.digests import canonical_json, sha256_text
from flows.common.errors import ScenarioError, StaffbenchError
from flows.schema.document import Document, Packet
from flows.schema.fence import fenced
from flows.schema.scenario import Item

PACKET_VERSION = "1"
"""Increment when documents are assembled differently."""

_ELEMENTS = ("assignment", "packet", "document")  # elements of prompts that contain a document
_SPACE = re.compile(r"\s+")
_TABLE_RULE = re.compile(r"\|(\s*:?-+:?\s*\|)+|<br>")


def assemble_packet(scenario_id: str, documents: Sequence[Document]) -> Packet:
    """Join all documents in order, each in an element with its name, which none of them can forge.

    Args:
        scenario_id: the scenario.
        documents: all documents, in the order of the scenario.
    """
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


def _attribute(name: str) -> str:
    # A file name may contain line breaks, lone surrogates or bidirectional characters.
    plain = escape(name, quote=False).replace('"', "&quot;")
    return "".join(sign if sign.isprintable() else f"&#{ord(sign)};" for sign in plain)


def missing_evidence(items: Iterable[Item], packet: Packet) -> list[StaffbenchError]:
    """Return an error for each quote that is not found in its document.

    White space is folded, and table and Markdown marks are ignored: only the words of a quote count.
    """
    texts = {document.name: _plain(document.text) for document in packet.documents}
    return [
        ScenarioError(
            f"{packet.scenario_id}/rubric.yaml",
            f"{item.item_id}: quote not found in {evidence.document}: {evidence.quote!r}",
            "words of that document",
            "copy the quote from the packet (staffbench packets --show)",
        )
        for item in items
        for evidence in item.source
        if _plain(evidence.quote) not in texts.get(evidence.document, "")
    ]


def _plain(text: str) -> str:
    words = _TABLE_RULE.sub(" ", text).replace("|", " ").replace("\\", " ").replace("*", "")
    return _SPACE.sub(" ", words).strip()
