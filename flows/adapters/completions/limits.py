"""Limits of a provider on concurrency, requests and tokens, shared by all its calls.

Concurrency adapts: the limit falls by one for each 429 and rises by a tenth for each success. So an endpoint
that accepts C concurrent calls gets C at once; with random 429s, the limit is stable if fewer than one call
in eleven is throttled. (Halving it at each 429, as in TCP, would leave only a few calls in flight at five
random 429s in a hundred.) If a call is throttled while no other is in flight, the provider is closed: nothing
is sent until the requested pause is over, and then the limit doubles from one, like TCP slow start, until the
next 429.

With several workers each has a share of these limits (`flows.adapters.completions.shares`), and keeps to its
share as to a limit of its own.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flows.adapters.completions.shares import Grant, Need, levels
from flows.adapters.completions.stop_conditions import StopConditions, Target
from flows.schema.settings import RunnerSettings

WINDOW_S = 60.0
_RISE = 0.1


@dataclass(slots=True, eq=False)
class Sent:
    """Permission to send one request, given back by one of the methods of `ProviderLimits`."""

    at: float  # time of the event loop
    tokens: int  # input and output tokens, estimated until they are known
    counted: bool = True  # True while it is within the window


class ProviderLimits:
    """The limits of one provider. Use it from one event loop only.

    Attributes:
        concurrency: the current limit, rounded down.
        in_flight: requests in flight.
        closings: times it was closed since it last served a call.
    """

    def __init__(
        self,
        runner: RunnerSettings,
        halts: StopConditions,
        window_s: float = WINDOW_S,
        *,
        provider: str = "",
        ask: Callable[[], None] | None = None,
    ) -> None:
        """Set the limits of a provider; `window_s` is the length of "a minute" in seconds.

        `ask` is called when somebody waits, and nothing is sent before the first `take`; None if the limits
        are not shared with other workers.
        """
        self.concurrency = float(runner.concurrency)
        self.in_flight = 0
        self.closings = 0
        self._ceiling = float(runner.concurrency)
        self._provider = provider
        self._ask = ask
        self._limits = levels(runner)
        self._shares = dict.fromkeys(self._limits, 0.0) if ask else self._limits
        self._valid_until = math.inf
        self._reported = 0
        self._halts = halts
        self._window_s = window_s
        self._window: deque[Sent] = deque()
        self._window_tokens = 0
        self._queue: deque[tuple[int, asyncio.Future[Sent]]] = deque()
        self._closed_until = 0.0
        self._doubling = False
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def needs(self) -> dict[str, Need]:
        """Return what it needs of each limit, by its name, `|` and the provider."""
        now = self._loop.time()
        self._expire(now)
        self._drop_old(now)
        waiting = [tokens for tokens, ready in self._queue if not ready.done()]
        in_use = {
            "concurrency": (self.in_flight, len(waiting), 1),
            "requests_per_minute": (len(self._window), len(waiting), 1),
            "tokens_per_minute": (self._window_tokens, sum(waiting), max(waiting, default=0)),
        }
        found: dict[str, Need] = {}
        for name, limit in self._limits.items():
            used, more, step = in_use[name]
            # What a provider throttles is not asked for.
            most = min(limit, int(self.concurrency)) if name == "concurrency" else limit
            want = max(used, min(used + more, most))
            step = min(step, limit) if waiting else 0
            found[f"{name}|{self._provider}"] = Need(used, 0, want, step, self._shares[name])
        self._reported = int(found[f"concurrency|{self._provider}"].want)
        return found

    def take(self, grants: Mapping[str, Grant], valid_until: float) -> None:
        """Live by these shares until `valid_until` of the event loop's clock."""
        for name in self._limits:
            if (grant := grants.get(f"{name}|{self._provider}")) is not None:
                self._shares[name] = grant.share
        self._valid_until = valid_until
        self._pump()

    async def acquire(self, tokens: int, target: Target, *, first: bool) -> Sent:
        """Wait for permission to send a request of about `tokens`, input and output.

        A retry (`first` is False) goes ahead of new calls. A stop condition of `target` ends the wait.
        """
        ready: asyncio.Future[Sent] = self._loop.create_future()
        if first:
            self._queue.append((tokens, ready))
        else:
            self._queue.appendleft((tokens, ready))
        self._pump()
        try:
            return await self._halts.wait(ready, target)
        except BaseException:
            if ready.done() and not ready.cancelled() and ready.exception() is None:
                self.unused(ready.result())
            ready.cancel()
            self._pump()
            raise

    def unused(self, sent: Sent) -> None:
        """Take a permission back; nothing was sent."""
        self._correct(sent, 0)
        if sent.counted:
            self._window.remove(sent)
        self._release()

    def served(self, sent: Sent, tokens: int | None) -> None:
        """Take it back after a reply of `tokens` input and output tokens; None if not counted."""
        if tokens is not None:
            self._correct(sent, tokens)
        self.closings = 0
        step = 1.0 if self._doubling else _RISE
        self.concurrency = min(self._ceiling, self.concurrency + step)
        self._release()

    def throttled(self, sent: Sent, pause_s: float) -> None:
        """Take it back after a rate limit; pause for `pause_s` if nothing else is in flight."""
        self._correct(sent, 0)
        self.concurrency = max(1.0, min(self.concurrency, self._shares["concurrency"]) - 1.0)
        self._doubling = self.in_flight == 1
        if self._doubling:
            self.closings += 1
            self._closed_until = self._loop.time() + pause_s
        self._release()

    def broken(self) -> None:
        """Take one back after a fault that is unrelated to load."""
        self._release()

    def _release(self) -> None:
        self.in_flight -= 1
        self._pump()

    def _correct(self, sent: Sent, tokens: int) -> None:
        if sent.counted:
            self._window_tokens += tokens - sent.tokens
        sent.tokens = tokens

    def _pump(self) -> None:
        """Release waiters that may go now, and schedule the next pump."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._queue:
            tokens, ready = self._queue[0]
            if ready.done():
                self._queue.popleft()
                continue
            now = self._loop.time()
            self._expire(now)
            if self.in_flight >= min(int(self.concurrency), self._shares["concurrency"]):
                self._ask_for_more()
                return
            at = self._possible_at(tokens, now)
            if at > now:
                self._ask_for_more()
                if at < math.inf:
                    self._timer = self._loop.call_at(at, self._pump)
                return
            self._queue.popleft()
            self._window.append(sent := Sent(now, tokens))
            self._window_tokens += tokens
            self.in_flight += 1
            ready.set_result(sent)

    def _ask_for_more(self) -> None:
        """Ask if the ledger does not know of this need. Otherwise it is answered about once a second."""
        wanted = min(self.in_flight + len(self._queue), int(self._limits["concurrency"]))
        if self._ask is not None and wanted > self._reported:
            self._reported = wanted
            self._ask()

    def _expire(self, now: float) -> None:
        """Send nothing more once the lease has ended: others may have got the shares."""
        if now >= self._valid_until:
            self._shares = dict.fromkeys(self._limits, 0.0)

    def _drop_old(self, now: float) -> None:
        while self._window and self._window[0].at <= now - self._window_s:
            left = self._window.popleft()
            left.counted = False
            self._window_tokens -= left.tokens

    def _possible_at(self, tokens: int, now: float) -> float:
        """Return when a call may go; infinity if only a larger share would let it."""
        self._drop_old(now)
        at = self._closed_until
        requests, limit = self._shares.get("requests_per_minute"), self._shares.get("tokens_per_minute")
        if requests is not None and len(self._window) >= requests:
            if not requests:
                return math.inf
            at = max(at, self._window[-int(requests)].at + self._window_s)
        if limit is not None:
            # A call larger than the whole limit may go alone in a window.
            if limit < min(tokens, self._limits["tokens_per_minute"]):
                return math.inf
            used = self._window_tokens
            for sent in self._window:
                if used + tokens <= limit:
                    break
                used -= sent.tokens
                at = max(at, sent.at + self._window_s)
        return at
