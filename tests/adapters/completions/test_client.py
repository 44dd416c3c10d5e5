import asyncio
import dataclasses
import logging
import time
import traceback

import pytest

from flows.adapters.completions import tries
from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import ConfigError, ProviderError
from flows.schema.completion import CompletionStatus, Message, Usage
from flows.schema.settings import Retry
from tests.adapters.completions.helpers import (
    ASKED,
    RUNNER,
    a_client,
    a_model,
    a_request,
    ask,
    prompts,
)
from tests.support.scripted_server import Drop, Raw, Say, ScriptedServer, Status


def in_turn(*answers):
    """A script: the first answer to the first call, and so on; the last one from then on."""
    return lambda call: answers[min(call.number, len(answers)) - 1]


def outcomes(completion):
    return [attempt.outcome for attempt in completion.attempts]


def test_a_reply_is_paid_for_stored_and_then_replayed(tmp_path):
    with ScriptedServer(lambda _call: Say("The brief.", model="writer-1-2026")) as server:
        request = a_request("Write the brief.", server.base, temperature=0.5)
        (paid,) = ask(tmp_path, a_model(server.base), request)
        (replayed,) = ask(tmp_path, a_model(server.base), request)
    completion = paid.completion
    assert (paid.replayed, replayed.replayed) == (False, True)
    assert replayed.completion == completion
    assert len(server.calls) == 1
    assert server.calls[0].path == "/v1/chat/completions"
    assert server.calls[0].body == {
        "model": "writer-1",
        "messages": [
            {"role": "system", "content": "You are a staff officer."},
            {"role": "user", "content": "Write the brief."},
        ],
        "temperature": 0.5,
    }
    assert "authorization" not in server.calls[0].headers
    assert (completion.key, completion.status) == (request.key, CompletionStatus.complete)
    assert (completion.text, completion.finish_reason) == ("The brief.", "stop")
    assert completion.provider_model == "writer-1-2026"
    assert completion.usage == Usage(8, 2)  # words, as the server counts
    assert completion.price_usd == pytest.approx((8 * 2.0 + 2 * 10.0) / 1e6)
    assert (completion.asked, completion.detail) == (ASKED, "")
    assert outcomes(completion) == ["ok"]
    assert 0.0 <= completion.attempts[0].seconds < 5.0
    assert CompletionStore(tmp_path).request(request.key) == request


def test_a_streamed_reply_is_the_same(tmp_path):
    text = "The br\u00efef \U0001f6a9 " * 50
    with ScriptedServer(lambda _call: Say(text, chunks=40)) as server:
        request = a_request(base=server.base, stream=True, stream_options={"include_usage": True})
        (paid,) = ask(tmp_path, a_model(server.base), request)
    assert (paid.completion.text, paid.completion.finish_reason) == (text, "stop")
    assert paid.completion.usage == Usage(8, 150)


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
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_outcome_is_stored_after_one_call(tmp_path, answer, status, text):
    with ScriptedServer(lambda _call: answer) as server:
        (paid,) = ask(tmp_path, a_model(server.base), a_request(base=server.base))
        assert len(server.calls) == 1
    stored = CompletionStore(tmp_path).get(paid.completion.key)
    assert stored == paid.completion
    assert (stored.status.value, stored.text) == (status, text)


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


@pytest.mark.parametrize(
    ("first", "retry", "asked_again"),
    [
        (Status(400), Retry.none, False),
        (Status(400), Retry.unparsed, False),
        (Status(400), Retry.failed, True),
        (Status(400), Retry.refused, True),
        (Say(None, finish="content_filter"), Retry.none, False),
        (Say(None, finish="content_filter"), Retry.failed, False),
        (Say(None, finish="content_filter"), Retry.refused, True),
        (Say("half", finish="length"), Retry.refused, False),
        (Say(""), Retry.refused, False),
    ],
    ids=lambda value: getattr(value, "name", type(value).__name__),
)
def test_what_is_asked_again_is_a_setting(tmp_path, first, retry, asked_again):
    with ScriptedServer(in_turn(first, Say("second"))) as server:
        request = a_request(base=server.base)
        (before,) = ask(tmp_path, a_model(server.base), request)
        (after,) = ask(tmp_path, a_model(server.base), request, retry=retry)
        assert len(server.calls) == 1 + asked_again
    assert after.replayed is not asked_again
    assert after.completion.text == ("second" if asked_again else before.completion.text)


def test_a_refusal_outlives_the_failure_of_asking_again(tmp_path):
    with ScriptedServer(in_turn(Say(None, finish="content_filter"), Status(500))) as server:
        request = a_request(base=server.base)
        (before,) = ask(tmp_path, a_model(server.base), request)
        (after,) = ask(tmp_path, a_model(server.base), request, retry=Retry.refused)
        assert len(server.calls) == 4
    assert after.completion == before.completion


def test_the_same_request_at_once_is_paid_for_once_and_a_failure_is_not_repeated(tmp_path):
    with ScriptedServer(lambda _call: Say("once", delay_s=0.1)) as server:
        request = a_request(base=server.base)
        answers = ask(tmp_path / "a", a_model(server.base), *[request] * 5)
        assert len(server.calls) == 1
    assert sorted(answer.replayed for answer in answers) == [False, True, True, True, True]
    assert {answer.completion.text for answer in answers} == {"once"}
    with ScriptedServer(lambda _call: Status(400, delay_s=0.1)) as server:
        request = a_request(base=server.base)
        answers = ask(tmp_path / "b", a_model(server.base), *[request] * 5)
        assert len(server.calls) == 1
    assert sorted(answer.replayed for answer in answers) == [False, True, True, True, True]


