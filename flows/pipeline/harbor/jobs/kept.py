"""The attempts of a job as briefs, with the measurements and the trajectories of those that wrote reports."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from flows.adapters.harbor_jobs.atif import model_calls, read_trajectory
from flows.pipeline.harbor.jobs.parts import Part
from flows.pipeline.harbor.submitted import OpenedSubmission
from flows.pipeline.inputs.submission_check import WORD_RULE
from flows.pipeline.work.reports import read_submitted
from flows.pipeline.work.run_context import RunContext, Submission
from flows.schema.brief import Brief, BriefStatus
from flows.schema.harbor import AttemptScore, SystemSummary
from flows.schema.report_task import ReportFacts, Submitted
from flows.schema.rows import from_row
from flows.schema.scenario import Scenario
from flows.schema.settings import ProtocolName
from flows.stages.harbor_summary import status_of
from flows.stages.truncate import WORD_COUNTER


@dataclass(frozen=True)
class KeptAttempt:
    """What a job kept of one attempt."""

    attempt: AttemptScore  # its score by the job's verifier
    brief: Brief  # the text to grade, or why there is none
    submission: Submission | None  # measurements and trajectory; None for the attempts at a brief
    file: Path | None  # the submitted file; None if there is none


async def kept_attempts(
    context: RunContext, part: Part, system: SystemSummary, job: Path, scenarios: Mapping[str, Scenario]
) -> list[KeptAttempt]:
    """Read what a job kept of a system's attempts, and measure its reports as those of our own runs.

    Tasks that are not among `scenarios` have no limits.
    """
    found: list[KeptAttempt] = []
    for attempt in system.attempts:
        trial = attempt.trial
        brief = _brief(attempt, part.submissions)
        file = job / trial.report if trial.name in part.submissions and trial.report is not None else None
        submission = None
        if part.origin.protocol is ProtocolName.mission_report:
            events = read_trajectory(job, trial.trajectories)
            report = None if file is None else await asyncio.to_thread(_put, context, file)
            submitted = Submitted(
                seed=trial.attempt,
                status=brief.status,
                report=report,
                ended="finished" if trial.is_finished else "not finished",
                n_calls=model_calls(events),
                detail=brief.detail if report is None else "",
            )
            scenario = scenarios.get(trial.task) or Scenario(trial.task, trial.task)  # of another project
            read = await read_submitted(context, scenario, submitted)
            # The verifier's word on the state of a report counts, where it has one.
            facts = replace(from_row(ReportFacts, read["facts"]), status=brief.status.value)
            submission = Submission(facts, events)
            brief = replace(brief, report=report)
        found.append(KeptAttempt(attempt, brief, submission, file))
    return found


def _put(context: RunContext, file: Path) -> str | None:
    return context.reports.put(file.read_bytes()) if file.is_file() and not file.is_symlink() else None


def _brief(attempt: AttemptScore, submissions: Mapping[str, OpenedSubmission]) -> Brief:
    trial = attempt.trial
    submission = submissions.get(trial.name)
    if submission is not None and submission.brief is not None:
        return submission.brief
    why = trial.report_detail or (submission.detail if submission else "")
    status = status_of(trial)
    detail = f"{trial.report_state.value}: {why}"
    if status is BriefStatus.written:  # it was graded there, and its file is not readable here
        status = BriefStatus.error
    if status is BriefStatus.refused and trial.refusal is not None:
        detail = f"{trial.refusal.kind}: {trial.refusal.message}; {detail}"
    text, words = ("", 0) if status is BriefStatus.empty else (None, None)
    return Brief(
        scenario_id=trial.task,
        seed=trial.attempt,
        status=status,
        text=text,
        words_raw=words,
        words_kept=words,
        word_counter=WORD_RULE if trial.origin.protocol is ProtocolName.mission_report else WORD_COUNTER,
        detail=detail,
    )
