"""A client in its own thread and event loop.

A chain of calls does some milliseconds of CPU work between calls. In a shared event loop, each of the several
steps from a reply to the next request waits for the work of all chains. In a separate loop it only waits for
the GIL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from flows.adapters.completions.client import CallOutcome, Client, Totals
from flows.common.gather import LoopThread
from flows.schema.completion import Completion, Request
from flows.schema.settings import ModelSettings


class ThreadedClient:
    """A client that can be used from any one event loop."""

    def __init__(self, client: Client) -> None:
        """Wrap a client; the thread starts with the first call."""
        self._client = client
        self._aside: LoopThread | None = None
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
            self._aside = LoopThread("calls")  # a daemon, so that a second interrupt does not wait for it
        return await asyncio.wrap_future(self._aside.submit(work))

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
            await asyncio.wrap_future(self._aside.submit(self._client.aclose()))
            self._aside.end()
        self._aside, self._closed = None, True
