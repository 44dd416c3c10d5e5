"""Sums for progress displays."""

from dataclasses import dataclass

from flows.schema.completion import Completion, CompletionStatus


@dataclass(slots=True)
class Totals:
    """Sums over the completions of a run, from their records.

    Attributes:
        replayed: completions that came from the store.
        paid: calls that returned an answer or a refusal.
        failed: calls that ended in an error.
        in_flight: tries in flight.
        input_tokens, output_tokens, reasoning_tokens: of the paid calls with known counts.
        price_usd: known prices of the paid calls.
        unknown_price: calls with an unknown price or a lost try that may have been charged: if not 0,
            `price_usd` is a lower bound.
        unreported: workers that ended without their last report: if not 0, the other sums are lower bounds.
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
    unreported: int = 0

    def add(self, completion: Completion, *, lost_tries: int) -> None:
        """Add the record of a call of this run; `lost_tries` may have been charged too."""
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
