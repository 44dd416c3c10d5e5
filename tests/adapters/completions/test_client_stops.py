"""What ends the calls of a client: a stop, a signal, a caller that is cancelled."""

import asyncio
import dataclasses
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import Stopped
from tests.adapters.completions.helpers import (
    ASKED,
    RUNNER,
    a_client,
    a_model,
    a_request,
    ask,
    prompts,
    until,
)
from tests.support.scripted_server import Say, ScriptedServer, Status


def test_stopping_lets_calls_in_flight_end_and_the_others_hear_it(tmp_path):
    async def main():
        async with a_client(tmp_path, runner=dataclasses.replace(RUNNER, concurrency=3)) as client:
            model = a_model(server.base)
            tasks = [asyncio.create_task(client.complete(r, model, ASKED)) for r in prompts(9, server.base)]
            await until(lambda: client.totals.in_flight == 3)
            client.stop()
            with pytest.raises(Stopped):
                await client.complete(a_request("later", server.base), model, ASKED)
            return await asyncio.gather(*tasks, return_exceptions=True)

    with ScriptedServer(lambda _call: Say("in time", delay_s=0.1)) as server:
        ends = asyncio.run(main())
    assert [end.completion.text for end in ends[:3]] == ["in time"] * 3
    assert [type(end) for end in ends[3:]] == [Stopped] * 6
    assert len(CompletionStore(tmp_path)) == len(server.calls) == 3


def test_a_call_that_fails_after_the_stop_is_not_tried_again(tmp_path):
    async def main():
        async with a_client(tmp_path) as client:
            model = a_model(server.base)
            task = asyncio.create_task(client.complete(a_request(base=server.base), model, ASKED))
            await until(lambda: client.totals.in_flight == 1)
            threading.Thread(target=client.stop).start()
            with pytest.raises(Stopped):
                await task

    with ScriptedServer(lambda _call: Status(500, delay_s=0.1)) as server:
        asyncio.run(main())
        assert len(server.calls) == 1
    assert len(CompletionStore(tmp_path)) == 0


def test_a_long_pause_and_a_lock_held_elsewhere_end_with_the_stop(tmp_path):
    slow = dataclasses.replace(RUNNER, backoff_s=500.0, backoff_max_s=1000.0)

    async def main():
        async with a_client(tmp_path, runner=slow) as client:
            model, request = a_model(server.base), a_request(base=server.base)
            async with client._store.lock(a_request("locked", server.base).key):
                tasks = [
                    asyncio.create_task(client.complete(r, model, ASKED))
                    for r in (request, a_request("locked", server.base))
                ]
                await asyncio.sleep(0.2)
                client.stop()
                return await asyncio.gather(*tasks, return_exceptions=True)

    started = time.monotonic()
    with ScriptedServer(lambda _call: Status(500)) as server:
        ends = asyncio.run(main())
    assert [type(end) for end in ends] == [Stopped] * 2
    assert time.monotonic() - started < 60.0


def test_a_signal_handler_may_stop_a_run(tmp_path):
    script = textwrap.dedent("""
        import asyncio, signal, sys
        from pathlib import Path
        from flows.common.errors import Stopped
        from tests.adapters.completions.helpers import ASKED, a_client, a_model, a_request
        async def main(folder, base):
            async with a_client(Path(folder)) as client:
                signal.signal(signal.SIGINT, lambda *_: client.stop())
                calls = (client.complete(a_request(f"p {n}", base), a_model(base), ASKED) for n in range(20))
                ends = await asyncio.gather(*calls, return_exceptions=True)
                print(sum(isinstance(end, Stopped) for end in ends), client.totals.paid)
        asyncio.run(main(*sys.argv[1:]))
    """)
    with (
        ScriptedServer(lambda _call: Say(delay_s=1.0)) as server,
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path), server.base], stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        while len(server.calls) < 8:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=600)
    assert out == "12 8\n"


def test_a_caller_that_is_cancelled_loses_no_reply_that_is_on_its_way(tmp_path):
    async def main():
        async with a_client(tmp_path, runner=dataclasses.replace(RUNNER, concurrency=1)) as client:
            model = a_model(server.base)
            one, two = (
                asyncio.create_task(client.complete(request, model, ASKED))
                for request in prompts(2, server.base)
            )
            await until(lambda: client.totals.in_flight == 1)
            one.cancel()
            two.cancel()
            ends = await asyncio.gather(one, two, return_exceptions=True)
            assert [type(end).__name__ for end in ends] == ["CancelledError"] * 2

    with ScriptedServer(lambda _call: Say("kept", delay_s=0.1)) as server:
        asyncio.run(main())
        assert len(server.calls) == 1
        (replayed,) = ask(tmp_path, a_model(server.base), a_request("prompt 0", server.base))
    assert (replayed.replayed, replayed.completion.text) == (True, "kept")


def test_a_cancelled_call_is_not_tried_again(tmp_path):
    async def main():
        async with a_client(tmp_path) as client:
            model = a_model(server.base)
            task = asyncio.create_task(client.complete(a_request(base=server.base), model, ASKED))
            await until(lambda: client.totals.in_flight == 1)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await until(lambda: client.totals.in_flight == 0)
            await asyncio.sleep(0.1)

    with ScriptedServer(lambda _call: Status(500, delay_s=0.1)) as server:
        asyncio.run(main())
        assert len(server.calls) == 1
