"""Concurrent coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

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
