"""Settings, requests and completions as the tests of the store and the client need them."""

import asyncio
import dataclasses
from contextlib import asynccontextmanager
from pathlib import Path

from flows.adapters.completions.client import Client
from flows.adapters.completions.stores.folder import CompletionStore
from flows.adapters.completions.stores.shared import SharedCompletionStore
from flows.adapters.shared_store import open_blobs
from flows.schema.completion import (
    Completion,
    CompletionStatus,
    Image,
    Message,
    Request,
    ToolCall,
    Try,
    Usage,
)
from flows.schema.settings import BudgetSettings, ModelSettings, Price, Retry, RunnerSettings, Transport
from flows.schema.store_address import StoreAddress
from tests.support.scripted_server import Say

RUNNER = RunnerSettings(
    concurrency=8,
    requests_per_minute=None,
    tokens_per_minute=None,
    max_attempts=3,
    connect_timeout_s=30.0,
    idle_timeout_s=60.0,
    total_timeout_s=120.0,
    backoff_s=0.01,
    backoff_max_s=0.05,
)
NO_BUDGET = BudgetSettings(max_usd=None, max_calls=None, max_tokens=None)
ASKED = {"effort": "high"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "d",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    }
    for name in ("list_files", "read")
]
LIST = ToolCall("c1", "list_files", "{}")
READ = ToolCall("c2", "read", '{"path": "a"}')
PNG = Image("image/png", b"\x89PNG a page")


def a_model(base, **changes):
    """Settings of a model at `base`; fields that no test here reads are None."""
    fields = {field.name: None for field in dataclasses.fields(ModelSettings)}
    fields |= {
        "label": "writer",
        "transport": Transport.openai_http,
        "provider": "scripted",
        "name": "writer-1",
        "api_base": base,
        "max_tokens_field": "max_tokens",
        "price": Price(2.0, 10.0, "2026-11-01"),
        "efforts": {},
        "parameters": {},
        "headers": {},
    }
    return ModelSettings(**(fields | changes))


def a_request(prompt="Write the brief.", base="http://127.0.0.1:9/v1", seed=1, **parameters):
    """A request with one system and one user message."""
    return Request(
        transport=parameters.pop("transport", "openai_http"),
        model=parameters.pop("model", "writer-1"),
        api_base=base,
        messages=(Message("system", "You are a staff officer."), Message("user", prompt)),
        parameters=parameters,
        seed=seed,
    )


def prompts(count, base, **parameters):
    """Requests for `prompt 0`, `prompt 1` and so on."""
    return [a_request(f"prompt {number}", base, **parameters) for number in range(count)]


def a_whole_chat(base, **parameters):
    """A request with everything that a turn may have."""
    return dataclasses.replace(
        a_request(base=base, tools=TOOLS, **parameters),
        messages=(
            Message("user", "Write.", images=(PNG,)),
            Message("assistant", "", tool_calls=(LIST,), carried={"reasoning_content": "hm", "n": [1, None]}),
            Message("tool", "a", images=(PNG,), tool_call_id="c1"),
        ),
    )


def a_completion(request, text="The brief.", status=CompletionStatus.complete, detail=""):
    """A completion of `request`."""
    return Completion(
        key=request.key,
        status=status,
        text=text,
        finish_reason="stop",
        provider_model="writer-1-2026",
        usage=Usage(120, 30, 10, 5),
        price_usd=0.00054,
        attempts=(Try("2026-11-29T10:00:00.000+00:00", 1.25, "ok"),),
        asked=ASKED,
        detail=detail,
    )


def an_error(request, detail="http 500: scripted"):
    """A completion without a reply."""
    return dataclasses.replace(
        a_completion(request, None, CompletionStatus.error, detail), finish_reason=None
    )


def a_refusal(request, detail="stopped by the content filter after 0 characters"):
    """A refused completion."""
    return a_completion(request, None, CompletionStatus.refused, detail)


def put(store, *pairs):
    """Store (request, completion) pairs, all at once."""

    async def all_of_them():
        await asyncio.gather(*(store.put(request, completion) for request, completion in pairs))

    asyncio.run(all_of_them())


async def until(condition):
    """Wait for `condition`; the limit is for hangs only."""
    async with asyncio.timeout(120):
        while not condition():  # noqa: ASYNC110 -- of anything, also in other threads
            await asyncio.sleep(0.005)


def a_store(folder, lease_s=30.0):
    """The store in a folder, or a shared one: `ADDRESS FOLDER`."""
    address, _, cache = str(folder).rpartition(" ")
    if not address:
        return CompletionStore(Path(folder))
    return SharedCompletionStore(open_blobs(StoreAddress.of(address)), Path(cache), lease_s=lease_s)


@asynccontextmanager
async def a_client(folder, *, kind=Client, runner=RUNNER, budget=NO_BUDGET, retry=Retry.failed, lease_s=30.0):
    """A client with a store of its own, closed at the end."""
    store = a_store(folder, lease_s)
    client = kind(store, runner, budget, retry)
    try:
        yield client
    finally:
        await client.aclose()
        store.close()


def ask(folder, model, *requests, **client_arguments):
    """Outcomes, or exceptions, of `requests`, sent all at once by a client that lives only for them."""

    async def go():
        async with a_client(folder, **client_arguments) as client:
            calls = (client.complete(request, model, ASKED) for request in requests)
            return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(go())


def segments(folder):
    """The segment files of a store, by name."""
    return sorted(folder.glob("*.jsonl"))


def a_stored(folder, *prompts):
    """A closed store with one answer a prompt, each written by itself; its one segment."""
    opened = CompletionStore(folder)
    for prompt in prompts:
        request = a_request(prompt)
        put(opened, (request, a_completion(request, f"answer to {prompt}")))
    opened.close()
    (segment,) = segments(folder)
    return segment


def an_answer(call):
    return Say(f"answer to {call.prompt}", delay_s=0.02)


def in_turn(*answers):
    """A script: the first answer to the first call, and so on; the last one from then on."""
    return lambda call: answers[min(call.number, len(answers)) - 1]


def outcomes(completion):
    return [attempt.outcome for attempt in completion.attempts]