@pytest.mark.parametrize("change", ["prompt", "model", "seed", "parameter", "base", "protocol"])
def test_whatever_changes_in_a_request_asks_anew(tmp_path, change):
    with ScriptedServer() as server, ScriptedServer() as other:
        request = a_request("one", server.base, temperature=0)
        changed = {
            "prompt": {"messages": (*request.messages[:-1], Message("user", "One"))},
            "model": {"model": "writer-2"},
            "seed": {"seed": 2},
            "parameter": {"parameters": {"temperature": 0.1}},
            "base": {"api_base": other.base},
            "protocol": {"protocol": "2"},
        }[change]
        second = dataclasses.replace(request, **changed)
        ask(tmp_path, a_model(server.base), request)
        (end,) = ask(tmp_path, a_model(second.api_base, name=second.model), second)
        assert not end.replayed
        assert len(server.calls) + len(other.calls) == 2


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
    assert 1.0 <= times[1] - times[0] < 2.5


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


def test_a_missing_key_names_its_variable_and_a_replay_needs_none(tmp_path, monkeypatch):
    with ScriptedServer() as server:
        model = a_model(server.base, api_key_env="SCRIPTED_KEY")
        request, other = prompts(2, server.base)
        monkeypatch.setenv("SCRIPTED_KEY", "sk-0123456789abcdef")
        ask(tmp_path, model, request)
        monkeypatch.delenv("SCRIPTED_KEY")
        replayed, missing = ask(tmp_path, model, request, other)
        assert len(server.calls) == 1
    assert replayed.replayed
    assert isinstance(missing, ProviderError)
    assert "the environment variable SCRIPTED_KEY is not set" in str(missing)


def test_a_key_is_in_no_record_no_error_and_no_log(tmp_path, monkeypatch, caplog, capfd):
    key = "sk-planted-0123456789-abcdefghij"
    monkeypatch.setenv("SCRIPTED_KEY", key)
    leaks = [
        Status(500, f"debug: Authorization: Bearer {key}"),
        Say(f"your key is {key}", finish="stop", model=f"m {key}"),
        Say(None, message={"refusal": f"not with {key}"}),
        Say("x", finish=f"odd {key}"),
        Raw(f"<html>{key.encode().hex()}</html>".encode()),
        Status(400, f"{'x' * 490}{key}"),
    ]
    with caplog.at_level(logging.DEBUG), ScriptedServer(lambda call: leaks[(call.number - 1) % 6]) as server:
        model = a_model(server.base, api_key_env="SCRIPTED_KEY")
        ends = ask(tmp_path, model, *prompts(12, server.base))
        with ScriptedServer(lambda _call: Status(401, f"bad key {key}")) as closed:
            refused = a_model(closed.base, api_key_env="SCRIPTED_KEY")
            ends += ask(tmp_path, refused, a_request(base=closed.base))
    shown = [repr(end) for end in ends] + [caplog.text, *capfd.readouterr()]
    for end in ends:
        if isinstance(end, Exception):
            captured = traceback.TracebackException.from_exception(end, capture_locals=False)
            shown.append("".join(captured.format()))
            assert end.__context__ is None
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert stored.count(b"[key]") >= 12
    for form in (key, key.encode().hex(), "sk-planted", "0123456789-abc"):
        assert form.encode() not in stored
        assert not [text for text in shown if form in text]


def test_a_request_that_carries_the_key_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SCRIPTED_KEY", "sk-0123456789abcdef")
    with ScriptedServer() as server:
        model = a_model(server.base, api_key_env="SCRIPTED_KEY")
        (end,) = ask(tmp_path, model, a_request(base=server.base, user="sk-0123456789abcdef"))
        assert server.calls == []
    assert isinstance(end, ConfigError)


@pytest.mark.parametrize(
    ("parameters", "found"),
    [({"messages": []}, "the parameters hold messages"), ({"x": {1}}, "can't be stored")],
)
def test_a_request_that_can_not_be_sent_as_it_is_is_refused(tmp_path, parameters, found):
    with ScriptedServer() as server:
        (end,) = ask(tmp_path, a_model(server.base), a_request(base=server.base, **parameters))
        (surrogate,) = ask(tmp_path, a_model(server.base), a_request("lone \ud800", server.base))
        assert server.calls == []
    assert isinstance(end, ConfigError)
    assert found in str(end)
    assert isinstance(surrogate, ConfigError)


def test_a_lone_surrogate_in_a_reply_is_replaced_noted_and_stored(tmp_path):
    with ScriptedServer(lambda _call: Say("a\ud800b")) as server:
        (paid,) = ask(tmp_path, a_model(server.base), a_request(base=server.base))
    assert (paid.completion.text, paid.completion.detail) == (
        "a\ufffdb",
        "1 lone surrogate replaced by U+FFFD",
    )
    assert CompletionStore(tmp_path).get(paid.completion.key) == paid.completion
