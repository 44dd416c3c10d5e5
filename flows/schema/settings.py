"""Settings of a run: one dataclass for each axis of `conf/`.

Hydra composes the YAML, and `flows.adapters.config` validates it with pydantic against these types:
unknown keys and wrong types are rejected before anything runs. Defaults are in `conf/`, with few
exceptions here.
"""

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
    Name,
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
    """Which scenarios."""

    name: str  # the benchmark's name, also of its results folder
    protocol: ProtocolName  # the protocol
    data: str  # folder of its scenarios, relative to the project
    # Folder of labelled control reports by task, relative to the project; None if scenarios contain their own
    # controls.
    controls: str | None
    scenarios: list[str] | None  # ids to run; None for all of them
    # How items are classed; None for MA-Bench's steps, tiers and severities.
    dimensions: Dimensions | None = None


@dataclass(frozen=True)
class HarnessSettings(Strict):
    """The harness and the limits of one attempt."""

    name: Harness  # the harness. Fields that do not apply to it are None.
    max_steps: Count | None  # replies of the model
    # Input and output tokens of all calls, as counted by the provider; None for no limit.
    max_tokens: Count | None
    max_minutes: Positive | None  # minutes of one attempt
    clock: Clock | None  # what counts against them
    nudges: CountOrZero | None  # how often a model that stops without a report is reminded of it
    page_chars: Count | None  # characters of a file per tool answer
    assumed: list[str]  # which of these are not from the protocol; printed with every model result


@dataclass(frozen=True)
class EffortSettings(Strict):
    """The writer's reasoning effort."""

    level: Effort  # the model's preset says what is sent for it


@dataclass(frozen=True)
class WordCapSettings(Strict):
    """The word cap: how much of a brief is graded."""

    words: Count | None  # number of words kept; None for all of them


@dataclass(frozen=True)
class ScoringSettings(Strict):
    """How verdicts become a score."""

    name: str  # name of the weights and of the leaderboard
    # Points by severity, negative for wrong moves. For criteria: empty to use their own points, else by
    # `positive` and `negative`.
    weights: dict[str, float]
    clamped: bool  # True to clamp each brief's score to [0, 1]
    assumed: list[str]  # severities whose points are not published; printed with every result
    interval_level: float  # coverage of the interval, within (0, 1)
    # Number of random bootstrap resamples.
    resamples: Annotated[int, Limit(ge=2)]  # a bootstrap compares them
    # Defaults for callers that don't use `conf/`.

    interval: IntervalMethod = IntervalMethod.t  # method of the interval
    # Share of a brief's items that must be graded for it to enter the mean, within (0, 1].
    min_graded: float = 0.95
    # Share of the briefs asked for that must enter the mean for it to be shown, within [0, 1].
    min_coverage: float = 0.5
    refusals: Refusals = Refusals.unscored  # how a refused brief is scored


@dataclass(frozen=True)
class RunnerSettings(Strict):
    """How calls are made."""

    concurrency: Count  # calls in flight at once, for each provider
    requests_per_minute: Count | None  # for each provider; None for no limit
    tokens_per_minute: Count | None  # for each provider, input and output; None for no limit
    max_attempts: Count  # tries of one call before it fails
    connect_timeout_s: Positive  # timeout for connecting, in seconds
    idle_timeout_s: Positive  # timeout without data on a connection, in seconds
    total_timeout_s: Positive  # timeout for one try, in seconds
    backoff_s: PositiveOrZero  # first pause after a fault, in seconds; doubled each time, with jitter
    backoff_max_s: PositiveOrZero  # longest pause, in seconds
    # Defaults for callers that don't use `conf/`: no batches.

    batch: bool = False  # True to use the provider's batches: cheaper, done within a day
    batch_wait_s: PositiveOrZero = 10.0  # seconds without a new call after which a batch is submitted
    batch_poll_s: Positive = 60.0  # seconds between polls of a running batch
    batch_max_requests: Count = 10_000  # maximum calls per batch
    engine: Engine = Engine.process  # where stages are computed
    # Address of a running Dask scheduler, `tcp://HOST:PORT`; None to start a cluster.
    scheduler: str | None = None
    cluster: ClusterKind = ClusterKind.local  # who starts the workers; unused with `scheduler`
    # Keywords of that cluster's class, as its documentation has them.
    cluster_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    workers: Count | None = None  # number of worker processes; None for one for each core of this machine
    # Scenarios that a worker processes at once; None for what fills every call.
    chains_per_worker: Count | None = None
    # `HOST:PORT` of this process that workers reach, to lease shares of the limits; None for the address
    # towards the scheduler and any free port.
    contact: str | None = None


@dataclass(frozen=True)
class BudgetSettings(Strict):
    """Spending limits of a run; None for no limit. A call that might exceed one stops the run, resumably."""

    max_usd: PositiveOrZero | None  # US dollars, for all paid calls of the run
    max_calls: CountOrZero | None  # paid calls
    max_tokens: CountOrZero | None  # input and output tokens of the run's paid calls


@dataclass(frozen=True)
class TrackingSettings(Strict):
    """Logging to MLflow."""

    enabled: bool  # False to log nothing
    experiment: Name  # MLflow's name of the experiment
    # Defaults for callers that don't use `conf/`.

    traces: CountOrZero = 100  # how many briefs of one command are logged as traces, shared by its conditions
    wait_s: PositiveOrZero = 120.0  # seconds to wait at the end for a store that `MLFLOW_TRACKING_URI` names


@dataclass(frozen=True)
class Settings(Strict):
    """The complete settings of one run: the axes, and what belongs to none."""

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
    seeds: Count  # repeats of each brief
    retry: Retry  # which stored outcomes are retried
    results: str  # output folder, relative to the project
    # Where paid replies are kept: the address of a store that several machines share, or None for the output
    # folder.
    store: str | None = None
