"""A finished Harbor job as read from its job tree, and its scores under three rules.

Harbor's terms are kept: a *trial* is our brief with its number (an attempt), a *task* our scenario, a
*criterion* our item. `met` is what the verifier wrote: for a penalty, True means that the report commits
the error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from flows.common.errors import StaffbenchError
from flows.schema.settings import ProtocolName

HARBOR = "harbor"
"""Harness of imported results; our own loop is `native`. The two are never pooled."""
KNOWN_VERSIONS = ("0.25", "0.26")
"""Tested Harbor versions, major and minor number."""
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
"""Harbor's exceptions that mean that grading failed, not the agent."""
REFUSALS = frozenset({"AgentSafetyRefusalError", "ContentPolicyViolationError"})
"""Harbor's exceptions that mean that the model or its provider refused."""


class HarborError(StaffbenchError):
    """A job tree that can't be read."""


class ReportState(StrEnum):
    """What is known about an attempt's report.docx."""

    readable = "readable"
    missing = "missing"  # Harbor or the verifier looked for it and found none
    corrupt = "corrupt"
    empty = "empty"
    unknown = "unknown"  # it was not collected, and nothing says that it was missing


class Outcome(StrEnum):
    """The outcome of an attempt under our rule. Only the first two have a score."""

    scored = "scored"  # has a valid reward
    no_report = "no_report"  # missing, corrupt or empty: 0
    refused = "refused"  # the model or its provider refused, and there is no report
    verifier_failed = "verifier_failed"  # there may be a good report; its score is unknown
    not_verified = "not_verified"  # no verifier ran on it
    interrupted = "interrupted"  # stopped or prevented from starting by something other than the model


@dataclass(frozen=True, slots=True)
class Damage:
    """Something wrong in the tree that was skipped or repaired."""

    where: str  # path within the job
    detail: str  # what was found and how it was handled
    is_fault: bool = True  # False for a file that is not kept with the job and that no reward depends on


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception that Harbor recorded."""

    kind: str  # the exception's type
    message: str
    voids_reward: bool  # True if a reward next to it does not count under Harbor's policy


@dataclass(frozen=True, slots=True)
class CriterionVerdict:
    """One criterion of one attempt, as in a verifier's file."""

    criterion_id: str  # unique within its attempt
    # Whether the report does what the criterion says; None if the judge failed on it or gave a mark between
    # yes and no.
    met: bool | None
    points: float | None  # its points, negative for a penalty; None if not given
    is_penalty: bool | None  # None if neither points nor polarity are given
    text: str  # the criterion; may be empty
    reason: str  # the judge's explanation; may be empty
    file: str  # path within the trial
    detail: str = ""  # why `met` is None; empty otherwise

    @property
    def passed(self) -> bool | None:
        """As in a verdict: for a penalty, True means that the report did not commit the error."""
        if self.met is None or self.is_penalty is None:
            return None
        return self.met != self.is_penalty


@dataclass(frozen=True, slots=True)
class Origin:
    """How an attempt was graded. Attempts of different origins are never pooled."""

    benchmark: str  # name of the results folder
    protocol: ProtocolName  # the protocol; reports are clamped, briefs are not
    word_cap: int | None = None  # word cap of a brief; None for no cap and for reports
    scoring: str | None = None  # name of the weights; None for other verifiers


