"""A client in its own thread and event loop.

A chain of calls does some milliseconds of CPU work between calls. In a shared event loop, each of the several
steps from a reply to the next request waits for the work of all chains. In a separate loop it only waits for
the GIL.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from flows.adapters.completions.client import CallOutcome, Client
from flows.common.gather import LoopThread
from flows.schema.completion import Request
from flows.schema.settings import ModelSettings


class ThreadedClient(Client):
    """A client that can be used from any one event loop; the thread starts with the first call."""

    _aside: LoopThread | None = None
    _closed = False

    async def complete(self, request: Request, model: ModelSettings, asked: Mapping[str, Any]) -> CallOutcome:
        """See `Client.complete`."""
        work = super().complete(request, model, asked)
        if self._closed:
            return await work  # replays, or raises that it is closed
        if self._aside is None:
            self._aside = LoopThread("calls")  # a daemon, so that a second interrupt does not wait for it
        return await asyncio.wrap_future(self._aside.submit(work))

    async def aclose(self) -> None:
        """See `Client.aclose`; the thread ends."""
        if self._aside is None:
            await super().aclose()
        else:
            await asyncio.wrap_future(self._aside.submit(super().aclose()))
            self._aside.end()
        self._aside, self._closed = None, True
