"""Batches that wait, are lost, killed, stopped or damaged, and settings that none can have."""

import asyncio
import dataclasses
import json
import signal
import subprocess
import sys
import textwrap
from collections import Counter

import pytest

from flows.adapters.completions.batches import poller
from flows.adapters.completions.batches.check import check_batches
from flows.adapters.completions.batches.ledger import Ledger
from flows.adapters.completions.batches.results import read_results
from flows.adapters.completions.client import CallOutcome
from flows.adapters.completions.faults import Fault, FaultKind, RetryDecision, course
from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.errors import BudgetReached, ConfigError, ProviderError, Stopped, StoreError
from flows.schema.settings import Price, Transport
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
    NO_BUDGET,
    RUNNER,
    a_client,
    a_model,
    a_request,
    ask,
    prompts,
)
from tests.support.batch_server import BatchServer, DropAfter
from tests.support.scripted_server import Drop, Say, ScriptedServer, Status

KEY = "sk-planted-0123456789abcdef"


litellm_warns = [
    pytest.mark.filterwarnings("ignore:Items? '.*' on TypedDict class:UserWarning"),
    pytest.mark.filterwarnings("ignore:Accessing the '.*' attribute on the instance:DeprecationWarning"),
]


def nth(*faults, at):
    """A fault for the first, second, ... request of `at`, then none."""
    return lambda method, path, number: (
        faults[number - 1] if (method, path) == at and number <= len(faults) else None
    )


def test_a_batch_for_which_there_is_no_room_waits(tmp_path):
    with BatchServer(echo) as server:
        server.ends_as, server.batch_errors = "failed", [{"code": "token_limit_exceeded", "message": "full"}]

        def fault(method, path, number):
            if (method, path, number) == ("POST", "/batches", 5):
                server.ends_as = "completed"

        server.fault = fault
        (outcome,) = batched(tmp_path, server, a_request(base=server.base))
    # Throttled four times, which is no failure: max_attempts is 3.
    assert tries(outcome) == ["batch failed"] * 4 + ["ok"]


@pytest.mark.parametrize(
    ("fault", "word", "lists"),
    [
        (Status(429, "slow down", retry_after="0.01"), "http 429", 0),  # answered: nothing was accepted
        (Status(503, "busy"), "http 503", 2),  # it may have been accepted: it is looked for, twice
        (Drop(), "connection", 2),
    ],
    ids=["429", "503", "dropped"],
)
def test_a_batch_that_was_not_accepted_is_submitted_again(tmp_path, fault, word, lists):
    with BatchServer(echo, nth(fault, at=("POST", "/batches"))) as server:
        outcomes = batched(tmp_path, server, *prompts(2, server.base))
    assert texts(outcomes) == ["answer to prompt 0", "answer to prompt 1"]
    assert tries(outcomes[0]) == [word, "ok"]
    assert server.sizes() == [2]
    assert server.count("GET", "/batches") == lists
    assert sorted((entry["batch_id"], entry["void"]) for entry in entries(tmp_path) if entry["void"]) == [
        (None, True)
    ]


def test_a_batch_whose_acceptance_was_not_heard_is_found_again(tmp_path):
    with BatchServer(echo, nth(DropAfter(), at=("POST", "/batches"))) as server:
        outcomes = batched(tmp_path, server, *prompts(3, server.base))
    assert texts(outcomes) == [f"answer to prompt {number}" for number in range(3)]
    assert [tries(outcome) for outcome in outcomes] == [["ok"]] * 3
    assert server.sizes() == [3]
    assert [entry["batch_id"] for entry in entries(tmp_path)] == ["batch_1"]


def test_a_batch_is_found_behind_others_and_when_the_list_fails_at_first(tmp_path):
    with BatchServer(echo, nth(DropAfter(), at=("POST", "/batches"))) as server:
        requests = prompts(2, server.base)

        def listed(method, path, number):
            if (method, path) == ("POST", "/batches"):
                return DropAfter() if number == 1 else None
            return Status(502) if (method, path) == ("GET", "/batches") and number == 1 else None

        server.fault = listed
        outcomes = batched(tmp_path, server, *requests)
        assert [tries(outcome) for outcome in outcomes] == [["http 502", "ok"]] * 2
        assert server.sizes() == [2]

        # Five more batches, newer than the one that is looked for; a page holds two.
        entry = next(iter((tmp_path / "batches").glob("*.json")))
        entry.write_text(json.dumps(json.loads(entry.read_text()) | {"batch_id": None, "settled": []}))
        for number in range(10, 15):
            batched(tmp_path / "other", server, a_request(f"prompt {number}", server.base))
        for segment in tmp_path.glob("*.jsonl"):
            segment.unlink()
        assert texts(batched(tmp_path, server, *requests)) == ["answer to prompt 0", "answer to prompt 1"]
    assert server.sizes() == [2, 1, 1, 1, 1, 1]


