"""What the client tells while it works, and the sums for a progress display."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from flows.schema.completion import Completion, CompletionStatus


class CallEventKind(StrEnum):
    """What happened to a call."""

    replayed = "replayed"  # its completion was in the store
    sent = "sent"  # a try went out
    throttled = "throttled"  # the provider had no room; it waits
    retrying = "retrying"  # a try failed; it waits and goes out again
    stored = "stored"  # its completion is durable


@dataclass(frozen=True, slots=True)
class CallEvent:
    """One thing that happened to a call.

    Attributes:
        kind: what.
        key: of the request.
        model: label of the model.
        attempt: number of the try, from 1; None where there was none.
        wait_s: seconds until the next try; None where there is none.
        detail: the fault, with the key taken out; empty where there was none.
    """

    kind: CallEventKind
    key: str
    model: str
    attempt: int | None = None
    wait_s: float | None = None
    detail: str = ""


@dataclass(slots=True)
class Totals:
    """Sums over the completions of a run, always those of its records.

    Attributes:
        replayed: completions that came from the store.
        paid: calls that brought an answer or a refusal.
        failed: calls that ended in an error.
        in_flight: tries that are out now.
        input_tokens, output_tokens, reasoning_tokens: of the paid calls, as far as the providers counted.
        price_usd: of the paid calls, as far as known.
        unknown_price: calls whose price is unknown, or that lost a try which may have been charged:
            where it is not 0, `price_usd` is a lower bound.
    """

    replayed: int = 0
    paid: int = 0
    failed: int = 0
    in_flight: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    price_usd: float = 0.0
    unknown_price: int = 0

    def add(self, completion: Completion, *, lost_tries: int) -> None:
        """Take in the record of a call of this run; `lost_tries` may have been charged too."""
        if completion.status is CompletionStatus.error:
            self.failed += 1
        else:
            self.paid += 1
        usage = completion.usage
        self.input_tokens += usage.input_tokens or 0
        self.output_tokens += usage.output_tokens or 0
        self.reasoning_tokens += usage.reasoning_tokens or 0
        self.price_usd += completion.price_usd or 0.0
        charged = completion.status is not CompletionStatus.error or lost_tries > 0
        if lost_tries or (charged and completion.price_usd is None):
            self.unknown_price += 1
