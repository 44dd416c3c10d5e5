"""Settings of models, judges and their prompts, and the kinds of numbers in settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

from flows.schema.words import Effort, JudgeHarness, JudgeKind, JudgeMode, Transport, Writer


class Strict:
    """Base class that makes pydantic reject unknown keys."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 -- pydantic reads it from the class


class Limit:
    """A range that pydantic checks, by its names `gt` and `ge`; of a text's length by `min_length`."""

    def __init__(self, **limits: float) -> None:
        self._limits = limits

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Return the schema of the value with the range."""
        return {**handler(source), **self._limits}


Count = Annotated[int, Limit(gt=0)]
"""From 1."""
CountOrZero = Annotated[int, Limit(ge=0)]
Positive = Annotated[float, Limit(gt=0.0)]
"""Above 0."""
PositiveOrZero = Annotated[float, Limit(ge=0.0)]
Name = Annotated[str, Limit(min_length=1)]
"""Not empty: it stands in tables."""


@dataclass(frozen=True)
class Price(Strict):
    """List prices in US dollars per million tokens; None if unknown."""

    input_usd: PositiveOrZero | None = None  # for input tokens
    output_usd: PositiveOrZero | None = None  # for output tokens, reasoning included
    taken: str | None = None  # ISO date of the prices; None if there are none
    batch_factor: PositiveOrZero | None = None  # factor on all prices in a provider's batch; None if unknown
    # Input tokens above which a call costs `above_input_usd` and `above_output_usd` instead; None if every
    # call costs the same.
    above_tokens: CountOrZero | None = None
    above_input_usd: PositiveOrZero | None = None
    above_output_usd: PositiveOrZero | None = None

    def rates(self, input_tokens: int) -> tuple[float | None, float | None]:
        """Dollars per million input and output tokens of a call with that many input tokens."""
        if self.above_tokens is not None and input_tokens > self.above_tokens:
            return self.above_input_usd, self.above_output_usd
        return self.input_usd, self.output_usd


@dataclass(frozen=True)
class ModelSettings(Strict):
    """A model and how it is called."""

    label: Name  # its name in tables and file names
    writer: Writer  # the kind of writer
    transport: Transport  # how it is reached; ignored unless remote
    provider: str  # name of the provider, whose models share one set of limits
    name: str | None  # the provider's name of the model; None unless remote
    # Address of the endpoint; None for the provider's default. For a GGUF file its path, or `package:NAME`
    # for the one in an installed package.
    api_base: str | None
    api_key_env: str | None  # environment variable that holds the key; None if none is needed
    context_tokens: Count | None  # context length, input and output; None if unknown
    output_tokens: Count | None  # maximum output, including reasoning; None if unknown
    max_tokens_field: str  # name of the request field for the output limit
    price: Price  # list prices
    # What `effort=benchmark` means: the paper's `medium` if supported, else `default`.
    benchmark_effort: Effort
    efforts: dict[str, dict[str, Any]]  # request fields by supported effort
    parameters: dict[str, Any]  # further request fields, sent unchanged
    send_seed: bool  # True if the endpoint accepts a seed
    stream: bool  # True to receive the reply as it is written
    structured_output: bool  # True if the endpoint accepts a JSON schema for the reply
    folder: str | None  # folder of the briefs; None unless `files`
    note: str  # a note on this model for readers of a table; may be empty
    # Further request headers, each with the environment variable of its value, which is never stored.
    headers: dict[str, str] = field(default_factory=dict[str, str], kw_only=True)
    # Last, as they have defaults: presets that don't say otherwise support neither.

    takes_images: bool = field(default=False, kw_only=True)  # True if it accepts images
    takes_tools: bool = field(default=False, kw_only=True)  # True if it supports tool calls


@dataclass(frozen=True)
class JudgeSettings(ModelSettings):
    """One judge: a model, the offline stand-in or a panel, and how it is asked.

    A panel has members instead of a model: only `label`, `mode`, `harness`, `allow_self`, `repeat`,
    `canaries`, `members` and `quorum` mean anything for it.
    """

    kind: JudgeKind  # who grades
    effort: Effort  # the reasoning effort
    # What one call asks for. For a panel, the mode of each member that lists only failed items.
    mode: JudgeMode
    max_attempts: Count  # rejected replies before the items are `unparsed`
    tokens_per_item: CountOrZero  # output tokens for one item
    tokens_thinking: CountOrZero  # output tokens for reasoning, added to those for the items
    allow_self: bool  # True to let a model, or a panel's member, grade its own briefs; marked in every table
    # How often each question is asked, each time with another seed; the majority decides. For a panel, the
    # minimum for each remote member.
    repeat: Count
    # True to add two items with known verdicts; a reply that gets one wrong is rejected. For a panel, applies
    # to each remote member.
    canaries: bool
    # The form of its calls; of the benchmarks only MissionReport has both. For a panel, the form for every
    # member that takes tools.
    harness: JudgeHarness = JudgeHarness.single_call
    max_steps: Count = 40  # replies of an agent on one report
    # Only a panel's preset has these two: setting one on another judge is rejected.

    # A panel's judges, by a name that is only used in the configuration.
    members: dict[str, JudgeSettings] = field(default_factory=dict[str, "JudgeSettings"])
    # How many members must have a verdict on an item for the panel to have one; None for more than half.
    quorum: int | None = None
    # True to ask for a quote of the brief for each item that is met; a reply with one that is not in the
    # brief is rejected. For a panel, set it on its members.
    quotes: bool = False


@dataclass(frozen=True)
class PromptSettings(Strict):
    """The prompt for a writer."""

    version: Name  # names the prompt in tables; change it with the text
    system: str  # first turn
    # Second turn; `{{assignment}}`, `{{word_limit}}` and `{{packet}}` are filled in; for the native harness
    # `{{assignment}}` and `{{files}}`.
    user: str
    word_limit: str  # text for `{{word_limit}}`, with `{{words}}` filled in; omitted if `words` is None
    # The limit stated in the prompt, independent of `word_cap`, so that another cap reuses the same briefs.
    words: Count | None
    # What it asks for beyond the published prompt; printed with every model result.
    additions: tuple[str, ...] = ()


@dataclass(frozen=True)
class JudgePromptSettings(Strict):
    """The prompts for a judge, by mode."""

    version: Name  # names the prompt in tables; change it with the text
    system: str  # first turn, the same for every mode
    # failed_only, all_items, per_item: second turn; `{{items}}`, `{{count}}` and `{{brief}}` are filled in,
    # and for reports `{{reference}}`.
    failed_only: str
    all_items: str
    per_item: str
    rejected: str  # text added after a rejected reply; `{{fault}}` is filled in
    quotes: str = ""  # text added to the second turn with `judge.quotes`; empty if the prompt has none
    # Second turn of a judge that opens the reports itself; `{{items}}`, `{{count}}` and `{{files}}` are
    # filled in. Empty if the prompt has none.
    agent: str = ""
