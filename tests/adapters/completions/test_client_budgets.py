"""What a client keeps to and counts: limits of calls, budgets, and replies that break a reader."""

import asyncio
import dataclasses

import pytest

from flows.adapters.completions.senders.reply import read_completion
from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import BudgetReached, ConfigError
from flows.schema.completion import CompletionStatus
from flows.schema.settings import Price, Retry
from tests.adapters.completions.helpers import (
    ASKED,
    NO_BUDGET,
    RUNNER,
    a_client,
    a_model,
    a_request,
    ask,
    prompts,
)
from tests.support.scripted_server import Drop, Raw, Say, ScriptedServer, Status


@pytest.mark.parametrize("other", [{"name": "writer-2"}, {"api_base": "http://127.0.0.1:9/v1"}])
def test_a_request_for_another_model_is_refused(tmp_path, other):
    with ScriptedServer() as server:
        (end,) = ask(tmp_path, a_model(server.base, **other), a_request(base=server.base))
        assert server.calls == []
    assert isinstance(end, ConfigError)
    assert f"the request goes to writer-1 at {server.base} by openai_http; expected writer-" in str(end)


def test_no_more_calls_are_in_flight_than_allowed(tmp_path):
    with ScriptedServer(lambda _call: Say(delay_s=0.02), together=8) as server:
        ask(tmp_path, a_model(server.base), *prompts(40, server.base))
        assert server.peak == RUNNER.concurrency == 8


def test_providers_have_limits_of_their_own_and_models_of_one_provider_share_one(tmp_path):
    with ScriptedServer(lambda _call: Say(delay_s=0.1), together=4) as server:
        models = [a_model(server.base, provider=provider) for provider in ("one", "one", "other")]

        async def main():
            async with a_client(tmp_path, runner=dataclasses.replace(RUNNER, concurrency=2)) as client:
                await asyncio.gather(
                    *(
                        client.complete(a_request(f"{at} {number}", server.base), model, ASKED)
                        for at, model in enumerate(models)
                        for number in range(4)
                    )
                )

        asyncio.run(main())
        assert server.peak == 4


@pytest.mark.parametrize(
    ("budget", "paid"),
    [({"max_calls": 5}, 5), ({"max_tokens": 35}, 4), ({"max_usd": 0.0001}, 4)],
    ids=["calls", "tokens", "usd"],
)
def test_a_budget_stops_cleanly_and_a_new_one_resumes(tmp_path, budget, paid):
    # Each call: 7 words in, 1 word out; 8 tokens, (7 * 2 + 1 * 10) / 1e6 = 0.000024 US dollars.
    with ScriptedServer() as server:
        model, requests = a_model(server.base), prompts(20, server.base)
        ends = ask(tmp_path, model, *requests, budget=dataclasses.replace(NO_BUDGET, **budget))
        reached = [end for end in ends if isinstance(end, BudgetReached)]
        assert len(server.billed) == 20 - len(reached) == paid
        assert reached[0].exit_code == 3
        assert len(CompletionStore(tmp_path)) == paid
        again = ask(tmp_path, model, *requests)
        assert sum(end.replayed for end in again) == paid
        assert len(server.billed) == 20


def test_half_a_text_is_kept_and_paid_for_again_only_by_name(tmp_path):
    def script(call):
        return Say("half", finish="odd" if call.number == 1 else "stop")

    with ScriptedServer(script) as server:
        model, request = a_model(server.base), a_request(base=server.base)
        for retry, calls in ((Retry.failed, 1), (Retry.failed, 1), (Retry.refused, 1), (Retry.partial, 2)):
            (end,) = ask(tmp_path, model, request, retry=retry)
            assert len(server.calls) == calls
            found = (end.completion.status.value, end.completion.fragment, end.completion.text)
            assert found == (("partial", "half", None) if calls == 1 else ("complete", "", "half"))
            assert end.completion.price_usd is not None


def test_a_reply_that_breaks_its_reader_is_that_calls_fault_alone(tmp_path, monkeypatch):
    def script(call):
        return Say("well" if call.prompt == "prompt 1" else "breaks it")

    def read(*arguments, **named):
        reply = read_completion(*arguments, **named)
        if reply.text == "breaks it":
            raise RecursionError("nobody thought of it")
        return reply

    monkeypatch.setattr("flows.adapters.completions.senders.send_openai.read_completion", read)
    with ScriptedServer(script) as server:
        broken, well = ask(tmp_path, a_model(server.base), *prompts(2, server.base))
    assert well.completion.text == "well"
    assert broken.completion.status is CompletionStatus.error
    assert "can't be read: RecursionError('nobody thought of it')" in broken.completion.detail


