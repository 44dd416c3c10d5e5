"""Concurrent coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def gather_then_raise(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Return every result, or raise the first error after all coroutines have ended.

    A plain gather would raise at the first error: paid replies of the others would then arrive after the
    run had closed its store.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
