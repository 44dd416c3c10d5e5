"""A GGUF file on this machine, served by a local process that is called like any endpoint."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from typing import IO, Any

from flows.adapters.completions.faults import Fault, FaultKind
from flows.adapters.completions.reply import Reply
from flows.adapters.completions.send_openai import OpenAISender
from flows.schema.completion import Request
from flows.schema.settings import RunnerSettings

_SERVER = "flows.adapters.local_server.server"
_LOAD_S = 600.0  # tens of gigabytes from a slow disk, read twice: to load and to hash
_END_S = 10.0
_TAIL_BYTES = 2000


class GGUFSender:
    """Starts a server per file at its first call. Use it from one event loop only.

    A request's `api_base` is the file, as in `flows.adapters.local_server`. The server's address is not part
    of the request's key, so the port may change. The server only accepts text; `turns.check_turns` rejects
    tools and images before it is started.
    """

    def __init__(self, runner: RunnerSettings) -> None:
        self._http = OpenAISender(runner)
        self._servers: dict[str, _Server] = {}
        self._starting = asyncio.Lock()

    async def send(
        self,
        request: Request,
        key: str | None,
        headers: Mapping[str, str] | None = None,  # noqa: ARG002 -- the server is ours
    ) -> Reply:
        """Make one try, starting the server if it is not running.

        Args:
            request: the request.
            key: not needed.
            headers: not needed.

        Raises:
            Fault: no completion, or the server can't be started.
        """
        place = request.api_base or ""
        async with self._starting:
            server = self._servers.get(place)
            if server is None or server.has_ended:
                if server is not None:
                    await server.stop()
                server = self._servers[place] = await _Server.start(place)
        return await self._http.send(replace(request, api_base=server.base), key)

    async def aclose(self) -> None:
        """Close the connections and stop the servers."""
        await self._http.aclose()
        for server in self._servers.values():
            await server.stop()
        self._servers.clear()


class _Server:
    """One server process.

    Attributes:
        base: its address.
    """

    def __init__(self, process: asyncio.subprocess.Process, log: IO[bytes]) -> None:
        self._process = process
        self._log = log
        self.base = ""

    @classmethod
    async def start(cls, place: str) -> _Server:
        """Start a server for the file at `place`, and wait until it answers.

        Raises:
            Fault: it can't serve that file.
        """
        log = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the process
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            _SERVER,
            place,
            stdin=asyncio.subprocess.PIPE,  # the server ends when it is closed
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # not stopped by Ctrl-C: calls in flight finish
        )
        server = cls(process, log)
        try:
            server.base = await server._ready()
        except BaseException:
            await server.stop()
            raise
        return server

    @property
    def has_ended(self) -> bool:
        """True if the process has ended."""
        return self._process.returncode is not None

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

    async def _ready(self) -> str:
        assert self._process.stdout is not None
        try:
            async with asyncio.timeout(_LOAD_S):
                line = await self._process.stdout.readline()
        except TimeoutError:
            raise Fault(FaultKind.parameter, f"not loaded within {_LOAD_S:g} s") from None
        said: dict[str, Any] = json.loads(line) if line else {}
        if "base" in said:
            return str(said["base"])
        raise Fault(
            FaultKind.parameter, said.get("error") or f"its server ended while it started: {self._tail()}"
        )

    def _tail(self) -> str:
        self._log.seek(0, 2)
        self._log.seek(max(0, self._log.tell() - _TAIL_BYTES))
        lines = self._log.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it said nothing"
