"""A client in a loop of its own: outcomes, faults, stopping and cancelling reach the loop that asks."""

import asyncio
import threading
import time
from functools import partial

import pytest

from flows.adapters.completions.threaded_client import ThreadedClient
from flows.common.errors import ConfigError, Stopped
from tests.adapters.completions.helpers import ASKED, a_client, a_model, a_request, ask, until
from tests.support.scripted_server import Say, ScriptedServer

a_client_aside = partial(a_client, kind=ThreadedClient)


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "calls"]


def test_replies_come_while_the_loop_that_asked_is_busy(tmp_path):
    async def main():
        async with a_client_aside(tmp_path) as client:
            calls = [
                asyncio.create_task(
                    client.complete(a_request(f"p {n}", server.base), a_model(server.base), ASKED)
                )
                for n in range(20)  # eight at once
            ]
            await until(lambda: client.totals.in_flight == 8)
            waited = time.monotonic() + 20
            while client.totals.paid < 20:  # without giving the loop a turn
                assert time.monotonic() < waited
            return [outcome.completion.text for outcome in await asyncio.gather(*calls)]

    with ScriptedServer(lambda call: Say(f"to {call.prompt}", delay_s=0.02)) as server:
        assert asyncio.run(main()) == [f"to p {n}" for n in range(20)]
    assert threads() == []


def test_a_fault_is_raised_where_it_was_asked(tmp_path):
    async def main():
        async with a_client_aside(tmp_path) as client:
            with pytest.raises(ConfigError, match="the parameters hold messages"):
                await client.complete(a_request(messages=[]), a_model("http://127.0.0.1:9/v1"), ASKED)

    asyncio.run(main())
    assert threads() == []


def test_a_stop_and_a_cancelled_caller_leave_what_is_on_its_way_to_be_stored(tmp_path):
    async def main():
        async with a_client_aside(tmp_path) as client:
            model = a_model(server.base)
            one, two = (
                asyncio.create_task(client.complete(a_request(name, server.base), model, ASKED))
                for name in "ab"
            )
            await until(lambda: client.totals.in_flight == 2)
            one.cancel()
            client.stop()
            with pytest.raises(Stopped):
                await client.complete(a_request("later", server.base), model, ASKED)
            return await asyncio.gather(one, two, return_exceptions=True)

    with ScriptedServer(lambda _call: Say("kept", delay_s=0.2)) as server:
        left, kept = asyncio.run(main())
        assert isinstance(left, asyncio.CancelledError)
        assert kept.completion.text == "kept"
        assert len(server.calls) == 2
        requests = [a_request(name, server.base) for name in "ab"]
        again = ask(tmp_path, a_model(server.base), *requests)
    assert [(outcome.replayed, outcome.completion.text) for outcome in again] == [(True, "kept")] * 2


def test_a_client_that_is_closed_says_so_and_starts_no_thread(tmp_path):
    async def main():
        for asked_before in (False, True):
            async with a_client_aside(tmp_path / str(asked_before)) as client:
                model = a_model(server.base)
                if asked_before:
                    await client.complete(a_request("a", server.base), model, ASKED)
                await client.aclose()
                with pytest.raises(Stopped, match="closed"):
                    await client.complete(a_request("b", server.base), model, ASKED)
                assert threads() == []

    with ScriptedServer() as server:
        asyncio.run(main())
