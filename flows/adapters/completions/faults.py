"""What can go wrong with one try of a call, and what follows from it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, cast

from flows.schema.completion import Usage


class FaultKind(StrEnum):
    """Where it went wrong."""

    connect = "connect"  # no connection came about: nothing was sent
    connection = "connection"  # it broke
    timeout = "timeout"  # it fell silent, or took too long
    status = "http"  # the endpoint answered with an error
    reply = "bad reply"  # it answered with something that is no completion
    empty = "no content"  # it answered with a completion that holds no text, not even an empty one
    parameter = "parameter"  # the transport can't express the request: nothing was sent


class RetryDecision(StrEnum):
    """What follows from a fault."""

    retry = "retry"  # again, a bounded number of times
    wait = "wait"  # throttled: again, when the provider has room
    refused = "refused"  # an outcome: the content filter did not let the prompt pass
    failed = "failed"  # this request will never work; others may
    fatal = "fatal"  # nothing will work until a person mends it


class Fault(Exception):  # noqa: N818 -- "fault" is the word for it, and no person ever sees one raised
    """One try that gave no completion.

    Attributes:
        kind: where it went wrong.
        detail: the endpoint's message, whole: a key must be taken out of it before it is shortened.
        status: HTTP status; None unless `kind` is `status`.
        code: the endpoint's word for the fault; empty where it gave none.
        retry_after: seconds that the endpoint asks to wait; None where it does not say.
        raw: what came, for a person to look at; empty where nothing did.
        usage: tokens of what came; None where nothing did.
    """

    def __init__(
        self,
        kind: FaultKind,
        detail: str,
        *,
        status: int | None = None,
        code: str = "",
        retry_after: float | None = None,
        raw: str = "",
        usage: Usage | None = None,
    ) -> None:
        super().__init__(kind.value, detail)
        self.kind = kind
        self.detail = detail
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.raw = raw
        self.usage = usage

    @property
    def outcome(self) -> str:
        """The word for it in an `Attempt`."""
        return f"http {self.status}" if self.status is not None else self.kind.value

    @property
    def billable(self) -> bool:
        """Whether the provider may charge for it: it may have written a reply that did not arrive.

        A request that was answered with an HTTP error is taken not to be charged.
        """
        return self.kind in (FaultKind.connection, FaultKind.timeout, FaultKind.reply, FaultKind.empty)


_REFUSED = frozenset({"content_filter", "content_policy_violation", "responsible_ai_policy_violation"})
_OUT_OF_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_FATAL = _OUT_OF_CREDIT | {
    "invalid_api_key",
    "model_not_found",
    "invalid_model",
    "unsupported_parameter",
    "unsupported_value",
    "unknown_parameter",
}
_THROTTLED = 429
_RETRIED = frozenset({408, 409, 425, *range(500, 600)})  # 529 is Anthropic's "overloaded"
_ACCOUNT = frozenset({401, 402, *range(300, 400)})  # bad key, no credit, moved elsewhere
_NOT_HERE = frozenset({403, 404, 405})


def course(fault: Fault, *, served: bool) -> RetryDecision:
    """What follows from `fault`.

    Args:
        fault: of one try.
        served: whether the same endpoint, model and key have answered a request before: then a 403 or
            404 is about this request (a prompt that was flagged), not about the model.
    """
    status = fault.status
    if fault.code in _REFUSED:
        return RetryDecision.refused
    if fault.kind is FaultKind.parameter or fault.code in _FATAL or status in _ACCOUNT:
        return RetryDecision.fatal
    if status == _THROTTLED:
        return RetryDecision.wait
    if status is None or status in _RETRIED:
        return RetryDecision.retry
    return RetryDecision.fatal if status in _NOT_HERE and not served else RetryDecision.failed


def error_fault(status: int, payload: object, text: str, retry_after: float | None = None) -> Fault:
    """The fault that an HTTP error tells of.

    Args:
        status: of the response.
        payload: its body as JSON; anything where it is not.
        text: its body as text, used where the JSON has no message.
        retry_after: from its headers.
    """
    message, code = text, ""
    if isinstance(payload, Mapping):
        body = cast("Mapping[str, Any]", payload)
        error = body.get("error", body)
        if isinstance(error, Mapping):
            fields = cast("Mapping[str, Any]", error)
            message = str(fields.get("message") or text)
            code = str(fields.get("code") or fields.get("type") or "")
        elif error:
            message = str(error)
    return Fault(FaultKind.status, message, status=status, code=code, retry_after=retry_after)


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that `Retry-After` asks for, given as seconds or as a date (RFC 9110, 10.2.3).

    `retry-after-ms`, which some providers send beside it, is more exact and wins.

    Args:
        headers: of the response, looked up without regard to case by the caller's mapping.
        now: the present, for the date form.

    Returns:
        None where the header is missing or makes no sense; never negative.
    """
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                when = parsedate_to_datetime(value)
            except ValueError:
                continue
            if when.tzinfo is None:
                when = when.replace(tzinfo=UTC)
            seconds = (when - (now or datetime.now(UTC))).total_seconds()
        if math.isfinite(seconds):  # "nan" and "inf" parse as floats
            return max(0.0, seconds)
    return None
