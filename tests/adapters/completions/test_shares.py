"""Shares of one limit: their sum is never passed, nobody starves, and what the dead held comes back."""

import dataclasses
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.adapters.completions.shares import Need, Shares
from tests.adapters.completions.helpers import NO_BUDGET, RUNNER

SLOTS = "concurrency|p"


def ledger(budget=None, **limits):
    budget = dataclasses.replace(NO_BUDGET, **(budget or {}))
    return Shares(dataclasses.replace(RUNNER, **limits), budget, 10.0)


class Worker:
    """Uses as much as its share lets it, of calls that all cost `step`."""

    def __init__(self, shares, name, limit, want):
        self.shares, self.name, self.limit, self.want, self.step = shares, name, limit, want, 1.0
        self.share = self.used = self.spent = 0.0

    def renew(self, now):
        more = max(0.0, self.want - self.used)
        step = self.step if more else 0.0
        need = Need(self.used, self.spent, self.used + more, step, self.share)
        self.share = self.shares.renew(self.name, {self.limit: need}, now)[self.limit].share

    def use(self):
        while self.used + self.step <= self.share and self.used < self.want:
            self.used += self.step


@settings(max_examples=300, deadline=None)
@given(
    total=st.integers(1, 40),
    steps=st.lists(st.sampled_from([1.0, 3.0, 7.0]), min_size=1, max_size=4),
    seed=st.integers(0, 10**6),
    limit=st.sampled_from([SLOTS, "requests_per_minute|p", "tokens_per_minute|p", "max_usd", "max_tokens"]),
)
def test_the_sum_of_what_workers_use_never_passes_the_limit(total, steps, seed, limit):
    rnd = random.Random(seed)
    name = limit.partition("|")[0]
    is_amount = name.startswith("max_")
    shares = ledger({name: total}) if is_amount else ledger(**{name: total})
    workers = [Worker(shares, f"w{n}", limit, rnd.randrange(total + 5)) for n in range(len(steps))]
    for worker, step in zip(workers, steps, strict=True):
        worker.step = step if limit != SLOTS else 1.0
    for now in range(200):
        worker = rnd.choice(workers)
        what = rnd.random()
        if what < 0.4:
            worker.renew(now / 100)
        elif what < 0.7:
            worker.use()
        elif is_amount:
            worker.spent = min(worker.used, worker.spent + worker.step)
        else:
            worker.used = max(0.0, worker.used - worker.step)
            worker.want = rnd.randrange(total + 5)
        assert sum(one.used for one in workers) <= total + 1e-6


def test_workers_that_want_much_get_the_same_and_what_one_leaves_goes_to_the_others():
    shares = ledger(concurrency=100)
    a, b = Worker(shares, "a", SLOTS, 500), Worker(shares, "b", SLOTS, 500)
    for now in range(4):
        for one in (a, b):
            one.renew(now)
            one.use()
            one.used = min(one.used, one.share)  # calls end within a second
    assert (a.share, b.share) == (50, 50)
    a.want = 10
    a.used = 10.0
    for now in range(4, 8):
        a.renew(now)
        b.renew(now)
    assert (a.share, b.share) == (10, 90)


def test_one_call_in_flight_is_given_to_one_worker_at_a_time_and_to_the_other_when_it_is_free():
    shares = ledger(concurrency=1)
    a, b = Worker(shares, "a", SLOTS, 1), Worker(shares, "b", SLOTS, 1)
    for now in range(3):
        for one in (a, b):
            one.renew(now)
            one.use()
    assert sorted((a.used, b.used)) == [0, 1]
    busy, idle = (a, b) if a.used else (b, a)
    busy.used, busy.want = 0.0, 0
    for now in range(3, 6):
        busy.renew(now)
        idle.renew(now)
    idle.use()
    assert idle.used == 1


def test_a_budget_too_small_for_one_call_of_each_goes_to_one():
    shares = ledger({"max_usd": 10.0})
    a, b = Worker(shares, "a", "max_usd", 8), Worker(shares, "b", "max_usd", 8)
    a.step = b.step = 8.0
    for now in range(3):
        a.renew(now)
        b.renew(now)
    assert sorted((a.share, b.share)) == [0, 8]


@pytest.mark.parametrize(
    ("limit", "after_s"),
    [(SLOTS, 10.1), ("requests_per_minute|p", 70.1), ("tokens_per_minute|p", 70.1), ("max_calls", None)],
)
def test_what_a_dead_worker_held_comes_back_in_bounded_time_and_of_a_budget_never(limit, after_s):
    name = limit.partition("|")[0]
    shares = ledger({name: 6}) if name.startswith("max_") else ledger(**{name: 6})
    dead, other = Worker(shares, "dead", limit, 4), Worker(shares, "other", limit, 6)
    dead.renew(0)
    held = dead.share
    for now in (1, 2, 9.9):
        other.renew(now)
    assert other.share == 6 - held
    other.renew(10_000 if after_s is None else after_s)
    other.renew(10_001 if after_s is None else after_s)
    assert other.share == (6 - held if after_s is None else 6)


def test_a_worker_that_was_taken_for_dead_is_counted_again():
    shares = ledger(concurrency=6)
    a, b = Worker(shares, "a", SLOTS, 6), Worker(shares, "b", SLOTS, 6)
    a.renew(0)
    a.use()
    b.renew(20)
    assert b.share == 6
    a.share = 0.0  # its lease has ended, and calls are still in flight
    a.renew(21)
    b.renew(22)
    assert b.share <= 3