def test_looking_at_a_batch_is_no_try_of_its_calls(tmp_path):
    def fault(method, path, number):
        if path == "/batches/batch_1":
            return [Drop(), Status(500), Status(429, retry_after="0.01")][number - 1] if number < 4 else None
        return Drop() if path.endswith("/content") and number == 1 else None

    with BatchServer(echo, fault, polls=3) as server:
        outcomes = batched(tmp_path, server, *prompts(2, server.base))
    assert texts(outcomes) == ["answer to prompt 0", "answer to prompt 1"]
    assert [tries(outcome) for outcome in outcomes] == [["ok"], ["ok"]]
    assert server.sizes() == [2]


@pytest.mark.parametrize(
    ("status", "found"), [(Status(404, "gone"), "http 404: gone"), (None, "status 'paused' is unknown")]
)
def test_a_batch_that_cannot_be_looked_at_is_never_submitted_again(tmp_path, status, found):
    with BatchServer(echo) as server:
        server.fault = lambda _method, path, _number: status if path.startswith("/batches/") else None
        if status is None:
            server.ends_as = "paused"
        for _ in range(2):
            (error,) = batched(tmp_path, server, a_request(base=server.base))
            assert isinstance(error, ProviderError)
            assert error.where.startswith("batch batch_1 of writer")
            assert found in str(error)
        assert server.sizes() == [1]
        server.fault, server.batches[0].status, server.ends_as = lambda *_: None, "in_progress", "completed"
        assert texts(batched(tmp_path, server, a_request(base=server.base))) == ["answer to Write the brief."]
    assert server.sizes() == [1]


def test_a_batch_that_fails_to_be_looked_at_for_too_long_is_left_running(tmp_path, monkeypatch):
    monkeypatch.setattr(poller, "PATIENCE_S", 0.05)
    with BatchServer(echo) as server:
        server.fault = lambda _method, path, _number: Status(503, "busy") if "batch_" in path else None
        (error,) = batched(tmp_path, server, a_request(base=server.base))
        assert isinstance(error, ProviderError)
        assert "http 503: busy. The batch continues; run the same command again to collect it" in str(error)
        server.fault = lambda *_: None
        assert texts(batched(tmp_path, server, a_request(base=server.base))) == ["answer to Write the brief."]
    assert server.sizes() == [1]


STEPS = {
    "before the intent": ("Ledger.intend", 1, 0),
    "after the intent": ("BatchTransport.upload", 1, 2),  # looked for in vain, twice
    "after the file": ("BatchTransport.create", 2, 2),
    "after the submission": ("Ledger.submitted", 1, 1),  # and found
    "while it is under way": ("BatchTransport.retrieve", 1, 0),
    "after the results": ("CompletionStore.put", 1, 0),
}


VICTIM = """
    import asyncio, os, signal, sys
    from pathlib import Path
    from flows.adapters.completions.batches.ledger import Ledger
    from flows.adapters.completions.batches.transport import BatchTransport
    from flows.adapters.completions.stores.folder import CompletionStore
    from tests.adapters.completions.helpers import a_model, ask
    from tests.adapters.completions.test_batches import BATCH, prompts

    folder, base, where = sys.argv[1:]
    owner, method = where.split(".")
    setattr(globals()[owner], method, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    print(ask(Path(folder), a_model(base), *prompts(3, base), runner=BATCH))
"""


@pytest.mark.parametrize("step", STEPS)
def test_a_run_that_is_killed_at_any_step_submits_once(tmp_path, step):
    where, files, lists = STEPS[step]
    with BatchServer(echo) as server:
        command = [sys.executable, "-c", textwrap.dedent(VICTIM), str(tmp_path), server.base, where]
        killed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr + killed.stdout
        outcomes = batched(tmp_path, server, *prompts(3, server.base))
    assert texts(outcomes) == [f"answer to prompt {number}" for number in range(3)]
    assert server.sizes() == [3]
    assert Counter(server.billed) == {f"prompt {number}": 1 for number in range(3)}
    assert server.count("POST", "/files") == files
    assert server.count("GET", "/batches") == lists
    assert [entry["batch_id"] for entry in entries(tmp_path) if not entry["void"]] == ["batch_1"]


