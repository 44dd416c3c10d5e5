"""What a run may spend, checked before each call.

What is known comes from the records of the run's calls. Calls in flight count at an estimate: a call
waits while they might exhaust the budget, and goes when they turn out cheaper. With nothing in flight
a call goes as long as the known sum is below the limit, so a limit is never passed by more than the
last call, and a budget is never declared used up on an estimate alone.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from flows.adapters.completions.halts import EVERYTHING, Halts, Target, settle
from flows.schema.call import estimated_input_tokens
from flows.schema.completion import Request, Usage
from flows.schema.errors import BudgetReached, ConfigError
from flows.schema.settings import BudgetSettings, ModelSettings, Price

_OUTPUT_TOKENS = 4096  # a brief of 3,000 words; used until a reply of the model has been counted


def price_usd(usage: Usage, price: Price) -> float | None:
    """List price of one call in US dollars; None where a price or a count is unknown.

    Cached input counts at the full price, so where a provider grants a discount this is an upper bound.
    """
    if None in (usage.input_tokens, usage.output_tokens, price.input_usd, price.output_usd):
        return None
    return (
        (usage.input_tokens or 0) * (price.input_usd or 0.0)
        + (usage.output_tokens or 0) * (price.output_usd or 0.0)
    ) / 1e6


def total_tokens(usage: Usage) -> int | None:
    """Input and output together; None where one is unknown."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


@dataclass(frozen=True, slots=True)
class Cost:
    """What one try costs, known or estimated."""

    tokens: int
    usd: float


class Budget:
    """The budget of a run. Belongs to one event loop."""

    def __init__(self, settings: BudgetSettings, halts: Halts) -> None:
        self._settings = settings
        self._halts = halts
        self._calls = 0
        self._tokens = 0
        self._usd = 0.0
        self._in_flight: list[Cost] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._outputs: dict[str, tuple[int, int]] = {}

    def check_price(self, model: ModelSettings) -> None:
        """Refuse to promise a limit in dollars that can't be held.

        Raises:
            ConfigError: `max_usd` is set, and a price of the model is unknown.
        """
        if self._settings.max_usd is not None and None in (model.price.input_usd, model.price.output_usd):
            raise ConfigError(
                "budget.max_usd",
                f"the price of {model.label} is unknown, so this limit can't be held",
                "price.input_usd and price.output_usd of the model",
                "set them (0 for a model that costs nothing), or limit budget.max_calls or budget.max_tokens",
            )

    def estimate(self, request: Request, model: ModelSettings) -> Cost:
        """What a call may cost: characters / 4 in; out, the mean of the model's replies so far.

        Before the first reply: its output limit, at most 4,096 tokens. An image counts as 1,600 tokens,
        whatever its size, and the tools that are offered as their JSON.
        """
        input_tokens = estimated_input_tokens(request)
        total, count = self._outputs.get(model.label, (0, 0))
        limit = request.parameters.get(model.max_tokens_field)
        output_tokens = total // count if count else _OUTPUT_TOKENS
        if isinstance(limit, int):
            output_tokens = min(output_tokens, limit)
        usage = Usage(input_tokens, output_tokens)
        return Cost(input_tokens + output_tokens, price_usd(usage, model.price) or 0.0)

    async def admit(self, estimate: Cost, target: Target) -> None:
        """Let one try go, when the budget has room for it.

        Raises:
            BudgetReached: a limit is reached; from then on everything else hears it too.
        """
        while True:
            self._halts.check(target)
            self._check()
            self._halts.check(target)
            if not self._in_flight or self._fits(estimate):
                break
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await self._halts.wait(future, target)
        self._in_flight.append(estimate)

    def settle(self, estimate: Cost, usage: Usage | None, model: ModelSettings, *, charged: bool) -> None:
        """A try that was admitted has ended.

        Args:
            estimate: that it was admitted with.
            usage: of the reply; None where none came.
            model: whom it went to.
            charged: whether the provider may charge for it. What it did not count is charged at the
                estimate, here only: no record says so.
        """
        self._in_flight.remove(estimate)
        if charged:
            usage = usage or Usage()
            tokens, usd = total_tokens(usage), price_usd(usage, model.price)
            self._calls += 1
            self._tokens += estimate.tokens if tokens is None else tokens
            self._usd += estimate.usd if usd is None else usd
            if usage.output_tokens is not None:
                total, count = self._outputs.get(model.label, (0, 0))
                self._outputs[model.label] = (total + usage.output_tokens, count + 1)
        self._check()
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            settle(future)()

    def _check(self) -> None:
        """Stop everything once a limit is reached."""
        limits = self._settings
        for name, limit, spent, shown in (
            ("max_usd", limits.max_usd, self._usd, f"{self._usd:.4f} US dollars"),
            ("max_calls", limits.max_calls, self._calls, f"{self._calls} calls"),
            ("max_tokens", limits.max_tokens, self._tokens, f"{self._tokens} tokens"),
        ):
            if limit is not None and spent >= limit:
                self._halts.set(
                    EVERYTHING,
                    BudgetReached(
                        f"budget.{name}={limit}",
                        f"reached: {shown} in this run",
                        remedy="what was paid is stored: the same command with a new budget resumes",
                    ),
                )
                return

    def _fits(self, estimate: Cost) -> bool:
        limits, out = self._settings, self._in_flight
        return (
            (limits.max_calls is None or self._calls + len(out) + 1 <= limits.max_calls)
            and (
                limits.max_tokens is None
                or self._tokens + sum(cost.tokens for cost in out) + estimate.tokens <= limits.max_tokens
            )
            and (
                limits.max_usd is None
                or self._usd + sum(cost.usd for cost in out) + estimate.usd <= limits.max_usd
            )
        )
