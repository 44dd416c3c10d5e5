"""Clients that lease shares of the same limits from one ledger, against one endpoint."""

import asyncio
import dataclasses
import json
import time

import pytest

from flows.adapters.completions.client import Client
from flows.adapters.completions.leases import LeaseServer
from flows.adapters.completions.shares import Shares
from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import BudgetReached, Stopped
from flows.schema.settings import Retry
from tests.adapters.completions.helpers import ASKED, NO_BUDGET, RUNNER, a_model, a_request, until
from tests.support.scripted_server import Say, ScriptedServer


@pytest.fixture
def endpoint():
    with ScriptedServer(lambda _: Say("a brief", delay_s=0.05)) as server:
        yield server


class Ledger:
    """A ledger, and as many clients of it as a test wants."""

    def __init__(self, folder, *, term_s=10.0, budget=None, **limits):
        self.runner = dataclasses.replace(RUNNER, **limits)
        self.budget = dataclasses.replace(NO_BUDGET, **(budget or {}))
        self.store = CompletionStore(folder)
        self.server = LeaseServer(Shares(self.runner, self.budget, term_s), "127.0.0.1")

    def client(self):
        return Client(self.store, self.runner, self.budget, Retry.failed, leases=self.server.address)

    def close(self):
        self.server.close()
        self.store.close()


def ask(client, server, prompts):
    calls = [client.complete(a_request(str(p), server.base), a_model(server.base), ASKED) for p in prompts]
    return asyncio.gather(*calls, return_exceptions=True)


def test_a_worker_that_hangs_up_has_nothing_in_flight_and_its_sums_are_bounds(tmp_path, endpoint):
    ledger = Ledger(tmp_path)
    totals = lambda: ledger.server.totals  # noqa: E731

    async def main():
        client, other = ledger.client(), ledger.client()
        await asyncio.gather(ask(client, endpoint, range(2)), ask(other, endpoint, [5]))
        await other.aclose()
        client.totals.in_flight = 1  # as if it was killed while it waits for a reply
        client._lease.ask()
        await until(lambda: (totals().paid, totals().in_flight) == (3, 1))
        assert totals().unreported == 0
        client._lease._task.cancel()
        client._lease._stream[1].close()
        await until(lambda: totals().unreported == 1)
        assert (totals().paid, totals().in_flight) == (3, 0)
        client._lease._task = client._lease._stream = None
        client._lease.start()  # it has lived, and comes back
        await until(lambda: totals().unreported == 0)
        client.totals.in_flight = 0
        await client.aclose()

    asyncio.run(main())
    assert ledger.server.totals.unreported == 0
    ledger.close()


def test_two_workers_never_pass_the_limit_and_both_work(tmp_path, endpoint):
    ledger = Ledger(tmp_path, concurrency=6)
    endpoint.together = 6

    async def main():
        a, b = ledger.client(), ledger.client()
        await asyncio.gather(ask(a, endpoint, range(40)), ask(b, endpoint, range(100, 140)))
        await a.aclose()
        await b.aclose()
        return a.totals.paid, b.totals.paid

    assert asyncio.run(main()) == (40, 40)
    assert ledger.server.totals.paid == 80
    assert (endpoint.peak, len(endpoint.billed)) == (6, 80)
    ledger.close()


def test_a_budget_is_spent_once_and_then_both_stop(tmp_path, endpoint):
    ledger = Ledger(tmp_path, concurrency=6, budget={"max_calls": 25})

    async def main():
        a, b = ledger.client(), ledger.client()
        both = await asyncio.gather(ask(a, endpoint, range(40)), ask(b, endpoint, range(100, 140)))
        await a.aclose()
        await b.aclose()
        return both

    faults = [one for each in asyncio.run(main()) for one in each if isinstance(one, Exception)]
    assert len(endpoint.billed) == 25
    assert len(faults) == 55
    assert all(isinstance(fault, BudgetReached) for fault in faults)
    assert "25 calls in this run" in str(faults[0])
    ledger.close()


def test_the_share_of_a_worker_that_is_silent_goes_to_the_other_within_the_term(tmp_path, endpoint):
    ledger = Ledger(tmp_path, concurrency=6, term_s=1.0)
    endpoint.script = lambda call: Say("a brief", delay_s=60.0 if "dead" in call.prompt else 0.05)

    async def main():
        dead, other = ledger.client(), ledger.client()
        hanging = asyncio.ensure_future(ask(dead, endpoint, [f"dead {n}" for n in range(6)]))
        await until(lambda: len(endpoint.calls) == 6)
        dead._lease._task.cancel()
        began = time.monotonic()
        await ask(other, endpoint, range(6))
        waited = time.monotonic() - began
        for task in dead._tasks:
            task.cancel()
        await hanging
        await dead.aclose()
        await other.aclose()
        return waited

    assert asyncio.run(main()) > 0.5  # before that it may be alive
    ledger.close()


def test_a_worker_whose_ledger_is_gone_sends_nothing_more(tmp_path, endpoint):
    ledger = Ledger(tmp_path, concurrency=2)

    async def main():
        client = ledger.client()
        await ask(client, endpoint, range(2))
        ledger.server.close()
        found = await ask(client, endpoint, range(10, 200))
        await client.aclose()
        return found, client.stopped

    found, stopped = asyncio.run(main())
    assert stopped
    assert isinstance(found[-1], Stopped)
    assert len(endpoint.billed) < 190
    ledger.store.close()


def test_who_does_not_know_the_token_gets_nothing(tmp_path):
    ledger = Ledger(tmp_path, concurrency=6)

    async def main():
        reader, writer = await asyncio.open_connection("127.0.0.1", ledger.server.address.port)
        report = {"token": "guess", "worker": "w", "totals": {}, "needs": {"concurrency|p": {"want": 6}}}
        writer.write(json.dumps(report).encode() + b"\n")
        await writer.drain()
        said = await reader.read()
        writer.close()
        return said

    assert asyncio.run(main()) == b""
    ledger.close()
