"""A GGUF file on this machine, answered by a local process: a line of JSON for each request and reply."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

import orjson

from flows.adapters.completions.faults import Fault, FaultKind, error_fault
from flows.adapters.completions.senders.reply import Reply, read_completion
from flows.adapters.completions.senders.turns import chat_messages
from flows.schema.completion import Request
from flows.schema.settings import RunnerSettings

_SERVER = "flows.adapters.local_server.server"
_LOAD_S = 600.0  # tens of gigabytes from a slow disk, read twice: to load and to hash
_END_S = 10.0
_TAIL_BYTES = 2000
_MAX_LINE_BYTES = 64 << 20  # larger than any context


class GGUFSender:
    """Starts a server per file at its first call. Use it from one event loop only.

    A request's `api_base` is the file, as in `flows.adapters.local_server`. The server only accepts text;
    `turns.check_request` rejects tools and images before it is started.
    """

    def __init__(self, runner: RunnerSettings) -> None:
        self._timeout_s = runner.total_timeout_s
        self._servers: dict[str, _Server] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    async def send(
        self,
        request: Request,
        key: str | None,  # noqa: ARG002 -- the server is ours
        headers: Mapping[str, str] | None = None,  # noqa: ARG002 -- the same
    ) -> Reply:
        """Make one try when those before it are answered, starting the server if it is not running.

        Raises:
            Fault: no completion, or the server can't be started.
        """
        place = request.api_base or ""
        body = {"model": request.model, "messages": chat_messages(request.messages), **request.parameters}
        async with self._turns.setdefault(place, asyncio.Lock()):
            server = self._servers.get(place)
            if server is not None and server.has_ended:
                await self._servers.pop(place).stop()
                server = None
            if server is None:
                server = self._servers[place] = await _Server.start(place)
            try:
                payload = await server.ask(orjson.dumps(body), self._timeout_s)
            except BaseException:  # a late answer must not be taken for the next one's
                await self._servers.pop(place).stop()
                raise
        if "error" in payload:
            status = 500 if payload["error"]["code"] == "server_error" else 400
            raise error_fault(status, payload, "")
        return read_completion(payload)

    async def aclose(self) -> None:
        """Stop the servers."""
        for server in self._servers.values():
            await server.stop()
        self._servers.clear()


@dataclass(eq=False)
class _Server:
    _process: asyncio.subprocess.Process
    _log: IO[bytes]

    @classmethod
    async def start(cls, place: str) -> _Server:
        """Start a server for the file at `place`, and wait until it answers.

        Raises:
            Fault: it can't serve that file.
        """
        log = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the process
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            _SERVER,
            place,
            stdin=asyncio.subprocess.PIPE,  # the server ends when it is closed
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            limit=_MAX_LINE_BYTES,
            start_new_session=True,  # not stopped by Ctrl-C: calls in flight finish
        )
        server = cls(process, log)
        try:
            said = await server._read(_LOAD_S)
            found = said["error"] if said and "error" in said else None
            if said is None:
                found = f"its server ended while it started: {server._tail()}"
        except TimeoutError:
            found = f"not loaded within {_LOAD_S:g} s"
        except BaseException:
            await server.stop()
            raise
        if found is not None:
            await server.stop()
            raise Fault(FaultKind.parameter, found)
        return server

    @property
    def has_ended(self) -> bool:
        """True if the process has ended."""
        return self._process.returncode is not None

    async def ask(self, body: bytes, timeout_s: float) -> dict[str, Any]:
        """Return the answer to a request.

        Raises:
            Fault: it ended, or did not answer in time.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(body + b"\n")
        try:
            with suppress(ConnectionError):  # it has ended, which is found below
                await self._process.stdin.drain()
            said = await self._read(timeout_s)
        except TimeoutError:
            raise Fault(FaultKind.timeout, f"not done within {timeout_s:g} s") from None
        if said is None:
            raise Fault(FaultKind.connection, f"its server ended: {self._tail()}")
        return said

    async def stop(self) -> None:
        """Stop the process and wait for its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(_END_S):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        self._log.close()

    async def _read(self, timeout_s: float) -> dict[str, Any] | None:
        """Read a line; None if the process has ended."""
        assert self._process.stdout is not None
        async with asyncio.timeout(timeout_s):
            line = await self._process.stdout.readline()
        return orjson.loads(line) if line.endswith(b"\n") else None

    def _tail(self) -> str:
        self._log.seek(0, 2)
        self._log.seek(max(0, self._log.tell() - _TAIL_BYTES))
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
