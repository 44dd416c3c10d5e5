"""Replies through the client: paid for once, stored, replayed, asked again by name, and free of keys."""

import dataclasses
import logging
import traceback

import pytest

from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import ConfigError, ProviderError
from flows.schema.completion import CompletionStatus, Message, Usage
from flows.schema.settings import Retry
from tests.adapters.completions.helpers import (
    ASKED,
    a_model,
    a_request,
    ask,
    in_turn,
    outcomes,
    prompts,
)
from tests.support.scripted_server import Raw, Say, ScriptedServer, Status


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
    assert 0.0 <= completion.attempts[0].seconds < 60.0
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
