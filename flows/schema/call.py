"""Build requests from settings. The only place that maps an effort to request fields."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from flows.common.digests import canonical_json
from flows.common.errors import ConfigError
from flows.schema.completion import Completion, Message, Request
from flows.schema.settings import Effort, ModelSettings, Retry

CHARACTERS_PER_TOKEN = 4
"""Estimate for English prose, used until a provider has counted."""
TOKENS_PER_IMAGE = 1600
"""Estimate, about width x height / 750 for the largest image that Anthropic's older models take."""

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


def render(template: str, values: Mapping[str, str]) -> str:
    """Fill `{{name}}` placeholders in one pass, so placeholders in inserted text are not filled.

    Raises:
        ConfigError: the template has an unknown placeholder.
    """

    def fill(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in values:
            raise ConfigError(
                "prompt",
                f"unknown placeholder {{{{{name}}}}}",
                "one of " + ", ".join(f"{{{{{value}}}}}" for value in values),
            )
        return values[name]

    return _PLACEHOLDER.sub(fill, template)


def build_call(
    model: ModelSettings,
    effort: Effort,
    messages: Sequence[Message],
    seed: int,
    *,
    output_tokens: int | None = None,
    response_format: Mapping[str, Any] | None = None,
) -> Request:
    """Build the request for one completion.

    `seed` is the number of the repeat, from 1; `output_tokens` what a reply may need. `response_format`, a
    JSON schema, is sent only if the model supports one.

    Raises:
        ConfigError: the model does not support that effort, or has no name.
    """
    if not model.name:
        raise ConfigError(
            f"model {model.label}", "no name of a model", remedy="set model.name=... (or judge.name=...)"
        )
    fields = model.efforts.get(effort.value)
    if fields is None:
        raise ConfigError(
            f"effort={effort.value}",
            f"{model.label} does not take this effort",
            "one of " + ", ".join(model.efforts),
            "choose one of them; effort=default sends nothing and is recorded as the provider's default",
        )
    parameters: dict[str, Any] = {**model.parameters, **fields}
    limits = [limit for limit in (output_tokens, model.output_tokens) if limit is not None]
    if limits:
        parameters[model.max_tokens_field] = min(limits)
    if model.send_seed:
        parameters["seed"] = seed
    if response_format is not None and model.structured_output:
        parameters["response_format"] = dict(response_format)
    if model.stream:
        parameters["stream"] = True
        parameters["stream_options"] = {"include_usage": True}
    return Request(
        transport=model.transport.value,
        model=model.name,
        api_base=model.api_base,
        messages=tuple(messages),
        parameters=parameters,
        seed=seed,
    )


ASKED_AGAIN: Mapping[Retry, frozenset[str]] = {
    Retry.none: frozenset(),
    Retry.unparsed: frozenset({"unparsed"}),
    Retry.failed: frozenset({"error", "unparsed"}),
    Retry.partial: frozenset({"error", "unparsed", "partial"}),
    Retry.refused: frozenset({"error", "unparsed", "refused"}),
}
"""Statuses of calls, briefs and verdicts that `retry` asks again."""


def stands(completion: Completion, retry: Retry) -> bool:
    """Whether a stored completion is final; otherwise the request is sent again."""
    return completion.status.value not in ASKED_AGAIN[retry]


def estimated_input_tokens(request: Request) -> int:
    """Estimate the tokens of a request's texts, tools and images, rounded up."""
    characters = images = 0
    for turn in request.messages:
        characters += len(turn.content)
        characters += sum(len(call.name) + len(call.arguments) for call in turn.tool_calls)
        characters += len(canonical_json(dict(turn.carried))) if turn.carried else 0
        images += len(turn.images)
    if tools := request.parameters.get("tools"):
        characters += len(canonical_json(tools))
    return -(-characters // CHARACTERS_PER_TOKEN) + images * TOKENS_PER_IMAGE
