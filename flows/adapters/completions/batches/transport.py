"""What a provider's batches look like: OpenAI's files and batches, which others have taken over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from flows.adapters.completions.faults import Fault, FaultKind
from flows.schema.completion import Request

ENDPOINT = "/v1/chat/completions"
WINDOW = "24h"
"""The only one that OpenAI offers."""
MARKER = "staffbench"
"""Field of a batch's metadata that tells our batches apart."""
MAX_REQUESTS = 50_000
"""Of one file at OpenAI; MAX_FILE_BYTES too."""
MAX_FILE_BYTES = 200_000_000
MAX_RESULT_BYTES = 4 << 30
IDLE_S = 300.0
"""A silent connection is dead after so long: no model thinks while it is open."""
UNSENT = frozenset({"stream", "stream_options"})
"""Parameters that say how a single reply is delivered; they mean nothing in a batch."""

ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
UNDER_WAY = frozenset({"validating", "in_progress", "finalizing", "cancelling"})


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as the provider tells of it.

    Attributes:
        batch_id: the provider's.
        status: the provider's word.
        marker: ours, from its metadata; None where it has none.
        files: ids of the files with results: of requests that went well, and of others.
        errors: code and message of each fault of the batch as a whole.
    """

    batch_id: str
    status: str
    marker: str | None
    files: tuple[str, ...]
    errors: tuple[tuple[str, str], ...]


class BatchTransport(Protocol):
    """Speaks to one provider; makes one try of each request, and decides nothing.

    Every method but `aclose` takes the key, None to send none, and raises a `Fault`.
    """

    async def bodies(self, requests: Sequence[Request]) -> list[Mapping[str, Any] | Fault]:
        """For each request what a single call would send, but for `UNSENT`, or why it can't be said."""
        ...

    async def upload(self, name: str, data: bytes, key: str | None) -> str:
        """Store a file of requests; gives its id."""
        ...

    async def create(self, file_id: str, marker: str, key: str | None) -> BatchState:
        """Submit it."""
        ...

    async def retrieve(self, batch_id: str, key: str | None) -> BatchState:
        """How a batch is doing."""
        ...

    async def page(self, after: str | None, key: str | None) -> tuple[list[BatchState], bool]:
        """The account's batches after the one with that id, and whether there are more."""
        ...

    async def content(self, file_id: str, key: str | None) -> bytes:
        """A file of results."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


def read_batch(payload: object) -> BatchState:
    """A batch object.

    Raises:
        Fault: it is none.
    """
    batch = _mapping(payload)  # of nothing, an empty one: refused below
    batch_id, status = batch.get("id"), batch.get("status")
    if not isinstance(batch_id, str) or not batch_id or not isinstance(status, str):
        raise Fault(FaultKind.reply, f"not a batch: {payload!r}")
    marker = _mapping(batch.get("metadata")).get(MARKER)
    files = [batch.get(name) for name in ("output_file_id", "error_file_id")]
    errors = _mapping(batch.get("errors")).get("data")
    listed = cast("list[object]", errors) if isinstance(errors, list) else []
    return BatchState(
        batch_id=batch_id,
        status=status,
        marker=marker if isinstance(marker, str) else None,
        files=tuple(file for file in files if isinstance(file, str) and file),
        errors=tuple(_error(_mapping(error)) for error in listed),
    )


def read_file(payload: object) -> str:
    """The id of a file object.

    Raises:
        Fault: it is none.
    """
    name = _mapping(payload).get("id")
    if not isinstance(name, str) or not name:
        raise Fault(FaultKind.reply, f"not a file: {payload!r}")
    return name


def read_page(payload: object) -> tuple[list[BatchState], bool]:
    """A page of the list of batches, and whether there are more.

    Raises:
        Fault: it is none.
    """
    page = _mapping(payload)
    data = page.get("data")
    if not isinstance(data, list):
        raise Fault(FaultKind.reply, f"not a list of batches: {payload!r}")
    return [read_batch(batch) for batch in cast("list[object]", data)], bool(page.get("has_more"))


def _error(error: Mapping[str, Any]) -> tuple[str, str]:
    return str(error.get("code") or ""), str(error.get("message") or error.get("code") or "no reason given")


def _mapping(value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise Fault(FaultKind.reply, f"not an object: {value!r}")
    return cast("Mapping[str, Any]", value)
