"""Enforce a run's budget before each call.

A call is only sent if its maximum cost fits, in addition to what was spent and the maximum cost of calls in
flight. Otherwise it waits for those to end; if none is left, the run stops. So a limit is exceeded by at most
what one reply costs beyond its requested output limit: before a model's first reply no second call is sent,
and if a provider ignores the output limit, each call is assumed to cost as much as the longest reply so far.

With several workers each has a share (`flows.adapters.completions.shares`), and these rules hold in each of
them.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from flows.adapters.completions.shares import Grant, Need, amounts
from flows.adapters.completions.stop_conditions import EVERYTHING, StopConditions, Target, resolve_if_pending
from flows.common.errors import BudgetReached, ConfigError
from flows.schema.call import estimated_input_tokens
from flows.schema.completion import Request, Usage
from flows.schema.settings import BudgetSettings, ModelSettings, Price

_OUTPUT_TOKENS = 4096  # a brief of 3,000 words; used until the model's first reply
_UNDECLARED_TOKENS = 131_072  # of a reply without an output limit: about the maximum of current models
_LIMIT_FIELDS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def price_usd(usage: Usage, price: Price) -> float | None:
    """Return the list price of one call in US dollars; None if a price or a count is unknown.

    Cached input counts at the full price, so this is an upper bound with cache discounts.
    """
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    input_usd, output_usd = price.rates(usage.input_tokens)
    if input_usd is None or output_usd is None:
        return None
    return (usage.input_tokens * input_usd + usage.output_tokens * output_usd) / 1e6


def batch_price(price: Price) -> Price:
    """Return the price of a call in a batch; unknown without a batch factor."""
    factor = price.batch_factor
    each = ("input_usd", "output_usd", "above_input_usd", "above_output_usd")
    found = {name: getattr(price, name) for name in each}
    return replace(
        price,
        **{name: None if factor is None or usd is None else usd * factor for name, usd in found.items()},
    )


def total_tokens(usage: Usage) -> int | None:
    """Return input plus output tokens; None if one is unknown."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one try, known or estimated."""

    tokens: int
    usd: float


@dataclass(frozen=True, slots=True, eq=False)
class Reservation:
    """The amount reserved for one try."""

    label: str  # the model's label
    most: Cost  # its maximum cost
    uncounted: Cost  # its assumed cost without the provider's count


@dataclass(slots=True)
class _ReplyStatistics:
    """Statistics of a model's replies.

    Attributes:
        replies, output, longest: number of replies, their total and longest output in tokens.
        ratio: the largest ratio of actual to estimated input tokens, at least 1.
    """

    replies: int = 0
    output: int = 0
    longest: int = 0
    ratio: float = 1.0


def check_price(settings: BudgetSettings, model: ModelSettings, section: str = "model") -> None:
    """Reject a limit in dollars that can't be enforced. `section` is the model's in the settings.

    Raises:
        ConfigError: `max_usd` is set, and a price of the model is unknown.
    """
    if settings.max_usd is not None and None in (model.price.input_usd, model.price.output_usd):
        raise ConfigError(
            "budget.max_usd",
            f"the price of {model.label} is unknown, so this limit can't be held",
            f"{section}.price.input_usd and {section}.price.output_usd",
            "set them (0 for a model that costs nothing), or limit budget.max_calls or budget.max_tokens",
        )


