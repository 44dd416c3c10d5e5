"""Faults of a try, and how to handle them."""

import math
import random
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, cast

from flows.common.errors import ConfigError, ProviderError, StaffbenchError
from flows.common.text import plural
from flows.schema.completion import Usage
from flows.schema.settings import ModelSettings, Transport

MAX_RETRY_AFTER_S = 600.0  # longest pause that an endpoint may request, in seconds

_UNSTORED = "then run the same command again to resume; nothing was stored for these calls"


class FaultKind(StrEnum):
    """The kind of a fault."""

    connect = "connect"  # could not connect: nothing was sent
    connection = "connection"  # the connection broke
    timeout = "timeout"  # no data for too long, or too long in total
    status = "http"  # the endpoint answered with an error
    reply = "bad reply"  # the response is not a completion
    empty = "no content"  # a completion without a text, not even an empty one
    parameter = "parameter"  # the transport can't express the request: nothing was sent


class RetryDecision(StrEnum):
    """How to handle a fault."""

    retry = "retry"  # again, a bounded number of times
    wait = "wait"  # rate-limited: again later
    refused = "refused"  # an outcome: the content filter blocked the prompt
    failed = "failed"  # this request will never work; others may
    fatal = "fatal"  # nothing will work until the user fixes it


@dataclass(eq=False, repr=False)
class Fault(Exception):  # noqa: N818 -- never shown to users as an exception
    """A try without a completion. Give `kind` and `detail` by position: a copy is made from these."""

    kind: FaultKind
    detail: str  # the endpoint's full message: remove secrets before shortening it
    _: KW_ONLY
    status: int | None = None  # HTTP status; None unless `kind` is `status`
    code: str = ""  # the endpoint's error code; may be empty
    retry_after: float | None = None  # requested wait in seconds; None if not given
    raw: str = ""  # the response, for debugging; may be empty
    usage: Usage | None = None  # tokens of the response; None without one
    word: str = ""  # for it in a `Try`; empty for the usual one

    @property
    def outcome(self) -> str:
        """The word for it in a `Try`."""
        return self.word or (f"http {self.status}" if self.status is not None else self.kind.value)

    @property
    def billable(self) -> bool:
        """Whether the provider may charge for it, as a reply may have been lost.

        HTTP errors are assumed not to be charged.
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
    """Decide how to handle `fault`.

    If endpoint, model and key have answered before (`served`), a 403 or 404 is about this request (a flagged
    prompt), not about the model.
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
    """Create the fault of an HTTP error by its body: as JSON, else `text` if that has no message."""
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
    """Read `Retry-After` in seconds, given as seconds or as a date (RFC 9110, 10.2.3), which `now` is for.

    `retry-after-ms`, which some providers also send, is more precise and takes precedence. The headers ignore
    case.

    Returns:
        Seconds, never negative; None if the header is missing or invalid.
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


@dataclass(frozen=True, slots=True)
class Pauses:
    """Pauses between the tries of one call."""

    first_s: float  # maximum of the first pause, in seconds; doubled each time
    longest_s: float  # maximum of every pause, in seconds
    rng: random.Random  # source of the jitter

    def after(self, tries: int, retry_after_s: float | None) -> float:
        """Return the seconds to wait after `tries` faults of a kind.

        Exponential, with full jitter (Brooker, "Exponential Backoff And Jitter", AWS 2015); never
        shorter than requested by the endpoint, up to `MAX_RETRY_AFTER_S`.
        """
        ceiling = min(self.longest_s, self.first_s * 2 ** min(tries - 1, 30))
        if retry_after_s is None:
            return self.rng.uniform(0.0, ceiling)
        # Calls throttled together must not retry together.
        return min(retry_after_s, MAX_RETRY_AFTER_S) + self.rng.uniform(0.0, min(ceiling, self.first_s))


def unreachable(model: ModelSettings, fault: Fault, tries: int) -> ProviderError:
    """Return the error for an endpoint that was never reached."""
    return ProviderError(
        _where(model),
        f"no connection in {plural(tries, 'try', 'tries')} ({fault.detail})",
        remedy=f"check that the endpoint runs, and model.api_base; {_UNSTORED}",
    )


def throttled(model: ModelSettings, fault: Fault, seconds: float) -> ProviderError:
    """Return the error for a provider that throttled everything for too long."""
    return ProviderError(
        _where(model),
        f"throttled every call for {seconds / 60:.0f} minutes ({fault.detail})",
        remedy=f"wait, or lower runner.concurrency or runner.requests_per_minute; {_UNSTORED}",
    )


def unusable(model: ModelSettings, fault: Fault) -> StaffbenchError:
    """Return the error for an endpoint that rejects every call, or a transport that can't express it."""
    if fault.kind is FaultKind.parameter and model.transport is Transport.gguf:
        return ConfigError(
            _where(model), fault.detail, remedy=f"fix the error or choose another file; {_UNSTORED}"
        )
    if fault.kind is FaultKind.parameter:
        return ConfigError(
            _where(model),
            fault.detail,
            remedy="change the address, effort or parameters of the model: unsupported ones are not dropped",
        )
    key = f"the key in {model.api_key_env}" if model.api_key_env else "whether the endpoint needs a key"
    remedies = {
        401: f"check {key}",
        402: "add credit to the account",
        403: f"check {key}, and that it may use this model",
        404: f"check model.name ({model.name}) and model.api_base",
        429: "add credit to the account, or raise its quota",
    }
    remedy = remedies.get(fault.status or 0, "check the name, the address and the parameters of the model")
    return ProviderError(_where(model), f"{fault.outcome}: {fault.detail}", remedy=f"{remedy}; {_UNSTORED}")


def _where(model: ModelSettings) -> str:
    return f"model {model.label} at {model.api_base or model.provider}"
