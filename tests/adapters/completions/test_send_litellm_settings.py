"""What litellm is told: settings that it can not express, efforts, retries, keys and headers."""

import logging
import os
import subprocess
import sys

import pytest

from flows.adapters.completions.client import Client
from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import ConfigError
from flows.schema.completion import CompletionStatus
from flows.schema.settings import Transport
from tests.adapters.completions.helpers import a_model, a_request, ask
from tests.adapters.completions.test_send_litellm import KEY, STREAM, send_to
from tests.adapters.completions.test_send_litellm import pytestmark as _warnings
from tests.support.scripted_server import Say, ScriptedServer, Status

pytestmark = _warnings


@pytest.mark.parametrize(
    ("model", "parameters"),
    [("openai/gpt-4o", {"reasoning_effort": "high"}), ("nosuchprovider/m", {})],
    ids=["effort", "provider"],
)
def test_what_litellm_can_not_express_is_an_error_of_the_configuration(tmp_path, model, parameters):
    with ScriptedServer() as server:
        settings = a_model(server.base, transport=Transport.litellm, name=model)
        requests = [
            a_request(f"p {n}", server.base, transport="litellm", model=model, **parameters) for n in range(3)
        ]
        ends = ask(tmp_path, settings, *requests)
        assert server.calls == []
    assert [type(end) for end in ends] == [ConfigError] * 3
    assert "unsupported ones are not dropped" in str(ends[0])
    assert len(CompletionStore(tmp_path)) == 0


def test_an_effort_goes_out_as_it_was_given():
    reply, calls = send_to(Say("hi"), reasoning_effort="high", top_p=0.3, max_tokens=9)
    assert reply.text == "hi"
    sent = calls[0].body
    assert (sent["reasoning_effort"], sent["top_p"], sent["max_tokens"]) == ("high", 0.3, 9)


def test_what_would_make_litellm_retry_or_drop_is_refused(tmp_path):
    with ScriptedServer() as server:
        settings = a_model(server.base, transport=Transport.litellm, name="openai/m")
        request = a_request(
            base=server.base, transport="litellm", model="openai/m", drop_params=True, num_retries=2
        )
        (end,) = ask(tmp_path, settings, request)
        assert server.calls == []
    assert isinstance(end, ConfigError)
    assert "the parameters hold drop_params, num_retries" in str(end)


def test_a_call_through_the_client_is_tried_again_by_us_alone_and_leaks_no_key(
    tmp_path, monkeypatch, caplog, capfd
):
    monkeypatch.setenv("SCRIPTED_KEY", KEY)

    def script(call):
        return Status(500, f"debug {KEY}") if call.number < 3 else Say("at last")

    with caplog.at_level(logging.DEBUG), ScriptedServer(script) as server:
        settings = a_model(
            server.base, transport=Transport.litellm, name="openai/m", api_key_env="SCRIPTED_KEY"
        )
        request = a_request(base=server.base, transport="litellm", model="openai/m")
        (end,) = ask(tmp_path, settings, request)
        assert len(server.calls) == 3
    assert (end.completion.status, end.completion.text) == (CompletionStatus.complete, "at last")
    assert [attempt.outcome for attempt in end.completion.attempts] == ["http 500", "http 500", "ok"]
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert stored.count(b"[key]") == 2
    for shown in (stored.decode(), caplog.text, *capfd.readouterr()):
        assert KEY not in shown


def test_it_is_not_imported_before_it_is_needed_and_then_stays_off_the_network():
    script = (
        "import sys, flows.adapters.completions.client, flows.adapters.completions.stores.folder\n"
        "slow = {'litellm', 'openai', 'httpx', 'prefect', 'mlflow'} & set(sys.modules)\n"
        "print(sorted(slow))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert Client is not None
    send_to(Say("hi"))
    assert (os.environ["LITELLM_LOCAL_MODEL_COST_MAP"], os.environ["LITELLM_MODE"]) == ("True", "PRODUCTION")
    assert sys.modules["litellm"].drop_params is False


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("transport", "name"), [(Transport.litellm, "openai/m"), (Transport.openai_http, "m")], ids=str
)
def test_headers_come_from_the_environment_and_only_their_endpoint_has_them(
    tmp_path, monkeypatch, transport, name, stream
):
    monkeypatch.setenv("SCRIPTED_KEY", KEY)
    monkeypatch.setenv("A_TEAM", "team-0123456789-header")
    monkeypatch.setenv("AN_AUTHORIZATION", "Basic bm9ib2R5OmF0IGFsbA==")
    parameters = STREAM if stream else {}
    with ScriptedServer(lambda _call: Say("You sent team-0123456789-header.")) as server:
        settings = a_model(
            server.base,
            transport=transport,
            name=name,
            api_key_env="SCRIPTED_KEY",
            headers={"X-Team": "A_TEAM", "authorization": "AN_AUTHORIZATION"},
        )
        request = a_request(base=server.base, transport=transport.value, model=name, **parameters)
        (end,) = ask(tmp_path, settings, request)
        (call,) = server.calls
    assert (call.headers["x-team"], call.headers["authorization"]) == (
        "team-0123456789-header",
        "Basic bm9ib2R5OmF0IGFsbA==",
    )
    assert "X-Team" not in str(call.body)
    assert end.completion.text == "You sent [key]."
    assert b"team-0123456789-header" not in b"".join(file.read_bytes() for file in tmp_path.glob("*.jsonl"))
