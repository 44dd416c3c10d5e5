"""Conditions that stop calls: the user, the budget, the store, an unusable endpoint.

All waiting (for room, for the end of a pause) goes through this module, so that a stop ends it.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from flows.common.errors import StaffbenchError
from flows.schema.settings import ModelSettings

EVERYTHING = ("everything",)

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a call."""

    endpoint: tuple[str, ...] = field(repr=False)  # transport and address
    # Endpoint, model and the variables of key and headers: the scope of a bad key or an unknown model.
    account: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, model: ModelSettings) -> Target:
        """Return the target of a model's calls."""
        endpoint = (model.transport.value, model.api_base or f"provider {model.provider}")
        headers = [part for header in sorted((model.headers or {}).items()) for part in header]
        return cls(endpoint, (*endpoint, model.name or "", model.api_key_env or "", *headers))


class StopConditions:
    """Reasons to stop sending, each for everything, an endpoint or an account."""

    def __init__(self) -> None:
        self._reasons: dict[tuple[str, ...], StaffbenchError] = {}
        self._waiting: dict[asyncio.Future[Any], Target] = {}

    def set(self, scope: tuple[str, ...], reason: StaffbenchError) -> None:
        """Stop everything in `scope`: waiting calls raise `reason`."""
        self._reasons.setdefault(scope, reason)
        for future, target in list(self._waiting.items()):
            error = self._find(target)
            if error is not None and not future.done():
                future.set_exception(error)

    def has(self, scope: tuple[str, ...]) -> bool:
        """True if everything in `scope` is stopped."""
        return scope in self._reasons

    def check(self, target: Target) -> None:
        """Raise the reason to send nothing to `target`, if there is one.

        Raises:
            StaffbenchError: the reason that was set.
        """
        if (error := self._find(target)) is not None:
            raise error

    async def wait(self, future: asyncio.Future[_Result], target: Target) -> _Result:
        """Return the result of `future`, or raise the stop reason."""
        self.check(target)
        self._waiting[future] = target
        try:
            return await future
        finally:
            del self._waiting[future]

    async def sleep(self, seconds: float, target: Target) -> None:
        """Pause, or raise the stop reason."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        handle = asyncio.get_running_loop().call_later(seconds, resolve_if_pending(future))
        try:
            await self.wait(future, target)
        finally:
            handle.cancel()

    def _find(self, target: Target) -> StaffbenchError | None:
        for scope in (EVERYTHING, target.endpoint, target.account):
            if scope in self._reasons:
                # A copy for each caller: an exception raised many times collects their frames.
                return copy.copy(self._reasons[scope])
        return None


def resolve_if_pending(future: asyncio.Future[None]) -> Callable[[], None]:
    """Return a callback that resolves `future` if it is still pending."""

    def done() -> None:
        if not future.done():
            future.set_result(None)

    return done
