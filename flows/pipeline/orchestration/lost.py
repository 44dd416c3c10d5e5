"""Handle the loss of Prefect's server during a run, which its client would retry for hours."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from flows.common.errors import StaffbenchError
from flows.pipeline.orchestration.server import Server

_LOOK_EVERY_S = 0.5


class PrefectError(StaffbenchError):
    """Prefect's server can't be reached. Results do not depend on it."""


@asynccontextmanager
async def watched(server: Server | None, is_done: Callable[[], bool]) -> AsyncGenerator[None]:
    """Raise `PrefectError` if the server is lost during the block, and send it no more events.

    Args:
        server: the server; None for one that is not watched.
        is_done: returns True once the block has only events left to send: it is then cancelled.
    """
    run = asyncio.current_task()
    watching = asyncio.create_task(_watch(server, run, is_done)) if server and run else None
    try:
        yield
    except asyncio.CancelledError:
        if server is None or not server.has_ended or not is_done():
            raise
        raise _lost("it has ended", server) from None
    except Exception as error:
        import httpx
        from prefect.exceptions import PrefectException

        # An assertion of its client, where `_watch` has ended the retries of a request.
        is_its_own = isinstance(error, AssertionError) and server is not None and server.has_ended
        if not is_its_own and not isinstance(error, httpx.HTTPError | PrefectException):
            raise
        forget_events()
        raise _lost(_reason(error), server) from error
    finally:
        if watching is not None:
            watching.cancel()


def _reason(error: Exception) -> str:
    """Return what a person can act on: httpx adds the answer's body and a link about the status."""
    import httpx

    if isinstance(error, httpx.HTTPStatusError):
        answer = error.response
        status = " ".join(f"{answer.status_code} {answer.reason_phrase}".split())
        hint = "; its database may be down" if answer.is_server_error else ""
        return f"it answered {status} to {answer.request.method} {answer.url.path}{hint}"
    return str(error).split("\n")[0] or type(error).__name__


def _lost(found: str, server: Server | None) -> PrefectError:
    own = server is not None and server.is_embedded
    log = ".prefect/server.log" if own else "its log (of make cluster: those in .prefect/cluster/)"
    return PrefectError(
        "Prefect's server",
        f"was lost during the run ({found})",
        remedy=f"check {log} and the free disk space; the same command resumes",
    )


async def _watch(server: Server, run: asyncio.Task[Any], is_done: Callable[[], bool]) -> None:
    from prefect.settings import get_current_settings

    while True:
        await asyncio.sleep(_LOOK_EVERY_S)
        if await asyncio.to_thread(lambda: server.has_ended):
            if server.is_embedded:  # another one may be started again
                # Else log, progress and final state would be retried for a minute, one after another.
                get_current_settings().client.max_retries = 0
            forget_events()
            if is_done():
                run.cancel()


def forget_events() -> None:
    """Drop unsent events: Prefect retries each for seven seconds before the flow may end."""
    from prefect.events.worker import EventsWorker

    logging.getLogger("prefect._internal.concurrency").disabled = True  # it ignores a level
    for worker in tuple(EventsWorker._instances.values()):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- there is no public way to cancel
        waiting = worker._queue  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] -- the same
        with waiting.mutex:
            ends = [item for item in waiting.queue if item is None]  # end markers
            waiting.queue.clear()
            waiting.queue.extend(ends)
