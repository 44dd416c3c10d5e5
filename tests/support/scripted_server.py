"""An endpoint on loopback that speaks the OpenAI chat protocol and does what a test's script says.

    with ScriptedServer(lambda call: Say("a brief")) as server:
        ...  # send to server.base
    assert len(server.billed) == 1

It runs in a thread with a loop of its own, so that a test may block, or run other processes against it.
"""

import asyncio
import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

HANG_S = 60.0


@dataclass(frozen=True)
class Say:
    """A reply. `usage` is counted in words unless given; None leaves it out."""

    text: str | None = "ok"
    finish: str | None = "stop"
    usage: Mapping[str, Any] | str | None = "words"
    delay_s: float = 0.0
    chunks: int = 1
    pace_s: float = 0.0  # before each chunk
    done: bool = True
    model: str | None = None
    message: Mapping[str, Any] = field(default_factory=dict)  # further fields of it
    opens: str | None = ""  # content of a stream's first chunk


@dataclass(frozen=True)
class Status:
    """An HTTP error; `error` holds further fields of the error object: code, param, ..."""

    code: int
    message: str = "scripted"
    retry_after: str | None = None
    error: Mapping[str, Any] = field(default_factory=dict)
    delay_s: float = 0.0


@dataclass(frozen=True)
class Drop:
    """The connection is torn down: before the headers, or after that many chunks of a reply."""

    after_chunks: int | None = None
    say: Say = field(default_factory=lambda: Say("one two three four", chunks=4))
    delay_s: float = 0.0


@dataclass(frozen=True)
class Hang:
    """Nothing comes for that long: before the headers, or after that many chunks."""

    seconds: float
    after_chunks: int | None = None
    say: Say = field(default_factory=lambda: Say("one two three four", chunks=4))


