"""Concurrent coroutines, and blocking work in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def gather_then_raise(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Wait for all coroutines, then return their results or raise the first error.

    `asyncio.gather` raises at once: paid replies would arrive after the run had closed its store.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run blocking work in a thread of the event loop's pool.

    A cancelled caller waits for the thread, which works in a folder that the caller deletes.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
