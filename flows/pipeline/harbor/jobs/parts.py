"""Split a Harbor job by how its attempts were graded, and open their submissions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from pathlib import Path

from flows.adapters.harbor_jobs import read_job
from flows.pipeline.harbor.submitted import OpenedSubmission, open_brief, open_report
from flows.schema.harbor import CriterionVerdict, HarborJob, Origin, ReportState, SystemSummary, Trial
from flows.schema.settings import ProtocolName
from flows.stages.harbor_summary import lowest_score, reported_key, summarize_job

Criteria = Mapping[str, CriterionVerdict]
"""The criteria of a task, by id."""


@dataclass(frozen=True)
class Part:
    """The attempts of a job that were graded in the same way."""

    job: HarborJob  # the job with only these attempts
    origin: Origin  # benchmark, protocol, word cap and weights of the grading
    submissions: Mapping[str, OpenedSubmission]  # opened submissions, by name of the trial
    known: Mapping[str, Criteria]  # the criteria of each task, from all attempts whose verifier wrote them

    @property
    def is_clamped(self) -> bool:
        """True if scores are clamped to [0, 1]."""
        return self.origin.protocol is ProtocolName.mission_report

    def low(self, task: str) -> float | None:
        """Return the lowest possible score of a task; None if unknown."""
        return 0.0 if self.is_clamped else lowest_score([*self.known.get(task, {}).values()])

    @cached_property
    def systems(self) -> tuple[SystemSummary, ...]:
        """Summaries of the attempts."""
        tasks = {trial.task for trial in self.job.trials}
        lows = {task: low for task in tasks if (low := self.low(task)) is not None}
        return summarize_job(self.job, None if self.is_clamped else lows)


def open_parts(
    folder: Path, *, every: bool, rubric: Callable[[Origin, str], Criteria] | None = None
) -> tuple[HarborJob, list[Part]]:
    """Load a job and split it into parts; no mean covers two parts.

    Args:
        folder: of the job.
        every: True to open all submissions; False for only those that a score may depend on.
        rubric: returns the criteria of a task if no verifier wrote them; called only if a bound needs them.

    Raises:
        ConfigError: the folder does not exist.
        HarborError: the folder holds no job.
        ReadError: our reader failed on a report.
    """
    job = read_job(folder)
    root = folder.resolve()
    submissions = {
        trial.name: _open(trial, root / trial.report)
        for trial in job.trials
        if trial.report is not None and (every or not trial.has_valid_reward)
    }
    trials = [_with_state(trial, submissions.get(trial.name)) for trial in job.trials]
    by_origin: dict[Origin, list[Trial]] = {}
    for trial in trials:
        by_origin.setdefault(trial.origin, []).append(trial)
    parts: list[Part] = []
    for origin, graded in sorted(by_origin.items(), key=lambda item: tuple(map(str, astuple(item[0])))):
        known = _known(graded)
        if origin.protocol is ProtocolName.ma_bench and rubric is not None:
            for task in {trial.task for trial in graded if not trial.has_valid_reward} - set(known):
                known[task] = rubric(origin, task)
        # A mean of Harbor over two parts belongs to neither.
        elsewhere = {reported_key(trial) for trial in trials if trial.origin != origin}
        reported = {key: mean for key, mean in job.reported.items() if key not in elsewhere}
        parts.append(Part(replace(job, trials=tuple(graded), reported=reported), origin, submissions, known))
    return job, parts


def _open(trial: Trial, path: Path) -> OpenedSubmission:
    if trial.origin.protocol is ProtocolName.mission_report:
        return open_report(trial.task, trial.attempt, path)
    return open_brief(trial.task, trial.attempt, path, trial.origin.word_cap)


def _with_state(trial: Trial, submission: OpenedSubmission | None) -> Trial:
    """Set the report state by our check, unless the verifier recorded one."""
    if submission is None or trial.report_state is not ReportState.readable:
        return trial
    state = ReportState(submission.status.value)
    return replace(trial, report_state=state, report_detail=submission.detail)


def _known(trials: Sequence[Trial]) -> dict[str, Criteria]:
    known: dict[str, dict[str, CriterionVerdict]] = {}
    for trial in trials:
        for verdict in trial.criteria:
            known.setdefault(trial.task, {}).setdefault(verdict.criterion_id, verdict)
    return {**known}
