"""Limits of a provider on concurrency, requests and tokens, shared by all its calls.

Concurrency adapts: the limit falls by one for each 429 and rises by a tenth for each success. So an endpoint
that accepts C concurrent calls gets C at once; with random 429s, the limit is stable if fewer than one call
in eleven is throttled. (Halving it at each 429, as in TCP, would leave only a few calls in flight at five
random 429s in a hundred.) If a call is throttled while no other is in flight, the provider is closed: nothing
is sent until the requested pause is over, and then the limit doubles from one, like TCP slow start, until the
next 429.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from flows.adapters.completions.stop_conditions import StopConditions, Target
from flows.schema.settings import RunnerSettings

WINDOW_S = 60.0
_RISE = 0.1


@dataclass(slots=True, eq=False)
class _Sent:
    """One request; `counted` while it is within the window."""

    at: float
    tokens: int
    counted: bool = True


@dataclass(slots=True, eq=False)
class _Waiter:
    tokens: int
    ready: asyncio.Future[None]
    lease: Lease | None = None


@dataclass(slots=True, eq=False)
class Lease:
    """Permission to send one request; release it with one of its methods."""

    limits: ProviderLimits
    sent: _Sent

    def unused(self) -> None:
        """Release it without having sent anything."""
        self.limits.forget(self.sent)

    def served(self, tokens: int | None) -> None:
        """Release it after a reply of `tokens` input and output tokens; None if not counted."""
        self.limits.served(self.sent, tokens)

    def throttled(self, pause_s: float) -> None:
        """Release it after a rate limit; pause for `pause_s` if nothing else is in flight."""
        self.limits.throttled(self.sent, pause_s)

    def broken(self) -> None:
        """Release it after a fault that is unrelated to load."""
        self.limits.broken()


class ProviderLimits:
    """The limits of one provider. Use it from one event loop only.

    Attributes:
        concurrency: the current limit, rounded down.
        in_flight: requests in flight.
        closings: times it was closed since it last served a call.
    """

    def __init__(self, runner: RunnerSettings, halts: StopConditions, window_s: float = WINDOW_S) -> None:
        """Set the limits.

        Args:
            runner: the limits.
            halts: what ends the waiting.
            window_s: length of "a minute" in seconds.
        """
        self.concurrency = float(runner.concurrency)
        self.in_flight = 0
        self.closings = 0
        self._ceiling = float(runner.concurrency)
        self._requests = runner.requests_per_minute
        self._tokens = runner.tokens_per_minute
        self._halts = halts
        self._window_s = window_s
        self._window: deque[_Sent] = deque()
        self._window_tokens = 0
        self._queue: deque[_Waiter] = deque()
        self._closed_until = 0.0
        self._doubling = False
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    async def acquire(self, tokens: int, target: Target, *, first: bool) -> Lease:
        """Wait for permission to send one request.

        Args:
            tokens: estimated input and output tokens.
            target: its target; a stop condition ends the wait.
            first: False for a retry, which goes ahead of new calls.
        """
        waiter = _Waiter(tokens, self._loop.create_future())
        if first:
            self._queue.append(waiter)
        else:
            self._queue.appendleft(waiter)
        self._pump()
        try:
            await self._halts.wait(waiter.ready, target)
        except BaseException:
            waiter.ready.cancel()
            if waiter.lease is not None:
                waiter.lease.unused()
            self._pump()
            raise
        assert waiter.lease is not None  # `_pump` sets it before it sets `ready`
        return waiter.lease

    def served(self, sent: _Sent, tokens: int | None) -> None:
        """See `Lease.served`."""
        if tokens is not None:
            self._correct(sent, tokens)
        self.closings = 0
        step = 1.0 if self._doubling else _RISE
        self.concurrency = min(self._ceiling, self.concurrency + step)
        self._release()

    def throttled(self, sent: _Sent, pause_s: float) -> None:
        """See `Lease.throttled`."""
        self._correct(sent, 0)
        self.concurrency = max(1.0, self.concurrency - 1.0)
        self._doubling = self.in_flight == 1
        if self._doubling:
            self.closings += 1
            self._closed_until = self._loop.time() + pause_s
        self._release()

    def broken(self) -> None:
        """See `Lease.broken`."""
        self._release()

    def forget(self, sent: _Sent) -> None:
        """See `Lease.unused`."""
        self._correct(sent, 0)
        if sent.counted:
            self._window.remove(sent)
        self._release()

    def _release(self) -> None:
        self.in_flight -= 1
        self._pump()

    def _correct(self, sent: _Sent, tokens: int) -> None:
        if sent.counted:
            self._window_tokens += tokens - sent.tokens
        sent.tokens = tokens

    def _pump(self) -> None:
        """Release waiters that may go now, and schedule the next pump."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._queue:
            waiter = self._queue[0]
            if waiter.ready.done():
                self._queue.popleft()
                continue
            if self.in_flight >= int(self.concurrency):
                return
            now = self._loop.time()
            at = self._possible_at(waiter.tokens, now)
            if at > now:
                self._timer = self._loop.call_at(at, self._pump)
                return
            self._queue.popleft()
            sent = _Sent(now, waiter.tokens)
            self._window.append(sent)
            self._window_tokens += sent.tokens
            self.in_flight += 1
            waiter.lease = Lease(self, sent)
            waiter.ready.set_result(None)

    def _possible_at(self, tokens: int, now: float) -> float:
        while self._window and self._window[0].at <= now - self._window_s:
            left = self._window.popleft()
            left.counted = False
            self._window_tokens -= left.tokens
        at = self._closed_until
        if self._requests is not None and len(self._window) >= self._requests:
            at = max(at, self._window[-self._requests].at + self._window_s)
        if self._tokens is not None:
            # A call larger than the limit may go alone in a window.
            used = self._window_tokens
            for sent in self._window:
                if used + tokens <= self._tokens:
                    break
                used -= sent.tokens
                at = max(at, sent.at + self._window_s)
        return at
