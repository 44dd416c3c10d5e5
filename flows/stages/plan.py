"""Estimates before a run: remaining calls, tokens, cost and detectable difference.

Tokens are estimated as characters / 4, a rule of thumb for English. Reasoning is only included in the
upper bound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flows.schema.call import CHARACTERS_PER_TOKEN, estimated_input_tokens
from flows.schema.completion import Request
from flows.schema.settings import JudgeMode, JudgeSettings, ModelSettings, Price

CHARACTERS_PER_WORD = 6
"""White space included: 5.8 to 6.0 in the four control briefs of the scenarios in `data/`."""

UNLIMITED_WORDS = 5_200
"""Words of a brief without a stated limit: the longest mean in the benchmark's paper with one
(appendix J). Without a limit it may be more."""

REFERENCE_HALF_WIDTH = 0.08
"""Half-width of a model's 95% interval on the score, as the paper reports it (section 5.2)."""

REFERENCE_SCENARIOS = 10
"""Number of scenarios of `REFERENCE_HALF_WIDTH`."""


_CENT = 0.01  # dollars; smaller amounts must not be shown as 0


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One remaining call."""

    input_tokens: int  # estimate
    output_tokens: int  # estimate, without reasoning
    most_output_tokens: int | None  # the output limit sent; None if none is
    is_assumed: bool = False  # True if its prompt is not known yet, such as a brief that is not yet written


@dataclass(frozen=True, slots=True)
class Cost:
    """An amount in US dollars."""

    usd: float | None  # the known part; None if unknown
    is_bound: bool = False  # True if a part is unknown, so that `usd` is a lower bound


@dataclass(frozen=True, slots=True)
class Load:
    """Totals of the remaining calls."""

    calls: int  # how many
    assumed: int  # number of calls with a prompt that is not known yet
    # input_tokens, output_tokens: estimates.
    input_tokens: int
    output_tokens: int
    cost: Cost  # cost of the estimates
    # Cost if every reply reaches its output limit, including reasoning; a lower bound without a limit.
    most: Cost


def tokens_of(characters: int) -> int:
    """Estimate the tokens of a text of that many characters, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def brief_characters(prompt_words: int | None, cap: int | None = None) -> int:
    """Estimate the length of a brief that is not yet written: the longest that prompt and cap allow."""
    words = UNLIMITED_WORDS if prompt_words is None else prompt_words
    return CHARACTERS_PER_WORD * (words if cap is None else min(words, cap))


def verdict_tokens(n_items: int, judge: JudgeSettings) -> int:
    """Estimate a judge's output on `n_items`, without reasoning, as if every item were listed."""
    return judge.tokens_per_item * n_items * (2 if judge.quotes else 1)


def planned(
    request: Request, model: ModelSettings, output_tokens: int, *, is_assumed: bool = False
) -> PlannedCall:
    """Estimate the tokens of one call; the expected length of the reply is lowered to the limit sent."""
    limit = request.parameters.get(model.max_tokens_field)
    most = limit if isinstance(limit, int) else None
    return PlannedCall(
        input_tokens=estimated_input_tokens(request),
        output_tokens=output_tokens if most is None else min(output_tokens, most),
        most_output_tokens=most,
        is_assumed=is_assumed,
    )


def summed(calls: Sequence[PlannedCall], price: Price) -> Load:
    """Sum calls of one model at its list price."""
    input_tokens = sum(call.input_tokens for call in calls)
    output_tokens = sum(call.output_tokens for call in calls)
    # Call by call: a long prompt may cost more for each token.
    most = _total(
        [_cost(call.input_tokens, call.most_output_tokens or call.output_tokens, price) for call in calls]
    )
    unlimited = any(call.most_output_tokens is None for call in calls)
    if unlimited and price.output_usd != 0:
        most = Cost(most.usd, is_bound=most.usd is not None)
    return Load(
        calls=len(calls),
        assumed=sum(call.is_assumed for call in calls),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost=_total([_cost(call.input_tokens, call.output_tokens, price) for call in calls]),
        most=most,
    )


