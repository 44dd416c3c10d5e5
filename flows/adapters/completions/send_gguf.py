"""A GGUF file on this machine: a server process is started for it, and asked like any endpoint."""

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
_LOAD_S = 600.0  # a file of tens of gigabytes from a slow disk, read twice: loaded, and its digest
_END_S = 10.0
_TAIL_BYTES = 2000


class GGUFSender:
    """Starts a server for each file with its first call. Belongs to one event loop.

    A request's `api_base` is the file, as `flows.adapters.local_server` reads it. It stands in the
    request's key, and the server's address does not: a run finds its replies again on any port. The
    server takes text alone; `turns.check_turns` refuses tools and images before it is started.
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
        """Make one try; the server is started where it does not run, or no longer.

        Args:
            request: what to send.
            key: not needed.
            headers: not needed.

        Raises:
            Fault: there is no completion, or no server.
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
        """Close the connections and end the servers."""
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
            stdin=asyncio.subprocess.PIPE,  # its end is the server's
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for us: calls in flight are let end
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
        """True where it is gone."""
        return self._process.returncode is not None

    async def stop(self) -> None:
        """End it, and wait for that."""
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
