"""Encode a chat's turns in the OpenAI format, and check that this is possible.

Both transports use this format. It is not part of a request's key: a change of what is sent for an equal
request must increment `PROTOCOL_VERSION`.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from flows.adapters.completions.senders.calls import CALLS
from flows.common.digests import canonical_json
from flows.common.errors import ConfigError
from flows.schema.completion import Image, Message, Request, ToolCall
from flows.schema.settings import ModelSettings, Transport

TOOLS = "tools"  # the request parameter for tools

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_NAME_CHARS = 64

# Fields that the request has elsewhere and, for litellm, those that make it retry, route or drop fields.
_RESERVED: Mapping[Transport, frozenset[str]] = {
    Transport.openai_http: frozenset({"model", "messages", "extra_headers", "headers"}),
    Transport.gguf: frozenset({"model", "messages"}),
    Transport.litellm: frozenset([
        "model", "messages", "api_key", "extra_headers", "headers", "api_base", "base_url", "timeout",
        "max_retries", "num_retries", "fallbacks", "context_window_fallback_dict", "drop_params",
        "additional_drop_params", "mock_response", "caching",
    ]),
}  # fmt: skip


def offers_tools(request: Request) -> bool:
    """Whether the request offers tools."""
    return bool(request.parameters.get(TOOLS))


def chat_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Encode turns in the OpenAI chat format.

    Tool turns only accept text, so their images follow in a user turn after the last answer to the assistant
    turn, each after a line that names its call. Arguments that are not a JSON object, and invalid tool names,
    are replaced by valid ones, as many endpoints reject the whole chat otherwise.
    """
    sent: list[dict[str, Any]] = []
    shown: list[dict[str, Any]] = []  # by consecutive tool turns
    names: dict[str | None, str] = {}
    for message in messages:
        if message.role == "tool":
            sent.append({"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content})
            shown += _captioned(message, names.get(message.tool_call_id, ""))
            continue
        if shown:
            sent.append({"role": "user", "content": shown})
            shown = []
        names |= {call.call_id: call.name for call in message.tool_calls}
        sent.append(_turn(message))
    if shown:
        sent.append({"role": "user", "content": shown})
    return sent


def check_request(request: Request, model: ModelSettings, *, in_batch: bool) -> None:
    """Reject a request that does not fit its model, or that the protocol or the model does not support.

    Raises:
        ConfigError: it is not supported.
    """
    sent = (request.transport, request.model, request.api_base)
    if sent != (model.transport.value, model.name, model.api_base):
        raise ConfigError(  # neither the key nor the reply may be mixed up
            f"model {model.label}",
            f"the request goes to {request.model} at {request.api_base} by {request.transport}",
            f"{model.name} at {model.api_base} by {model.transport.value}",
        )
    if reserved := sorted(_RESERVED[model.transport] & set(request.parameters)):
        raise ConfigError(f"model {model.label}", f"the parameters hold {', '.join(reserved)}")
    where = f"request to {model.label}"
    shows = any(message.images for message in request.messages)
    talks = offers_tools(request) or any(
        message.tool_calls or message.role == "tool" for message in request.messages
    )
    local = model.transport is Transport.gguf
    for wanted, taken, what, field in (
        (shows, model.takes_images, "images", "takes_images"),
        (talks, model.takes_tools, "tools", "takes_tools"),
    ):
        if wanted and (local or not taken):
            raise ConfigError(
                where,
                f"it holds {what}, and "
                + ("a local GGUF file only accepts text" if local else f"{field} is not set"),
                remedy=f"choose a model that takes {what}"
                + ("" if local else f", or set model.{field}=true"),
            )
    if in_batch and offers_tools(request):
        raise ConfigError(
            "runner.batch",
            f"{model.label} is offered tools: each turn would wait for a batch",
            remedy="choose runner=standard",
        )
    fault = _misplaced(request.messages)
    if fault:
        raise ConfigError(where, fault)


def _misplaced(messages: Sequence[Message]) -> str:
    """Describe a misplaced tool answer; empty if there is none."""
    unanswered: list[str] = []
    for number, message in enumerate(messages, 1):
        if fault := _malformed(message):
            return f"turn {number} ({message.role}): {fault}"
        if message.role == "tool":
            if message.tool_call_id not in unanswered:
                return f"turn {number} (tool): nothing asks for {message.tool_call_id!r} before it"
            unanswered.remove(message.tool_call_id)
        elif unanswered:
            break
        else:
            unanswered = [call.call_id for call in message.tool_calls]
    return f"no answer to tool call {', '.join(unanswered)}" if unanswered else ""


def _malformed(message: Message) -> str:
    """Describe a field that the turn's role does not allow; empty if there is none."""
    ids = [call.call_id for call in message.tool_calls]
    carried = message.carried.get(CALLS, ids)
    faults = {
        f"tool_call_id is {message.tool_call_id!r}": (message.tool_call_id is None)
        == (message.role == "tool"),
        "it shows images": bool(message.images) and message.role not in ("user", "tool"),
        "it calls tools": bool(ids) and message.role != "assistant",
        "it carries fields": bool(message.carried) and message.role != "assistant",
        "tool calls without ids of their own": "" in ids or len(set(ids)) < len(ids),
        f"it carries fields of {len(carried)} tool calls, and has {len(ids)}": len(carried) != len(ids),
    }
    return next((fault for fault, found in faults.items() if found), "")


def _turn(message: Message) -> dict[str, Any]:
    content: str | list[dict[str, Any]] | None = message.content
    if message.images:
        content = [{"type": "text", "text": message.content}] if message.content else []
        content += [_shown(image) for image in message.images]
    if not message.tool_calls:
        return {"role": message.role, "content": content, **message.carried}
    carried = dict(message.carried)
    further: Sequence[Mapping[str, Any]] = carried.pop(CALLS, None) or [{} for _ in message.tool_calls]
    return {
        "role": message.role,
        "content": content or None,
        CALLS: [{**_call(call), **more} for call, more in zip(message.tool_calls, further, strict=True)],
        **carried,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    try:
        is_object = isinstance(orjson.loads(call.arguments), dict)
    except orjson.JSONDecodeError:
        is_object = False
    return {
        "id": call.call_id,
        "type": "function",
        "function": {
            "name": _NOT_IN_NAMES.sub("_", call.name)[:_NAME_CHARS],
            "arguments": call.arguments if is_object else canonical_json({"malformed": call.arguments}),
        },
    }


def _captioned(message: Message, name: str) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for number, image in enumerate(message.images, 1):
        caption = f"Image {number} of {len(message.images)} from tool call {message.tool_call_id} ({name}):"
        parts += [{"type": "text", "text": caption}, _shown(image)]
    return parts


def _shown(image: Image) -> dict[str, Any]:
    coded = base64.b64encode(image.data).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:{image.media};base64,{coded}"}}
