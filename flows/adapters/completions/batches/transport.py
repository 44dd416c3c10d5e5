"""OpenAI's files and batches: at OpenAI, Azure, and endpoints that have the same API. Without retries.

The bodies of litellm's models are built by litellm, as for single calls. Its functions for batches are not
used: in litellm 1.110 they open a connection per request and never close it, and download the results of an
ended batch again to price them. They create no batches at Anthropic and DeepSeek and can't list those of
Mistral, Gemini and Bedrock, so one whose id was lost in a crash could not be found again. Vertex and Bedrock
also need a bucket, and hosted_vllm needs litellm's proxy.
"""

from __future__ import annotations

import asyncio
import os
import urllib.parse
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flows.adapters.completions.faults import Fault, FaultKind, error_fault, retry_after_s
from flows.adapters.completions.keys import read_headers
from flows.adapters.completions.senders.send_litellm import import_litellm
from flows.adapters.completions.senders.turns import chat_messages
from flows.schema.completion import Request
from flows.schema.settings import ModelSettings, RunnerSettings, Transport

if TYPE_CHECKING:
    from openai import AsyncOpenAI

ENDPOINT = "/v1/chat/completions"
MAX_REQUESTS = 50_000  # OpenAI's limit for one file, as is MAX_FILE_BYTES
MAX_FILE_BYTES = 200_000_000
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
UNDER_WAY = frozenset({"validating", "in_progress", "finalizing", "cancelling"})

_BASE = "https://api.openai.com/v1"
_NO_FILES = frozenset({404, 405, 501})  # statuses of an endpoint without OpenAI's files
_MARKER = "staffbench"  # metadata field that identifies our batches
_PAGE = 100  # OpenAI's maximum
_IDLE_S = 300.0  # no model is thinking during these requests
_UNSENT = frozenset({"stream", "stream_options"})  # for the delivery of single replies

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch as reported by the provider."""

    batch_id: str  # the provider's id
    status: str  # the provider's status
    marker: str | None  # our marker from its metadata; None if it has none
    files: tuple[str, ...]  # ids of the result files, for successful and failed requests
    errors: tuple[tuple[str, str], ...]  # code and message of each error of the whole batch


class BatchTransport:
    """The batches of one account. Use it from one event loop only. Its methods raise a `Fault`.

    Attributes:
        key: the account's key; None for none. Set it before a request.
    """

    def __init__(self, model: ModelSettings, runner: RunnerSettings) -> None:
        self.key: str | None = None
        self._model = model
        self._runner = runner
        self._client: AsyncOpenAI | None = None
        self._client_key: str | None = None
        self._opening = asyncio.Lock()

    async def bodies(self, requests: Sequence[Request]) -> list[Mapping[str, Any] | Fault]:
        """Return the body of a single call for each request, or a fault. Nothing is sent."""
        if self._model.transport is Transport.litellm:
            library = await asyncio.to_thread(import_litellm)
            return await asyncio.to_thread(lambda: [_litellm_body(library, request) for request in requests])
        return [
            {"model": request.model, "messages": chat_messages(request.messages), **_parameters(request)}
            for request in requests
        ]

    async def upload(self, name: str, data: bytes) -> str:
        """Upload a file of requests and return its id."""
        client = await self._open()
        file = (name, data, "application/jsonl")
        try:
            payload = await _answer(client.files.create(file=file, purpose="batch"))
        except Fault as fault:
            if fault.status not in _NO_FILES:
                raise
            missing = (
                f"it has no batches ({fault.outcome}: {fault.detail}); runner=standard sends single calls"
            )
            raise Fault(FaultKind.parameter, missing) from None
        file_id = _mapping(payload).get("id")
        if not isinstance(file_id, str) or not file_id:
            raise Fault(FaultKind.reply, f"not a file: {payload!r}")
        return file_id

    async def create(self, file_id: str, marker: str) -> BatchState:
        """Submit a batch."""
        client = await self._open()
        created = client.batches.create(
            input_file_id=file_id,
            endpoint=ENDPOINT,
            completion_window="24h",  # the only one that OpenAI offers
            metadata={_MARKER: marker},
            # A provider that supports the header deduplicates submissions.
            extra_headers={"Idempotency-Key": marker},
        )
        return _read_batch(await _answer(created))

    async def retrieve(self, batch_id: str) -> BatchState:
        """Return the state of a batch."""
        client = await self._open()
        return _read_batch(await _answer(client.batches.retrieve(batch_id)))

    async def page(self, after: str | None) -> tuple[list[BatchState], bool]:
        """Return the account's batches after the one with that id, and whether there are more."""
        client = await self._open()
        start: dict[str, Any] = {} if after is None else {"after": after}
        payload = await _answer(client.batches.list(limit=_PAGE, **start))
        data = _mapping(payload).get("data")
        if not isinstance(data, list):
            raise Fault(FaultKind.reply, f"not a list of batches: {payload!r}")
        batches = [_read_batch(batch) for batch in cast("list[object]", data)]
        return batches, bool(_mapping(payload).get("has_more"))

    async def content(self, file_id: str) -> bytes:
        """Download a result file."""
        client = await self._open()
        return (await _answer(client.files.content(file_id))).content

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _open(self) -> AsyncOpenAI:
        async with self._opening:
            if self._client is None or self._client_key != self.key:
                await self.aclose()
                self._client_key = self.key
                try:
                    # In a thread: importing the library takes seconds.
                    self._client = await asyncio.to_thread(_new_client, self._model, self._runner, self.key)
                except Exception as error:  # noqa: BLE001 -- any missing setting is the user's to fix
                    raise Fault(FaultKind.parameter, str(error)) from None
            return self._client


