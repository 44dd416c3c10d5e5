"""A client in its own thread and event loop.

A chain of calls does some milliseconds of CPU work between calls. In a shared event loop, each of the several
steps from a reply to the next request waits for the work of all chains. In a separate loop it only waits for
the GIL.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from flows.adapters.completions.client import CallOutcome, Client, Totals
from flows.schema.completion import Completion, Request
from flows.schema.settings import ModelSettings

_Result = TypeVar("_Result")


class ThreadedClient:
    """A client that can be used from any one event loop."""

    def __init__(self, client: Client) -> None:
        """Wrap a client; the thread starts with the first call."""
        self._client = client
        self._aside: _Aside | None = None
        self._closed = False

    @property
    def totals(self) -> Totals:
        """See `Client`."""
        return self._client.totals

    @property
    def stopped(self) -> bool:
        """See `Client`."""
        return self._client.stopped

    async def complete(self, request: Request, model: ModelSettings, asked: Mapping[str, Any]) -> CallOutcome:
        """See `Client.complete`."""
        work = self._client.complete(request, model, asked)
        if self._closed:
            return await work  # replays, or raises that it is closed
        if self._aside is None:
            self._aside = _Aside()
        return await self._aside.do(work)

    def knows(self, request: Request) -> bool:
        """See `Client.knows`."""
        return self._client.knows(request)

    def stored(self, key: str) -> Completion | None:
        """See `Client.stored`."""
        return self._client.stored(key)

    async def load(self, keys: Iterable[str]) -> None:
        """See `Client.load`."""
        await self._client.load(keys)

    def stop(self) -> None:
        """See `Client.stop`."""
        self._client.stop()

    async def aclose(self) -> None:
        """See `Client.aclose`; the thread ends."""
        if self._aside is None:
            await self._client.aclose()
        else:
            await self._aside.do(self._client.aclose())
            self._aside.end()
        self._aside, self._closed = None, True


class _Aside:
    """A thread that runs an event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        # A daemon, so that a second interrupt does not wait for it.
        self._thread = threading.Thread(target=self._run, name="calls", daemon=True)
        self._thread.start()

    async def do(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()
