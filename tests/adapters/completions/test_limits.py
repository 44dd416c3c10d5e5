import asyncio
import dataclasses
import time

import pytest

from flows.adapters.completions.limits import ProviderLimits
from flows.adapters.completions.stop_conditions import EVERYTHING, StopConditions, Target
from flows.common.errors import Stopped
from tests.adapters.completions.helpers import RUNNER, a_model

TARGET = Target.of(a_model("http://127.0.0.1:9/v1"))


def limits_of(concurrency=4, *, requests=None, tokens=None, window_s=60.0, halts=None):
    runner = dataclasses.replace(
        RUNNER, concurrency=concurrency, requests_per_minute=requests, tokens_per_minute=tokens
    )
    return ProviderLimits(runner, halts or StopConditions(), window_s)


async def take(limits, count, tokens=10):
    return [await limits.acquire(tokens, TARGET, first=True) for _ in range(count)]


async def is_free(limits, tokens=10):
    """Whether one more may go now; it is given back."""
    try:
        async with asyncio.timeout(0.02):
            limits.unused(await limits.acquire(tokens, TARGET, first=True))
    except TimeoutError:
        return False
    return True


def test_no_more_are_in_flight_than_the_limit():
    async def main():
        limits = limits_of(3)
        leases = await take(limits, 3)
        assert limits.in_flight == 3
        assert not await is_free(limits)
        limits.served(leases.pop(), 10)
        assert await is_free(limits)
        leases.pop()
        limits.broken()
        limits.unused(leases.pop())
        assert limits.in_flight == 0

    asyncio.run(main())


def test_further_tries_go_ahead_of_calls_that_have_not_begun():
    async def main():
        limits = limits_of(1)
        (lease,) = await take(limits, 1)
        order = []

        async def waiting(name, *, first):
            got = await limits.acquire(10, TARGET, first=first)
            order.append(name)
            limits.served(got, 10)

        tasks = [asyncio.create_task(waiting(name, first=True)) for name in ("one", "two")]
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(waiting("again", first=False)))
        await asyncio.sleep(0)
        limits.served(lease, 10)
        await asyncio.gather(*tasks)
        assert order == ["again", "one", "two"]

    asyncio.run(main())


def test_an_endpoint_that_holds_twenty_is_left_with_twenty_at_once_and_tried_again_slowly():
    async def main():
        limits = limits_of(100)
        leases = await take(limits, 100)
        for lease in leases[20:]:
            limits.throttled(lease, 60.0)
        assert (limits.concurrency, limits.in_flight) == (20.0, 20)
        assert not await is_free(limits)  # the other eighty wait, though their slots were given back
        for lease in leases[:20]:
            limits.served(lease, 10)
        assert limits.concurrency == pytest.approx(22.0)
        assert await is_free(limits)

    asyncio.run(main())


def test_random_throttling_of_one_in_twenty_leaves_the_limit():
    async def main():
        limits = limits_of(100)
        leases = await take(limits, 100)
        for number in range(2000):
            lease = leases.pop(0)
            if number % 20 == 7:
                limits.throttled(lease, 60.0)
            else:
                limits.served(lease, 10)
            while limits.in_flight < int(limits.concurrency):
                leases += await take(limits, 1)
        assert limits.concurrency > 95

    asyncio.run(main())


def test_a_closed_provider_is_left_alone_and_then_doubles():
    async def main():
        limits = limits_of(64)
        leases = await take(limits, 64)
        for lease in leases:
            limits.throttled(lease, 0.1)
        assert (limits.concurrency, limits.in_flight, limits.closings) == (1.0, 0, 1)
        started = time.monotonic()
        (lease,) = await take(limits, 1)
        assert time.monotonic() - started >= 0.09
        limits.served(lease, 10)
        assert (limits.concurrency, limits.closings) == (2.0, 0)
        for expected in (4.0, 8.0, 16.0, 32.0, 64.0, 64.0):
            for lease in await take(limits, int(limits.concurrency)):
                limits.served(lease, 10)
            assert limits.concurrency == expected

    asyncio.run(main())


def test_requests_a_minute_are_held_in_any_minute():
    async def main():
        limits = limits_of(100, requests=5, window_s=0.2)
        times = []
        for _ in range(15):
            (lease,) = await take(limits, 1)
            times.append(time.monotonic())
            limits.served(lease, 10)
        for early, late in zip(times, times[5:], strict=False):
            assert late - early >= 0.199
        assert times[4] - times[0] < 0.15  # a burst of the whole minute goes at once

    asyncio.run(main())


def test_what_was_not_sent_does_not_count():
    async def main():
        limits = limits_of(100, requests=2)
        for lease in await take(limits, 2):
            limits.unused(lease)
        assert await is_free(limits)

    asyncio.run(main())


def test_tokens_a_minute_count_at_the_estimate_and_then_as_they_were():
    async def main():
        limits = limits_of(100, tokens=1000, window_s=60.0)
        one, other = await take(limits, 2, tokens=400)
        assert not await is_free(limits, tokens=400)
        assert await is_free(limits, tokens=200)
        limits.served(one, 100)  # 100 + 400 used
        assert await is_free(limits, tokens=500)
        assert not await is_free(limits, tokens=501)
        limits.throttled(other, 0.0)  # 100 used
        assert await is_free(limits, tokens=900)
        (third,) = await take(limits, 1, tokens=300)
        limits.served(third, None)  # not counted: the estimate stays
        assert not await is_free(limits, tokens=601)

    asyncio.run(main())


def test_a_call_above_the_token_limit_goes_when_it_has_the_minute_to_itself():
    async def main():
        limits = limits_of(100, tokens=100, window_s=0.15)
        (small,) = await take(limits, 1, tokens=50)
        started = time.monotonic()
        (large,) = await take(limits, 1, tokens=5000)
        assert time.monotonic() - started >= 0.14
        limits.served(small, 50)
        limits.served(large, 5000)

    asyncio.run(main())


def test_a_halt_ends_the_waiting_and_leaves_nothing_behind():
    async def main():
        halts = StopConditions()
        limits = limits_of(1, halts=halts)
        (lease,) = await take(limits, 1)
        waiting = [asyncio.create_task(limits.acquire(10, TARGET, first=True)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.sleep(0)
        halts.set(EVERYTHING, Stopped("run", "stopped"))
        ends = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(end).__name__ for end in ends] == ["Stopped", "CancelledError", "Stopped"]
        assert ends[0] is not ends[2]
        limits.served(lease, 10)
        assert limits.in_flight == 0
        with pytest.raises(Stopped, match="run: stopped"):
            await limits.acquire(10, TARGET, first=True)
        assert limits.in_flight == 0

    asyncio.run(main())


def test_a_halt_of_one_account_or_endpoint_leaves_the_others():
    async def main():
        halts = StopConditions()
        same = Target.of(a_model("http://127.0.0.1:9/v1", name="other"))
        elsewhere = Target.of(a_model("http://127.0.0.1:10/v1"))
        halts.set(TARGET.account, Stopped("account", "stopped"))
        with pytest.raises(Stopped, match="account"):
            halts.check(TARGET)
        halts.check(same)
        halts.set(TARGET.endpoint, Stopped("endpoint", "stopped"))
        with pytest.raises(Stopped, match="endpoint"):
            halts.check(same)
        halts.check(elsewhere)
        await halts.sleep(0.001, elsewhere)

    asyncio.run(main())