def _new_client(model: ModelSettings, runner: RunnerSettings, key: str | None) -> AsyncOpenAI:
    """Open a client; litellm's models take key, address and Azure's version from where litellm takes them."""
    from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    lite, env = model.transport is Transport.litellm, os.environ
    base = model.api_base or (lite and (env.get("OPENAI_BASE_URL") or env.get("OPENAI_API_BASE"))) or _BASE
    host = urllib.parse.urlsplit(base).hostname or ""
    headers = read_headers(model)
    keyless = not lite and key is None and "authorization" not in map(str.lower, headers)
    shared: dict[str, Any] = {
        "timeout": Timeout(min(runner.idle_timeout_s, _IDLE_S), connect=runner.connect_timeout_s),
        "max_retries": 0,
        "default_headers": headers,
        "http_client": DefaultAsyncHttpxClient(
            follow_redirects=False,  # prompts must not be redirected
            trust_env=host not in ("localhost", "::1") and not host.startswith("127."),  # no proxy to here
            event_hooks={"request": [_without_key]} if keyless else {},
        ),
    }
    if lite and (model.name or "").startswith("azure/"):
        return AsyncAzureOpenAI(
            azure_endpoint=model.api_base or env.get("AZURE_API_BASE") or "",
            api_key=key or env.get("AZURE_API_KEY"),
            api_version=model.parameters.get("api_version") or env.get("AZURE_API_VERSION"),
            **shared,
        )
    # The client insists on a key, and would take that in OPENAI_API_KEY.
    return AsyncOpenAI(base_url=base, api_key=key if lite else key or "none", **shared)


async def _without_key(request: Any) -> None:
    del request.headers["Authorization"]


async def _answer(call: Awaitable[_Answer]) -> _Answer:
    fault: Fault
    # Raised outside `except`: the client's errors hold the request with its headers.
    try:
        return await call
    except Exception as error:  # noqa: BLE001 -- after any error the batch is looked up
        fault = _fault(error)
    raise fault


def _fault(error: Exception) -> Fault:
    import openai

    detail = f"{type(error).__name__}: {error}"
    if isinstance(error, openai.APIStatusError):
        headers = error.response.headers
        text = f"moved to {headers['Location']}" if "Location" in headers else detail
        return error_fault(error.status_code, error.body, text, retry_after_s(headers))
    cause = error.__cause__
    if isinstance(error, openai.APIConnectionError):  # a timeout is one
        if type(cause).__name__ in ("ConnectError", "ConnectTimeout"):
            return Fault(FaultKind.connect, f"{detail} {cause}")
        timed_out = isinstance(error, openai.APITimeoutError)
        return Fault(FaultKind.timeout if timed_out else FaultKind.connection, f"{detail} {cause}")
    return Fault(FaultKind.reply, detail)


def _parameters(request: Request) -> dict[str, Any]:
    return {name: value for name, value in request.parameters.items() if name not in _UNSENT}


def _litellm_body(library: Any, request: Request) -> Mapping[str, Any] | Fault:
    address = {} if request.api_base is None else {"api_base": request.api_base}
    raw = library.utils.return_raw_request(
        endpoint=library.types.utils.CallTypes.completion,
        kwargs={
            "model": request.model,
            "messages": chat_messages(request.messages),
            **address,
            **_parameters(request),
        },
    )
    body = raw.get("raw_request_body")
    if not isinstance(body, dict) or "messages" not in body:
        return Fault(FaultKind.parameter, f"litellm makes no chat request of it: {raw.get('error')}")
    return cast("dict[str, Any]", body)


def _read_batch(payload: object) -> BatchState:
    batch = _mapping(payload)
    batch_id, status = batch.get("id"), batch.get("status")
    if not isinstance(batch_id, str) or not batch_id or not isinstance(status, str):
        raise Fault(FaultKind.reply, f"not a batch: {payload!r}")
    marker = _mapping(batch.get("metadata")).get(_MARKER)
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


def _error(error: Mapping[str, Any]) -> tuple[str, str]:
    return str(error.get("code") or ""), str(error.get("message") or error.get("code") or "no reason given")


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return the fields of an answer, none for null."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(warnings=False)
    if not isinstance(value, Mapping | None):
        raise Fault(FaultKind.reply, f"not an object: {value!r}")
    return cast("Mapping[str, Any]", value or {})
