"""Batches at OpenAI and Azure for litellm models, without retries.

litellm builds each request, so a batch has the same bodies as single calls. Files and batches go through the
OpenAI client that litellm installs, not through litellm's own functions: in litellm 1.110 these open a
connection per request and never close it, and download the results of an ended batch again to price them.
They create no batches at Anthropic and DeepSeek and can't list those of Mistral, Gemini and Bedrock, so one
whose id was lost in a crash could not be found again. Vertex and Bedrock also need a bucket, and hosted_vllm
needs litellm's proxy.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from flows.adapters.completions.batches.transport import (
    ENDPOINT,
    IDLE_S,
    MARKER,
    UNSENT,
    WINDOW,
    BatchState,
    read_batch,
    read_file,
    read_page,
)
from flows.adapters.completions.faults import Fault, FaultKind, error_fault, retry_after_s
from flows.adapters.completions.keys import read_headers
from flows.adapters.completions.send_litellm import LiteLLMSender
from flows.adapters.completions.turns import chat_messages
from flows.schema.completion import Request
from flows.schema.settings import ModelSettings, RunnerSettings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_PAGE = 100  # OpenAI's maximum page size

_Answer = TypeVar("_Answer")


class LiteLLMBatches(LiteLLMSender):
    """Batches of one account. Use it from one event loop only."""

    def __init__(self, model: ModelSettings, runner: RunnerSettings) -> None:
        super().__init__(runner)
        self._model = model
        self._client: AsyncOpenAI | None = None
        self._client_key: str | None = None

    async def bodies(self, requests: Sequence[Request]) -> list[Mapping[str, Any] | Fault]:
        """See `BatchTransport`. Nothing is sent."""
        library = await self._import()
        return await asyncio.to_thread(lambda: [_body(library, request) for request in requests])

    async def upload(self, name: str, data: bytes, key: str | None) -> str:
        """See `BatchTransport`."""
        client = await self._open_client(key)
        file = (name, data, "application/jsonl")
        return read_file(_plain(await _answer(client.files.create(file=file, purpose="batch"))))

    async def create(self, file_id: str, marker: str, key: str | None) -> BatchState:
        """See `BatchTransport`."""
        client = await self._open_client(key)
        created = client.batches.create(
            input_file_id=file_id,
            endpoint=ENDPOINT,
            completion_window=WINDOW,
            metadata={MARKER: marker},
            # A provider that supports the header deduplicates submissions.
            extra_headers={"Idempotency-Key": marker},
        )
        return read_batch(_plain(await _answer(created)))

    async def retrieve(self, batch_id: str, key: str | None) -> BatchState:
        """See `BatchTransport`."""
        client = await self._open_client(key)
        return read_batch(_plain(await _answer(client.batches.retrieve(batch_id))))

    async def page(self, after: str | None, key: str | None) -> tuple[list[BatchState], bool]:
        """See `BatchTransport`."""
        client = await self._open_client(key)
        batches = client.batches
        listed = batches.list(limit=_PAGE) if after is None else batches.list(limit=_PAGE, after=after)
        return read_page(_plain(await _answer(listed)))

    async def content(self, file_id: str, key: str | None) -> bytes:
        """See `BatchTransport`."""
        client = await self._open_client(key)
        return (await _answer(client.files.content(file_id))).content

    async def aclose(self) -> None:
        """See `BatchTransport`."""
        if self._client is not None:
            await self._client.close()
            self._client = None
        await super().aclose()

    async def _open_client(self, key: str | None) -> AsyncOpenAI:
        """Open the account's client; litellm finds the key, the address and Azure's version."""
        if self._client is not None and self._client_key == key:
            return self._client
        if self._client is not None:
            await self._client.close()
        self._client_key = key
        await self._import()  # in a thread, including the client's library
        try:
            self._client = _new_client(self._model, self._runner, key)
        except Exception as error:  # noqa: BLE001 -- any missing setting is the user's to fix
            raise Fault(FaultKind.parameter, str(error)) from None
        return self._client


def _new_client(model: ModelSettings, runner: RunnerSettings, key: str | None) -> AsyncOpenAI:
    from openai import AsyncAzureOpenAI, AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

    timeout = Timeout(min(runner.idle_timeout_s, IDLE_S), connect=runner.connect_timeout_s)
    http = DefaultAsyncHttpxClient(follow_redirects=False)  # prompts must not be redirected
    if (model.name or "").startswith("azure/"):
        version = model.parameters.get("api_version") or os.environ.get("AZURE_API_VERSION")
        return AsyncAzureOpenAI(
            azure_endpoint=model.api_base or os.environ.get("AZURE_API_BASE") or "",
            api_key=key or os.environ.get("AZURE_API_KEY"),
            api_version=version,
            timeout=timeout,
            max_retries=0,
            default_headers=read_headers(model),
            http_client=http,
        )
    base = model.api_base or os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    return AsyncOpenAI(
        base_url=base,
        api_key=key,
        timeout=timeout,
        max_retries=0,
        default_headers=read_headers(model),
        http_client=http,
    )


async def _answer(call: Awaitable[_Answer]) -> _Answer:
    fault: Fault
    # Raised outside `except`: the client's errors hold the request with its headers.
    try:
        return await call
    except Exception as error:  # noqa: BLE001 -- after any error the batch is looked up
        fault = _fault(error)
    raise fault


def _body(library: Any, request: Request) -> Mapping[str, Any] | Fault:
    parameters = {name: value for name, value in request.parameters.items() if name not in UNSENT}
    address = {} if request.api_base is None else {"api_base": request.api_base}
    raw = library.utils.return_raw_request(
        endpoint=library.types.utils.CallTypes.completion,
        kwargs={
            "model": request.model,
            "messages": chat_messages(request.messages),
            **address,
            **parameters,
        },
    )
    body = raw.get("raw_request_body")
    if not isinstance(body, dict) or "messages" not in body:
        return Fault(FaultKind.parameter, f"litellm makes no chat request of it: {raw.get('error')}")
    return cast("dict[str, Any]", body)


def _plain(value: Any) -> dict[str, Any]:
    return value.model_dump(warnings=False)


def _fault(error: Exception) -> Fault:
    import openai

    detail = f"{type(error).__name__}: {error}"
    if isinstance(error, openai.APIStatusError):
        return error_fault(error.status_code, error.body, detail, retry_after_s(error.response.headers))
    cause = error.__cause__
    if isinstance(error, openai.APIConnectionError):  # a timeout is one
        if type(cause).__name__ in ("ConnectError", "ConnectTimeout"):
            return Fault(FaultKind.connect, f"{detail} {cause}")
        timed_out = isinstance(error, openai.APITimeoutError)
        return Fault(FaultKind.timeout if timed_out else FaultKind.connection, f"{detail} {cause}")
    return Fault(FaultKind.reply, detail)
