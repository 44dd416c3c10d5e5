"""Settings of models, judges and their prompts, and the kinds of numbers in settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from flows.schema.words import Effort, JudgeHarness, JudgeKind, JudgeMode, Transport, Writer


class Strict:
    """Base class that makes pydantic reject unknown keys."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 -- pydantic reads it from the class


class Limit:
    """A range that pydantic checks, by its names `gt` and `ge`."""

    def __init__(self, **limits: float) -> None:
        self._limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of the number with the range."""
        return {**handler(source), **self._limits}


Count = Annotated[int, Limit(gt=0)]
"""From 1."""
CountOrZero = Annotated[int, Limit(ge=0)]
Positive = Annotated[float, Limit(gt=0.0)]
"""Above 0."""
PositiveOrZero = Annotated[float, Limit(ge=0.0)]


@dataclass(frozen=True)
class Price(Strict):
    """List prices in US dollars per million tokens; None if unknown.

    Attributes:
        input_usd: for input tokens.
        output_usd: for output tokens, reasoning included.
        taken: ISO date of the prices; None if there are none.
        batch_factor: factor on all prices in a provider's batch; None if unknown.
        above_tokens: input tokens above which a call costs `above_input_usd` and `above_output_usd` instead;
            None if every call costs the same.
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
    """A model and how it is called.

    Attributes:
        label: its name in tables and file names.
        writer: the kind of writer.
        transport: how it is reached; ignored unless remote.
        provider: name of the provider, whose models share one set of limits.
        name: the provider's name of the model; None unless remote.
        api_base: address of the endpoint; None for the provider's default. For a GGUF file its path, or
            `package:NAME` for the one in an installed package.
        api_key_env: environment variable that holds the key; None if none is needed.
        context_tokens: context length, input and output; None if unknown.
        output_tokens: maximum output, including reasoning; None if unknown.
        max_tokens_field: name of the request field for the output limit.
        price: list prices.
        benchmark_effort: what `effort=benchmark` means: the paper's `medium` if supported, else `default`.
        efforts: request fields by supported effort.
        parameters: further request fields, sent unchanged.
        send_seed: True if the endpoint accepts a seed.
        stream: True to receive the reply as it is written.
        structured_output: True if the endpoint accepts a JSON schema for the reply.
        folder: folder of the briefs; None unless `files`.
        note: a note on this model for readers of a table; may be empty.
        headers: further request headers, each with the environment variable of its value, which is never
            stored.
        takes_images: True if it accepts images.
        takes_tools: True if it supports tool calls.
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
    # Last, as they have defaults: presets that don't say otherwise support neither.
    takes_images: bool = field(default=False, kw_only=True)
    takes_tools: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class JudgeSettings(ModelSettings):
    """One judge: a model, the offline stand-in or a panel, and how it is asked.

    A panel has members instead of a model: only `label`, `mode`, `harness`, `allow_self`, `repeat`,
    `canaries`, `members` and `quorum` mean anything for it.

    Attributes:
        kind: who grades.
        effort: the reasoning effort.
        mode: what one call asks for. For a panel, the mode of each member that lists only failed items.
        max_attempts: rejected replies before the items are `unparsed`.
        tokens_per_item: output tokens for one item.
        tokens_thinking: output tokens for reasoning, added to those for the items.
        allow_self: True to let a model, or a panel's member, grade its own briefs; marked in every table.
        repeat: how often each question is asked, each time with another seed; the majority decides. For
            a panel, the minimum for each remote member.
        canaries: True to add two items with known verdicts; a reply that gets one wrong is rejected. For a
            panel, applies to each remote member.
        harness: the form of its calls; of the benchmarks only MissionReport has both. For a panel, the form
            for every member that takes tools.
        max_steps: replies of an agent on one report.
        members: a panel's judges, by a name that is only used in the configuration.
        quorum: how many members must have a verdict on an item for the panel to have one; None for more
            than half.
        quotes: True to ask for a quote of the brief for each item that is met; a reply with one that is not
            in the brief is rejected. For a panel, set it on its members.
    """

    kind: JudgeKind
    effort: Effort
    mode: JudgeMode
    max_attempts: Count
    tokens_per_item: CountOrZero
    tokens_thinking: CountOrZero
    allow_self: bool
    repeat: Count
    canaries: bool
    harness: JudgeHarness = JudgeHarness.single_call
    max_steps: Count = 40
    # Only a panel's preset has these two: setting one on another judge is rejected.
    members: dict[str, JudgeSettings] = field(default_factory=dict[str, "JudgeSettings"])
    quorum: int | None = None
    quotes: bool = False


@dataclass(frozen=True)
class PromptSettings(Strict):
    """The prompt for a writer.

    Attributes:
        version: names the prompt in tables; change it with the text.
        system: first turn.
        user: second turn; `{{assignment}}`, `{{word_limit}}` and `{{packet}}` are filled in; for
            the native harness `{{assignment}}` and `{{files}}`.
        word_limit: text for `{{word_limit}}`, with `{{words}}` filled in; omitted if `words` is None.
        words: the limit stated in the prompt, independent of `word_cap`, so that another cap reuses
            the same briefs.
        additions: what it asks for beyond the published prompt; printed with every model result.
    """

    version: str
    system: str
    user: str
    word_limit: str
    words: Count | None
    additions: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgePromptSettings(Strict):
    """The prompts for a judge, by mode.

    Attributes:
        version: names the prompt in tables; change it with the text.
        system: first turn, the same for every mode.
        failed_only, all_items, per_item: second turn; `{{items}}`, `{{count}}` and `{{brief}}` are
            filled in, and for reports `{{reference}}`.
        rejected: text added after a rejected reply; `{{fault}}` is filled in.
        quotes: text added to the second turn with `judge.quotes`; empty if the prompt has none.
        agent: second turn of a judge that opens the reports itself; `{{items}}`, `{{count}}` and `{{files}}`
            are filled in. Empty if the prompt has none.
    """

    version: str
    system: str
    failed_only: str
    all_items: str
    per_item: str
    rejected: str
    quotes: str = ""
    agent: str = ""
