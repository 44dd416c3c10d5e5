"""What a run would cost, before anything is paid: calls left, tokens, price, what it could tell apart.

Nothing here is a measurement. Tokens are counted as characters / 4, the usual rule of thumb for
English; a provider counts differently, and reasoning is in no estimate, only in the upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flows.schema.call import CHARACTERS_PER_TOKEN, estimated_input_tokens
from flows.schema.completion import Request
from flows.schema.settings import JudgeMode, JudgeSettings, ModelSettings, Price

CHARACTERS_PER_WORD = 6
"""White space included: 5.8 to 6.0 in the four control briefs of the scenarios in `data/`."""

UNLIMITED_WORDS = 5_200
"""Words of a brief whose writer is told no limit: the longest mean that the benchmark's paper reports
of a writer that was told one (appendix J). Without a limit it may be more."""

REFERENCE_HALF_WIDTH = 0.08
"""Half-width of a model's 95% interval on the score, as the paper reports it (section 5.2)."""

REFERENCE_SCENARIOS = 10
"""Number of scenarios that `REFERENCE_HALF_WIDTH` rests on."""


_CENT = 0.01  # dollars; less than that must not read as nothing


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call that is left to make.

    Attributes:
        input_tokens: estimate.
        output_tokens: estimate, without reasoning.
        most_output_tokens: the limit that is sent; None where none is.
        is_assumed: True where its prompt is not known yet, as for a brief that nobody has written.
    """

    input_tokens: int
    output_tokens: int
    most_output_tokens: int | None
    is_assumed: bool = False


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars.

    Attributes:
        usd: what is known of it; None where nothing is.
        is_bound: True where a part is unknown, so that `usd` is a lower bound.
    """

    usd: float | None
    is_bound: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """Calls that are left to make, summed.

    Attributes:
        calls: how many.
        assumed: how many of them rest on a prompt that is not known yet.
        input_tokens, output_tokens: estimates.
        cost: of the estimates.
        most: with every reply as long as the limit that is sent, reasoning included; a lower bound
            where no limit is sent.
    """

    calls: int
    assumed: int
    input_tokens: int
    output_tokens: int
    cost: Cost
    most: Cost


def tokens_of(characters: int) -> int:
    """Tokens of a text of that many characters, rounded up; an estimate."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def brief_characters(told: int | None, cap: int | None = None) -> int:
    """Length of a brief that nobody has written yet: as long as its writer may.

    Args:
        told: words that the writer is told; None for no limit.
        cap: words that are kept of it; None for all of them.
    """
    words = UNLIMITED_WORDS if told is None else told
    return CHARACTERS_PER_WORD * (words if cap is None else min(words, cap))


def verdict_tokens(n_items: int, judge: JudgeSettings) -> int:
    """Output of a judge on `n_items`, without reasoning: as if every item were listed."""
    return judge.tokens_per_item * n_items


def planned(
    request: Request, model: ModelSettings, output_tokens: int, *, is_assumed: bool = False
) -> PlannedCall:
    """One call in tokens.

    Args:
        request: as it would be sent.
        model: whom it would go to; says which field holds the output limit.
        output_tokens: length of the reply that is expected; lowered to the limit that is sent.
        is_assumed: True where the prompt is not known yet.
    """
    limit = request.parameters.get(model.max_tokens_field)
    most = limit if isinstance(limit, int) else None
    return PlannedCall(
        input_tokens=estimated_input_tokens(request),
        output_tokens=output_tokens if most is None else min(output_tokens, most),
        most_output_tokens=most,
        is_assumed=is_assumed,
    )


def summed(calls: Sequence[PlannedCall], price: Price) -> Load:
    """Calls of one model, at its list price."""
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
    """Several loads as one. Where a price is unknown, the sum of the others is a lower bound."""
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
    """A cost for a table: `≥` before a lower bound, `unknown` where nothing is known."""
    if cost.usd is None:
        return "unknown"
    digits = 4 if 0 < cost.usd < _CENT else 2
    return f"{'≥ ' if cost.is_bound else ''}${cost.usd:,.{digits}f}"


def detectable_difference(n_scenarios: int) -> float:
    """Half-width of the interval to expect with `n_scenarios`: about 0.08 · sqrt(10 / n).

    The paper's half-width at its ten scenarios, scaled as the standard error of a mean over
    independent scenarios is. It assumes scenarios that differ from one another as the paper's do. Two
    conditions that are closer than this are not told apart by their intervals; a comparison paired by
    scenario may do better.

    Raises:
        ValueError: fewer than one scenario.
    """
    if n_scenarios < 1:
        raise ValueError(f"{n_scenarios} scenarios")
    return REFERENCE_HALF_WIDTH * math.sqrt(REFERENCE_SCENARIOS / n_scenarios)


def misfit(model: ModelSettings, call: PlannedCall) -> str | None:
    """How a call exceeds the context length of `model`; None where it fits or the length is unknown."""
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


def cap_mismatch(told: int | None, cap: int | None) -> str | None:
    """What follows where the writer is told another limit than is graded by; None where they agree."""
    if told == cap:
        return None
    if told is None:
        return f"the writer is told no limit, and {cap:,} words are graded: what is cut, it may have needed"
    if cap is None:
        return f"the writer is told {told:,} words, and whatever it writes is graded"
    return f"the writer is told {told:,} words, and {cap:,} are graded"


def room_shortfall(room: int, judge: JudgeSettings) -> str | None:
    """What follows where a judge can't write what its rubric needs; None where it can.

    Args:
        room: tokens that its longest reply may need, reasoning included.
        judge: how it is asked.
    """
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
        return Cost(0.0)  # nothing is left to pay for, whatever it would cost
    return Cost(sum(parts), is_bound=len(parts) < 2) if parts else Cost(None)  # noqa: PLR2004 -- input and output


def _total(costs: Sequence[Cost]) -> Cost:
    known = [cost.usd for cost in costs if cost.usd is not None]
    if costs and not known:
        return Cost(None)
    return Cost(sum(known), is_bound=any(cost.usd is None or cost.is_bound for cost in costs))
