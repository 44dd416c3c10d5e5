"""The only retry layer: makes and records tries of a call until it has an outcome."""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from flows.adapters.completions.budget import Budget, price_usd, total_tokens
from flows.adapters.completions.faults import (
    Fault,
    FaultKind,
    Pauses,
    RetryDecision,
    course,
    throttled,
    unreachable,
    unusable,
)
from flows.adapters.completions.keys import read_headers, read_key, scrub, scrub_reply, scrub_value
from flows.adapters.completions.limits import ProviderLimits, Sent
from flows.adapters.completions.senders.calls import with_ids
from flows.adapters.completions.senders.fields import clean
from flows.adapters.completions.senders.reply import Reply
from flows.adapters.completions.stop_conditions import StopConditions, Target
from flows.adapters.completions.totals import Totals
from flows.common.errors import StaffbenchError
from flows.schema.completion import Completion, CompletionStatus, Request, ToolCall, Try, Usage
from flows.schema.settings import ModelSettings, RunnerSettings

DETAIL_CHARS = 500
THROTTLE_PATIENCE_S = 3600.0
"""Seconds for which a provider may throttle a call without serving any other before it counts as unusable."""
_TRIES_TO_CONNECT = 3

_log = logging.getLogger(__name__)


class Sender(Protocol):
    """A transport, which makes single tries."""

    async def send(
        self, request: Request, key: str | None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        """Return the reply, or raise a `Fault`."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


@dataclass(slots=True, eq=False)
class Call:
    """The state of one call.

    Attributes:
        request, key, model, asked, target: the call.
        attempts: the tries so far.
        lost: number of tries without a reply that may have been charged.
        out: whether a try is in flight.
        abandoned: the caller was cancelled: a try in flight ends, and no other is made.
        leave: frees its place in flight; called when its outcome is stored.
    """

    request: Request
    key: str
    model: ModelSettings
    asked: Mapping[str, Any]
    target: Target
    attempts: list[Try] = field(default_factory=list[Try])
    lost: int = 0
    out: bool = False
    abandoned: bool = False
    leave: Callable[[], None] = lambda: None


class Tries:
    """Makes tries. Use it from one event loop only."""

    def __init__(
        self,
        runner: RunnerSettings,
        budget: Budget,
        halts: StopConditions,
        totals: Totals,
    ) -> None:
        self._max_attempts = runner.max_attempts
        self._budget = budget
        self._halts = halts
        self._totals = totals
        # Only for jitter: no measured number depends on it.
        self._pauses = Pauses(runner.backoff_s, runner.backoff_max_s, random.Random())  # noqa: S311 -- not a secret
        self._reached: set[tuple[str, ...]] = set()
        self._served: set[tuple[str, ...]] = set()
        self._last_served: dict[str, float] = {}

    async def complete(self, call: Call, sender: Sender, limits: ProviderLimits) -> Completion:
        """Make tries until there is an outcome: an answer, a refusal, or an error after the last try.

        The caller stores it and then calls `call.leave`.

        Raises:
            ProviderError: the endpoint, model or key can't be used.
            Stopped, BudgetReached, StoreError: nothing more may be sent.
        """
        faults = throttles = 0
        first_throttled: float | None = None
        while True:
            result = await self._try(call, sender, limits)
            if isinstance(result, Reply):
                return _completion(call, result)
            follows = course(result, served=call.target.account in self._served)
            if follows is RetryDecision.wait:
                throttles += 1
                first_throttled = first_throttled or time.monotonic()
                self._check_patience(call, first_throttled, result)
                pause_s = self._pauses.after(throttles, result.retry_after)
            elif follows is RetryDecision.retry:
                faults += 1
                self._check_reachable(call, result, faults)
                if faults >= self._max_attempts:
                    return _without_text(call, CompletionStatus.error, result)
                pause_s = self._pauses.after(faults, result.retry_after)
            else:
                if follows is RetryDecision.fatal:
                    self._give_up(call, call.target.account, unusable(call.model, result))
                refused = follows is RetryDecision.refused
                status = CompletionStatus.refused if refused else CompletionStatus.error
                return _without_text(call, status, result)
            if call.abandoned:
                raise asyncio.CancelledError
            await self._halts.sleep(pause_s, call.target)

    async def _try(self, call: Call, sender: Sender, limits: ProviderLimits) -> Reply | Fault:
        key, headers = read_key(call.model), read_headers(call.model)
        estimate = self._budget.estimate(call.request, call.model)
        sent = await limits.acquire(estimate.tokens, call.target, first=not call.attempts)
        try:
            held = await self._budget.admit(call.request, call.model, call.target)
        except BaseException:
            limits.unused(sent)
            raise
        result = None
        started, started_at = time.monotonic(), datetime.now(UTC).isoformat(timespec="milliseconds")
        call.out = True
        self._totals.in_flight += 1
        try:
            result = await _send(sender, call, key, headers)
        finally:
            call.out = False
            self._totals.in_flight -= 1
            usage = None if result is None else result.usage
            # A cancelled try may have been charged, so it counts.
            charged = not isinstance(result, Fault) or result.billable
            self._budget.record_spend(held, call.request, usage, call.model, charged=charged)
            self._give_back(call, sent, limits, result)
        assert result is not None  # otherwise `_send` raised
        seconds = round(time.monotonic() - started, 3)
        if isinstance(result, Fault):
            call.lost += result.billable
            if result.kind not in (FaultKind.connect, FaultKind.parameter):
                self._reached.add(call.target.endpoint)
            call.attempts.append(Try(started_at, seconds, result.outcome, result.detail))
        else:
            self._reached.add(call.target.endpoint)
            self._served.add(call.target.account)
            self._last_served[call.model.provider] = time.monotonic()
            call.attempts.append(Try(started_at, seconds, "ok"))
        return result

    def _give_back(
        self, call: Call, sent: Sent, limits: ProviderLimits, result: Reply | Fault | None
    ) -> None:
        if isinstance(result, Reply):
            # It stays in flight until it is durable: a crash then loses at most `concurrency`
            # replies, even with a slow disk.
            call.leave = partial(limits.served, sent, total_tokens(result.usage))
        elif result is not None and course(result, served=True) is RetryDecision.wait:
            limits.throttled(sent, self._pauses.after(limits.closings + 1, result.retry_after))
        else:
            limits.broken()

    def _check_reachable(self, call: Call, fault: Fault, faults: int) -> None:
        """Give up an endpoint that was never reached, before every call has used all its tries."""
        if fault.kind is FaultKind.connect and call.target.endpoint not in self._reached:
            tries = min(_TRIES_TO_CONNECT, self._max_attempts)
            if faults >= tries:
                self._give_up(call, call.target.endpoint, unreachable(call.model, fault, tries))

    def _check_patience(self, call: Call, first_throttled: float, fault: Fault) -> None:
        served = self._last_served.get(call.model.provider, first_throttled)
        if time.monotonic() - max(first_throttled, served) > THROTTLE_PATIENCE_S:
            self._give_up(call, call.target.account, throttled(call.model, fault, THROTTLE_PATIENCE_S))

    def _give_up(self, call: Call, scope: tuple[str, ...], error: StaffbenchError) -> None:
        """Stop everything in `scope`, this call first."""
        self._halts.set(scope, error)
        self._halts.check(call.target)


async def _send(sender: Sender, call: Call, key: str | None, headers: Mapping[str, str]) -> Reply | Fault:
    """Make one try and remove secrets from its result."""
    try:
        reply = await sender.send(call.request, key, headers)
    except Fault as fault:
        fault.detail, fault.raw = _short(scrub(clean(fault.detail)[0], key)), scrub(fault.raw, key)
        return fault.with_traceback(None)
    except StaffbenchError:
        raise
    except Exception as error:  # noqa: BLE001 -- an unreadable reply only affects this call
        _log.exception("a reply could not be read")
        return Fault(FaultKind.reply, _short(scrub(f"can't be read: {error!r}", key)))
    text, note = (None, "") if reply.text is None else scrub_reply(reply.text, key)
    asked = [[tool.call_id, tool.name, tool.arguments] for tool in reply.tool_calls]
    (asked, carried), other = scrub_value([asked, dict(reply.carried)], key)
    calls, named = with_ids([ToolCall(*each) for each in asked], call.key)
    return replace(
        reply,
        text=text,
        finish_reason=reply.finish_reason and _short(scrub(reply.finish_reason, key)),
        provider_model=reply.provider_model and _short(scrub(reply.provider_model, key)),
        detail=_short("; ".join(part for part in (scrub(reply.detail, key), note or other, named) if part)),
        tool_calls=calls,
        carried=carried,
        fragment=scrub_reply(reply.fragment, key)[0],
        reasoning=scrub_reply(reply.reasoning, key)[0],
        raw=scrub(reply.raw, key),
    )


def _completion(call: Call, reply: Reply) -> Completion:
    return Completion(
        key=call.key,
        price_usd=price_usd(reply.usage, call.model.price),
        attempts=tuple(call.attempts),
        asked=call.asked,
        **{name.name: getattr(reply, name.name) for name in fields(Reply)},
    )


def _without_text(call: Call, status: CompletionStatus, fault: Fault) -> Completion:
    usage, detail = fault.usage or Usage(), f"{fault.outcome}: {fault.detail}"
    return _completion(call, Reply(status, None, None, None, usage, detail, raw=fault.raw))


def _short(text: str) -> str:
    return text if len(text) <= DETAIL_CHARS else f"{text[:DETAIL_CHARS]} ..."
