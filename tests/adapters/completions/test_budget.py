import asyncio
import dataclasses

import pytest

from flows.adapters.completions.budget import Budget, Cost, price_usd, total_tokens
from flows.adapters.completions.stop_conditions import StopConditions, Target
from flows.adapters.completions.totals import Totals
from flows.common.errors import BudgetReached, ConfigError
from flows.schema.completion import Usage
from flows.schema.settings import Price
from tests.adapters.completions.helpers import NO_BUDGET, a_completion, a_model, a_request, an_error

MODEL = a_model("http://127.0.0.1:9/v1")  # 2 and 10 US dollars a million
TARGET = Target.of(MODEL)


def a_budget(**limits):
    return Budget(dataclasses.replace(NO_BUDGET, **limits), StopConditions())


TIERED = Price(2.0, 10.0, above_tokens=200_000, above_input_usd=4.0, above_output_usd=20.0)


@pytest.mark.parametrize(
    ("usage", "price", "expected"),
    [
        (Usage(1_000_000, 0), Price(2.0, 10.0), 2.0),
        (Usage(60_000, 5_000, 4_000, 50_000), Price(3.0, 15.0), 0.255),
        (Usage(10, 10), Price(0.0, 0.0), 0.0),
        (Usage(200_000, 1_000), TIERED, 0.41),  # to the limit the plain price
        (Usage(200_001, 1_000), TIERED, 0.820004),  # beyond it the other, for all of the call
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


def of(tokens_in, limit=100, **parameters):
    """A request of about that many tokens in, and at most `limit` out."""
    prompt = "x" * (4 * tokens_in - 24)  # and 24 characters of the system's turn
    return a_request(prompt, **({} if limit is None else {"max_tokens": limit}), **parameters)


def run(*steps, **limits):
    """Take the steps one after the other with a budget; gives what `admit` raised, or None.

    A step is a request to admit, which must go at once; `("waits", request)`; or the usage of the oldest call
    in flight, by which it ends.
    """

    async def main():
        budget = Budget(dataclasses.replace(NO_BUDGET, **limits), StopConditions())
        out, waiting = [], []
        try:
            for step in steps:
                if isinstance(step, tuple):
                    task = asyncio.create_task(budget.admit(step[1], MODEL, TARGET))
                    await asyncio.sleep(0)
                    assert not task.done()
                    waiting.append((task, step[1]))
                elif isinstance(step, Usage):
                    held, request = out.pop(0)
                    budget.record_spend(held, request, step, MODEL, charged=step != TURNED_AWAY)
                    for _ in range(5):
                        await asyncio.sleep(0)
                    out += [(task.result(), sent) for task, sent in waiting if task.done()]
                    waiting = [(task, sent) for task, sent in waiting if not task.done()]
                else:
                    out.append((await asyncio.wait_for(budget.admit(step, MODEL, TARGET), 1), step))
            assert not waiting
        except BudgetReached as reached:
            for task, _ in waiting:
                task.cancel()
            return str(reached)
        return None

    return asyncio.run(main())


TURNED_AWAY = Usage(output_tokens=-1)
KEPT = Usage(900, 100)


def test_the_estimate_learns_from_the_replies():
    budget = a_budget()
    request = of(1006, None)
    # 1,006 in and 4,096 out: 1006 * 2 + 4096 * 10 dollars a million
    assert budget.estimate(request, MODEL) == Cost(1006 + 4096, pytest.approx(0.042972))
    assert budget.estimate(of(1006, 100), MODEL).tokens == 1006 + 100

    async def main():
        for output_tokens in (300, 500):
            held = await budget.admit(request, MODEL, TARGET)
            budget.record_spend(held, request, Usage(1006, output_tokens), MODEL, charged=True)

    asyncio.run(main())
    assert budget.estimate(request, MODEL).tokens == 1006 + 400
    assert budget.estimate(request, a_model(None, label="another")).tokens == 1006 + 4096


@pytest.mark.parametrize(
    ("limits", "steps", "said"),
    [
        # Each call may take 1,000 tokens, 900 * 2 + 100 * 10 = 2,800 millionths of a dollar, and does.
        (
            {"max_calls": 2},
            [of(900), KEPT, of(900), KEPT, of(900)],
            "max_calls=2: reached: 2 calls in this run.",
        ),
        ({"max_calls": 0}, [of(900)], "max_calls=0: reached: 0 calls in this run."),
        (
            {"max_tokens": 2500},
            [of(900), KEPT, of(900), KEPT, of(900)],
            "max_tokens=2500: reached: 2000 tokens in this run; the next call may take 1000.",
        ),
        (
            {"max_usd": 0.008},
            [of(900), KEPT, of(900), KEPT, of(900)],
            "max_usd=0.008: reached: 0.0056 US dollars in this run; the next call may take 0.0028.",
        ),
        # To the limit and no further.
        ({"max_tokens": 2000}, [of(900), KEPT, of(900), KEPT], None),
        # A second call waits for the first one's reply, which shows whether limits are kept.
        ({"max_tokens": 9000}, [of(900), ("waits", of(900)), KEPT, of(900), of(900)], None),
        # What is in flight counts at its most; nothing stops before it has come, and may leave room.
        (
            {"max_tokens": 3500},
            [of(900), KEPT, of(900), of(900), ("waits", of(900)), Usage(300, 5), KEPT],
            None,
        ),
        (
            {"max_calls": 2},
            [of(900), of(900), ("waits", of(900)), TURNED_AWAY],  # it was not charged for
            None,
        ),
        # A reply beyond its limit is what the next ones are expected to be; so is an input.
        (
            {"max_tokens": 3000},
            [of(900), Usage(900, 700), of(900)],
            "reached: 1600 tokens in this run; the next call may take 1600.",
        ),
        ({"max_tokens": 3000}, [of(900), Usage(1800, 100), of(900)], "the next call may take 1900."),
        # Nobody counted: it is taken to have cost the most, and is said to be an estimate.
        (
            {"max_tokens": 1500},
            [of(900), Usage(), of(900)],
            "reached: 1000 tokens in this run, 1 calls without the provider's count estimated; the next",
        ),
        # Without a limit of output one goes alone, if another like those before fits.
        (
            {"max_tokens": 2000},
            [of(900, None), Usage(900, 50), of(900, None), ("waits", of(900, None)), Usage(900, 50)],
            "reached: 1900 tokens in this run; the next call may take 950.",
        ),
        # Other names of the limit, and several replies to one request.
        ({"max_tokens": 1000}, [of(500, None, max_completion_tokens=501)], "the next call may take 1001."),
        ({"max_tokens": 1000}, [of(900, n=2)], "the next call may take 1100."),
    ],
)
def test_a_call_goes_only_where_the_most_that_it_may_cost_fits(limits, steps, said):
    found = run(*steps, **limits)
    assert (found is None) == (said is None)
    assert said is None or said in found


def test_a_batch_waits_for_no_first_reply():
    async def main():
        budget = Budget(dataclasses.replace(NO_BUDGET, max_tokens=9000), StopConditions(), first_alone=False)
        await asyncio.wait_for(asyncio.gather(*(budget.admit(of(900), MODEL, TARGET) for _ in range(9))), 1)

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
