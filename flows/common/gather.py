"""Coroutines side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def gather_then_raise(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Every result; where something failed, the first fault, once everything else has ended.

    A plain gather would leave the others behind at the first fault: replies that were paid for would
    arrive after the run had closed its store.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
