"""Packets on disk, rebuilt when a document or a reader changes."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from flows.adapters.tables import BLOCKS, read_table, write_table
from flows.adapters.task_trees.safe_files import open_file
from flows.common.digests import canonical_json, sha256_text
from flows.common.errors import Problems, ReadError, StaffbenchError, StoreError
from flows.pipeline.inputs.scenarios import source_files
from flows.readers import READER_VERSIONS
from flows.readers.guarded import read_guarded_bytes
from flows.readers.limits import MAX_BYTES, Limits
from flows.readers.read import media_of
from flows.schema.document import Block, BlockKind, Document, Notice, Packet
from flows.schema.scenario import Scenario
from flows.stages.packet import PACKET_VERSION, assemble_packet


def packet_path(data: Path, benchmark: str, scenario_id: str) -> Path:
    """Return the path of a scenario's packet: in `packets/`, next to the benchmark's folder."""
    root = data.parent.parent if data.parent.name == benchmark else data.parent
    return root / "packets" / benchmark / f"{scenario_id}.parquet"


def packet_key(folder: Path, scenario: Scenario) -> str:
    """Digest of a packet's inputs: document bytes, reader versions and packet version."""
    sources = source_digests(folder, scenario)
    return sha256_text(
        canonical_json({"packet": PACKET_VERSION, "readers": dict(READER_VERSIONS), "sources": sources})
    )


def source_digests(folder: Path, scenario: Scenario) -> list[list[str]]:
    """Name and SHA-256 of each document, in packet order.

    Raises:
        Problems: lists every document that can't be opened or is reached by a link.
    """
    digests: list[list[str]] = []
    problems: list[StaffbenchError] = []
    for name, place in source_files(scenario):
        try:
            with open_file(folder, place) as file:
                digests.append([name, hashlib.file_digest(file, "sha256").hexdigest()])
        except StaffbenchError as error:
            problems.append(error)
    if problems:
        raise Problems.of(f"{scenario.scenario_id}: packet not built", problems)
    return digests


def load_packet(
    folder: Path,
    scenario: Scenario,
    path: Path,
    on_progress: Callable[[str], None] | None = None,
    limits: Limits = Limits(),  # noqa: B008 -- frozen
) -> Packet:
    """Load a scenario's packet from `path`; if it is missing or outdated, read the documents and write it.

    `on_progress` is called now and then with a message while a slow document is read.

    Raises:
        Problems: lists every document that can't be read; nothing is written then.
        StoreError: the packet can't be written.
    """
    key = packet_key(folder, scenario)
    stored = _stored(path, key)
    if stored is not None:
        return assemble_packet(scenario.scenario_id, stored)
    documents: list[Document] = []
    problems: list[StaffbenchError] = []
    for name, place in source_files(scenario):
        file = folder / place
        with open_file(folder, place) as opened:
            data = opened.read(MAX_BYTES + 1)
        try:
            read = read_guarded_bytes(data, file, media_of(file), limits, on_progress)
            documents.append(replace(read, name=name))
        except ReadError as error:
            if scenario.task is None:
                problems.append(error)
            else:
                documents.append(_unread(name, file, data, error))
    if problems:
        raise Problems.of(f"{scenario.scenario_id}: packet not built", problems)
    packet = assemble_packet(scenario.scenario_id, documents)
    about = {"key": key, "scenario_id": scenario.scenario_id, "digest": packet.digest}
    write_table(path, BLOCKS, packet_rows(packet), ["document_number", "is_notice", "number"], about)
    return packet


def stored_characters(data: Path, benchmark: str, scenarios: Iterable[Scenario]) -> dict[str, int]:
    """Return the characters of each packet that is stored and up to date, by scenario; nothing is built."""
    found: dict[str, int] = {}
    for scenario in scenarios:
        name = scenario.scenario_id
        try:
            documents = _stored(packet_path(data, benchmark, name), packet_key(data / name, scenario))
        except StaffbenchError:
            continue  # a document is gone: the packet is not known to be that of today
        if documents is not None:
            found[name] = len(assemble_packet(name, documents).text)
    return found


def _unread(name: str, file: Path, data: bytes, error: StaffbenchError) -> Document:
    """Placeholder for an unreadable file of a task, so that the task can still be run.

    In MA-Bench the packet is all that a writer sees, so this is an error there. Writers of tasks open the
    files themselves.
    """
    notice = Notice("unread", "document", error.found)
    suffix = file.suffix.lower().lstrip(".") or "unknown"
    return Document(name, suffix, hashlib.sha256(data).hexdigest(), "none", (), (notice,))


def _stored(path: Path, key: str) -> list[Document] | None:
    """Return the documents of a packet file made from `key`; None if it is missing or outdated."""
    if not path.is_file():
        return None
    try:
        rows, about = read_table(path, BLOCKS)
    except StoreError:
        return None  # damaged or of another version: it is rebuilt
    if about.get("key") != key:
        return None
    by_document: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_document.setdefault(row["document_number"], []).append(row)
    documents = [_document(by_document[number]) for number in sorted(by_document)]
    packet = assemble_packet(str(about["scenario_id"]), documents)
    return documents if packet.digest == about["digest"] else None


def packet_rows(packet: Packet) -> list[dict[str, Any]]:
    """Return the rows of a packet's table: its blocks and notices."""
    documents = enumerate(packet.documents, 1)
    return [row for number, document in documents for row in _rows(packet, number, document)]


def _rows(packet: Packet, number: int, document: Document) -> list[dict[str, Any]]:
    head = {
        "scenario_id": packet.scenario_id,
        "document_number": number,
        "document": document.name,
        "media": document.media,
        "sha256": document.sha256,
        "reader": document.reader,
    }
    blocks = [(one.kind.value, one.place, one.text, one.level, False) for one in document.blocks]
    notices = [(one.kind, one.place, one.detail, None, True) for one in document.notices]
    columns = ("kind", "place", "text", "level", "is_notice")
    return [
        {**head, **dict(zip(columns, values, strict=True)), "number": order}
        for part in (blocks, notices)
        for order, values in enumerate(part, 1)
    ]


def _document(rows: list[dict[str, Any]]) -> Document:
    head = rows[0]
    return Document(
        name=head["document"],
        media=head["media"],
        sha256=head["sha256"],
        reader=head["reader"],
        blocks=tuple(
            Block(BlockKind(row["kind"]), row["text"], row["place"], row["level"])
            for row in rows
            if not row["is_notice"]
        ),
        notices=tuple(Notice(row["kind"], row["place"], row["text"]) for row in rows if row["is_notice"]),
    )
