"""Batches by way of litellm."""

import asyncio
import dataclasses

import pytest

from flows.adapters.completions.faults import Fault, FaultKind
from flows.schema.settings import Transport
from tests.adapters.completions.batches_support import (
    BATCH,
    echo,
    entries,
    nth,
    texts,
)
from tests.adapters.completions.helpers import (
    RUNNER,
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
