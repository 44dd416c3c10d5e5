"""What batches keep, what of it may be damaged, and settings that none can have."""

import dataclasses
import json

import pytest

from flows.adapters.completions.batches.check import check_batches
from flows.adapters.completions.batches.ledger import Ledger
from flows.adapters.completions.batches.results import read_results
from flows.adapters.completions.faults import Fault, FaultKind, RetryDecision, course
from flows.common.errors import ConfigError, StoreError
from flows.schema.settings import Transport
from tests.adapters.completions.batches_support import (
    BATCH,
    batched,
    echo,
    entries,
    nth,
    texts,
)
from tests.adapters.completions.helpers import (
    a_model,
    a_request,
    ask,
    prompts,
)
from tests.support.batch_server import BatchServer
from tests.support.scripted_server import Say, ScriptedServer, Status

KEY = "sk-planted-0123456789abcdef"


def test_the_key_is_sent_and_kept_nowhere(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("PLANTED_KEY", KEY)

    def script(line):
        if line.prompt == "prompt 0":
            return Say(f"your key is {KEY}")
        return Status(500, f"bad {KEY}") if line.attempt == 1 else echo(line)

    with BatchServer(script, nth(Status(500, f"no, {KEY}"), at=("GET", "/batches/batch_1"))) as server:
        model = a_model(server.base, api_key_env="PLANTED_KEY")
        outcomes = batched(tmp_path, server, *prompts(2, server.base), model=model)
        assert texts(outcomes) == ["your key is [key]", "answer to prompt 1"]
        assert outcomes[1].completion.attempts[0].detail == "bad [key]"
        assert all(f"Bearer {KEY}" in seen for seen in server.seen)
        server.fault = lambda _method, path, _number: Status(404, f"no {KEY}") if "batch_" in path else None
        (error,) = batched(tmp_path, server, a_request("another", server.base), model=model)
        assert "http 404: no [key]" in str(error)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 4
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    assert KEY not in caplog.text


def test_a_batch_of_another_key_is_not_given_up(tmp_path, monkeypatch):
    monkeypatch.setenv("OTHER_KEY", KEY)
    with BatchServer(echo) as server:
        server.fault = lambda _method, path, _number: Status(404) if "batch_" in path else None
        request = a_request(base=server.base)
        batched(tmp_path, server, request)
        other = a_model(server.base, api_key_env="OTHER_KEY")
        (error,) = batched(tmp_path, server, request, model=other)
    assert isinstance(error, ConfigError)
    assert "batch batch_1 was sent with the key in None" in str(error)
    assert server.sizes() == [1]


def test_a_damaged_record_of_a_batch_stops_everything(tmp_path):
    with BatchServer(echo) as server:
        batched(tmp_path, server, a_request(base=server.base))
        (path,) = (tmp_path / "batches").glob("*.json")
        path.write_bytes(path.read_bytes()[:-40])
        (error,) = batched(tmp_path, server, a_request("another", server.base))
    assert isinstance(error, StoreError)
    assert error.where == str(path)
    assert server.sizes() == [1]


def test_an_intent_that_cannot_be_written_is_not_submitted(tmp_path):
    (tmp_path / "batches").write_text("in the way")
    with BatchServer(echo) as server:
        (error,) = batched(tmp_path, server, a_request(base=server.base))
    assert isinstance(error, StoreError)
    assert server.requests == []


def test_the_ledger_knows_what_waits(tmp_path):
    one = Ledger(tmp_path)
    entry = one.intend(["a" * 64, "b" * 64], model="m", api_base=None, api_key_env=None)
    again = one.intend(["b" * 64, "a" * 64], model="m", api_base=None, api_key_env=None)
    # sha256sum of the sorted keys, a newline between them
    fingerprint = "5e9ae866add9a85d69c3481d059bb9f158a39e5670ba11f95112fc409630894e"
    assert entry.marker.split("-")[0] == again.marker.split("-")[0] == fingerprint
    assert entry.marker != again.marker
    one.never_submitted(again)
    one.submitted(entry, "batch_7")
    one.mark_done(entry, ["a" * 64])
    other = Ledger(tmp_path)
    assert other.find("a" * 64) is None
    found = other.find("b" * 64)
    assert (found.marker, found.batch_id, found.void) == (entry.marker, "batch_7", False)
    other.stored("b" * 64)
    assert other.find("b" * 64) is None
    assert one.find("b" * 64).marker == entry.marker  # a note is only written at the end
    other.close()
    assert one.find("b" * 64) is None


def test_a_result_without_a_body_is_a_fault():
    name = "a" * 64
    lines = [
        ({"response": {"status_code": 200, "body": None}}, "bad reply"),
        ({"response": {"status_code": 200, "body": {"choices": []}}}, "bad reply"),
        ({"response": None, "error": {"code": "batch_cancelled", "message": "m"}}, "cancelled"),
        ({"response": None, "error": {}}, "batch error"),
        ({}, "bad reply"),
    ]
    for fields, word in lines:
        results = read_results([json.dumps({"custom_id": name, **fields}).encode()], {name})
        assert results.outcomes[name].outcome == word
    fault = Fault(FaultKind.status, "late", word="expired")
    assert (course(fault, served=True), fault.billable) == (RetryDecision.retry, False)


def test_a_model_without_batches_is_refused_before_anything_is_sent(tmp_path):
    for name in ("anthropic/claude-opus-5-5", "gemini/gemini-4-argon", "mistral/mistral-large-4", "gpt-6"):
        model = a_model(None, transport=Transport.litellm, name=name, label="writer")
        with pytest.raises(ConfigError, match=rf"provider of writer \({name}\) has no batches"):
            check_batches([model], BATCH)
    check_batches([a_model(None, transport=Transport.litellm, name="openai/gpt-6-luna")], BATCH)
    model = a_model(None, transport=Transport.litellm, name="xai/grok-4.7")
    request = a_request(base=None, transport="litellm", model="xai/grok-4.7")
    (error,) = ask(tmp_path, model, request, runner=BATCH)
    assert isinstance(error, ConfigError)


def test_more_requests_than_a_file_takes_are_refused():
    with pytest.raises(ConfigError, match=r"^runner\.batch_max_requests: 50001; expected 50000 or less"):
        check_batches([], dataclasses.replace(BATCH, batch_max_requests=50_001))


def test_an_endpoint_without_batches_is_named_at_once(tmp_path):
    with ScriptedServer() as server:
        (error,) = batched(tmp_path, server, a_request(base=server.base))
    assert isinstance(error, ConfigError)
    assert "it has no batches (http 404: no /v1/files here: chat completions only)" in str(error)
    assert "runner=standard sends single calls" in str(error)
    assert server.calls == []
    assert [entry["void"] for entry in entries(tmp_path)] == [True]
