"""Inspect's models in the place of our client: our requests out, its replies in."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.tool import ToolCall as InspectToolCall
from inspect_ai.tool import ToolInfo, ToolParams
from inspect_ai.util import LimitExceededError

from flows.adapters.completions.client import CallOutcome
from flows.adapters.completions.faults import Fault
from flows.adapters.completions.reply import read_completion
from flows.common.errors import ConfigError, StaffbenchError
from flows.schema.completion import Completion, CompletionStatus, Message, Request, Try, Usage
from flows.schema.settings import ModelSettings

_FIELDS = {
    **{name: name for name in ("seed", "temperature", "top_p", "top_k", "reasoning_effort", "max_tokens")},
    **{name: name for name in ("frequency_penalty", "presence_penalty", "parallel_tool_calls")},
    "max_completion_tokens": "max_tokens",
    "stop": "stop_seqs",
}
"""Our request fields that Inspect has a setting for, by its name."""
_REASONS = {"max_tokens": "length", "model_length": "model_context_window_exceeded", "unknown": None}
"""Inspect's stop reasons that OpenAI's protocol names otherwise."""
_ORIGINAL = "inspect_message"
"""Key of `carried`: Inspect's id of the turn, which holds signed reasoning as its provider needs it back."""


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
            raise ConfigError(
                name, "Inspect has no setting of that kind", "one of " + ", ".join(_FIELDS), "remove it"
            )
    return GenerateConfig(**found)


def chat_of(messages: Sequence[Message], sent: Mapping[str, ChatMessage] = {}) -> list[ChatMessage]:
    """Translate the turns of a request; `sent` are Inspect's own turns by id, which are sent as they were."""
    found: list[ChatMessage] = []
    names: dict[str | None, str] = {}
    for message in messages:
        names |= {call.call_id: call.name for call in message.tool_calls}
        content = _content(message)
        match message.role:
            case "system":
                found.append(ChatMessageSystem(content=content))
            case "user":
                found.append(ChatMessageUser(content=content))
            case "tool":
                name = names.get(message.tool_call_id)
                found.append(
                    ChatMessageTool(content=content, tool_call_id=message.tool_call_id, function=name)
                )
            case _:
                found.append(sent[str(message.carried[_ORIGINAL])])
    return found


def _content(message: Message) -> str | list[Content]:
    if not message.images:
        return message.content
    images = [
        ContentImage(image=f"data:{image.media};base64,{base64.b64encode(image.data).decode()}")
        for image in message.images
    ]
    return [ContentText(text=message.content), *images]


def completion_of(output: ModelOutput, key: str, *, tools: bool = False, begun: str = "") -> Completion:
    """Read a reply by the rules of our own client: what is complete, cut, refused or none.

    Args:
        output: the reply.
        key: of the request.
        tools: whether tools were offered.
        begun: when it was asked for, ISO 8601.
    """
    usage = output.usage
    tried = Try(begun or datetime.now(UTC).isoformat(), round(output.time or 0.0, 3), "ok")
    try:
        reply = read_completion(_payload(output), tools=tools)
    except Fault as fault:
        tried = replace(tried, outcome=str(fault))
        reply = None
    return Completion(
        key=key,
        status=CompletionStatus.error if reply is None else reply.status,
        text=None if reply is None else reply.text,
        finish_reason=str(output.stop_reason),
        provider_model=output.model or None,
        usage=Usage() if reply is None else reply.usage,
        price_usd=None if usage is None else usage.total_cost,
        attempts=(tried,),
        detail=output.error or tried.outcome if reply is None else reply.detail,
        tool_calls=() if reply is None else reply.tool_calls,
        carried={_ORIGINAL: output.message.id} if output.choices else {},
        fragment="" if reply is None else reply.fragment,
    )


def _payload(output: ModelOutput) -> dict[str, Any]:
    """Return the reply in OpenAI's format."""
    used = output.usage
    usage: dict[str, Any] | None = None
    if used is not None:
        cached = used.input_tokens_cache_read or 0
        usage = {
            "prompt_tokens": used.input_tokens + cached + (used.input_tokens_cache_write or 0),
            "completion_tokens": used.output_tokens,
            "completion_tokens_details": {"reasoning_tokens": used.reasoning_tokens},
            "prompt_tokens_details": {"cached_tokens": used.input_tokens_cache_read},
        }
    if not output.choices:
        return {"choices": []}
    message = output.message
    refusals = (
        [part.text for part in message.content if isinstance(part, ContentText) and part.refusal]
        if isinstance(message.content, list)
        else []
    )
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function, "arguments": _arguments(call)},
        }
        for call in message.tool_calls or ()
    ]
    reason = _REASONS.get(output.stop_reason, output.stop_reason)
    told = {"content": message.text, "refusal": " ".join(refusals) or None}
    choice = {"finish_reason": reason, "message": {**told, **({"tool_calls": calls} if calls else {})}}
    return {"model": output.model, "choices": [choice], "usage": usage}


def _arguments(call: InspectToolCall) -> str:
    # Inspect has parsed them; of malformed ones only its message is left, which is malformed too.
    return call.parse_error or json.dumps(call.arguments, ensure_ascii=False)


class InspectClient:
    """Has requests answered by Inspect's models, in place of `ThreadedClient`. Of one sample.

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
        self._sent: dict[str, ChatMessageAssistant] = {}

    async def complete(self, request: Request, model: ModelSettings, asked: Mapping[str, Any]) -> CallOutcome:  # noqa: ARG002 -- interface
        """Have a request answered; see `Client.complete`."""
        begun, start = datetime.now(UTC).isoformat(), time.monotonic()
        tools = [_tool(tool["function"]) for tool in request.parameters.get("tools", ())]
        messages = chat_of(request.messages, self._sent)
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
        if output.choices:
            self._sent[str(output.message.id)] = output.message
            self.messages, self.output = [*messages, output.message], output
        completion = completion_of(output, request.key, tools=bool(tools), begun=begun)
        completion = replace(completion, asked=asked)
        self.replies.append(completion)
        return CallOutcome(completion, replayed=False)

    def knows(self, request: Request) -> bool:  # noqa: ARG002 -- interface
        """Return False: nothing is stored."""
        return False


def _tool(function: Mapping[str, Any]) -> ToolInfo:
    return ToolInfo(
        name=function["name"],
        description=function["description"],
        parameters=ToolParams.model_validate(function["parameters"]),
    )
