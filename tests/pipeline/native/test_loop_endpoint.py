"""The loop end to end: a scripted model behind an endpoint, the real client and its store."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from flows.adapters.completions.client import Client
from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.pages import Rendered
from flows.pipeline.native import renders
from flows.pipeline.native.contract import TOOL_SECONDS, Limits
from flows.pipeline.native.loop import attempt
from flows.pipeline.native.renders import Renders
from flows.schema.brief import BriefStatus
from flows.schema.call import build_call
from flows.schema.settings import Effort, Retry
from tests.adapters.completions.helpers import ASKED, NO_BUDGET, RUNNER, a_model
from tests.pipeline.native.helpers import PROMPT, a_task, calls, texts
from tests.support.scripted_server import Drop, Say, ScriptedServer, Status

TEMPLATE = "/app/attachments/template.docx"
WRITES = (
    calls(("list_files", {}), ("read_file", {"path": "/app/attachments/notes.txt"})),
    calls(("view_page", {"path": "attachments/log.pdf", "page": 1})),
    calls(("start_report", {"template": TEMPLATE})),
    calls(("fill", {"entries": [{"place": "p2", "text": "Range 7 is closed; the visit is on Monday."}]})),
    calls(
        (
            "insert",
            {"after": "p2", "blocks": [{"kind": "table", "rows": [["Range", "State"], ["7", "closed"]]}]},
        )
    ),
    calls(("check_report", {})),
    "The report is written.",
)

SEES = Limits(images=True)


def a_reply(turn):
    """A turn of the script as the endpoint sends it: tool calls, a text, or an answer of its own."""
    if isinstance(turn, str):
        return Say(turn, usage={"prompt_tokens": 50, "completion_tokens": 5})
    if not isinstance(turn, tuple):
        return turn
    message = {
        "tool_calls": [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in turn
        ]
    }
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return Say(None, finish="tool_calls", message=message, usage=usage)


@pytest.fixture(autouse=True)
def office(monkeypatch):
    found = Rendered(1, (), None, "LibreOffice 7")
    monkeypatch.setattr(renders, "render", lambda path, *, images=0: found)


@pytest.fixture
def endpoint():
    """An endpoint whose script is a list of turns: which is due is told by the turns that it is sent."""

    class Endpoint(ScriptedServer):
        turns = WRITES

        def due(self, call):
            said = sum(message["role"] == "assistant" for message in call.body["messages"])
            return a_reply(self.turns[min(said, len(self.turns) - 1)])

    with Endpoint() as server:
        server.script = server.due
        yield server


@dataclass
class Bench:
    """Attempts at one task against one endpoint; everything lies below one folder."""

    folder: object
    base: str

    def run(self, *, limits=SEES, runner=RUNNER, retry=Retry.failed, seed=1, copies=1):
        return asyncio.run(self._run(limits, runner, retry, seed, copies))

    async def _run(self, limits, runner, retry, seed, copies):
        model = a_model(
            self.base,
            efforts={"default": {}},
            takes_images=True,
            takes_tools=True,
            send_seed=False,
            stream=False,
            structured_output=False,
        )
        store = CompletionStore(self.folder / "store")
        client = Client(store, runner, NO_BUDGET, retry)
        task = a_task(self.folder / "task")
        kept = Renders(self.folder / "renders")

        def ask_as(number):
            async def ask(messages, tools, waited):
                request = build_call(model, Effort.default, messages, number)
                parameters: Mapping = {**request.parameters, "tools": tools}
                outcome = await client.complete(
                    replace(request, parameters=parameters), model, {**ASKED, TOOL_SECONDS: waited}
                )
                return outcome.completion

            return ask

        try:
            found = await asyncio.gather(
                *(
                    attempt(
                        ask_as(seed + number),
                        task,
                        self.folder / "task",
                        prompt=PROMPT,
                        limits=limits,
                        renders=kept,
                        scratch_root=self.folder / "scratch",
                    )
                    for number in range(copies)
                )
            )
        finally:
            await client.aclose()
            store.close()
        return found[0] if copies == 1 else found


@pytest.fixture
def bench(tmp_path, endpoint):
    return Bench(tmp_path, endpoint.base)


def test_a_model_reads_looks_fills_checks_and_ends(bench, endpoint):
    found = bench.run()
    assert (found.status, found.ended, found.detail) == (BriefStatus.written, "finished", "")
    assert texts(found.report)[:2] == ["Weekly report", "Range 7 is closed; the visit is on Monday."]
    assert (found.tokens, found.uncounted, len(set(found.completions))) == (715, 0, 7)
    turns = found.trajectory[1:]
    assert [call["name"] for turn in turns for call in turn["tool_calls"]] == [
        "list_files", "read_file", "view_page", "start_report", "fill", "insert", "check_report",
    ]  # fmt: skip
    assert not any(answer["is_error"] for turn in turns for answer in turn["answers"])
    sent = endpoint.calls[2].body["messages"]
    assert [message["role"] for message in sent] == [
        "system", "user", "assistant", "tool", "tool", "assistant", "tool", "user",
    ]  # fmt: skip
    assert sent[-1]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    checked = endpoint.calls[-1].body["messages"][-1]["content"]
    assert "Words that count: 15 (body 11, tables 4, notes 0, text boxes 0)" in checked
    assert "Limit of length (20 words): 15 of 20 words." in checked


def test_the_same_again_pays_nothing_and_gives_the_same_bytes(bench, endpoint, monkeypatch):
    first = bench.run()
    assert len(endpoint.billed) == 7
    # As on another machine: what was measured is not measured again.
    monkeypatch.setattr(renders, "render", None)
    monkeypatch.setattr(renders, "draw_page", None)
    assert bench.run() == first
    assert len(endpoint.billed) == 7


def test_an_attempt_that_was_killed_goes_on_where_it_was(bench, endpoint):
    endpoint.turns = (*WRITES[:4], Status(401, "no key"))
    with pytest.raises(Exception, match="401"):
        bench.run()
    assert len(endpoint.billed) == 4
    endpoint.turns = WRITES
    found = bench.run()
    assert (found.status, len(endpoint.billed)) == (BriefStatus.written, 7)
    assert bench.run() == found


def test_another_seed_is_another_attempt(bench, endpoint):
    first, second = bench.run(), bench.run(seed=2)
    assert len(endpoint.billed) == 14
    assert set(first.completions).isdisjoint(second.completions)
    assert first.report == second.report


def test_attempts_run_beside_one_another(bench, endpoint):
    endpoint.together = 6
    found = bench.run(copies=6)
    assert {each.status for each in found} == {BriefStatus.written}
    assert len({each.report for each in found}) == 1
    assert endpoint.peak == 6


def test_a_tool_error_and_a_recovery(bench, endpoint):
    wrong = calls(
        ("fill", '{"entries": ['), ("exec", {"cmd": "ls"}), ("read_file", {"path": "/app/../etc/passwd"})
    )
    endpoint.turns = (wrong, *WRITES)
    found = bench.run()
    assert found.status is BriefStatus.written
    assert [answer["text"].partition(";")[0] for answer in found.trajectory[1]["answers"]] == [
        "Error: fill: the arguments are not JSON (Expecting value: line 1 column 14 (char 13))",
        "Error: exec: no such tool",
        "Error: /app/../etc/passwd: a path with ..",
    ]


def test_a_refusal_of_the_content_filter(bench, endpoint):
    endpoint.turns = (
        *WRITES[:3],
        Say("", finish="content_filter", usage={"prompt_tokens": 1, "completion_tokens": 0}),
    )
    found = bench.run()
    assert (found.status, found.ended) == (BriefStatus.written, "refused")
    assert "content filter" in found.detail
    endpoint.turns = endpoint.turns[3:]
    found = bench.run(seed=2)
    assert (found.status, found.report, found.ended) == (BriefStatus.refused, None, "refused")


def test_a_refusal_in_words(bench, endpoint):
    endpoint.turns = ("I can't help with that.",)
    found = bench.run()
    assert (found.status, found.ended, len(endpoint.billed)) == (BriefStatus.missing, "finished", 2)


@pytest.mark.parametrize(
    ("limits", "name", "billed"),
    [
        (Limits(max_steps=4), "steps", 4),
        (Limits(max_tokens=400), "tokens", 4),
    ],
)
def test_limits(bench, endpoint, limits, name, billed):
    endpoint.turns = (WRITES[2], WRITES[0])
    found = bench.run(limits=limits)
    assert (found.status, found.ended, len(endpoint.billed)) == (
        BriefStatus.written,
        f"limit: {name}",
        billed,
    )
    assert texts(found.report) == ["Weekly report", "[Bottom line]"]
    assert bench.run(limits=limits) == found
    assert len(endpoint.billed) == billed


def test_a_replay_ends_at_the_limit_of_time_where_the_first_run_did(bench, endpoint):
    limits = Limits(max_minutes=1e-9)
    found = bench.run(limits=limits)
    assert (found.status, found.ended, len(endpoint.billed)) == (BriefStatus.missing, "limit: minutes", 1)
    assert bench.run(limits=limits) == found
    assert len(endpoint.billed) == 1


def test_a_context_that_is_full(bench, endpoint):
    message = "This model's maximum context length is 8192 tokens."
    endpoint.turns = (WRITES[2], Status(400, message, error={"code": "context_length_exceeded"}))
    found = bench.run()
    assert (found.status, found.ended) == (BriefStatus.written, "limit: context")
    assert message in found.detail


def test_an_endpoint_that_fails_for_good(bench, endpoint):
    endpoint.turns = (WRITES[2], Status(500, "broken"))
    found = bench.run()
    assert (found.status, found.report, found.ended) == (BriefStatus.error, None, "error")
    assert found.detail.startswith("http 500: broken")
    assert found.detail.endswith("a report was there and is not graded, since the attempt can go on")
    assert len(endpoint.calls) == 1 + RUNNER.max_attempts
    endpoint.turns = (WRITES[2], *WRITES[3:])
    assert bench.run().status is BriefStatus.written


def test_an_endpoint_that_fails_now_and_then(bench, endpoint):
    due = endpoint.due
    endpoint.script = lambda call: (
        due(call) if call.attempt > 1 else (Drop() if call.number % 2 else Status(503))
    )
    found = bench.run()
    assert (found.status, len(endpoint.calls)) == (BriefStatus.written, 14)
    assert json.dumps(found.trajectory).count('"kind": "turn"') == 7