def test_a_resumed_run_that_asks_for_more_and_less_collects_what_it_asks_for(tmp_path):
    with BatchServer(echo) as server:
        server.hold = True
        requests = prompts(4, server.base)

        async def stopped():
            async with a_client(tmp_path, runner=BATCH) as client:
                calls = [client.complete(r, a_model(server.base), ASKED) for r in requests[:3]]
                work = asyncio.gather(*calls, return_exceptions=True)
                while not server.count("GET", "/batches/batch_1"):  # noqa: ASYNC110 -- another thread's
                    await asyncio.sleep(0.01)
                client.stop()
                return await asyncio.wait_for(work, 5)

        outcomes = asyncio.run(stopped())
        assert [type(outcome) for outcome in outcomes] == [Stopped] * 3
        assert "batches in progress continue: run the same command again" in str(outcomes[0]).lower()
        assert len(CompletionStore(tmp_path)) == 0
        server.hold = False
        assert texts(batched(tmp_path, server, *requests[2:])) == ["answer to prompt 2", "answer to prompt 3"]
        assert server.sizes() == [3, 1]
        assert texts(batched(tmp_path, server, *requests)) == [f"answer to prompt {n}" for n in range(4)]
    assert server.sizes() == [3, 1]
    assert Counter(server.billed) == {f"prompt {number}": 1 for number in range(4)}


def test_a_stop_while_calls_are_gathered_submits_nothing(tmp_path):
    runner = dataclasses.replace(BATCH, batch_wait_s=0.2)
    with BatchServer(echo) as server:

        async def stopped():
            async with a_client(tmp_path, runner=runner) as client:
                call = asyncio.ensure_future(
                    client.complete(a_request(base=server.base), a_model(server.base), ASKED)
                )
                await asyncio.sleep(0.05)
                client.stop()
                with pytest.raises(Stopped):
                    await call
                await asyncio.sleep(0.3)

        asyncio.run(stopped())
    assert server.requests == []


def test_the_budget_is_held_before_a_batch_is_submitted(tmp_path):
    with BatchServer(echo) as server:
        budget = dataclasses.replace(NO_BUDGET, max_calls=2)
        outcomes = batched(tmp_path, server, *prompts(4, server.base), budget=budget)
        assert server.sizes() == [2]
        assert Counter(type(outcome) for outcome in outcomes) == {CallOutcome: 2, BudgetReached: 2}
        dollars = dataclasses.replace(NO_BUDGET, max_usd=1.0)
        (refused,) = batched(tmp_path, server, a_request("another", server.base), budget=dollars)
    assert isinstance(refused, ConfigError)  # the price of a batch is unknown
    check_batches([a_model(None, price=Price(2.0, 10.0, batch_factor=0.5))], BATCH, dollars)
    with pytest.raises(ConfigError, match="what writer costs in a batch is unknown"):
        check_batches([a_model(None)], BATCH, dollars)
    assert server.sizes() == [2]


def test_two_processes_share_a_batch(tmp_path):
    script = """
        import sys
        from pathlib import Path
        from tests.adapters.completions.helpers import a_model, ask
        from tests.adapters.completions.test_batches import BATCH, prompts

        for outcome in ask(Path(sys.argv[1]), a_model(sys.argv[2]), *prompts(5, sys.argv[2]), runner=BATCH):
            print(outcome.completion.text)
    """
    with BatchServer(echo, polls=10) as server:
        command = [sys.executable, "-c", textwrap.dedent(script), str(tmp_path), server.base]
        runs = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        said = [run.communicate(timeout=60) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], said
    expected = [f"answer to prompt {number}" for number in range(5)]
    assert [out.splitlines() for out, _ in said] == [expected, expected]
    assert Counter(server.billed) == {f"prompt {number}": 1 for number in range(5)}


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


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("batch_wait_s", -1.0),
        ("batch_poll_s", 0.0),
        ("batch_max_requests", 0),
        ("batch_max_requests", 50_001),
    ],
)
def test_settings_that_no_batch_can_have_are_refused(field, value):
    with pytest.raises(ConfigError, match=rf"^runner\.{field}: "):
        check_batches([], dataclasses.replace(BATCH, **{field: value}))


