"""Prefect's server is lost in mid-run: what its client raises then, and would go on to do for hours."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from flows.common.errors import StaffbenchError
from flows.pipeline.orchestration.server import Server

_LOOK_EVERY_S = 0.5


class PrefectError(StaffbenchError):
    """Prefect's server does not take what a run tells it. Results do not depend on it."""


def has_ended() -> PrefectError:
    """What is said where the server is there no more."""
    return _said("it has ended")


def as_lost(error: BaseException) -> PrefectError | None:
    """What `error` is where Prefect's client raised it; None for any other."""
    import httpx
    from prefect.exceptions import PrefectException

    if not isinstance(error, httpx.HTTPError | PrefectException):
        return None
    forget_events()
    return _said(str(error).split("\n")[0] or type(error).__name__)


def _said(found: str) -> PrefectError:
    return PrefectError(
        "Prefect's server",
        f"was lost during the run ({found})",
        remedy="look at .prefect/server.log and at the disk's free space; the same command resumes",
    )


async def watch(server: Server, run: asyncio.Task[Any], is_done: Callable[[], bool]) -> None:
    """Until it is cancelled: where the server has ended, end what Prefect would go on to tell it for minutes.

    Args:
        server: ours.
        run: the task that runs the flow; it is cancelled once there is nothing left to do but to tell.
        is_done: True from then on.
    """
    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        if server.has_ended:
            forget_events()
            if is_done():
                run.cancel()


def forget_events() -> None:
    """Drop what is not sent yet: for each event Prefect tries seven seconds before the flow may end."""
    from prefect.events.worker import EventsWorker

    logging.getLogger("prefect._internal.concurrency").setLevel(logging.CRITICAL)
    for worker in tuple(EventsWorker._instances.values()):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- it has no public way to give up
        waiting = worker._queue  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- the same
        with waiting.mutex:
            ends = [item for item in waiting.queue if item is None]  # its word for the end
            waiting.queue.clear()
            waiting.queue.extend(ends)
