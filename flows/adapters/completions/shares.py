"""Divide a run's limits among its workers.

Every limit is a quantity of which a worker has a share: calls in flight, requests or tokens within a
minute, and the amounts of the budget. A worker reports what it uses and could use; the ledger answers with
its share. What a worker holds is the largest of its share, of the share that it last lived by, and of its
use. The sum of what all hold never exceeds the limit, so neither does the sum of what they use: a share that
shrinks goes to others only after the worker has said that it lives by the smaller one.

A worker that does not renew within the term is taken for dead. Its calls in flight may still be answered, so
its share is free only after the term, or after a further minute where a minute is counted. What it held of
the budget counts as spent, as nobody knows what it paid for.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from flows.schema.settings import BudgetSettings, RunnerSettings

TERM_S = 30.0  # seconds without a renewal after which a worker counts as dead

_MINUTE_S = 60.0
_CLOSE = 1e-9  # sums of dollars are inexact


@dataclass(frozen=True, slots=True)
class Need:
    """What a worker reports about one limit."""

    used: float = 0.0  # in use now; of an amount spent or reserved
    firm: float = 0.0  # the part of `used` that never comes back: what is spent
    want: float = 0.0  # what it would use if it could, at least `used`
    step: float = 0.0  # the smallest useful addition to `used`, 0 if it waits for nothing
    share: float = 0.0  # the share that it lives by


@dataclass(frozen=True, slots=True)
class Grant:
    """What a worker gets of one limit."""

    share: float  # the most it may use
    others: float = 0.0  # what other workers have spent of an amount


@dataclass(slots=True)
class _Holder:
    seen: float = 0.0
    needs: dict[str, Need] = field(default_factory=dict[str, Need])
    shares: dict[str, float] = field(default_factory=dict[str, float])

    def held(self, name: str) -> float:
        need = self.needs.get(name, Need())
        return max(self.shares.get(name, 0.0), need.share, need.used)


class Shares:
    """The ledger. It has no clock and no lock of its own."""

    def __init__(self, runner: RunnerSettings, budget: BudgetSettings, term_s: float = TERM_S) -> None:
        """Divide these limits; see `TERM_S`."""
        self.term_s = term_s
        self._levels, self._amounts = levels(runner), amounts(budget)
        self._holders: dict[str, _Holder] = {}

    def renew(self, worker: str, needs: Mapping[str, Need], now: float) -> dict[str, Grant]:
        """Take a worker's report by limit, and return its shares; a limit that is not set needs no report.

        A worker's name is never used again after its end. `now` is of a clock that never goes back.
        """
        self._forget(now)
        holder = self._holders.setdefault(worker, _Holder())
        holder.seen, holder.needs = now, dict(needs)
        return {name: self._grant(worker, name) for name in needs}

    def _grant(self, worker: str, name: str) -> Grant:
        total = self._total(name)
        me, holders = self._holders[worker], self._holders.values()
        need, held = me.needs[name], me.held(name)
        free = total - sum(holder.held(name) for holder in holders)
        target = self._targets(name, total)[worker]
        share = target if target <= held else min(target, held + max(0.0, free))
        if _limit(name) not in self._amounts:
            share = float(math.floor(share + _CLOSE))
        me.shares[name] = share
        spent = sum(holder.needs[name].firm for holder in holders if name in holder.needs)
        return Grant(share, spent - need.firm)

    def _targets(self, name: str, total: float) -> dict[str, float]:
        """Divide `total` evenly among those that want it; nobody gets more than it wants, or useless crumbs.

        What nobody wants of calls and tokens is divided too, so that a worker need not ask before it uses
        more. Of the budget nothing is given in advance, as a dead worker's share is lost.
        """
        is_amount = _limit(name) in self._amounts
        needs = {worker: holder.needs.get(name, Need()) for worker, holder in self._holders.items()}
        given = {worker: need.used if is_amount else 0.0 for worker, need in needs.items()}
        free = total - sum(given.values())
        order = sorted(needs, key=lambda worker: (needs[worker].want - given[worker], worker))
        for number, worker in enumerate(order):
            need, fair = needs[worker], max(0.0, free) / (len(order) - number)
            lacking = max(0.0, need.want - given[worker])
            part = lacking if lacking <= fair else _whole(fair, min(need.step or 1.0, total))
            given[worker] += part
            free -= part
        # The rest of these divisions: whole steps, to who holds most already, so that it does not go around.
        for worker in sorted(order, key=lambda worker: (-self._holders[worker].held(name), worker)):
            step = min(needs[worker].step or 1.0, total)
            lacking = needs[worker].want - given[worker]
            if lacking > _CLOSE and step > 0:
                part = min(_whole(free, step), math.ceil(lacking / step - _CLOSE) * step)
                given[worker] += part
                free -= part
        if not is_amount:
            for number, worker in enumerate(order):
                part = float(math.floor(max(0.0, free) / (len(order) - number)))
                given[worker] += part
                free -= part
        return given

    def _total(self, name: str) -> float:
        limit = _limit(name)
        return self._amounts[limit] if limit in self._amounts else self._levels[limit]

    def _forget(self, now: float) -> None:
        """Free what dead workers held."""
        for worker, holder in list(self._holders.items()):
            silent = now - holder.seen
            if silent <= self.term_s:
                continue
            left: dict[str, Need] = {}
            for name in {*holder.needs, *holder.shares}:
                held = holder.held(name)
                if _limit(name) in self._amounts:
                    left[name] = Need(used=held, firm=held, want=held)
                elif _limit(name) != "concurrency" and silent <= self.term_s + _MINUTE_S:
                    left[name] = Need(used=held, want=held)
            holder.needs, holder.shares = left, {}
            if not left:
                del self._holders[worker]


def _limit(name: str) -> str:
    return name.partition("|")[0]


def _whole(amount: float, step: float) -> float:
    """Return the largest multiple of `step` within `amount`."""
    return math.floor(max(0.0, amount) / step + _CLOSE) * step if step > 0 else 0.0


def levels(runner: RunnerSettings) -> dict[str, float]:
    """Return the limits of a provider that are set. `|` and the provider's name follow in a ledger."""
    return _set(
        concurrency=runner.concurrency,
        requests_per_minute=runner.requests_per_minute,
        tokens_per_minute=runner.tokens_per_minute,
    )


def amounts(budget: BudgetSettings) -> dict[str, float]:
    """Return the limits of a budget that are set."""
    return _set(max_usd=budget.max_usd, max_calls=budget.max_calls, max_tokens=budget.max_tokens)


def _set(**limits: float | None) -> dict[str, float]:
    return {name: limit for name, limit in limits.items() if limit is not None}
