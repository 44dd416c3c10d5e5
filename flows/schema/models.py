"""How a model and a judge are configured, and the words that their presets use."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Strict:
    """Makes pydantic refuse unknown keys when it reads a dataclass from YAML."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 -- pydantic reads it from the class


class Effort(StrEnum):
    """How hard a model is asked to reason. What is sent for each is in the model's preset."""

    default = "default"  # nothing is sent: the provider decides, and the table says so
    none = "none"
    minimal = "minimal"
    low = "low"
    medium = "medium"
    high = "high"
    max = "max"


class Writer(StrEnum):
    """Who writes the briefs."""

    extractive = "extractive"  # chooses sentences from the packet; no model
    files = "files"  # briefs that lie in a folder
    control = "control"  # the scenario's control of that name; of a task `oracle` is the expert's report
    empty = "empty"  # writes nothing: an empty text, or a valid report without a word
    absent = "absent"  # hands in no report
    corrupt = "corrupt"  # hands in a report that does not open
    remote = "remote"  # a language model behind an endpoint


class Transport(StrEnum):
    """How a remote model is reached."""

    openai_http = "openai_http"  # the OpenAI chat protocol, spoken directly
    litellm = "litellm"  # everything else, by way of litellm
    gguf = "gguf"  # a GGUF file, served on this machine for as long as the run


class JudgeKind(StrEnum):
    """Who grades."""

    offline = "offline"  # the deterministic stand-in
    remote = "remote"  # a language model behind an endpoint
    panel = "panel"  # the majority of other judges


class JudgeMode(StrEnum):
    """What is asked of a judge in one call."""

    failed_only = "failed_only"  # the whole rubric, the failed items listed
    all_items = "all_items"  # the whole rubric, every item true or false
    per_item = "per_item"  # one item a call


@dataclass(frozen=True)
class Price(Strict):
    """List prices in US dollars per million tokens; None where unknown.

    Attributes:
        input_usd: for input tokens.
        output_usd: for output tokens, reasoning included.
        taken: the date they were read, ISO; None where there are none.
        batch_factor: what both are multiplied by in a provider's batch; None where unknown, and the
            price of a call in one with it.
        above_tokens: input tokens beyond which a call costs `above_input_usd` and `above_output_usd` instead;
            None where every call costs the same.
    """

    input_usd: float | None = None
    output_usd: float | None = None
    taken: str | None = None
    batch_factor: float | None = None
    above_tokens: int | None = None
    above_input_usd: float | None = None
    above_output_usd: float | None = None

    def rates(self, input_tokens: int) -> tuple[float | None, float | None]:
        """Dollars per million input and output tokens of a call with that many input tokens."""
        if self.above_tokens is not None and input_tokens > self.above_tokens:
            return self.above_input_usd, self.above_output_usd
        return self.input_usd, self.output_usd


@dataclass(frozen=True)
class ModelSettings(Strict):
    """One model and how it is called.

    Attributes:
        label: its name in tables and file names.
        writer: who writes.
        transport: how it is reached; ignored unless remote.
        provider: whose limits it shares: calls of one provider count against one limit.
        name: the provider's name of the model; None unless remote.
        api_base: address of the endpoint; None for the provider's own. For a GGUF file its path, or
            `package:NAME` for the one that an installed package carries.
        api_key_env: environment variable that holds the key; None where none is needed.
        context_tokens: what fits in, input and output; None where unknown.
        output_tokens: the most it can write, reasoning included; None where unknown.
        max_tokens_field: name of the request's field for the output limit.
        price: list prices.
        benchmark_effort: what `effort=benchmark` means for it: the paper's `medium` where it takes
            one, `default` elsewhere.
        efforts: for each effort it takes, the fields that are sent.
        parameters: further fields, sent as they are.
        send_seed: True where the endpoint takes a seed.
        stream: True to receive the reply as it is written.
        structured_output: True where the endpoint takes a JSON schema for the reply.
        folder: where the briefs lie; None unless `files`.
        note: what a reader of a table must know about this model; may be empty.
        headers: further headers of each request: for each the environment variable that holds its value,
            which is sent and kept nowhere.
        takes_images: True where it takes images beside the text.
        takes_tools: True where it can be offered tools, and be answered when it asks for one.
    """

    label: str
    writer: Writer
    transport: Transport
    provider: str
    name: str | None
    api_base: str | None
    api_key_env: str | None
    context_tokens: int | None
    output_tokens: int | None
    max_tokens_field: str
    price: Price
    benchmark_effort: Effort
    efforts: dict[str, dict[str, Any]]
    parameters: dict[str, Any]
    send_seed: bool
    stream: bool
    structured_output: bool
    folder: str | None
    note: str
    headers: dict[str, str] = field(default_factory=dict[str, str], kw_only=True)
    # At the end, so that a judge's own fields may follow: what no preset says is that it takes neither.
    takes_images: bool = field(default=False, kw_only=True)
    takes_tools: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class JudgeSettings(ModelSettings):
    """One judge: a model, the offline stand-in or a panel, and how it is asked.

    A panel has members instead of a model: only `label`, `allow_self`, `repeat`, `canaries`,
    `members` and `quorum` mean anything for it.

    Attributes:
        kind: who grades.
        effort: how hard it is asked to reason.
        mode: what is asked in one call.
        max_attempts: how often a reply may be rejected before its items are `unparsed`.
        tokens_per_item: room for one item in the reply.
        tokens_thinking: room for reasoning; added to the items' to make the output limit.
        allow_self: True to let a model grade its own briefs; marked in every table. Of a panel: to
            let any of its members.
        repeat: how often each question is asked, with another seed each time; the majority counts.
            Of a panel: the least for each remote member.
        canaries: True to mix in a pair of items with a known verdict; a reply that gets one wrong is
            rejected. Of a panel: for each remote member.
        members: the judges of a panel, by a name that is only used in the configuration.
        quorum: how many members must have a verdict on an item for the panel to have one; None for
            more than half of them.
    """

    kind: JudgeKind
    effort: Effort
    mode: JudgeMode
    max_attempts: int
    tokens_per_item: int
    tokens_thinking: int
    allow_self: bool
    repeat: int
    canaries: bool
    # Only a panel's preset has these two, so that setting one on another judge is refused.
    members: dict[str, JudgeSettings] = field(default_factory=dict[str, "JudgeSettings"])
    quorum: int | None = None