def combined(loads: Sequence[Load]) -> Load:
    """Sum several loads. If a price is unknown, the sum of the others is a lower bound."""
    paid = [load for load in loads if load.calls]
    return Load(
        calls=sum(load.calls for load in paid),
        assumed=sum(load.assumed for load in paid),
        input_tokens=sum(load.input_tokens for load in paid),
        output_tokens=sum(load.output_tokens for load in paid),
        cost=_total([load.cost for load in paid]),
        most=_total([load.most for load in paid]),
    )


def cost_text(cost: Cost) -> str:
    """Format a cost: `≥` before a lower bound, `unknown` if nothing is known."""
    if cost.usd is None:
        return "unknown"
    digits = 4 if 0 < cost.usd < _CENT else 2
    return f"{'≥ ' if cost.is_bound else ''}${cost.usd:,.{digits}f}"


def half_width(n_scenarios: int) -> float:
    """Return the expected half-width of the interval of a score: about 0.08 · sqrt(10 / n).

    This is the paper's half-width at ten scenarios, scaled like the standard error of a mean over
    independent scenarios. It assumes the paper's variance between scenarios.

    Raises:
        ValueError: fewer than one scenario.
    """
    if n_scenarios < 1:
        raise ValueError(f"{n_scenarios} scenarios")
    return REFERENCE_HALF_WIDTH * math.sqrt(REFERENCE_SCENARIOS / n_scenarios)


def detectable_difference(n_scenarios: int, *, paired: bool) -> float:
    """Return the half-width of the interval of a difference between two conditions.

    With equal variances it is sqrt(2 (1 - r)) times that of one score, where r is the correlation of the
    two conditions' scores over scenarios. Unpaired, on different scenarios, r is 0. Paired, on the same
    scenarios, r is taken to be 0.5, so that the factor is 1.

    Raises:
        ValueError: fewer than one scenario.
    """
    return half_width(n_scenarios) * (1.0 if paired else math.sqrt(2))


def misfit(model: ModelSettings, call: PlannedCall) -> str | None:
    """Describe how a call exceeds the context length; None if it fits or the length is unknown."""
    if model.context_tokens is None:
        return None
    room = call.output_tokens if call.most_output_tokens is None else call.most_output_tokens
    needed = call.input_tokens + room
    if needed <= model.context_tokens:
        return None
    return (
        f"about {call.input_tokens:,} tokens of prompt and {room:,} of reply do not fit into the "
        f"{model.context_tokens:,} of {model.label}"
    )


def cap_mismatch(prompt_words: int | None, cap: int | None) -> str | None:
    """Describe the effect of a prompt limit that differs from the word cap; None if they agree."""
    if prompt_words == cap:
        return None
    if prompt_words is None:
        return f"the prompt sets no limit, but {cap:,} words are graded: the cut may remove needed content"
    if cap is None:
        return f"the prompt sets a limit of {prompt_words:,} words, but all words are graded"
    return f"the prompt sets a limit of {prompt_words:,} words, but {cap:,} are graded"


def room_shortfall(room: int, judge: JudgeSettings) -> str | None:
    """Describe the effect of a judge's output limit that is below what its longest reply may need, `room`."""
    if judge.output_tokens is None or room <= judge.output_tokens:
        return None
    remedy = (
        "a reply that is cut is rejected"
        if judge.mode is JudgeMode.per_item
        else "a reply that is cut is rejected; judge.mode=per_item asks for one item a call"
    )
    return (
        f"a reply of {judge.label} may need {room:,} tokens, and it writes at most "
        f"{judge.output_tokens:,}: {remedy}"
    )


def _cost(input_tokens: int, output_tokens: int, price: Price) -> Cost:
    parts = [
        usd * tokens / 1e6
        for tokens, usd in zip((input_tokens, output_tokens), price.rates(input_tokens), strict=True)
        if usd is not None
    ]
    if not input_tokens and not output_tokens:
        return Cost(0.0)  # nothing is left to pay for
    return Cost(sum(parts), is_bound=len(parts) < 2) if parts else Cost(None)  # noqa: PLR2004 -- input and output


def _total(costs: Sequence[Cost]) -> Cost:
    known = [cost.usd for cost in costs if cost.usd is not None]
    if costs and not known:
        return Cost(None)
    return Cost(sum(known), is_bound=any(cost.usd is None or cost.is_bound for cost in costs))
