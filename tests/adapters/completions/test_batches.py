"""Calls that go out as a provider's batches: paid once, whatever happens between intent and store."""

import asyncio
import dataclasses
import json
import random
from collections import Counter

import pytest

from flows.adapters.completions.budget import batch_price
from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import ConfigError, ProviderError
from flows.schema.completion import CompletionStatus, Message, Usage
from flows.schema.settings import Price, Retry
from tests.adapters.completions.batches_support import (
    BATCH,
    batched,
    echo,
    entries,
    texts,
    tries,
)
from tests.adapters.completions.helpers import (
    ASKED,
    PNG,
    TOOLS,
    a_client,
    a_model,
    a_request,
    ask,
    prompts,
)
from tests.support.batch_server import BatchServer, ItemError, Unanswered
from tests.support.scripted_server import Say, ScriptedServer, Status

STREAM = {"stream": True, "stream_options": {"include_usage": True}}


def test_calls_that_come_together_go_out_in_one_batch_and_are_stored_as_single_ones(tmp_path):
    with BatchServer(lambda line: Say(f"answer to {line.prompt}", model="writer-1-2026")) as server:
        requests = prompts(3, server.base, temperature=0.5, **STREAM)
        outcomes = batched(tmp_path, server, *requests)
        again = batched(tmp_path, server, *requests)
    assert texts(outcomes) == ["answer to prompt 0", "answer to prompt 1", "answer to prompt 2"]
    assert [outcome.replayed for outcome in again] == [True, True, True]
    (batch,) = server.batches
    assert {line.custom_id for line in batch.lines} == {request.key for request in requests}
    assert [line.body for line in batch.lines if line.prompt == "prompt 1"] == [
        {
            "model": "writer-1",
            "messages": [
                {"role": "system", "content": "You are a staff officer."},
                {"role": "user", "content": "prompt 1"},
            ],
            "temperature": 0.5,  # and no field about streaming
        }
    ]
    (entry,) = entries(tmp_path)
    assert batch.metadata == {"staffbench": entry["marker"]}
    assert batch.headers["idempotency-key"] == entry["marker"]
    assert (entry["batch_id"], entry["void"]) == ("batch_1", False)
    assert entry["keys"] == entry["settled"] == sorted(request.key for request in requests)
    completion = outcomes[1].completion
    assert (completion.status, completion.finish_reason) == (CompletionStatus.complete, "stop")
    assert completion.provider_model == "writer-1-2026"
    assert completion.usage == Usage(7, 4)  # words, as the server counts
    assert completion.price_usd is None  # what the provider charges for a batch is not in the settings
    assert completion.asked == {**ASKED, "batch": True}
    assert tries(outcomes[1]) == ["ok"]
    assert CompletionStore(tmp_path).request(requests[1].key) == requests[1]


def test_a_batch_and_a_single_call_have_one_key(tmp_path):
    with BatchServer(echo) as server, ScriptedServer() as single:
        request = a_request(base=server.base)
        batched(tmp_path, server, request)
        (replayed,) = ask(tmp_path, a_model(server.base), request)
    assert (replayed.replayed, replayed.completion.text) == (True, "answer to Write the brief.")
    assert single.calls == []


def test_images_go_out_in_a_batch_and_tools_do_not(tmp_path):
    with BatchServer(lambda _line: Say("seen", usage={})) as server:
        model = a_model(server.base, takes_images=True, takes_tools=True)
        shown = dataclasses.replace(
            a_request(base=server.base), messages=(Message("user", "Look.", images=(PNG,)),)
        )
        (seen, refused) = batched(
            tmp_path, server, shown, a_request(base=server.base, tools=TOOLS), model=model
        )
    ((line,),) = [batch.lines for batch in server.batches]
    assert line.body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORyBhIHBhZ2U="}},
            ],
        }
    ]
    assert seen.completion.text == "seen"
    assert isinstance(refused, ConfigError)
    assert refused.where == "runner.batch"
    assert CompletionStore(tmp_path).request(shown.key) == shown


