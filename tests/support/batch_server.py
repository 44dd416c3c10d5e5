"""An endpoint on loopback that speaks OpenAI's files and batches, and does what a test's script says.

    with BatchServer(lambda line: Say("a brief")) as server:
        ...  # send to server.base
    assert len(server.batches) == 1

`script` answers each line of a batch. `fault` is asked before each HTTP request is answered. A batch
is worked off after `polls` looks at it, or when `hold` is lifted.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from tests.support.scripted_server import Drop, Say, Status, completion_body


@dataclass(frozen=True)
class Line:
    """One request of a batch; `attempt` counts how often its `custom_id` has come, from 1."""

    custom_id: str
    body: Mapping[str, Any]
    attempt: int
    batch: int

    @property
    def prompt(self) -> str:
        return self.body["messages"][-1]["content"]


@dataclass(frozen=True)
class ItemError:
    """A line that the batch did not run: `batch_expired`, `batch_cancelled`, ..."""

    code: str
    message: str = "scripted"


@dataclass(frozen=True)
class Unanswered:
    """A line that is in neither file of results."""


@dataclass(frozen=True)
class DropAfter:
    """The request is carried out, and the connection torn down before the answer."""


@dataclass
class SentBatch:
    """A batch that was accepted."""

    id: str
    file: str
    metadata: dict[str, str]
    lines: list[Line]
    headers: dict[str, str]
    looks: int = 0
    status: str = "validating"
    output: str | None = None
    errors: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)

    def shown(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": self.file,
            "completion_window": "24h",
            "status": self.status,
            "created_at": 1_800_000_000,
            "metadata": self.metadata,
            "output_file_id": self.output,
            "error_file_id": self.errors,
            "request_counts": {"total": len(self.lines), "completed": 0, "failed": 0},
            **self.fields,
        }


Fault = Status | Drop | DropAfter | None


class BatchServer:
    """The endpoint; a context manager.

    Attributes:
        base: address to give as `api_base`.
        requests: method and path of every HTTP request, in order.
        seen: body and headers of each, as text.
        batches: those that were accepted, in order: what a provider charges for.
        billed: prompts of the lines that were answered with a completion.
        ends_as: the status that batches end with.
        edit: changes the lines of results before they are stored.
        hold: while True, batches stay under way.
        page_size: batches on one page of the list.
    """

    def __init__(self, script=None, fault: Callable[[str, str, int], Fault] | None = None, polls=1) -> None:
        self.script = script or (lambda _line: Say())
        self.fault = fault or (lambda _method, _path, _number: None)
        self.polls = polls
        self.base = ""
        self.requests: list[tuple[str, str]] = []
        self.seen: list[str] = []
        self.batches: list[SentBatch] = []
        self.billed: list[str] = []
        self.ends_as = "completed"
        self.batch_errors: list[dict[str, str]] = []
        self.edit: Callable[[list[str]], list[str]] = lambda lines: lines
        self.hold = False
        self.page_size = 2
        self._files: dict[str, bytes] = {}
        self._seen: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._runner: web.AppRunner | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(10)
        return self

    def __exit__(self, *_exc: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def count(self, method: str, path: str) -> int:
        """How many requests came whose path ends so."""
        return sum(1 for how, where in self.requests if how == method and where.endswith(path))

    def sizes(self) -> list[int]:
        """Lines of each accepted batch."""
        return [len(batch.lines) for batch in self.batches]

    async def _open(self) -> None:
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.05, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.base = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        method, path = request.method, "/" + request.path.split("/", 2)[2]
        path = path.removeprefix("/v1")  # Azure's addresses are longer: /openai/v1/...
        self.requests.append((method, path))
        number = self.count(method, path)
        fault = self.fault(method, path, number)
        body = await request.read()
        self.seen.append(f"{dict(request.headers)} {body.decode('utf-8', 'replace')}")
        if isinstance(fault, Status):
            headers = {} if fault.retry_after is None else {"Retry-After": fault.retry_after}
            error = {"message": fault.message, **fault.error}
            return web.json_response({"error": error}, status=fault.code, headers=headers)
        if isinstance(fault, Drop):
            request.transport.abort()
            return web.Response()
        response = self._answer(request, method, path, body)
        if isinstance(fault, DropAfter):
            request.transport.abort()
        return response

    def _answer(self, request: web.Request, method: str, path: str, body: bytes) -> web.Response:
        if (method, path) == ("POST", "/files"):
            return web.json_response(self._take_file(request, body))
        if (method, path) == ("POST", "/batches"):
            return web.json_response(self._accept(request, json.loads(body)).shown())
        if (method, path) == ("GET", "/batches"):
            return web.json_response(self._list(request.query.get("after")))
        if method == "GET" and path.startswith("/batches/"):
            found = [batch for batch in self.batches if batch.id == path.split("/")[2]]
            if found:
                self._work(found[0])
                return web.json_response(found[0].shown())
        if method == "GET" and path.endswith("/content"):
            return web.Response(body=self._files[path.split("/")[2]], content_type="application/octet-stream")
        return web.json_response({"error": {"message": f"nothing at {method} {path}"}}, status=404)

    def _take_file(self, request: web.Request, body: bytes) -> dict[str, Any]:
        boundary = request.headers["Content-Type"].split("boundary=")[1].strip('"').encode()
        parts = [part for part in body.split(b"--" + boundary) if b"filename=" in part]
        data = parts[0].split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n")
        name = self._keep(data)
        fields = {"object": "file", "bytes": len(data), "created_at": 1_800_000_000, "purpose": "batch"}
        return {"id": name, "filename": "batch.jsonl", "status": "processed", **fields}

    def _accept(self, request: web.Request, body: Mapping[str, Any]) -> SentBatch:
        assert body["endpoint"] == "/v1/chat/completions"
        assert body["completion_window"] == "24h"
        lines = []
        for text in self._files[body["input_file_id"]].decode().splitlines():
            line = json.loads(text)
            assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
            name = line["custom_id"]
            self._seen[name] = self._seen.get(name, 0) + 1
            lines.append(Line(name, line["body"], self._seen[name], len(self.batches) + 1))
        headers = {name.lower(): value for name, value in request.headers.items()}
        batch = SentBatch(
            f"batch_{len(self.batches) + 1}", body["input_file_id"], body["metadata"], lines, headers
        )
        self.batches.append(batch)
        return batch

    def _list(self, after: str | None) -> dict[str, Any]:
        newest = [batch.shown() for batch in reversed(self.batches)]
        names = [batch["id"] for batch in newest]
        start = names.index(after) + 1 if after else 0
        page = newest[start : start + self.page_size]
        return {
            "object": "list",
            "data": page,
            "has_more": start + self.page_size < len(newest),
            "first_id": page[0]["id"] if page else None,
            "last_id": page[-1]["id"] if page else None,
        }

    def _work(self, batch: SentBatch) -> None:
        batch.looks += 1
        if batch.status in ("validating", "in_progress") and not self.hold:
            batch.status = "in_progress" if batch.looks < self.polls else self.ends_as
            if batch.status == self.ends_as:
                self._finish(batch)

    def _finish(self, batch: SentBatch) -> None:
        if self.ends_as == "failed":
            batch.fields = {"errors": {"object": "list", "data": self.batch_errors}}
            return
        good, bad = [], []
        for number, line in enumerate(batch.lines):
            answer = self.script(line)
            head = {"id": f"batch_req_{number}", "custom_id": line.custom_id}
            if isinstance(answer, Say):
                self.billed.append(line.prompt)
                reply = {"status_code": 200, "request_id": "r", "body": completion_body(line, answer)}
                good.append(json.dumps({**head, "response": reply, "error": None}))
            elif isinstance(answer, Status):
                error = {"error": {"message": answer.message, **answer.error}}
                reply = {"status_code": answer.code, "request_id": "r", "body": error}
                bad.append(json.dumps({**head, "response": reply, "error": None}))
            elif isinstance(answer, ItemError):
                error = {"code": answer.code, "message": answer.message}
                bad.append(json.dumps({**head, "response": None, "error": error}))
        good = self.edit(good)
        batch.output = self._keep("".join(f"{line}\n" for line in good).encode()) if good else None
        batch.errors = self._keep("".join(f"{line}\n" for line in bad).encode()) if bad else None

    def _keep(self, data: bytes) -> str:
        name = f"file-{len(self._files) + 1}"
        self._files[name] = data
        return name
