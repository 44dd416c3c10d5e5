"""Handle the loss of Prefect's server during a run, which its client would retry for hours."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from flows.common.errors import StaffbenchError
from flows.pipeline.orchestration.server import Server

_LOOK_EVERY_S = 0.5


class PrefectError(StaffbenchError):
    """Prefect's server can't be reached. Results do not depend on it."""


def has_ended() -> PrefectError:
    """Return the error for a server that has ended."""
    return _lost("it has ended")


def as_lost(error: BaseException) -> PrefectError | None:
    """Convert an error of Prefect's client; None for any other error."""
    import httpx
    from prefect.exceptions import PrefectException

    if not isinstance(error, httpx.HTTPError | PrefectException):
        return None
    forget_events()
    return _lost(str(error).split("\n")[0] or type(error).__name__)


def _lost(found: str) -> PrefectError:
    return PrefectError(
        "Prefect's server",
        f"was lost during the run ({found})",
        remedy="check .prefect/server.log and the free disk space; the same command resumes",
    )


async def watch(server: Server, run: asyncio.Task[Any], is_done: Callable[[], bool]) -> None:
    """Stop Prefect from sending events to a server that has ended. Runs until cancelled.

    Args:
        server: the server.
        run: the task that runs the flow; it is cancelled once only events are left to send.
        is_done: returns True from then on.
    """
    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        if await asyncio.to_thread(lambda: server.has_ended):
            forget_events()
            if is_done():
                run.cancel()


def forget_events() -> None:
    """Drop unsent events: Prefect retries each for seven seconds before the flow may end."""
    from prefect.events.worker import EventsWorker

    logging.getLogger("prefect._internal.concurrency").setLevel(logging.CRITICAL)
    for worker in tuple(EventsWorker._instances.values()):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- there is no public way to cancel
        waiting = worker._queue  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- the same
        with waiting.mutex:
            ends = [item for item in waiting.queue if item is None]  # end markers
            waiting.queue.clear()
            waiting.queue.extend(ends)
