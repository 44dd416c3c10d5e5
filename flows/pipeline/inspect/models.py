"""Inspect's models in the place of our client: our requests out, its replies in."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from inspect_ai.model import (
    ChatMessage,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    messages_from_openai,
)
from inspect_ai.tool import ToolInfo, ToolParams
from inspect_ai.util import LimitExceededError

from flows.adapters.completions.client import CallOutcome
from flows.adapters.completions.faults import Fault
from flows.adapters.completions.senders.reply import Reply, read_completion
from flows.adapters.completions.senders.turns import chat_messages
from flows.common.errors import ConfigError, StaffbenchError
from flows.schema.completion import Completion, CompletionStatus, Message, Request, Try, Usage
from flows.schema.settings import ModelSettings

_SAME = "seed temperature top_p top_k reasoning_effort max_tokens frequency_penalty presence_penalty"
_FIELDS = {name: name for name in _SAME.split()} | {
    "max_completion_tokens": "max_tokens",
    "stop": "stop_seqs",
}
"""Our request fields that Inspect has a setting for, by its name."""
_REASONS = {"max_tokens": "length", "model_length": "model_context_window_exceeded", "unknown": None}
"""Inspect's stop reasons that OpenAI's protocol names otherwise."""


def config_of(parameters: Mapping[str, Any]) -> GenerateConfig:
    """Translate the fields of a request; its tools are no setting.

    Raises:
        ConfigError: Inspect has no setting for one of them, and would not send it.
    """
    found: dict[str, Any] = {}
    for name, value in parameters.items():
        if name == "response_format":
            schema = value["json_schema"]
            found["response_schema"] = ResponseSchema(
                name=schema["name"], json_schema=schema["schema"], strict=schema["strict"]
            )
        elif name in _FIELDS:
            found[_FIELDS[name]] = value
        elif name != "tools":
            raise ConfigError(name, "Inspect has no such setting", "one of " + ", ".join(_FIELDS))
    return GenerateConfig(**found)


def completion_of(output: ModelOutput, key: str, *, tools: bool = False, begun: str = "") -> Completion:
    """Read a reply by the rules of our own client: what is complete, cut, refused or none.

    `key` is the request's; `begun`, in ISO 8601, is when it was sent.
    """
    fault = output.error or ""
    try:
        reply = read_completion(_payload(output), tools=tools)
    except Fault as error:
        fault = fault or str(error)
        reply = Reply(CompletionStatus.error, None, None, output.model, Usage(), fault)
    return Completion(
        key=key,
        status=reply.status,
        text=reply.text,
        finish_reason=str(output.stop_reason),
        provider_model=output.model or None,
        usage=reply.usage,
        price_usd=None if output.usage is None else output.usage.total_cost,
        attempts=(Try(begun or datetime.now(UTC).isoformat(), round(output.time or 0.0, 3), fault or "ok"),),
        detail=reply.detail,
        tool_calls=reply.tool_calls,
        fragment=reply.fragment,
    )


def _payload(output: ModelOutput) -> dict[str, Any]:
    """Return the reply in OpenAI's format."""
    if not output.choices:
        return {"choices": []}
    message = output.message
    parts = message.content if isinstance(message.content, list) else []
    refusal = " ".join(part.text for part in parts if isinstance(part, ContentText) and part.refusal)
    reply: dict[str, Any] = {"content": message.text, "refusal": refusal or None}
    if message.tool_calls:
        reply["tool_calls"] = [
            # Inspect has parsed the arguments; of malformed ones only its remark is left, malformed too.
            {"id": call.id, "function": {"name": call.function, "arguments": call.parse_error or text}}
            for call in message.tool_calls
            for text in [json.dumps(call.arguments, ensure_ascii=False)]
        ]
    reason = _REASONS.get(output.stop_reason, output.stop_reason)
    found = {"model": output.model, "choices": [{"finish_reason": reason, "message": reply}]}
    if (used := output.usage) is None:
        return found
    cached = (used.input_tokens_cache_read or 0) + (used.input_tokens_cache_write or 0)
    usage = {
        "prompt_tokens": used.input_tokens + cached,
        "completion_tokens": used.output_tokens,
        "completion_tokens_details": {"reasoning_tokens": used.reasoning_tokens},
        "prompt_tokens_details": {"cached_tokens": used.input_tokens_cache_read},
    }
    return {**found, "usage": usage}


class InspectClient:
    """Has the requests of one sample answered by Inspect's models, in place of `ThreadedClient`.

    Attributes:
        replies: all that were received, in order.
        messages: the chat of the last request and its reply.
        output: the last reply; None before there is one.
    """

    def __init__(self, models: Mapping[str, Model], *, raises: bool) -> None:
        """Set up the client.

        Args:
            models: by the name that requests have.
            raises: True to raise what a model raises, so that Inspect retries or fails the sample; False to
                make it a failed call, as a judge's is.
        """
        self.replies: list[Completion] = []
        self.messages: list[ChatMessage] = []
        self.output: ModelOutput | None = None
        self._models = models
        self._raises = raises
        self._sent: dict[str, ChatMessage] = {}

    async def complete(self, request: Request, _: ModelSettings, asked: Mapping[str, Any]) -> CallOutcome:
        """Have a request answered; see `Client.complete`."""
        begun, start = datetime.now(UTC).isoformat(), time.monotonic()
        tools = [_tool(each["function"]) for each in request.parameters.get("tools", ())]
        messages = await self._chat(request.messages)
        config = config_of(request.parameters)
        try:
            output = await self._models[request.model].generate(messages, tools=tools, config=config)
        except (LimitExceededError, StaffbenchError):
            raise
        except Exception as error:
            if self._raises:
                raise
            output = ModelOutput(model=request.model, error=f"{type(error).__name__}: {error}")
        output.time = output.time or time.monotonic() - start
        completion = replace(completion_of(output, request.key, tools=bool(tools), begun=begun), asked=asked)
        if output.choices:
            self._sent[request.key] = output.message
            completion = replace(completion, carried={"inspect": request.key})
            self.messages, self.output = [*messages, output.message], output
        self.replies.append(completion)
        return CallOutcome(completion, replayed=False)

    def knows(self, _: Request) -> bool:
        """Return False: nothing is stored."""
        return False

    async def _chat(self, messages: Sequence[Message]) -> list[ChatMessage]:
        """Return the turns for Inspect. Its own go back as they came: they hold signed reasoning."""
        own = iter([self._sent[str(turn.carried["inspect"])] for turn in messages if turn.carried])
        sent = chat_messages([replace(turn, carried={}) for turn in messages])
        found = await messages_from_openai(cast("Any", sent))
        return [next(own) if message.role == "assistant" else message for message in found]


def _tool(function: Mapping[str, Any]) -> ToolInfo:
    parameters = ToolParams.model_validate(function["parameters"])
    return ToolInfo(name=function["name"], description=function["description"], parameters=parameters)