@pytest.mark.parametrize(
    "body",
    [
        b'{"choices":[{"message":{"content":"\\ud800"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1'
        + b"0" * 30
        + b',"completion_tokens":3}}',
        b'{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":'
        + b"9" * 5000
        + b"}}",
        b'{"model":{"a":[NaN,Infinity]},"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}',
        b'{"model":7,"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":[[["x"]]]}',
        b'{"choices":[{"message":{"content":"a","extra":'
        + b"[" * 900
        + b"]" * 900
        + b'},"finish_reason":"stop"}]}',
        b'{"choices":[{"message":{"content":null,"odd":"\\udfff"},"finish_reason":"stop","n":1'
        + b"0" * 30
        + b"}]}",
        b'{"choices":[{"message":{"content":"a"},"finish_reason":{"why":1e999}}]}',
        b'{"choices":[{"message":{"content":"a","refusal":{"n":NaN}},"finish_reason":"stop"}]}',
    ],
    ids=["surrogate and number", "digits", "model", "types", "deep", "no content", "finish", "refusal"],
)
def test_whatever_came_is_stored_and_stops_nothing_else(tmp_path, body):
    def script(call):
        return Raw(body) if call.prompt == "prompt 0" else Say("well")

    runner = dataclasses.replace(RUNNER, max_attempts=1)
    with ScriptedServer(script) as server:
        odd, well = ask(tmp_path, a_model(server.base), *prompts(2, server.base), runner=runner)
    assert well.completion.text == "well"
    assert CompletionStore(tmp_path).get(odd.completion.key) == odd.completion
    assert odd.completion.raw.isascii()


@pytest.mark.parametrize("limit", [None, 4096, 60_000], ids=["none", "not kept", "kept"])
@pytest.mark.parametrize(
    ("budget", "spent"),
    [({"max_usd": 1.0}, "price_usd"), ({"max_tokens": 500_000}, "tokens")],
    ids=["usd", "tokens"],
)
def test_long_replies_in_flight_do_not_pass_a_budget(tmp_path, budget, spent, limit):
    def script(_call):
        return Say("text", usage={"prompt_tokens": 900, "completion_tokens": 60_000})

    with ScriptedServer(script) as server:
        model = a_model(server.base, price=Price(2.0, 3.0))
        sent = {} if limit is None else {"max_tokens": limit}
        requests = [a_request(f"{number} " + "x" * 3600, server.base, **sent) for number in range(60)]
        runner = dataclasses.replace(RUNNER, concurrency=50)
        ends = ask(tmp_path, model, *requests, runner=runner, budget=dataclasses.replace(NO_BUDGET, **budget))
    store = CompletionStore(tmp_path)
    paid = [store.get(key) for key in list(store.keys())]
    in_all = sum(
        c.price_usd if spent == "price_usd" else c.usage.input_tokens + c.usage.output_tokens for c in paid
    )
    (most,) = budget.values()
    one = in_all / len(paid)
    assert most - one < in_all <= most  # as far as there was room, and no further
    (said,) = {str(end) for end in ends if isinstance(end, BudgetReached)}
    assert f"reached: {in_all:.4f} US" in said or f"reached: {in_all} tokens" in said


def test_dollars_are_not_promised_without_a_price_and_a_replay_asks_for_none(tmp_path):
    with ScriptedServer() as server:
        request = a_request(base=server.base)
        unpriced = a_model(server.base, price=Price())
        dollars = dataclasses.replace(NO_BUDGET, max_usd=1.0)
        (end,) = ask(tmp_path, unpriced, request, budget=dollars)
        assert isinstance(end, ConfigError)
        (paid,) = ask(tmp_path, unpriced, request)
        assert paid.completion.price_usd is None
        (replayed,) = ask(tmp_path, unpriced, request, budget=dollars)
        assert replayed.replayed
        assert len(server.calls) == 1


def test_totals_are_sums_over_the_records_of_this_run(tmp_path):
    def script(call):
        return {
            "prompt 0": Say("one two three"),
            "prompt 1": Say("one", usage=None),
            "prompt 2": Status(400),
            "prompt 3": Drop() if call.attempt == 1 else Say("one"),
        }[call.prompt]

    async def main():
        async with a_client(tmp_path) as client:
            model = a_model(server.base)
            await asyncio.gather(*(client.complete(r, model, ASKED) for r in prompts(4, server.base)))
            await client.complete(a_request("prompt 0", server.base), model, ASKED)
            return client.totals

    with ScriptedServer(script) as server:
        totals = asyncio.run(main())
    assert (totals.replayed, totals.paid, totals.failed, totals.in_flight) == (1, 3, 1, 0)
    assert (totals.input_tokens, totals.output_tokens) == (14, 4)
    assert totals.price_usd == pytest.approx((14 * 2 + 4 * 10) / 1e6)
    assert totals.unknown_price == 2  # one that was not counted, one that lost a try
