"""What a run is configured by: one dataclass for each axis of `conf/`.

Hydra composes the YAML, `flows.__main__` merges it over these types, so that an unknown key or a
wrong type is refused before anything runs. Every field here is read somewhere
(`tests/test_conf.py` looks), and has its default in `conf/`, not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class _Strict:
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
    control = "control"  # the scenario's labelled control of that name
    empty = "empty"  # writes nothing
    remote = "remote"  # a language model behind an endpoint


class Transport(StrEnum):
    """How a remote model is reached."""

    openai_http = "openai_http"  # the OpenAI chat protocol, spoken directly
    litellm = "litellm"  # everything else, by way of litellm


class JudgeKind(StrEnum):
    """Who grades."""

    offline = "offline"  # the deterministic stand-in
    remote = "remote"  # a language model behind an endpoint


class JudgeMode(StrEnum):
    """What is asked of a judge in one call."""

    failed_only = "failed_only"  # the whole rubric, the failed items listed
    all_items = "all_items"  # the whole rubric, every item true or false
    per_item = "per_item"  # one item a call


class Retry(StrEnum):
    """Which stored outcomes are asked again."""

    none = "none"
    failed = "failed"  # calls that ended without a reply
    refused = "refused"  # those, and refusals too


@dataclass(frozen=True)
class BenchmarkSettings(_Strict):
    """Which scenarios.

    Attributes:
        name: of the benchmark; names the results folder.
        data: folder of its scenarios, relative to the project.
        scenarios: ids to run; None for all of them.
    """

    name: str
    data: str
    scenarios: list[str] | None


@dataclass(frozen=True)
class Price(_Strict):
    """List prices in US dollars per million tokens; None where unknown.

    Attributes:
        input_usd: for input tokens.
        output_usd: for output tokens, reasoning included.
        taken: the date they were read, ISO; None where there are none.
    """

    input_usd: float | None = None
    output_usd: float | None = None
    taken: str | None = None


@dataclass(frozen=True)
class ModelSettings(_Strict):
    """One model and how it is called.

    Attributes:
        label: its name in tables and file names.
        writer: who writes.
        transport: how it is reached; ignored unless remote.
        provider: whose limits it shares: calls of one provider count against one limit.
        name: the provider's name of the model; None unless remote.
        api_base: address of the endpoint; None for the provider's own.
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


@dataclass(frozen=True)
class JudgeSettings(ModelSettings):
    """One judge: a model, or the offline stand-in, and how it is asked.

    Attributes:
        kind: who grades.
        effort: how hard it is asked to reason.
        mode: what is asked in one call.
        max_attempts: how often a reply may be rejected before its items are `unparsed`.
        tokens_per_item: room for one item in the reply.
        tokens_thinking: room for reasoning; added to the items' to make the output limit.
        allow_self: True to let a model grade its own briefs; marked in every table.
    """

    kind: JudgeKind
    effort: Effort
    mode: JudgeMode
    max_attempts: int
    tokens_per_item: int
    tokens_thinking: int
    allow_self: bool


@dataclass(frozen=True)
class EffortSettings(_Strict):
    """How hard the writer is asked to reason.

    Attributes:
        level: one of `Effort`.
    """

    level: Effort


@dataclass(frozen=True)
class WordCapSettings(_Strict):
    """How much of a brief is graded.

    Attributes:
        words: number of words kept; None for all of them.
    """

    words: int | None


@dataclass(frozen=True)
class PromptSettings(_Strict):
    """What a writer is told.

    Attributes:
        version: names the prompt in tables; a changed text needs a new one.
        system: first turn.
        user: second turn; `{{assignment}}`, `{{word_limit}}` and `{{packet}}` are filled in.
        word_limit: text for `{{word_limit}}`, with `{{words}}` filled in; left out where `words` is
            None.
        words: the limit that the writer is told, whatever `word_cap` then keeps: so that another
            cap cuts the same briefs again instead of asking for new ones.
    """

    version: str
    system: str
    user: str
    word_limit: str
    words: int | None


@dataclass(frozen=True)
class JudgePromptSettings(_Strict):
    """What a judge is told, by mode.

    Attributes:
        version: names the prompt in tables; a changed text needs a new one.
        system: first turn, the same for every mode.
        failed_only, all_items, per_item: second turn; `{{items}}`, `{{count}}` and `{{brief}}` are
            filled in.
        rejected: what is added after a reply was rejected; `{{fault}}` is filled in.
    """

    version: str
    system: str
    failed_only: str
    all_items: str
    per_item: str
    rejected: str


@dataclass(frozen=True)
class ScoringSettings(_Strict):
    """How verdicts become a score.

    Attributes:
        name: of the weights; names the leaderboard.
        weights: points by severity; negative for wrong moves.
        assumed: severities whose points are not published; printed with every result.
        interval_level: coverage of the interval, within (0, 1).
        resamples: bootstrap resamples where they are drawn at random.
    """

    name: str
    weights: dict[str, float]
    assumed: list[str]
    interval_level: float
    resamples: int


@dataclass(frozen=True)
class RunnerSettings(_Strict):
    """How calls are made.

    Attributes:
        concurrency: calls in flight at once, for each provider.
        requests_per_minute: for each provider; None for no limit.
        tokens_per_minute: for each provider, input and output; None for no limit.
        max_attempts: tries of one call before it counts as failed.
        connect_timeout_s: seconds until a connection must stand.
        idle_timeout_s: seconds without a byte after which a connection is dead.
        total_timeout_s: seconds that one try may take in all.
        backoff_s: first pause after a fault, in seconds; doubled at each further one, with jitter.
        backoff_max_s: longest pause, in seconds.
    """

    concurrency: int
    requests_per_minute: int | None
    tokens_per_minute: int | None
    max_attempts: int
    connect_timeout_s: float
    idle_timeout_s: float
    total_timeout_s: float
    backoff_s: float
    backoff_max_s: float


@dataclass(frozen=True)
class BudgetSettings(_Strict):
    """What a run may spend; None for no limit. Reaching one stops the run, resumable.

    Attributes:
        max_usd: US dollars, summed over the run's paid calls.
        max_calls: paid calls.
        max_tokens: input and output tokens of the run's paid calls.
    """

    max_usd: float | None
    max_calls: int | None
    max_tokens: int | None


@dataclass(frozen=True)
class TrackingSettings(_Strict):
    """Where runs are logged.

    Attributes:
        enabled: False to log nothing.
        experiment: MLflow's name of the experiment.
    """

    enabled: bool
    experiment: str


@dataclass(frozen=True)
class Settings(_Strict):
    """One point of the design, whole.

    Attributes:
        seeds: repeats of each brief.
        retry: which stored outcomes are asked again.
        results: folder that everything is written to, relative to the project.
        (the others): the axes.
    """

    benchmark: BenchmarkSettings
    model: ModelSettings
    effort: EffortSettings
    word_cap: WordCapSettings
    prompt: PromptSettings
    judge: JudgeSettings
    judge_prompt: JudgePromptSettings
    scoring: ScoringSettings
    runner: RunnerSettings
    budget: BudgetSettings
    tracking: TrackingSettings
    seeds: int
    retry: Retry
    results: str
