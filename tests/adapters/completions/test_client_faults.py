"""Faults of an endpoint: which calls are tried again, and which fault stops all calls of a model."""

import asyncio
import time

import pytest

from flows.adapters.completions import tries
from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import ProviderError
from flows.schema.completion import CompletionStatus
from tests.adapters.completions.helpers import (
    ASKED,
    RUNNER,
    a_client,
    a_model,
    a_request,
    ask,
    in_turn,
    outcomes,
    prompts,
)
from tests.support.scripted_server import Drop, Raw, Say, ScriptedServer, Status


def test_faults_are_tried_again_and_recorded(tmp_path):
    answers = in_turn(Status(500, "boom"), Drop(), Say("at last"))
    with ScriptedServer(answers) as server:
        (paid,) = ask(tmp_path, a_model(server.base), a_request(base=server.base))
    assert paid.completion.text == "at last"
    assert outcomes(paid.completion) == ["http 500", "connection", "ok"]
    assert [attempt.detail for attempt in paid.completion.attempts[::2]] == ["boom", ""]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (Status(529, "overloaded"), "http 529"),
        (Drop(), "connection"),
        (Raw(b"<html>busy</html>", "text/html"), "bad reply"),
        (Raw(b'{"choices":[{"message":{"content":5},"finish_reason":"stop"}]}'), "bad reply"),
    ],
    ids=["529", "drop", "html", "type"],
)
def test_after_the_last_try_an_error_is_stored(tmp_path, answer, outcome):
    with ScriptedServer(lambda _call: answer) as server:
        (paid,) = ask(tmp_path, a_model(server.base), a_request(base=server.base))
        assert len(server.calls) == RUNNER.max_attempts == 3
    assert paid.completion.status is CompletionStatus.error
    assert (paid.completion.text, paid.completion.price_usd) == (None, None)
    assert outcomes(paid.completion) == [outcome] * 3
    assert paid.completion.detail.startswith(f"{outcome}: ")
    assert CompletionStore(tmp_path).get(paid.completion.key) == paid.completion


def test_a_throttled_call_is_never_a_failed_one(tmp_path):
    # Ten 429s for a call that may fail three times.
    answers = in_turn(*[Status(429, "slow down")] * 10, Say("at last"))
    with ScriptedServer(answers) as server:
        (paid,) = ask(tmp_path, a_model(server.base), a_request(base=server.base))
    assert paid.completion.text == "at last"
    assert outcomes(paid.completion) == ["http 429"] * 10 + ["ok"]


def test_retry_after_is_waited_for(tmp_path):
    times = []

    def script(call):
        times.append(time.monotonic())
        return Status(429, retry_after="1") if call.number == 1 else Say("at last")

    with ScriptedServer(script) as server:
        (paid,) = ask(tmp_path, a_model(server.base), a_request(base=server.base))
    assert paid.completion.text == "at last"
    assert times[1] - times[0] >= 1.0


def test_an_endpoint_that_holds_three_calls_serves_all_of_them(tmp_path):
    def script(call):
        return Status(429, "busy") if call.in_flight > 3 else Say(f"to {call.prompt}", delay_s=0.02)

    with ScriptedServer(script) as server:
        answers = ask(tmp_path, a_model(server.base), *prompts(40, server.base))
        throttled = len(server.calls) - 40
    assert [answer.completion.text for answer in answers] == [f"to prompt {n}" for n in range(40)]
    assert len(server.billed) == 40
    assert 5 <= throttled <= 40  # the five too many of the first eight, and then about one in ten


def test_a_provider_that_throttles_everything_for_an_hour_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(tries, "THROTTLE_PATIENCE_S", 0.1)
    with ScriptedServer(lambda _call: Status(429, "closed")) as server:
        ends = ask(tmp_path, a_model(server.base), *prompts(3, server.base))
    assert [type(end) for end in ends] == [ProviderError] * 3
    assert "throttled every call for 0 minutes (closed)" in str(ends[0])
    assert len(CompletionStore(tmp_path)) == 0


def test_an_endpoint_that_is_not_there_is_one_clear_error_and_nothing_is_stored(tmp_path):
    model = a_model("http://127.0.0.1:9/v1")
    ends = ask(tmp_path, model, *prompts(20, model.api_base))
    assert [type(end) for end in ends] == [ProviderError] * 20
    assert len({str(end) for end in ends}) == 1
    assert str(ends[0]).startswith("model writer at http://127.0.0.1:9/v1: no connection in 3 tries (")
    assert "Check that the endpoint runs, and model.api_base" in str(ends[0])
    assert len(CompletionStore(tmp_path)) == 0


def test_an_endpoint_that_goes_away_fails_its_calls_one_by_one(tmp_path):
    async def main():
        async with a_client(tmp_path) as client:
            with ScriptedServer() as server:
                model = a_model(server.base)
                first = await client.complete(a_request("one", server.base), model, ASKED)
            second = await client.complete(a_request("two", server.base), model, ASKED)
            return first.completion, second.completion

    first, second = asyncio.run(main())
    assert first.text == "ok"
    assert second.status is CompletionStatus.error
    assert len(second.attempts) == 3


@pytest.mark.parametrize(
    ("answer", "found", "remedy"),
    [
        (Status(401, "bad key"), "http 401: bad key", "Check the key in SCRIPTED_KEY"),
        (Status(402, "no credit"), "http 402: no credit", "Add credit to the account"),
        (Status(403, "not yours"), "http 403: not yours", "Check the key in SCRIPTED_KEY, and that it may"),
        (Status(404, "no such model"), "http 404: no such model", r"Check model.name \(writer-1\)"),
        (
            Status(429, "quota", error={"code": "insufficient_quota"}),
            "http 429: quota",
            "Add credit to the account, or raise its quota",
        ),
        (
            Status(400, "no effort", error={"code": "unsupported_value"}),
            "http 400: no effort",
            "Check the name, the address and the parameters of the model",
        ),
    ],
    ids=["401", "402", "403", "404", "429", "400"],
)
def test_what_can_not_work_stops_all_calls_of_the_model_and_stores_nothing(
    tmp_path, monkeypatch, answer, found, remedy
):
    monkeypatch.setenv("SCRIPTED_KEY", "sk-0123456789abcdef")
    with ScriptedServer(lambda _call: answer) as server:
        model = a_model(server.base, api_key_env="SCRIPTED_KEY")
        ends = ask(tmp_path, model, *prompts(30, server.base))
        assert len(server.calls) <= RUNNER.concurrency
        assert server.calls[0].headers["authorization"] == "Bearer sk-0123456789abcdef"
    assert [type(end) for end in ends] == [ProviderError] * 30
    for end in ends:
        with pytest.raises(ProviderError, match=f"{found}. {remedy}"):
            raise end
    assert len(CompletionStore(tmp_path)) == 0


def test_a_403_on_one_prompt_of_a_model_that_works_is_about_that_prompt(tmp_path):
    def script(call):
        return Status(403, "flagged") if call.prompt == "prompt 1" else Say("ok")

    with ScriptedServer(script) as server:
        model, one, other = a_model(server.base), *prompts(2, server.base)

        async def main():
            async with a_client(tmp_path) as client:
                return [await client.complete(request, model, ASKED) for request in (one, other)]

        first, second = asyncio.run(main())
    assert first.completion.text == "ok"
    assert (second.completion.status, second.completion.detail) == (
        CompletionStatus.error,
        "http 403: flagged",
    )
