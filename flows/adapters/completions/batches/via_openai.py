"""Batches at an endpoint with OpenAI's API, without retries."""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from flows.adapters.completions.batches.transport import (
    ENDPOINT,
    IDLE_S,
    MARKER,
    MAX_RESULT_BYTES,
    UNSENT,
    WINDOW,
    BatchState,
    read_batch,
    read_file,
    read_page,
)
from flows.adapters.completions.faults import Fault
from flows.adapters.completions.fields import load_json
from flows.adapters.completions.keys import read_headers
from flows.adapters.completions.send_openai import OPENAI_BASE, OpenAISender
from flows.adapters.completions.turns import chat_messages
from flows.adapters.completions.wire import WIRE_ERRORS, read_body, status_fault, wire_fault
from flows.schema.completion import Request
from flows.schema.settings import ModelSettings, RunnerSettings

_MAX_ANSWER_BYTES = 64 << 20
_OK = 200


class OpenAIBatches(OpenAISender):
    """Batches of one endpoint, over the connections of a sender. Use it from one event loop only."""

    def __init__(self, model: ModelSettings, runner: RunnerSettings) -> None:
        super().__init__(runner)
        self._model = model
        self._base = (model.api_base or OPENAI_BASE).rstrip("/")
        self._times = aiohttp.ClientTimeout(
            total=None,
            connect=runner.connect_timeout_s,
            sock_connect=runner.connect_timeout_s,
            sock_read=min(runner.idle_timeout_s, IDLE_S),
        )

    async def bodies(self, requests: Sequence[Request]) -> list[Mapping[str, Any] | Fault]:
        """See `BatchTransport`."""
        return [
            {
                "model": request.model,
                "messages": chat_messages(request.messages),
                **{name: value for name, value in request.parameters.items() if name not in UNSENT},
            }
            for request in requests
        ]

    async def upload(self, name: str, data: bytes, key: str | None) -> str:
        """See `BatchTransport`."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        form.add_field("file", io.BytesIO(data), filename=name, content_type="application/jsonl")
        return read_file(await self._json("POST", "/files", key, data=form))

    async def create(self, file_id: str, marker: str, key: str | None) -> BatchState:
        """See `BatchTransport`."""
        body = {
            "input_file_id": file_id,
            "endpoint": ENDPOINT,
            "completion_window": WINDOW,
            "metadata": {MARKER: marker},
        }
        # An endpoint that supports the header deduplicates submissions.
        headers = {"Idempotency-Key": marker}
        return read_batch(await self._json("POST", "/batches", key, json=body, headers=headers))

    async def retrieve(self, batch_id: str, key: str | None) -> BatchState:
        """See `BatchTransport`."""
        return read_batch(await self._json("GET", f"/batches/{batch_id}", key))

    async def page(self, after: str | None, key: str | None) -> tuple[list[BatchState], bool]:
        """See `BatchTransport`."""
        query = {"limit": "100"} | ({} if after is None else {"after": after})
        return read_page(await self._json("GET", "/batches", key, params=query))

    async def content(self, file_id: str, key: str | None) -> bytes:
        """See `BatchTransport`."""
        async with self._response("GET", f"/files/{file_id}/content", key) as response:
            return await read_body(response, MAX_RESULT_BYTES)

    async def _json(self, method: str, path: str, key: str | None, **arguments: Any) -> Any:
        async with self._response(method, path, key, **arguments) as response:
            return load_json(await read_body(response, _MAX_ANSWER_BYTES))[0]

    @asynccontextmanager
    async def _response(
        self,
        method: str,
        path: str,
        key: str | None,
        headers: Mapping[str, str] | None = None,
        **arguments: Any,
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Open a response of status 200; anything else is raised as a fault."""
        fault: Fault
        # Raised outside `except`: see WIRE_ERRORS.
        try:
            async with self._open().request(
                method,
                f"{self._base}{path}",
                headers={
                    **(headers or {}),
                    **({} if key is None else {"Authorization": f"Bearer {key}"}),
                    **read_headers(self._model),
                },
                allow_redirects=False,  # the key must not be redirected
                proxy=self._proxy(self._base),
                timeout=self._times,
                **arguments,
            ) as response:
                if response.status != _OK:
                    raise await status_fault(response)
                yield response
                return
        except Fault as raised:
            fault = raised
        except WIRE_ERRORS as error:
            fault = wire_fault(error, self._times)
        raise fault