class TestByWayOfLitellm:
    pytestmark = litellm_warns

    @pytest.mark.parametrize(
        ("name", "parameters"),
        [
            ("openai/gpt-6-luna", {}),
            ("azure/gpt5_series/ours", {"api_version": "2026-06-01-preview"}),
        ],
        ids=["openai", "azure"],
    )
    def test_a_batch_holds_what_single_calls_would_have_sent(self, tmp_path, monkeypatch, name, parameters):
        monkeypatch.setenv("PLANTED_KEY", KEY)
        schema = {"type": "json_schema", "json_schema": {"name": "r", "schema": {"type": "object"}}}
        parameters = {
            "max_completion_tokens": 900,
            "reasoning_effort": "low",
            "response_format": schema,
            **parameters,
        }

        def asked(server, folder, runner):
            base = server.base.removesuffix("/v1") if name.startswith("azure") else server.base
            model = a_model(base, name=name, transport=Transport.litellm, api_key_env="PLANTED_KEY")
            model = dataclasses.replace(model, parameters=parameters)
            requests = prompts(3, base, transport="litellm", model=name, **parameters)
            return ask(folder, model, *requests, runner=runner)

        with BatchServer(echo, nth(DropAfter(), at=("POST", "/batches"))) as server:
            outcomes = asked(server, tmp_path / "b", BATCH)
        with ScriptedServer(lambda call: Say(f"answer to {call.prompt}")) as single:
            alone = asked(single, tmp_path / "s", RUNNER)
        assert texts(outcomes) == texts(alone) == [f"answer to prompt {number}" for number in range(3)]
        assert server.sizes() == [3]
        assert server.count("GET", "/content") == 1
        bodies = {line.prompt: line.body for line in server.batches[0].lines}
        assert bodies == {call.prompt: call.body for call in single.calls}
        assert bodies["prompt 0"]["reasoning_effort"] == "low"
        assert [entry["batch_id"] for entry in entries(tmp_path / "b")] == ["batch_1"]
        files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        assert not any(KEY.encode() in data for data in files)

    def test_faults_of_litellm_are_those_of_single_calls(self, monkeypatch):
        from flows.adapters.completions.batches.transport import BatchTransport

        async def faults(server):
            model = a_model(server.base, name="openai/m", transport=Transport.litellm)
            nowhere = dataclasses.replace(model, api_base="http://127.0.0.1:9/v1")
            runner = dataclasses.replace(RUNNER, idle_timeout_s=1.0)
            batches, lost = BatchTransport(model, runner), BatchTransport(nowhere, runner)
            batches.key = lost.key = KEY
            found = []
            for _ in range(5):
                with pytest.raises(Fault) as caught:
                    await batches.create("file-1", "marker")
                found.append(caught.value)
            with pytest.raises(Fault) as caught:
                await lost.retrieve("batch_1")
            found.append(caught.value)
            effort = a_request(transport="litellm", model="openai/gpt-4o", reasoning_effort="high")
            found += await batches.bodies([effort])
            await batches.aclose()
            return found

        script = [
            Status(429, "slow", retry_after="7"),
            Status(401, "who", error={"code": "invalid_api_key"}),
            Status(500, "boom"),
            Drop(),
            Status(400, "no", error={"code": "billing_hard_limit_reached"}),
        ]
        with BatchServer(echo, nth(*script, at=("POST", "/batches"))) as server:
            found = asyncio.run(faults(server))
            assert server.count("POST", "/batches") == 5  # the client's own retries are off
        assert [(fault.kind, fault.status, fault.code) for fault in found] == [
            (FaultKind.status, 429, ""),
            (FaultKind.status, 401, "invalid_api_key"),
            (FaultKind.status, 500, ""),
            (FaultKind.connection, None, ""),
            (FaultKind.status, 400, "billing_hard_limit_reached"),
            (FaultKind.connect, None, ""),
            (FaultKind.parameter, None, ""),
        ]
        assert found[0].retry_after == 7.0
        assert "reasoning_effort" in found[6].detail
        assert all(KEY not in fault.detail for fault in found)
