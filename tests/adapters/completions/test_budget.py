import asyncio
import dataclasses

import pytest

from flows.adapters.completions.budget import Budget, Cost, price_usd, total_tokens
from flows.adapters.completions.events import Totals
from flows.adapters.completions.halts import Halts, Target
from flows.schema.completion import Usage
from flows.schema.errors import BudgetReached, ConfigError
from flows.schema.settings import Price
from tests.adapters.completions.helpers import NO_BUDGET, a_completion, a_model, a_request, an_error

MODEL = a_model("http://127.0.0.1:9/v1")  # 2 and 10 US dollars a million
TARGET = Target.of(MODEL)


def a_budget(**limits):
    return Budget(dataclasses.replace(NO_BUDGET, **limits), Halts())


@pytest.mark.parametrize(
    ("usage", "price", "expected"),
    [
        (Usage(1_000_000, 0), Price(2.0, 10.0), 2.0),
        (Usage(60_000, 5_000, 4_000, 50_000), Price(3.0, 15.0), 0.255),
        (Usage(10, 10), Price(0.0, 0.0), 0.0),
        (Usage(10, None), Price(2.0, 10.0), None),
        (Usage(None, 10), Price(2.0, 10.0), None),
        (Usage(10, 10), Price(None, 10.0), None),
        (Usage(10, 10), Price(), None),
    ],
)
def test_a_price_is_known_or_none(usage, price, expected):
    assert price_usd(usage, price) == (None if expected is None else pytest.approx(expected))


def test_tokens_are_known_or_none():
    assert total_tokens(Usage(3, 4)) == 7
    assert total_tokens(Usage(3, None)) is None


def test_the_estimate_learns_from_the_replies():
    budget = a_budget()
    request = a_request("x" * 4000)  # and 24 characters of the system's turn
    # 4,024 / 4 in and 4,096 out: 1006 * 2 + 4096 * 10 dollars a million
    assert budget.estimate(request, MODEL) == Cost(1006 + 4096, pytest.approx(0.042972))
    assert budget.estimate(a_request("x" * 4000, max_tokens=100), MODEL).tokens == 1006 + 100

    async def main():
        for output_tokens in (300, 500):
            estimate = budget.estimate(request, MODEL)
            await budget.admit(estimate, TARGET)
            budget.settle(estimate, Usage(1006, output_tokens), MODEL, charged=True)

    asyncio.run(main())
    assert budget.estimate(request, MODEL).tokens == 1006 + 400
    assert budget.estimate(request, a_model(None, label="another")).tokens == 1006 + 4096


@pytest.mark.parametrize(
    ("limits", "shown"),
    [
        ({"max_calls": 2}, "budget.max_calls=2: reached: 2 calls in this run"),
        ({"max_tokens": 2000}, "budget.max_tokens=2000: reached: 2000 tokens in this run"),
        ({"max_usd": 0.005}, r"budget.max_usd=0.005: reached: 0.0052 US dollars in this run"),
    ],
)
def test_a_limit_stops_what_comes_after_it(limits, shown):
    # Two calls of 900 in and 100 out: 2 * (900 * 2 + 100 * 10) / 1e6 = 0.0056; the second alone 0.0028.
    async def main():
        budget = a_budget(**limits)
        for input_tokens in (900, 700 if "max_usd" in limits else 900):
            await budget.admit(Cost(1, 0.0), TARGET)
            budget.settle(Cost(1, 0.0), Usage(input_tokens, 100), MODEL, charged=True)
        with pytest.raises(BudgetReached, match=shown):
            await budget.admit(Cost(1, 0.0), TARGET)

    asyncio.run(main())


def test_calls_in_flight_count_at_their_estimate():
    async def main():
        budget = a_budget(max_tokens=1000)
        await budget.admit(Cost(900, 0.0), TARGET)  # goes: nothing is in flight
        waiting = asyncio.create_task(budget.admit(Cost(200, 0.0), TARGET))
        await asyncio.sleep(0)
        assert not waiting.done()
        budget.settle(Cost(900, 0.0), Usage(300, 100), MODEL, charged=True)  # cheaper than thought
        await waiting
        also = asyncio.create_task(budget.admit(Cost(401, 0.0), TARGET))
        await asyncio.sleep(0)
        assert not also.done()
        budget.settle(Cost(200, 0.0), Usage(600, 50), MODEL, charged=True)  # dearer: 1,050 in all
        with pytest.raises(BudgetReached, match="reached: 1050 tokens"):
            await also

    asyncio.run(main())


def test_a_limit_on_calls_is_exact():
    async def main():
        budget = a_budget(max_calls=2)
        for _ in range(2):
            await budget.admit(Cost(1, 0.0), TARGET)
        third = asyncio.create_task(budget.admit(Cost(1, 0.0), TARGET))
        await asyncio.sleep(0)
        assert not third.done()
        budget.settle(Cost(1, 0.0), None, MODEL, charged=False)  # it was turned away: not charged
        await third

    asyncio.run(main())


def test_what_a_provider_did_not_count_is_charged_at_the_estimate():
    async def main():
        budget = a_budget(max_tokens=100)
        await budget.admit(Cost(100, 0.0), TARGET)
        budget.settle(Cost(100, 0.0), Usage(), MODEL, charged=True)
        with pytest.raises(BudgetReached):
            await budget.admit(Cost(1, 0.0), TARGET)

    asyncio.run(main())


def test_a_budget_of_nothing_calls_nobody():
    async def main():
        with pytest.raises(BudgetReached, match="reached: 0 calls"):
            await a_budget(max_calls=0).admit(Cost(1, 0.0), TARGET)

    asyncio.run(main())


def test_dollars_can_not_be_promised_without_a_price():
    unpriced = a_model(None, price=Price(1.0, None))
    a_budget(max_calls=1).check_price(unpriced)
    with pytest.raises(ConfigError, match="the price of writer is unknown, so this limit can't be held"):
        a_budget(max_usd=1.0).check_price(unpriced)


def test_totals_are_sums_of_records_and_say_what_is_unknown():
    request = a_request()
    totals = Totals()
    answer = a_completion(request)
    totals.add(answer, lost_tries=0)
    totals.add(answer, lost_tries=2)  # two tries broke, and may have been charged
    totals.add(dataclasses.replace(answer, usage=Usage(), price_usd=None), lost_tries=0)
    totals.add(dataclasses.replace(an_error(request), usage=Usage(), price_usd=None), lost_tries=0)
    assert (totals.paid, totals.failed, totals.unknown_price) == (3, 1, 2)
    assert (totals.input_tokens, totals.output_tokens, totals.reasoning_tokens) == (240, 60, 20)
    assert totals.price_usd == pytest.approx(0.00108)
