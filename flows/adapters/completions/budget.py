"""What a run may spend, held before each call.

A call is let go only where what it may cost at most still fits, beside what was spent and what the calls in
flight may cost at most. Otherwise it waits for these to end, and the run stops when none is left that could
make room. So a limit is passed by no more than what one reply costs beyond the limit of output that was asked
for: until a model's first reply has come, no second call of it goes out, and where a provider does not keep
to the limit, each call may cost as much as the longest reply so far.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

from flows.adapters.completions.stop_conditions import EVERYTHING, StopConditions, Target, resolve_if_pending
from flows.common.errors import BudgetReached, ConfigError
from flows.schema.call import estimated_input_tokens
from flows.schema.completion import Request, Usage
from flows.schema.settings import BudgetSettings, ModelSettings, Price

_OUTPUT_TOKENS = 4096  # a brief of 3,000 words; used until a reply of the model has been counted
_UNDECLARED_TOKENS = (
    131_072  # of a reply to a request that sets no limit: about what models can write at most
)
_LIMIT_FIELDS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def price_usd(usage: Usage, price: Price) -> float | None:
    """List price of one call in US dollars; None where a price or a count is unknown.

    Cached input counts at the full price, so where a provider grants a discount this is an upper bound.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    input_usd, output_usd = price.rates(usage.input_tokens)
    if input_usd is None or output_usd is None:
        return None
    return (usage.input_tokens * input_usd + usage.output_tokens * output_usd) / 1e6


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


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """What is held for one try.

    Attributes:
        label: of its model.
        most: what it may cost at most.
        uncounted: what it is taken to have cost where nobody counted.
    """

    label: str
    most: Cost
    uncounted: Cost


@dataclass(slots=True)
class _Heard:
    """What is known of a model's replies.

    Attributes:
        replies, output, longest: their number, and tokens of output, of all and of the longest.
        ratio: how much more tokens than estimated an input had, at most; from 1.
    """

    replies: int = 0
    output: int = 0
    longest: int = 0
    ratio: float = 1.0


class Budget:
    """The budget of a run. Belongs to one event loop."""

    def __init__(self, settings: BudgetSettings, halts: StopConditions, *, first_alone: bool = True) -> None:
        """Begin with nothing spent.

        Args:
            settings: the limits.
            halts: what stops everything.
            first_alone: whether a model's first reply is waited for; not where it comes in a day's batch.
        """
        self._settings = settings
        self._halts = halts
        self._first_alone = first_alone and (settings.max_usd, settings.max_tokens) != (None, None)
        self._calls = 0
        self._uncounted = 0
        self._tokens = 0
        self._usd = 0.0
        self._in_flight: list[Reservation] = []
        self._waiting: list[asyncio.Future[None]] = []
        self._heard: dict[str, _Heard] = {}

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
        """What a call will likely cost: characters / 4 in; out, the mean of the model's replies so far.

        Before the first reply: its output limit, at most 4,096 tokens. An image counts as 1,600 tokens,
        whatever its size, and the tools that are offered as their JSON.
        """
        heard = self._heard.get(model.label, _Heard())
        output = heard.output // heard.replies if heard.replies else _OUTPUT_TOKENS
        limit = _output_limit(request, model)
        return self._cost(request, model, output if limit is None else min(output, limit))

    async def admit(self, request: Request, model: ModelSettings, target: Target) -> Reservation:
        """Let one try go, when the budget has room for the most that it may cost.

        A request that sets no limit of output goes, alone, if a reply as long as those before would fit.

        Raises:
            BudgetReached: there is no room, and nothing in flight that could make any; nothing more goes out.
        """
        while True:
            self._halts.check(target)
            heard = self._heard.get(model.label, _Heard())
            limit = _output_limit(request, model)
            most = self._cost(request, model, max(limit or _UNDECLARED_TOKENS, heard.longest))
            if not self._in_flight:
                alone = most if limit is not None else self._cost(request, model, heard.longest)
                if not (short := self._lacking(alone)):
                    break
                self._halts.set(EVERYTHING, short)
                continue
            unheard = self._first_alone and model.label not in self._heard
            beside = not unheard or all(other.label != model.label for other in self._in_flight)
            if beside and not self._lacking(most):
                break
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await self._halts.wait(future, target)
        uncounted = most if limit is not None else self.estimate(request, model)
        held = Reservation(model.label, most, uncounted)
        self._in_flight.append(held)
        return held

    def record_spend(
        self, held: Reservation, request: Request, usage: Usage | None, model: ModelSettings, *, charged: bool
    ) -> None:
        """A try that was admitted has ended.

        Args:
            held: what `admit` gave.
            request: that was sent.
            usage: of what came; None where nothing did.
            model: whom it went to.
            charged: whether the provider may charge for it. What it did not count is charged as most, here
                only: no record says so.
        """
        self._in_flight.remove(held)
        heard = self._heard.setdefault(model.label, _Heard())
        if charged:
            usage = usage or Usage()
            tokens, usd = total_tokens(usage), price_usd(usage, model.price)
            self._calls += 1
            self._uncounted += tokens is None
            self._tokens += held.uncounted.tokens if tokens is None else tokens
            self._usd += held.uncounted.usd if usd is None else usd
            if usage.output_tokens is not None:
                heard.replies += 1
                heard.output += usage.output_tokens
                heard.longest = max(heard.longest, usage.output_tokens)
            if usage.input_tokens and (estimated := estimated_input_tokens(request)):
                heard.ratio = max(heard.ratio, usage.input_tokens / estimated)
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            resolve_if_pending(future)()

    def _cost(self, request: Request, model: ModelSettings, output_tokens: int) -> Cost:
        ratio = self._heard.get(model.label, _Heard()).ratio
        usage = Usage(math.ceil(estimated_input_tokens(request) * ratio), output_tokens)
        return Cost(total_tokens(usage) or 0, price_usd(usage, model.price) or 0.0)

    def _lacking(self, cost: Cost) -> BudgetReached | None:
        """Why there is no room for a call beside those in flight; None where there is."""
        limits, out = self._settings, [held.most for held in self._in_flight]
        for name, limit, spent, held, wanted, unit in (
            ("max_usd", limits.max_usd, self._usd, sum(c.usd for c in out), cost.usd, "US dollars"),
            ("max_calls", limits.max_calls, self._calls, len(out), 1, "calls"),
            (
                "max_tokens",
                limits.max_tokens,
                self._tokens,
                sum(c.tokens for c in out),
                cost.tokens,
                "tokens",
            ),
        ):
            if limit is None or spent + held + wanted <= limit:
                continue
            shown = f"reached: {_shown(spent)} {unit} in this run"
            if self._uncounted and name != "max_calls":
                shown += f", {self._uncounted} calls without the provider's count estimated"
            if name != "max_calls" and spent < limit:
                shown += f"; the next call may take {_shown(wanted)}"
            return BudgetReached(
                f"budget.{name}={limit}",
                shown,
                remedy="what was paid is stored: the same command with a new budget resumes; a lower "
                "model.output_tokens lets more calls fit",
            )
        return None


def _output_limit(request: Request, model: ModelSettings) -> int | None:
    """Tokens of output that a request allows, of all its replies; None where it sets no limit."""
    names = {model.max_tokens_field, *_LIMIT_FIELDS}
    limits = [value for name in names if isinstance(value := request.parameters.get(name), int)]
    several = request.parameters.get("n")
    return max(limits) * (several if isinstance(several, int) and several > 1 else 1) if limits else None


def _shown(amount: float) -> str:
    return str(amount) if isinstance(amount, int) else f"{amount:.4f}"
