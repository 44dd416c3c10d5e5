"""A finished run of Harbor, as its own job tree has it, and what it comes to under three rules.

Harbor's words are kept where they differ from ours: its *trial* is our brief with its number (an
attempt), its *task* our scenario, its *criterion* our item. `met` is what the verifier wrote: for a
penalty, True means that the report commits the error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from flows.common.errors import StaffbenchError

HARBOR = "harbor"
"""Harness of imported results; those of our own loop say `native`, and the two are never pooled."""
KNOWN_VERSIONS = ("0.25", "0.26")
"""Versions of Harbor whose trees were tried, to the second number."""
VERIFIER_FAULTS = frozenset(
    {
        "AddTestsDirError",
        "DownloadVerifierDirError",
        "RewardFileEmptyError",
        "RewardFileNotFoundError",
        "VerifierOutputParseError",
        "VerifierTimeoutError",
    }
)
"""Exceptions by which Harbor says that grading failed, not the agent."""
REFUSALS = frozenset({"AgentSafetyRefusalError", "ContentPolicyViolationError"})
"""Exceptions by which Harbor says that the model or its provider refused."""


class HarborError(StaffbenchError):
    """A job tree that can't be read at all."""


class ReportState(StrEnum):
    """What is known of an attempt's report.docx."""

    readable = "readable"
    missing = "missing"  # Harbor or the verifier looked for it and found none
    corrupt = "corrupt"
    empty = "empty"
    unknown = "unknown"  # nobody collected it: no sign that it was missing


class Outcome(StrEnum):
    """What became of an attempt under our rule. Only the first two have a score."""

    scored = "scored"  # the verifier's reward stands
    no_report = "no_report"  # missing, corrupt or empty: 0
    verifier_failed = "verifier_failed"  # there may be a good report; nobody knows its score
    not_verified = "not_verified"  # no verifier ran on it
    interrupted = "interrupted"  # stopped or kept from starting by something that is not the model


@dataclass(frozen=True, slots=True)
class Damage:
    """Something in the tree that was not as it should be, and was passed over or mended.

    Attributes:
        where: path below the job.
        detail: what was found and what was made of it.
    """

    where: str
    detail: str


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception that Harbor recorded.

    Attributes:
        kind: type of the exception.
        message: its message.
        step: name of the step; None for one of the whole trial.
        voids_reward: True where Harbor's policy says that a reward beside it does not count.
    """

    kind: str
    message: str
    step: str | None
    voids_reward: bool


@dataclass(frozen=True, slots=True)
class CriterionVerdict:
    """One criterion of one attempt, as a verifier's file has it.

    Attributes:
        criterion_id: unique within its attempt.
        met: whether the report does what the criterion says; None where the judge failed on it or
            gave a mark between yes and no.
        points: its points, negative for a penalty; None where the file has none.
        is_penalty: None where neither points nor a polarity say.
        text: the criterion's words; empty where the file has none.
        reason: the judge's words; empty where the file has none.
        file: the file, below the trial.
        detail: why `met` is None; empty otherwise.
    """

    criterion_id: str
    met: bool | None
    points: float | None
    is_penalty: bool | None
    text: str
    reason: str
    file: str
    detail: str = ""

    @property
    def passed(self) -> bool | None:
        """As in a verdict: for a penalty, True means that the report did not commit the error."""
        if self.met is None or self.is_penalty is None:
            return None
        return self.met != self.is_penalty


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt at one task.

    Attributes:
        name: of its folder.
        task: short name of the task: what follows the last slash of `task_name`.
        task_name: as Harbor has it.
        task_checksum: of the task's files; None where nothing says.
        attempt: number among the task's attempts by the same system, from 1, by time of start.
        agent, agent_version: None where nothing says.
        model: as Harbor was asked for it; None for an agent without one.
        effort: reasoning effort that the agent was started with; None where it was given none.
        dataset: Harbor's source of the task; None where nothing says.
        started_at: UTC, ISO 8601; None where nothing says.
        has_result: True where result.json could be read.
        is_finished: True where result.json says when it ended.
        agent_ran, verifier_ran: True where a step of it has a time of start.
        reward: the reward; None where there is none, or none that is a finite number.
        reward_source: file that the reward is from; empty without one.
        other_rewards: further keys of the verifier's rewards.
        faults: exceptions of the trial, then of its steps.
        criteria: in the order of the files.
        judges: models that the verifier's files name.
        report: path of the report below the job; None where there is none to open.
        report_state: what is known of it.
        report_detail: why it is not readable; empty otherwise.
    """

    name: str
    task: str
    task_name: str
    task_checksum: str | None
    attempt: int
    agent: str | None
    agent_version: str | None
    model: str | None
    effort: str | None
    dataset: str | None
    started_at: str | None
    has_result: bool
    is_finished: bool
    agent_ran: bool
    verifier_ran: bool
    reward: float | None
    reward_source: str
    other_rewards: Mapping[str, float]
    faults: tuple[Fault, ...]
    criteria: tuple[CriterionVerdict, ...]
    judges: tuple[str, ...]
    report: str | None
    report_state: ReportState
    report_detail: str = ""

    @property
    def system(self) -> tuple[str, str, str, str]:
        """Agent, model, effort and dataset: what Harbor's means, and our conditions, are about."""
        return (self.agent or "", self.model or "", self.effort or "", self.dataset or "")

    @property
    def has_valid_reward(self) -> bool:
        """True where Harbor 0.26 counts the reward."""
        return self.reward is not None and not any(fault.voids_reward for fault in self.faults)