def test_the_price_is_that_of_a_batch_where_the_model_says_so(tmp_path):
    with BatchServer(
        lambda _line: Say("x", usage={"prompt_tokens": 1000, "completion_tokens": 200})
    ) as server:
        model = a_model(server.base, price=Price(2.0, 10.0, "2026-11-01", batch_factor=0.5))
        (outcome,) = batched(tmp_path, server, a_request(base=server.base), model=model)
    # (1000 x 2 + 200 x 10) / 1e6 = 0.004 US dollars, halved.
    assert outcome.completion.price_usd == pytest.approx(0.002)
    assert batch_price(Price(2.0, 10.0)) == Price(None, None)
    assert batch_price(Price(None, 10.0, batch_factor=0.5)) == Price(None, 5.0, batch_factor=0.5)


def test_a_full_batch_goes_out_at_once_and_each_model_has_its_own(tmp_path):
    runner = dataclasses.replace(BATCH, batch_max_requests=2, batch_wait_s=0.3)
    with BatchServer(echo) as server:
        requests = prompts(5, server.base)
        assert texts(batched(tmp_path, server, *requests, runner=runner)) == [
            f"answer to prompt {number}" for number in range(5)
        ]
        assert sorted(server.sizes()) == [1, 2, 2]

        async def two_models():
            async with a_client(tmp_path, runner=BATCH) as client:
                other = a_model(server.base, name="writer-2")
                await asyncio.gather(
                    client.complete(a_request("one", server.base), a_model(server.base), ASKED),
                    client.complete(a_request("two", server.base, model="writer-2"), other, ASKED),
                )

        asyncio.run(two_models())
    assert sorted(batch.lines[0].body["model"] for batch in server.batches[3:]) == ["writer-1", "writer-2"]


def test_results_come_in_any_order_and_strange_ones_are_left_out(tmp_path, caplog):
    def edit(lines):
        stranger = json.loads(lines[0]) | {"custom_id": "f" * 64}
        nobody = json.loads(lines[0]) | {"custom_id": None}
        lines = [*lines, json.dumps(stranger), json.dumps(nobody), "{not json", lines[0]]
        random.Random(3).shuffle(lines)
        return lines

    with BatchServer(echo) as server:
        server.edit = edit
        outcomes = batched(tmp_path, server, *prompts(6, server.base))
    assert texts(outcomes) == [f"answer to prompt {number}" for number in range(6)]
    assert server.sizes() == [6]
    assert len(CompletionStore(tmp_path)) == 6
    assert "1 results of calls that it did not hold and 2 that can't be read" in caplog.text


def test_a_result_that_cannot_be_read_may_have_been_charged_for(tmp_path):
    with BatchServer(echo) as server:
        server.edit = lambda lines: [line[:60] for line in lines] if len(server.batches) == 1 else lines
        (outcome,) = batched(tmp_path, server, a_request(base=server.base))
    assert tries(outcome) == ["bad reply", "ok"]
    assert outcome.completion.attempts[0].detail == (
        "batch_1 is completed and has no result of this call, but 1 that can't be read"
    )


def test_two_results_that_differ_are_no_result(tmp_path):
    def edit(lines):
        if len(server.batches) > 1:
            return lines
        other = json.loads(lines[0])
        other["response"]["body"]["choices"][0]["message"]["content"] = "something else"
        return [*lines, json.dumps(other)]

    with BatchServer(echo) as server:
        server.edit = edit
        outcomes = batched(tmp_path, server, *prompts(2, server.base))
    assert texts(outcomes) == ["answer to prompt 0", "answer to prompt 1"]
    assert server.sizes() == [2, 1]
    assert sorted(map(tries, outcomes)) == [["bad reply", "ok"], ["ok"]]


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        (Say("half a br", finish="length"), "cut", "half a br"),
        (Say(None, finish="content_filter"), "refused", None),
        (Say(None, message={"refusal": "no"}), "refused", None),
        (Say(""), "complete", ""),
        (Say("x", finish="tool_calls"), "partial", None),
        (Status(400, "flagged", error={"code": "content_filter"}), "refused", None),
        (Status(400, "too long", error={"code": "context_length_exceeded"}), "error", None),
    ],
    ids=["cut", "filtered", "refusal", "empty", "unknown finish", "prompt refused", "too long"],
)
def test_each_outcome_has_the_status_of_a_single_call(tmp_path, answer, status, text):
    with BatchServer(lambda _line: answer) as server, ScriptedServer(lambda _call: answer) as single:
        (outcome,) = batched(tmp_path / "b", server, a_request(base=server.base))
        (alone,) = ask(tmp_path / "s", a_model(single.base), a_request(base=single.base))
    completion = outcome.completion
    assert (completion.status.value, completion.text) == (status, text)
    for name in ("status", "text", "finish_reason", "provider_model", "usage", "detail"):
        assert getattr(completion, name) == getattr(alone.completion, name)
    assert tries(outcome) == tries(alone)
    assert server.sizes() == [1]
    assert CompletionStore(tmp_path / "b").get(completion.key) == completion


