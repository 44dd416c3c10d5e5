"""What a run is configured by: one dataclass for each axis of `conf/`.

Hydra composes the YAML, `flows.__main__` merges it over these types, so that an unknown key or a
wrong type is refused before anything runs. Every field here is read somewhere
(`tests/test_presets.py` looks), and has its default in `conf/`, not here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from flows.schema.models import (
    Effort,
    JudgeKind,
    JudgeMode,
    JudgeSettings,
    ModelSettings,
    Price,
    Strict,
    Transport,
    Writer,
)

__all__ = [
    "DEFAULT_SCORINGS",
    "BenchmarkSettings",
    "BudgetSettings",
    "Effort",
    "EffortSettings",
    "Harness",
    "HarnessSettings",
    "JudgeKind",
    "JudgeMode",
    "JudgePromptSettings",
    "JudgeSettings",
    "ModelSettings",
    "Price",
    "PromptSettings",
    "ProtocolName",
    "Retry",
    "RunnerSettings",
    "ScoringSettings",
    "Settings",
    "TrackingSettings",
    "Transport",
    "WordCapSettings",
    "Writer",
]


DEFAULT_SCORINGS = ("severity", "points")
"""The weights of the two protocols: their leaderboards need no more name than the benchmark's."""


class Retry(StrEnum):
    """Which stored outcomes are asked again."""

    none = "none"
    unparsed = "unparsed"  # questions of a judge whose every reply was rejected
    failed = "failed"  # those, and calls that ended without a reply
    partial = "partial"  # those, and texts that nobody knows to be whole: they are paid for again
    refused = "refused"  # what `failed` asks again, and refusals too


class ProtocolName(StrEnum):
    """What a scenario is, what is written on it and how that is graded."""

    ma_bench = "ma_bench"  # a packet and a rubric; briefs as text
    mission_report = "mission_report"  # a task tree; reports as Word files, graded beside the expert's


class Harness(StrEnum):
    """How a model is led to what it writes. Results of two harnesses are never pooled."""

    single_prompt = "single_prompt"  # one prompt with the whole packet, one reply
    native = "native"  # our own loop of tool calls in a scratch folder


@dataclass(frozen=True)
class BenchmarkSettings(Strict):
    """Which scenarios.

    Attributes:
        name: of the benchmark; names the results folder.
        protocol: what its scenarios are.
        data: folder of its scenarios, relative to the project.
        controls: folder of labelled control reports by task, relative to the project; None where
            scenarios hold their own controls.
        scenarios: ids to run; None for all of them.
    """

    name: str
    protocol: ProtocolName
    data: str
    controls: str | None
    scenarios: list[str] | None


@dataclass(frozen=True)
class HarnessSettings(Strict):
    """How a model is led to what it writes, and the limits of one attempt.

    Attributes:
        name: which harness. All else is None where it has no such thing.
        max_steps: replies of the model.
        max_tokens: input and output tokens of all its calls, as the provider counted them; None for
            no limit.
        max_minutes: minutes, summed over its calls.
        nudges: how often a model that stops without a report is told that there is none.
        page_chars: characters of a file in one answer.
        assumed: which of these are not the protocol's; printed with every result of a model.
    """

    name: Harness
    max_steps: int | None
    max_tokens: int | None
    max_minutes: float | None
    nudges: int | None
    page_chars: int | None
    assumed: list[str]


@dataclass(frozen=True)
class EffortSettings(Strict):
    """How hard the writer is asked to reason.

    Attributes:
        level: one of `Effort`.
    """

    level: Effort


@dataclass(frozen=True)
class WordCapSettings(Strict):
    """How much of a brief is graded.

    Attributes:
        words: number of words kept; None for all of them.
    """

    words: int | None


@dataclass(frozen=True)
class PromptSettings(Strict):
    """What a writer is told.

    Attributes:
        version: names the prompt in tables; a changed text needs a new one.
        system: first turn.
        user: second turn; `{{assignment}}`, `{{word_limit}}` and `{{packet}}` are filled in, and by
            the native harness `{{assignment}}` and `{{files}}`.
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
class JudgePromptSettings(Strict):
    """What a judge is told, by mode.

    Attributes:
        version: names the prompt in tables; a changed text needs a new one.
        system: first turn, the same for every mode.
        failed_only, all_items, per_item: second turn; `{{items}}`, `{{count}}` and `{{brief}}` are
            filled in, and where reports are graded `{{reference}}`.
        rejected: what is added after a reply was rejected; `{{fault}}` is filled in.
    """

    version: str
    system: str
    failed_only: str
    all_items: str
    per_item: str
    rejected: str


@dataclass(frozen=True)
class ScoringSettings(Strict):
    """How verdicts become a score.

    Attributes:
        name: of the weights; names the leaderboard.
        weights: points by severity; negative for wrong moves. Of criteria: empty where each has its
            own, else by `positive` and `negative`.
        clamped: True where each brief's score counts within [0, 1].
        assumed: severities whose points are not published; printed with every result.
        interval_level: coverage of the interval, within (0, 1).
        resamples: bootstrap resamples where they are drawn at random.
    """

    name: str
    weights: dict[str, float]
    clamped: bool
    assumed: list[str]
    interval_level: float
    resamples: int


@dataclass(frozen=True)
class RunnerSettings(Strict):
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
        batch: True to send calls as the provider's batches: cheaper, and done within a day.
        batch_wait_s: a batch goes out when no call has joined it for so many seconds.
        batch_poll_s: seconds between two looks at a batch that is under way.
        batch_max_requests: calls in one batch, at most.
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
    # Their defaults say that batches are off, for whoever makes calls without `conf/`.
    batch: bool = False
    batch_wait_s: float = 10.0
    batch_poll_s: float = 60.0
    batch_max_requests: int = 10_000


@dataclass(frozen=True)
class BudgetSettings(Strict):
    """What a run may spend; None for no limit. A call that might pass one stops the run, resumable.

    Attributes:
        max_usd: US dollars, summed over the run's paid calls.
        max_calls: paid calls.
        max_tokens: input and output tokens of the run's paid calls.
    """

    max_usd: float | None
    max_calls: int | None
    max_tokens: int | None


@dataclass(frozen=True)
class TrackingSettings(Strict):
    """Where runs are logged.

    Attributes:
        enabled: False to log nothing.
        experiment: MLflow's name of the experiment.
    """

    enabled: bool
    experiment: str


@dataclass(frozen=True)
class Settings(Strict):
    """One point of the design, whole.

    Attributes:
        seeds: repeats of each brief.
        retry: which stored outcomes are asked again.
        results: folder that everything is written to, relative to the project.
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
    seeds: int
    retry: Retry
    results: str
