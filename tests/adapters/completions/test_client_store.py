"""Calls and the store that they are paid into: faults of it, and what other processes put there."""

import asyncio
import dataclasses

import pytest

from flows.adapters.completions.client import Client
from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import Stopped, StoreError
from flows.schema.settings import Retry
from tests.adapters.completions.helpers import (
    ASKED,
    NO_BUDGET,
    RUNNER,
    a_client,
    a_completion,
    a_model,
    a_request,
    ask,
    prompts,
    put,
)
from tests.support.scripted_server import Say, ScriptedServer


def test_a_store_that_can_not_be_written_is_noticed_before_anything_is_paid(tmp_path, monkeypatch):
    monkeypatch.setattr("flows.adapters.completions.stores.folder.MIN_FREE_BYTES", 1 << 60)
    with ScriptedServer() as server:
        (end,) = ask(tmp_path, a_model(server.base), a_request(base=server.base))
        assert server.calls == []
    assert isinstance(end, StoreError)


def test_a_store_that_fails_stops_all_calls_and_hands_nothing_on(tmp_path, monkeypatch):
    real = CompletionStore.put

    async def put_or_fail(self, request, completion):
        if request.messages[-1].content == "prompt 3":
            raise StoreError("segment", "can't be written: No space left on device")
        await real(self, request, completion)

    monkeypatch.setattr(CompletionStore, "put", put_or_fail)
    with ScriptedServer(lambda _call: Say("paid", delay_s=0.02)) as server:
        ends = ask(
            tmp_path,
            a_model(server.base),
            *prompts(30, server.base),
            runner=dataclasses.replace(RUNNER, concurrency=4),
        )
        assert len(server.calls) < 12
    assert isinstance(ends[3], StoreError)
    stored = [end for end in ends if not isinstance(end, StoreError)]
    assert len(stored) == len(CompletionStore(tmp_path)) < 12
    assert all(end.completion.text == "paid" for end in stored)


def test_a_reply_that_was_paid_for_and_can_not_be_stored_counts_as_paid(tmp_path, monkeypatch):
    async def put(*_):
        raise StoreError("bucket", "is not there")

    async def main():
        async with a_client(tmp_path) as client:
            with pytest.raises(StoreError, match="is not there"):
                await client.complete(a_request(base=server.base), a_model(server.base), ASKED)
            return client.totals

    monkeypatch.setattr(CompletionStore, "put", put)
    with ScriptedServer() as server:
        totals = asyncio.run(main())
    assert (totals.paid, totals.replayed, totals.failed) == (1, 0, 0)


def test_a_reply_that_is_not_there_after_it_was_stored_is_not_handed_on(tmp_path, monkeypatch):
    monkeypatch.setattr(CompletionStore, "put", lambda *_: asyncio.sleep(0))
    with ScriptedServer() as server:
        (end,) = ask(tmp_path, a_model(server.base), a_request(base=server.base))
    assert isinstance(end, StoreError)
    assert "is missing after it was stored" in str(end)


def test_a_stored_answer_that_another_process_put_there_is_used(tmp_path):
    with ScriptedServer() as server:
        request = a_request(base=server.base)

        async def main():
            async with a_client(tmp_path) as client:
                other = CompletionStore(tmp_path)
                await other.put(request, a_completion(request, "by another"))
                other.close()
                return await client.complete(request, a_model(server.base), ASKED)

        outcome = asyncio.run(main())
        assert server.calls == []
    assert (outcome.replayed, outcome.completion.text) == (True, "by another")


def test_a_client_that_paid_for_nothing_opens_and_closes(tmp_path):
    request = a_request()
    store = CompletionStore(tmp_path)
    put(store, (request, a_completion(request)))

    async def main():
        client = Client(store, RUNNER, NO_BUDGET, Retry.none)
        outcome = await client.complete(request, a_model("http://127.0.0.1:9/v1"), ASKED)
        await client.aclose()
        with pytest.raises(Stopped, match="client: closed"):
            await client.complete(a_request("new"), a_model("http://127.0.0.1:9/v1"), ASKED)
        return outcome

    assert asyncio.run(main()).replayed
    store.close()