RELEASED = Origin(ProtocolName.mission_report.value, ProtocolName.mission_report)
"""A task of MissionReport's release, graded by its own verifier."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt at one task."""

    name: str  # name of its folder
    task: str  # short name of the task: what follows the last slash of `task_name`
    task_name: str  # as in Harbor
    task_checksum: str | None  # checksum of the task's files; None if unknown
    attempt: int  # number among the task's attempts by the same system, from 1, by time of start
    # agent, agent_version: None if unknown.
    agent: str | None
    agent_version: str | None
    model: str | None  # as passed to Harbor; None for an agent without one
    effort: str | None  # reasoning effort passed to the agent; None if none was
    dataset: str | None  # Harbor's source of the task; None if unknown
    started_at: str | None  # UTC, ISO 8601; None if unknown
    has_result: bool  # True if result.json could be read
    is_finished: bool  # True if result.json says when it ended
    # agent_ran, verifier_ran: True if one of its steps has a start time.
    agent_ran: bool
    verifier_ran: bool
    reward: float | None  # a finite number; None if there is none
    reward_source: str  # the reward's file; empty without a reward
    faults: tuple[Fault, ...]  # exceptions of the trial, then of its steps, in order
    criteria: tuple[CriterionVerdict, ...]  # in the order of the files
    judges: tuple[str, ...]  # models named in the verifier's files
    report: str | None  # path of the report within the job; None if there is none
    report_state: ReportState  # what is known about it
    report_detail: str = ""  # why it is not readable; empty otherwise
    # Paths of its agent's trajectories within the job, in the order of its steps.
    trajectories: tuple[str, ...] = ()
    origin: Origin = RELEASED  # how it was graded, as recorded by our verifier or inferred
    stand_in: bool = False  # True if our verifier says that the offline judge graded
    # The providers' names of the judge models, from our verifier; may be empty.
    judge_names: tuple[str, ...] = ()

    @property
    def system(self) -> tuple[str, str, str, str]:
        """Agent, model, effort and dataset: what Harbor's means and our conditions describe."""
        return (self.agent or "", self.model or "", self.effort or "", self.dataset or "")

    @property
    def refusal(self) -> Fault | None:
        """The exception that means that the model or its provider refused; None if there is none."""
        return next((fault for fault in self.faults if fault.kind in REFUSALS), None)

    @property
    def has_valid_reward(self) -> bool:
        """True if Harbor 0.26 counts the reward."""
        return self.reward is not None and not any(fault.voids_reward for fault in self.faults)


@dataclass(frozen=True, slots=True)
class HarborJob:
    """A job tree."""

    name: str  # name of its folder
    job_id: str | None  # Harbor's id; None if unknown
    version: str | None  # Harbor's version; None if unknown
    trials: tuple[Trial, ...]  # by task, then system, then attempt
    # The means in its result.json, by Harbor's name of agent, model and dataset.
    reported: Mapping[str, float | None]
    damage: tuple[Damage, ...] = ()  # everything that was wrong in the tree


@dataclass(frozen=True, slots=True)
class AttemptScore:
    """One attempt under our rule."""

    trial: Trial
    outcome: Outcome
    # Unclamped; from the criteria if they are complete and agree with the reward, else the reward. None
    # unless `scored` or `no_report`.
    score: float | None
    clamped: float | None  # the reward within [0, 1]; None if `score` is
    # Why there is no score, why it is 0 without a reward, or how the criteria disagree with the reward. Empty
    # otherwise.
    detail: str


@dataclass(frozen=True, slots=True)
class SystemSummary:
    """The scores of one system's attempts under three rules."""

    # agent, model, effort, dataset: the system; empty if unknown.
    agent: str
    model: str
    effort: str
    dataset: str
    attempts: tuple[AttemptScore, ...]  # by task and attempt
    reported: float | None  # the mean in the job's own result.json; None if there is none for this system
    mean_0_25: float | None  # over all attempts; one without a reward counts as 0 (Harbor 0.25)
    mean_0_26: float | None  # over attempts with a valid reward (Harbor 0.26)
    ours: float | None  # mean of attempts within a task, then of tasks; attempts without a score are left out
    # ours_low, ours_high: `ours` with every attempt without a score counted as 0, or as 1.
    ours_low: float | None
    ours_high: float | None
    by_task: Mapping[str, float | None]  # `ours` of each task
    n_tasks: int  # tasks with a score
    counts: Mapping[Outcome, int]  # attempts by outcome