@dataclass(frozen=True, slots=True)
class ReportedMean:
    """A mean as Harbor wrote it into the job's result.json.

    Attributes:
        key: Harbor's name of agent, model and dataset.
        mean: None where it wrote none.
        n_trials: trials that it counts as having a reward; None where it does not say.
    """

    key: str
    mean: float | None
    n_trials: int | None


@dataclass(frozen=True, slots=True)
class HarborJob:
    """A job tree.

    Attributes:
        name: of its folder.
        job_id: Harbor's id; None where nothing says.
        version: of the Harbor that wrote it; None where nothing says.
        trials: by task, then system, then attempt.
        n_planned: trials that the job was to have; None where nothing says.
        reported: its own means.
        damage: everything that was not as it should be.
    """

    name: str
    job_id: str | None
    version: str | None
    trials: tuple[Trial, ...]
    n_planned: int | None
    reported: tuple[ReportedMean, ...]
    damage: tuple[Damage, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class AttemptScore:
    """One attempt under our rule.

    Attributes:
        trial: the attempt.
        outcome: what became of it.
        score: unclamped; from the criteria where they are whole and agree with the reward, else the
            reward. None unless `scored` or `no_report`.
        clamped: the reward within [0, 1]; None where `score` is.
        detail: why there is no score, or why it is 0 without a reward; or how the criteria disagree
            with the reward. Empty otherwise.
    """

    trial: Trial
    outcome: Outcome
    score: float | None
    clamped: float | None
    detail: str


@dataclass(frozen=True, slots=True)
class SystemSummary:
    """What one system's attempts come to, under three rules.

    Attributes:
        agent, model, effort, dataset: the system; empty where nothing says.
        attempts: by task and attempt.
        reported: the mean in the job's own result.json; None where there is none for this system.
        mean_0_25: over attempts, one without a reward counting as 0 (Harbor 0.25).
        mean_0_26: over attempts with a reward that counts (Harbor 0.26).
        ours: attempts averaged within a task, then tasks; an attempt without a score left out.
        ours_low, ours_high: `ours`, every attempt without a score counting as 0, or as 1.
        by_task: `ours` of each task.
        n_tasks: tasks with a score.
        counts: attempts by outcome.
    """

    agent: str
    model: str
    effort: str
    dataset: str
    attempts: tuple[AttemptScore, ...]
    reported: float | None
    mean_0_25: float | None
    mean_0_26: float | None
    ours: float | None
    ours_low: float | None
    ours_high: float | None
    by_task: Mapping[str, float | None]
    n_tasks: int
    counts: Mapping[Outcome, int]