class Budget:
    """The budget of a run. Use it from one event loop only."""

    def __init__(
        self,
        settings: BudgetSettings,
        halts: StopConditions,
        *,
        first_alone: bool = True,
        ask: Callable[[], None] | None = None,
    ) -> None:
        """Create a budget with nothing spent.

        `first_alone` waits for a model's first reply; False for batches. `ask` is called when a call waits
        for a larger share, and nothing is admitted before the first `take`; None if no other worker spends of
        it.
        """
        self._settings = settings
        self._halts = halts
        self._first_alone = first_alone and (settings.max_usd, settings.max_tokens) != (None, None)
        self._calls = 0
        self._uncounted = 0
        self._tokens = 0
        self._usd = 0.0
        self._in_flight: list[Reservation] = []
        self._waiting: dict[asyncio.Future[None], Cost] = {}
        self._ask = ask
        self._limits = amounts(settings)
        self._grants = {name: Grant(0.0 if ask else limit) for name, limit in self._limits.items()}
        self._heard: dict[str, _ReplyStatistics] = {}

    def needs(self) -> dict[str, Need]:
        """Return what it needs of each limit."""
        found: dict[str, Need] = {}
        waiting = [cost for future, cost in self._waiting.items() if not future.done()]
        for name in self._limits:
            spent, held = self._spent(name), sum(_amount(name, one.most) for one in self._in_flight)
            lacking = [_amount(name, cost) for cost in waiting]
            # As much again as is in flight: with that, calls go on while the next renewal is under way.
            want = spent + 2 * held + sum(lacking)
            step = min(lacking, default=0.0)
            found[name] = Need(spent + held, spent, want, step, self._grants[name].share)
        return found

    def take(self, grants: Mapping[str, Grant], valid_until: float) -> None:  # noqa: ARG002 -- what is granted counts as spent
        """Live by these shares."""
        self._grants |= {name: grants[name] for name in self._limits if name in grants}
        self._wake()

    def check_price(self, model: ModelSettings) -> None:
        """Reject a limit in dollars that can't be enforced; see the function."""
        check_price(self._settings, model)

    def estimate(self, request: Request, model: ModelSettings) -> Cost:
        """Estimate a call's cost: input from characters / 4, output as the mean of replies so far.

        Before the first reply, output is its limit, at most 4,096 tokens. An image counts as 1,600 tokens,
        tools as their JSON.
        """
        heard = self._heard.get(model.label, _ReplyStatistics())
        output = heard.output // heard.replies if heard.replies else _OUTPUT_TOKENS
        limit = _output_limit(request, model)
        return self._cost(request, model, output if limit is None else min(output, limit))

    async def admit(self, request: Request, model: ModelSettings, target: Target) -> Reservation:
        """Wait until the budget has room for a try's maximum cost, and reserve it.

        A request without an output limit is sent alone, if a reply as long as earlier ones fits.

        Raises:
            BudgetReached: there is no room, and no call in flight that could free some; nothing more is sent.
        """
        while True:
            self._halts.check(target)
            heard = self._heard.get(model.label, _ReplyStatistics())
            limit = _output_limit(request, model)
            most = self._cost(request, model, max(limit or _UNDECLARED_TOKENS, heard.longest))
            if not self._in_flight:
                alone = most if limit is not None else self._cost(request, model, heard.longest)
                if not self._lacking(alone):
                    break
                if final := self._lacking(alone, of_all=True):
                    self._halts.set(EVERYTHING, final)
                    continue
                await self._wait(alone, target)  # what other workers hold may come back
                continue
            unheard = self._first_alone and model.label not in self._heard
            beside = not unheard or all(other.label != model.label for other in self._in_flight)
            if beside and not self._lacking(most):
                break
            await self._wait(most, target)
        uncounted = most if limit is not None else self.estimate(request, model)
        held = Reservation(model.label, most, uncounted)
        self._in_flight.append(held)
        return held

    def record_spend(
        self, held: Reservation, request: Request, usage: Usage | None, model: ModelSettings, *, charged: bool
    ) -> None:
        """Record the end of an admitted try; without a reply `usage` is None.

        `charged` says that the provider may charge for it. Without a count, the maximum is charged to the
        budget only, not in any record.
        """
        self._in_flight.remove(held)
        heard = self._heard.setdefault(model.label, _ReplyStatistics())
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
        self._wake()

    async def _wait(self, cost: Cost, target: Target) -> None:
        """Wait until a call ends or the share grows; `cost` is reported until then."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[future] = cost
        if self._ask is not None:
            self._ask()
        try:
            await self._halts.wait(future, target)
        finally:
            self._waiting.pop(future, None)

    def _wake(self) -> None:
        for future in tuple(self._waiting):
            resolve_if_pending(future)()

    def _spent(self, name: str) -> float:
        return {"max_usd": self._usd, "max_calls": self._calls, "max_tokens": self._tokens}[name]

    def _cost(self, request: Request, model: ModelSettings, output_tokens: int) -> Cost:
        ratio = self._heard.get(model.label, _ReplyStatistics()).ratio
        usage = Usage(math.ceil(estimated_input_tokens(request) * ratio), output_tokens)
        return Cost(total_tokens(usage) or 0, price_usd(usage, model.price) or 0.0)

    def _lacking(self, cost: Cost, *, of_all: bool = False) -> BudgetReached | None:
        """Return why a call of this cost has no room beside those in flight; None if it has.

        `of_all` measures by the limits and what all workers have spent, not by the own share.
        """
        units = {"max_usd": "US dollars", "max_calls": "calls", "max_tokens": "tokens"}
        for name, limit in self._limits.items():
            spent, wanted, grant = self._spent(name), _amount(name, cost), self._grants[name]
            held = sum(_amount(name, one.most) for one in self._in_flight)
            spent += type(spent)(grant.others) if of_all else 0
            if spent + held + wanted <= (limit if of_all else grant.share):
                continue
            unit = "call" if units[name] == "calls" and spent == 1 else units[name]
            shown = f"reached: {_shown(spent)} {unit} in this run"
            if self._uncounted and name != "max_calls":
                shown += f", {self._uncounted} calls without the provider's count estimated"
            if name != "max_calls" and spent < limit:
                shown += f"; the next call may take {_shown(wanted)}"
            return BudgetReached(
                f"budget.{name}={limit}",
                shown,
                remedy="resume with the same command and a higher budget; paid replies are stored"
                + ("" if name == "max_calls" else "; a lower model.output_tokens lets more calls fit"),
            )
        return None


def _amount(name: str, cost: Cost) -> float:
    return {"max_usd": cost.usd, "max_calls": 1, "max_tokens": cost.tokens}[name]


def _output_limit(request: Request, model: ModelSettings) -> int | None:
    """Return the maximum output tokens of a request, for all its choices; None without a limit."""
    names = {model.max_tokens_field, *_LIMIT_FIELDS}
    limits = [value for name in names if isinstance(value := request.parameters.get(name), int)]
    several = request.parameters.get("n")
    return max(limits) * (several if isinstance(several, int) and several > 1 else 1) if limits else None


def _shown(amount: float) -> str:
    return str(amount) if isinstance(amount, int) else f"{amount:.4f}"
