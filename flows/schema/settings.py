"""Settings of a run: one dataclass for each axis of `conf/`.

Hydra composes the YAML, and `flows.adapters.config` validates it with pydantic against these types:
unknown keys and wrong types are rejected before anything runs. Defaults are in `conf/`, with few
exceptions here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from flows.schema.models import (
    Count,
    CountOrZero,
    JudgePromptSettings,
    JudgeSettings,
    Limit,
    ModelSettings,
    Positive,
    PositiveOrZero,
    Price,
    PromptSettings,
    Strict,
)
from flows.schema.scenario import Dimensions
from flows.schema.words import (
    Clock,
    ClusterKind,
    Effort,
    Engine,
    Harness,
    IntervalMethod,
    JudgeHarness,
    JudgeKind,
    JudgeMode,
    ProtocolName,
    Refusals,
    Retry,
    Transport,
    Writer,
)

__all__ = [
    "BenchmarkSettings", "BudgetSettings", "Clock", "ClusterKind", "Effort", "EffortSettings", "Engine",
    "Harness", "HarnessSettings", "IntervalMethod", "JudgeHarness", "JudgeKind", "JudgeMode",
    "JudgePromptSettings", "JudgeSettings", "ModelSettings", "Price", "PromptSettings", "ProtocolName",
    "Refusals", "Retry", "RunnerSettings",
    "ScoringSettings", "Settings", "TrackingSettings", "Transport", "WordCapSettings", "Writer",
    "scoring_suffix",
]  # fmt: skip


def scoring_suffix(benchmark: str, scoring: str) -> str:
    """Return what the files of a scoring have in their names: nothing for the benchmark's own weights.

    These are the weights of the two protocols, and a scoring that has the benchmark's name.
    """
    return "" if scoring in ("severity", "points", benchmark) else f".{scoring}"


@dataclass(frozen=True)
class BenchmarkSettings(Strict):
    """Which scenarios.

    Attributes:
        name: the benchmark's name, also of its results folder.
        protocol: the protocol.
        data: folder of its scenarios, relative to the project.
        controls: folder of labelled control reports by task, relative to the project; None if scenarios
            contain their own controls.
        scenarios: ids to run; None for all of them.
        dimensions: how items are classed; None for MA-Bench's steps, tiers and severities.
    """

    name: str
    protocol: ProtocolName
    data: str
    controls: str | None
    scenarios: list[str] | None
    dimensions: Dimensions | None = None


@dataclass(frozen=True)
class HarnessSettings(Strict):
    """The harness and the limits of one attempt.

    Attributes:
        name: the harness. Fields that do not apply to it are None.
        max_steps: replies of the model.
        max_tokens: input and output tokens of all calls, as counted by the provider; None for no limit.
        max_minutes: minutes of one attempt.
        clock: what counts against them.
        nudges: how often a model that stops without a report is reminded of it.
        page_chars: characters of a file per tool answer.
        assumed: which of these are not from the protocol; printed with every model result.
    """

    name: Harness
    max_steps: Count | None
    max_tokens: Count | None
    max_minutes: Positive | None
    clock: Clock | None
    nudges: CountOrZero | None
    page_chars: Count | None
    assumed: list[str]


@dataclass(frozen=True)
class EffortSettings(Strict):
    """The writer's reasoning effort.

    Attributes:
        level: one of `Effort`.
    """

    level: Effort


@dataclass(frozen=True)
class WordCapSettings(Strict):
    """The word cap: how much of a brief is graded.

    Attributes:
        words: number of words kept; None for all of them.
    """

    words: Count | None


@dataclass(frozen=True)
class ScoringSettings(Strict):
    """How verdicts become a score.

    Attributes:
        name: name of the weights and of the leaderboard.
        weights: points by severity, negative for wrong moves. For criteria: empty to use their own points,
            else by `positive` and `negative`.
        clamped: True to clamp each brief's score to [0, 1].
        assumed: severities whose points are not published; printed with every result.
        interval_level: coverage of the interval, within (0, 1).
        resamples: number of random bootstrap resamples.
        interval: method of the interval.
        min_graded: share of a brief's items that must be graded for it to enter the mean, within (0, 1].
        min_coverage: share of the briefs asked for that must enter the mean for it to be shown, within
            [0, 1].
        refusals: how a refused brief is scored.
    """

    name: str
    weights: dict[str, float]
    clamped: bool
    assumed: list[str]
    interval_level: float
    resamples: Annotated[int, Limit(ge=2)]  # a bootstrap compares them
    # Defaults for callers that don't use `conf/`.
    interval: IntervalMethod = IntervalMethod.t
    min_graded: float = 0.95
    min_coverage: float = 0.5
    refusals: Refusals = Refusals.unscored


@dataclass(frozen=True)
class RunnerSettings(Strict):
    """How calls are made.

    Attributes:
        concurrency: calls in flight at once, for each provider.
        requests_per_minute: for each provider; None for no limit.
        tokens_per_minute: for each provider, input and output; None for no limit.
        max_attempts: tries of one call before it fails.
        connect_timeout_s: timeout for connecting, in seconds.
        idle_timeout_s: timeout without data on a connection, in seconds.
        total_timeout_s: timeout for one try, in seconds.
        backoff_s: first pause after a fault, in seconds; doubled each time, with jitter.
        backoff_max_s: longest pause, in seconds.
        batch: True to use the provider's batches: cheaper, done within a day.
        batch_wait_s: seconds without a new call after which a batch is submitted.
        batch_poll_s: seconds between polls of a running batch.
        batch_max_requests: maximum calls per batch.
        engine: where stages are computed.
        scheduler: address of a running Dask scheduler, `tcp://HOST:PORT`; None to start a cluster.
        cluster: who starts the workers; unused with `scheduler`.
        cluster_options: keywords of that cluster's class, as its documentation has them.
        workers: number of worker processes; None for one for each core of this machine.
        chains_per_worker: scenarios that a worker processes at once; None for what fills every call.
        contact: `HOST:PORT` of this process that workers reach, to lease shares of the limits; None for the
            address towards the scheduler and any free port.
    """

    concurrency: Count
    requests_per_minute: Count | None
    tokens_per_minute: Count | None
    max_attempts: Count
    connect_timeout_s: Positive
    idle_timeout_s: Positive
    total_timeout_s: Positive
    backoff_s: PositiveOrZero
    backoff_max_s: PositiveOrZero
    # Defaults for callers that don't use `conf/`: no batches.
    batch: bool = False
    batch_wait_s: float = 10.0
    batch_poll_s: float = 60.0
    batch_max_requests: int = 10_000
    engine: Engine = Engine.process
    scheduler: str | None = None
    cluster: ClusterKind = ClusterKind.local
    cluster_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    workers: Count | None = None
    chains_per_worker: Count | None = None
    contact: str | None = None


@dataclass(frozen=True)
class BudgetSettings(Strict):
    """Spending limits of a run; None for no limit. A call that might exceed one stops the run, resumably.

    Attributes:
        max_usd: US dollars, for all paid calls of the run.
        max_calls: paid calls.
        max_tokens: input and output tokens of the run's paid calls.
    """

    max_usd: PositiveOrZero | None
    max_calls: CountOrZero | None
    max_tokens: CountOrZero | None


@dataclass(frozen=True)
class TrackingSettings(Strict):
    """Logging to MLflow.

    Attributes:
        enabled: False to log nothing.
        experiment: MLflow's name of the experiment.
        traces: how many briefs of one command are logged as traces, shared by its conditions.
        wait_s: seconds to wait at the end for a store that `MLFLOW_TRACKING_URI` names.
    """

    enabled: bool
    experiment: str
    # Defaults for callers that don't use `conf/`.
    traces: CountOrZero = 500
    wait_s: PositiveOrZero = 120.0


@dataclass(frozen=True)
class Settings(Strict):
    """The complete settings of one run.

    Attributes:
        seeds: repeats of each brief.
        retry: which stored outcomes are retried.
        results: output folder, relative to the project.
        store: where paid replies are kept: the address of a store that several machines share, or None for
            the output folder.
        (the others): the axes.
    """

    benchmark: BenchmarkSettings
    harness: HarnessSettings
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
    seeds: Count
    retry: Retry
    results: str
    store: str | None = None