@dataclass(frozen=True)
class Raw:
    """Bytes as they are, with a status of 200 unless said."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200


Answer = Say | Status | Drop | Hang | Raw


@dataclass(frozen=True)
class Call:
    """One request as it arrived.

    Attributes:
        body: as sent.
        headers: as sent, names in lower case.
        path: of the URL.
        attempt: how often this body has come, from 1.
        number: how many requests have come in all, from 1.
        in_flight: requests being answered, this one included.
    """

    body: Mapping[str, Any]
    headers: Mapping[str, str]
    path: str
    attempt: int
    number: int
    in_flight: int

    @property
    def prompt(self) -> str:
        """Text of the last message."""
        return self.body["messages"][-1]["content"]


class ScriptedServer:
    """The endpoint; a context manager. `script` decides on each call; it runs in the server's thread.

    Attributes:
        base: address to give as `api_base`.
        calls: every request, in order of arrival.
        billed: those that a provider would charge for: answered with 200, also if the client had gone.
        peak: the most requests that were in flight at once.
        together: no request is answered before that many were in flight at once, so that a test of `peak`
            does not depend on the speed of the machine. After `HANG_S` all are answered, and `peak` shows it.
        redirect: address to send every request on to, with `redirect_status`; None to answer them.
    """

    def __init__(
        self, script: Callable[[Call], Answer] | None = None, port: int = 0, *, together: int = 1
    ) -> None:
        self.script = script or (lambda _call: Say())
        self.calls: list[Call] = []
        self.billed: list[Call] = []
        self.peak = 0
        self.together = together
        self._met = asyncio.Event()
        self._port = port
        self.base = ""
        self._peers: set[object] = set()
        self.redirect: str | None = None
        self.redirect_status = 307
        self._in_flight = 0
        self._seen: Counter[str] = Counter()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(10)
        return self

    def __exit__(self, *_exc: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    @property
    def connections(self) -> int:
        """How many connections brought a request."""
        return len(self._peers)

    def prompts(self) -> list[str]:
        """Last message of each billed call."""
        return [call.prompt for call in self.billed]

    async def _open(self) -> None:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_post("/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.05, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        port = self._runner.addresses[0][1]
        self.base = f"http://127.0.0.1:{port}/v1"

    async def _close(self) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        if request.content_type == "multipart/form-data":  # a file of a batch
            error = {"message": f"no {request.path} here: chat completions only"}
            return web.json_response({"error": error}, status=404)
        raw = await request.text()
        self._seen[raw] += 1
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        call = Call(
            body=json.loads(raw),
            headers={name.lower(): value for name, value in request.headers.items()},
            path=request.path,
            attempt=self._seen[raw],
            number=len(self.calls) + 1,
            in_flight=self._in_flight,
        )
        self.calls.append(call)
        self._peers.add(request.transport.get_extra_info("peername"))
        try:
            if self.redirect is not None:
                return web.Response(status=self.redirect_status, headers={"Location": self.redirect})
            await self._meet()
            return await self._answer(request, call, self.script(call))
        finally:
            self._in_flight -= 1

    async def _meet(self) -> None:
        if self.peak < self.together and not self._met.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._met.wait(), HANG_S)
        self._met.set()

    async def _answer(self, request: web.Request, call: Call, answer: Answer) -> web.StreamResponse:
        if isinstance(answer, Status):
            await asyncio.sleep(answer.delay_s)
            headers = {} if answer.retry_after is None else {"Retry-After": answer.retry_after}
            error = {"message": answer.message, **answer.error}
            return web.json_response({"error": error}, status=answer.code, headers=headers)
        self.billed.append(call)
        if isinstance(answer, Raw):
            return web.Response(body=answer.body, status=answer.status, content_type=answer.content_type)
        if isinstance(answer, Say):
            await asyncio.sleep(answer.delay_s)
            if call.body.get("stream"):
                return await self._stream(request, call, answer, None)
            return web.json_response(completion_body(call, answer), dumps=json.dumps)
        if isinstance(answer, Drop):
            await asyncio.sleep(answer.delay_s)
        if answer.after_chunks is None:
            await asyncio.sleep(answer.seconds if isinstance(answer, Hang) else 0)
            return self._tear(request)
        return await self._stream(request, call, answer.say, answer)

    async def _stream(
        self, request: web.Request, call: Call, say: Say, fault: Drop | Hang | None
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for number, chunk in enumerate(_chunks(call, say)):
            if fault is not None and number == fault.after_chunks:
                await asyncio.sleep(fault.seconds if isinstance(fault, Hang) else 0)
                return self._tear(request)
            await asyncio.sleep(say.pace_s)
            await response.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        if say.done:
            await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    @staticmethod
    def _tear(request: web.Request) -> web.StreamResponse:
        if request.transport is not None:
            request.transport.abort()
        return web.Response()


def _head(call: Call, say: Say, kind: str) -> dict[str, Any]:
    return {"id": "c1", "object": kind, "created": 1_700_000_000, "model": say.model or call.body["model"]}


def _usage(call: Call, say: Say) -> Mapping[str, Any] | None:
    if say.usage != "words":
        return say.usage
    sent = sum(len(message["content"].split()) for message in call.body["messages"])
    back = len((say.text or "").split())
    return {"prompt_tokens": sent, "completion_tokens": back, "total_tokens": sent + back}


def completion_body(call: Call, say: Say) -> dict[str, Any]:
    """The reply whole, as OpenAI sends it."""
    message = {"role": "assistant", "content": say.text, **say.message}
    choice = {"index": 0, "message": message, "finish_reason": say.finish}
    usage = _usage(call, say)
    return {
        **_head(call, say, "chat.completion"),
        "choices": [choice],
        **({} if usage is None else {"usage": usage}),
    }


def _chunks(call: Call, say: Say) -> list[dict[str, Any]]:
    """The reply in `say.chunks` pieces, then the finish reason, then the usage, as OpenAI sends them."""
    head = _head(call, say, "chat.completion.chunk")
    text = say.text or ""
    size = max(1, -(-len(text) // say.chunks))
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    deltas = [
        {"role": "assistant", "content": say.opens, **say.message},
        *({"content": piece} for piece in pieces),
    ]
    out = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if say.finish is not None:
        out.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": say.finish}]})
    usage = _usage(call, say)
    if usage is not None and call.body.get("stream_options", {}).get("include_usage"):
        out.append({**head, "choices": [], "usage": usage})
    return out