def test_what_a_batch_did_not_answer_goes_into_the_next_one(tmp_path):
    def script(line):
        first = {
            "prompt 0": ItemError("batch_expired", "too late"),
            "prompt 1": Status(500, "boom"),
            "prompt 2": Unanswered(),
        }
        return first.get(line.prompt, echo(line)) if line.attempt == 1 else echo(line)

    with BatchServer(script) as server:
        server.ends_as = "expired"
        outcomes = batched(tmp_path, server, *prompts(4, server.base))
    assert texts(outcomes) == [f"answer to prompt {number}" for number in range(4)]
    assert [tries(outcome) for outcome in outcomes] == [
        ["expired", "ok"],
        ["http 500", "ok"],
        ["no result", "ok"],
        ["ok"],
    ]
    assert [outcome.completion.attempts[0].detail for outcome in outcomes] == [
        "too late",
        "boom",
        "batch_1 is expired and has no result of this call",
        "",
    ]
    assert server.sizes() == [4, 3]
    assert Counter(server.billed) == {f"prompt {number}": 1 for number in range(4)}


def test_a_call_that_no_batch_answers_ends_as_an_error_after_its_last_try(tmp_path):
    with BatchServer(lambda line: echo(line) if line.prompt == "prompt 1" else Status(500)) as server:
        outcomes = batched(tmp_path, server, *prompts(2, server.base))
        assert server.sizes() == [2, 1, 1]  # max_attempts is 3
        assert outcomes[0].completion.status is CompletionStatus.error
        assert tries(outcomes[0]) == ["http 500"] * 3
        assert outcomes[1].completion.text == "answer to prompt 1"
        # Asked again, it is really asked, not looked up in a batch that had no answer.
        server.script = echo
        assert texts(batched(tmp_path, server, *prompts(2, server.base))) == [
            "answer to prompt 0",
            "answer to prompt 1",
        ]
        assert server.sizes() == [2, 1, 1, 1]


def test_a_refusal_is_asked_again_where_that_is_wanted(tmp_path):
    with BatchServer(lambda _line: Say(None, finish="content_filter")) as server:
        request = a_request(base=server.base)
        assert batched(tmp_path, server, request)[0].completion.status is CompletionStatus.refused
        server.script = echo
        assert batched(tmp_path, server, request)[0].completion.status is CompletionStatus.refused
        (asked,) = batched(tmp_path, server, request, retry=Retry.refused)
    assert asked.completion.text == "answer to Write the brief."
    assert server.sizes() == [1, 1]


def test_a_batch_that_fails_as_a_whole_fails_its_calls(tmp_path):
    with BatchServer(echo) as server:
        server.ends_as, server.batch_errors = "failed", [{"code": "model_not_found", "message": "no such"}]
        outcomes = batched(tmp_path, server, *prompts(2, server.base))
        assert [type(outcome) for outcome in outcomes] == [ProviderError, ProviderError]
        assert "batch failed: batch_1: no such" in str(outcomes[0])
        assert server.sizes() == [2]
        assert len(CompletionStore(tmp_path)) == 0
        server.ends_as = "completed"
        assert texts(batched(tmp_path, server, *prompts(2, server.base))) == [
            "answer to prompt 0",
            "answer to prompt 1",
        ]
    assert server.sizes() == [2, 2]
