"""Split a Harbor job by how its attempts were graded, and open their submissions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flows.adapters.harbor_jobs import Attribution, Origin, read_attributed
from flows.pipeline.harbor.submitted import OpenedSubmission, open_brief, open_report
from flows.schema.harbor import CriterionVerdict, HarborJob, ReportState, SystemSummary, Trial
from flows.schema.report_task import ReportStatus
from flows.schema.settings import ProtocolName
from flows.stages.harbor_summary import lowest_score, reported_key, summarize_job

_STATES = {
    ReportStatus.missing: ReportState.missing,
    ReportStatus.corrupt: ReportState.corrupt,
    ReportStatus.empty: ReportState.empty,
    ReportStatus.readable: ReportState.readable,
}

Criteria = Mapping[str, CriterionVerdict]
"""The criteria of a task, by id."""


@dataclass(frozen=True)
class Part:
    """The attempts of a job that were graded in the same way.

    Attributes:
        job: the job with only these attempts.
        origin: benchmark, protocol, word cap and weights of the grading.
        attributions: by name of the trial.
        submissions: opened submissions, by name of the trial.
        known: the criteria of each task, from all attempts whose verifier wrote them.
        systems: summaries of the attempts.
    """

    job: HarborJob
    origin: Origin
    attributions: Mapping[str, Attribution]
    submissions: Mapping[str, OpenedSubmission]
    known: Mapping[str, Criteria]
    systems: tuple[SystemSummary, ...]

    @property
    def is_clamped(self) -> bool:
        """True if scores are clamped to [0, 1]."""
        return self.origin.protocol is ProtocolName.mission_report

    def low(self, task: str) -> float | None:
        """Return the lowest possible score of a task; None if unknown."""
        return 0.0 if self.is_clamped else lowest_score([*self.known.get(task, {}).values()])


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
    job, attributions = read_attributed(folder)
    submissions = _open_submissions(job, folder.resolve(), attributions, every=every)
    trials = [_with_state(trial, submissions.get(trial.name)) for trial in job.trials]
    by_origin: dict[Origin, list[Trial]] = {}
    for trial in trials:
        by_origin.setdefault(attributions[trial.name].origin, []).append(trial)
    parts: list[Part] = []
    for origin in sorted(by_origin, key=lambda each: tuple(map(str, (each.benchmark, *_terms(each))))):
        graded = by_origin[origin]
        known = _known(graded)
        if origin.protocol is ProtocolName.ma_bench and rubric is not None:
            for task in {trial.task for trial in graded if not trial.has_valid_reward} - set(known):
                known[task] = dict(rubric(origin, task))
        elsewhere = {reported_key(trial) for trial in trials if trial not in graded}
        part = Part(
            # A mean of Harbor over two parts belongs to neither.
            replace(
                job,
                trials=tuple(graded),
                reported=tuple(mean for mean in job.reported if mean.key not in elsewhere),
            ),
            origin,
            attributions,
            submissions,
            known,
            (),
        )
        lows = {task: low for task in {trial.task for trial in graded} if (low := part.low(task)) is not None}
        systems = summarize_job(part.job, None if part.is_clamped else lows)
        parts.append(replace(part, systems=systems))
    return replace(job, trials=tuple(trials)), parts


def _terms(origin: Origin) -> tuple[object, ...]:
    return origin.protocol, origin.word_cap, origin.scoring


def _open_submissions(
    job: HarborJob, root: Path, attributions: Mapping[str, Attribution], *, every: bool
) -> dict[str, OpenedSubmission]:
    found: dict[str, OpenedSubmission] = {}
    for trial in job.trials:
        if trial.report is None or (not every and trial.has_valid_reward):
            continue
        origin, path = attributions[trial.name].origin, root / trial.report
        if origin.protocol is ProtocolName.mission_report:
            found[trial.name] = open_report(trial.task, trial.attempt, path)
        else:
            found[trial.name] = open_brief(trial.task, trial.attempt, path, origin.word_cap)
    return found


def _with_state(trial: Trial, submission: OpenedSubmission | None) -> Trial:
    """Set the report state by our check, unless the verifier recorded one."""
    if submission is None or trial.report_state is not ReportState.readable:
        return trial
    return replace(trial, report_state=_STATES[submission.status], report_detail=submission.detail)


def _known(trials: Sequence[Trial]) -> dict[str, dict[str, CriterionVerdict]]:
    known: dict[str, dict[str, CriterionVerdict]] = {}
    for trial in trials:
        for verdict in trial.criteria:
            known.setdefault(trial.task, {}).setdefault(verdict.criterion_id, verdict)
    return known
