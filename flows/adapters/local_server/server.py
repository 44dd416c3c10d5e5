"""Serve one `Engine` by the OpenAI chat protocol on loopback: `python -m ... FILE`, FILE as in `find_file`.

Prints one line of JSON when it is ready, `{"base": ..., "model": ..., "context_tokens": ...}`, or
`{"error": ...}` on failure, and ends when its standard input is closed, so it never outlives its parent.

Unlike other servers it rejects unknown fields, and prompts that do not fit with their reply. Requests are
answered one at a time.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from typing import Any, TextIO

import orjson
from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flows.adapters.local_server.engine import Engine
from flows.adapters.local_server.find import EngineError, find_file
from flows.adapters.local_server.sampling import Sampling

_MAX_BODY_BYTES = 64 << 20  # larger than any context


class Turn(BaseModel):
    """One turn of the chat.

    Attributes:
        role: the role in the chat template.
        content: its text.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    role: str
    content: str


class StreamOptions(BaseModel):
    """Options for streaming.

    Attributes:
        include_usage: whether it ends with its token counts.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    include_usage: bool = False


class ChatRequest(BaseModel):
    """A chat request with the protocol's defaults.

    Attributes:
        model: ignored, as there is only one.
        messages: the turns.
        max_tokens: maximum tokens of the reply; None for as many as fit.
        temperature, top_p, seed: as in `Sampling`.
        stream: whether the reply is streamed.
        stream_options: options for streaming.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    model: str = ""
    messages: list[Turn] = Field(min_length=1)
    max_tokens: int | None = Field(default=None, gt=0)
    temperature: float = Field(default=1, ge=0, le=2)
    top_p: float = Field(default=1, gt=0, le=1)
    seed: int = Field(default=0, ge=0)
    stream: bool = False
    stream_options: StreamOptions = StreamOptions()


def read_request(body: bytes) -> ChatRequest:
    """Parse and validate a request.

    Raises:
        EngineError: it is malformed, or has an unknown or invalid field.
    """
    try:
        return ChatRequest.model_validate_json(body)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        unknown = any(fault["type"] == "extra_forbidden" for fault in faults)
        message = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in faults)
        raise EngineError(message, "unsupported_parameter" if unknown else "invalid_request_error") from error


class ChatServer:
    """Answers requests from one engine, one at a time."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turn = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1)  # llama.cpp runs in one thread besides the event loop

    def application(self) -> web.Application:
        """Return the aiohttp application."""
        app = web.Application(client_max_size=_MAX_BODY_BYTES)
        app.router.add_post("/v1/chat/completions", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        async with self._turn:
            if request.transport is None or request.transport.is_closing():
                raise asyncio.CancelledError  # the client disconnected while waiting
            try:
                asked = read_request(await request.read())
                turns = [(turn.role, turn.content) for turn in asked.messages]
                prompt = await self._run(self._engine.read_messages, turns)
                room = self._engine.context_tokens - len(prompt)
                limit = asked.max_tokens or max(1, room)
                self._engine.check_fit(len(prompt), limit)
                sampling = Sampling(asked.temperature, asked.top_p, asked.seed)
                reply = Written(self._engine.name, len(prompt))
                async with aclosing(self._texts(self._engine.write(prompt, limit, sampling), reply)) as texts:
                    if not asked.stream:
                        return _json(reply.whole("".join([text async for text in texts])))
                    usage = asked.stream_options.include_usage
                    return await self._stream(request, texts, reply, with_usage=usage)
            except EngineError as error:
                status = 500 if error.code == "server_error" else 400
                return _json({"error": _error(error)}, status)

    async def _stream(
        self, request: web.Request, texts: AsyncIterator[str], reply: Written, *, with_usage: bool
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)

        async def send(chunk: Mapping[str, Any]) -> None:
            await response.write(b"data: " + orjson.dumps(chunk) + b"\n\n")

        try:
            async for text in texts:
                await send(reply.chunk({"content": text}))
        except EngineError as error:  # the status was sent: report the error as an event
            await send({"error": _error(error)})
            return response
        await send(reply.chunk({}, reply.finish_reason))
        if with_usage:
            await send({**reply.head("chat.completion.chunk"), "choices": [], "usage": reply.usage()})
        await response.write(b"data: [DONE]\n\n")
        return response

    async def _texts(self, pieces: Generator[tuple[str, bool]], reply: Written) -> AsyncGenerator[str]:
        """Yield non-empty pieces, counting all of them in `reply`."""
        try:
            while (piece := await self._run(next, pieces, None)) is not None:
                text, ended = piece
                reply.count(ended=ended)
                if text:
                    yield text
        finally:  # also if the connection broke: the context is freed in its own thread
            await self._run(pieces.close)

    async def _run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *arguments))


class Written:
    """A partial reply in the protocol's format."""

    def __init__(self, model: str, prompt_tokens: int) -> None:
        self._model = model
        self._prompt_tokens = prompt_tokens
        self._tokens = 0
        self._ended = False

    def count(self, *, ended: bool) -> None:
        """Count a piece; the last one of a reply has no token."""
        self._tokens += 1
        self._ended = ended

    @property
    def finish_reason(self) -> str:
        """`stop` if the model ended, `length` at the limit."""
        return "stop" if self._ended else "length"

    def usage(self) -> dict[str, int]:
        """Token counts."""
        written = self._tokens - 1
        total = self._prompt_tokens + written
        return {"prompt_tokens": self._prompt_tokens, "completion_tokens": written, "total_tokens": total}

    def head(self, kind: str) -> dict[str, Any]:
        """Return the common fields of the protocol's objects."""
        return {"id": "local", "object": kind, "created": 0, "model": self._model}

    def chunk(self, delta: Mapping[str, str], finish_reason: str | None = None) -> dict[str, Any]:
        """Return one event of a streamed reply."""
        choice = {"index": 0, "delta": dict(delta), "finish_reason": finish_reason}
        return {**self.head("chat.completion.chunk"), "choices": [choice]}

    def whole(self, text: str) -> dict[str, Any]:
        """Return a reply as a whole."""
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return {**self.head("chat.completion"), "choices": [choice], "usage": self.usage()}


def _error(error: EngineError) -> dict[str, str]:
    return {"message": str(error), "code": error.code}


def _json(value: Mapping[str, Any], status: int = 200) -> web.Response:
    return web.Response(body=orjson.dumps(value), status=status, content_type="application/json")


async def _serve(engine: Engine, out: TextIO) -> None:
    runner = web.AppRunner(ChatServer(engine).application(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    base = f"http://127.0.0.1:{port}/v1"
    _tell(out, {"base": base, "model": engine.name, "context_tokens": engine.context_tokens})
    await asyncio.Event().wait()


def _tell(out: TextIO, value: Mapping[str, Any]) -> None:
    print(orjson.dumps(value).decode(), file=out, flush=True)


def _end_with_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)  # llama.cpp may be computing a token and can't be stopped


def main(place: str) -> int:
    """Serve the file at `place` until standard input ends.

    Returns:
        1 if it can't be served; the printed line says why.
    """
    # Redirect llama.cpp's output to standard error, so that standard output has only this line.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        engine = Engine(find_file(place))
    except EngineError as error:
        _tell(out, {"error": str(error)})
        return 1
    asyncio.run(_serve(engine, out))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
