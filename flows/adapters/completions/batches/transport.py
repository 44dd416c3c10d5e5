"""The interface of batch transports, modelled on OpenAI's files and batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from flows.adapters.completions.faults import Fault, FaultKind
from flows.schema.completion import Request

ENDPOINT = "/v1/chat/completions"
WINDOW = "24h"
"""The only window that OpenAI offers."""
MARKER = "staffbench"
"""Metadata field that identifies our batches."""
MAX_REQUESTS = 50_000
"""OpenAI's limit for one file, as is MAX_FILE_BYTES."""
MAX_FILE_BYTES = 200_000_000
MAX_RESULT_BYTES = 4 << 30
IDLE_S = 300.0
"""Timeout without data: no model is thinking during these requests."""
UNSENT = frozenset({"stream", "stream_options"})
"""Parameters for the delivery of single replies, which batches don't have."""

ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
UNDER_WAY = frozenset({"validating", "in_progress", "finalizing", "cancelling"})


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as reported by the provider.

    Attributes:
        batch_id: the provider's id.
        status: the provider's status.
        marker: our marker from its metadata; None if it has none.
        files: ids of the result files, for successful and failed requests.
        errors: code and message of each error of the whole batch.
    """

    batch_id: str
    status: str
    marker: str | None
    files: tuple[str, ...]
    errors: tuple[tuple[str, str], ...]


class BatchTransport(Protocol):
    """The batch API of one provider, without retries.

    Every method but `aclose` takes the key, None for none, and may raise a `Fault`.
    """

    async def bodies(self, requests: Sequence[Request]) -> list[Mapping[str, Any] | Fault]:
        """Return the body of a single call without `UNSENT` for each request, or a fault."""
        ...

    async def upload(self, name: str, data: bytes, key: str | None) -> str:
        """Upload a file of requests and return its id."""
        ...

    async def create(self, file_id: str, marker: str, key: str | None) -> BatchState:
        """Submit a batch."""
        ...

    async def retrieve(self, batch_id: str, key: str | None) -> BatchState:
        """Return the state of a batch."""
        ...

    async def page(self, after: str | None, key: str | None) -> tuple[list[BatchState], bool]:
        """Return the account's batches after the one with that id, and whether there are more."""
        ...

    async def content(self, file_id: str, key: str | None) -> bytes:
        """Download a result file."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


def read_batch(payload: object) -> BatchState:
    """Read a batch object.

    Raises:
        Fault: it is not one.
    """
    batch = _mapping(payload)  # empty for null: rejected below
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
    """Read the id of a file object.

    Raises:
        Fault: it is not one.
    """
    name = _mapping(payload).get("id")
    if not isinstance(name, str) or not name:
        raise Fault(FaultKind.reply, f"not a file: {payload!r}")
    return name


def read_page(payload: object) -> tuple[list[BatchState], bool]:
    """Read a page of the list of batches, and whether there are more.

    Raises:
        Fault: it is not one.
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
