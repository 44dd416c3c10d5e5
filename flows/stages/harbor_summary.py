"""Score Harbor attempts under Harbor's two rules and ours.

The rules differ in how they treat an attempt without a reward:

- Harbor 0.25 counts it as 0 and averages over all attempts.
- Harbor 0.26 leaves it out, as well as a reward next to certain exceptions.
- Ours depends on the reason. A report that is missing, corrupt or empty scores 0, as in the published
  scoring. A refusal without a report has no score, as in our own attempts; with a report, the report is
  scored. A failed verifier says nothing about the report: no score, but counted, with bounds. Attempts
  are averaged within a task, then tasks. Reports are clamped to [0, 1], as in MissionReport; briefs are
  not, as in MA-Bench.

Harbor's rules were taken from its installed packages and reproduce the means of two real jobs.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from flows.schema.attempt import End, attempt_status
from flows.schema.brief import BriefStatus
from flows.schema.harbor import (
    VERIFIER_FAULTS,
    AttemptScore,
    CriterionVerdict,
    HarborJob,
    Outcome,
    ReportState,
    SystemSummary,
    Trial,
)

_NO_REPORT = (ReportState.missing, ReportState.corrupt, ReportState.empty)
_TOLERANCE = 1e-3
"""The reward kit rounds to four digits; real differences are far larger."""


def summarize_job(job: HarborJob, lows: Mapping[str, float] | None = None) -> tuple[SystemSummary, ...]:
    """Summarize every system of a job (agent, model, effort, dataset), sorted by name.

    Args:
        job: its attempts at one benchmark.
        lows: None if attempts are clamped to [0, 1]. If unclamped, the lowest possible score by task; other
            tasks have no lower bound.
    """
    systems = sorted({trial.system for trial in job.trials})
    return tuple(_summary(job, [t for t in job.trials if t.system == system], lows) for system in systems)


def reported_key(trial: Trial) -> str:
    """Return Harbor's key of the mean in the job's result that includes this trial."""
    return "__".join(part for part in (trial.agent, trial.model, trial.dataset or "adhoc") if part)


def lowest_score(criteria: Sequence[CriterionVerdict]) -> float | None:
    """Return the unclamped score of a text that meets no requirement and makes every wrong move.

    None unless every criterion has points and those of the requirements sum to more than 0.
    """
    return score_of_criteria([replace(each, met=(each.points or 0) < 0) for each in criteria])


def score_trial(trial: Trial) -> AttemptScore:
    """Score one attempt under our rule."""
    why = _interrupted(trial)
    if why:
        return _unscored(trial, Outcome.interrupted, why)
    reward = trial.reward if trial.has_valid_reward else None
    # A verifier that gave points has seen a report, even if nothing else found one.
    if trial.report_state in _NO_REPORT and not reward:
        if status_of(trial) is BriefStatus.refused and trial.refusal is not None:
            why = f"{trial.refusal.kind}: {trial.refusal.message}"
            return _unscored(trial, Outcome.refused, f"{why}; {_state(trial)}")
        return AttemptScore(trial, Outcome.no_report, 0.0, 0.0, _state(trial))
    if reward is not None:
        return _scored(trial, reward)
    return _unscored(trial, *_ungraded(trial))


def status_of(trial: Trial) -> BriefStatus:
    """Return the status of an attempt by the rule of our own attempts; `error` if its report is unknown."""
    if _interrupted(trial):
        return attempt_status(End.fault, has_report=False)
    known = {ReportState.corrupt: BriefStatus.corrupt, ReportState.empty: BriefStatus.empty}
    if trial.report_state in known:
        return known[trial.report_state]
    if trial.report_state is ReportState.unknown:
        return BriefStatus.error if trial.refusal is None else BriefStatus.refused
    end = End.model if trial.refusal is None else End.refusal
    return attempt_status(end, has_report=trial.report_state is ReportState.readable)


def missed(attempt: AttemptScore) -> list[CriterionVerdict]:
    """Return missed requirements, then triggered penalties, in file order."""
    failed = [verdict for verdict in attempt.trial.criteria if verdict.passed is False]
    return sorted(failed, key=lambda verdict: verdict.is_penalty is True)


def undecided(attempt: AttemptScore) -> list[CriterionVerdict]:
    """Return criteria that are neither passed nor failed: no verdict, or no known polarity."""
    return [verdict for verdict in attempt.trial.criteria if verdict.passed is None]


def score_of_criteria(criteria: Sequence[CriterionVerdict]) -> float | None:
    """Return (points of met requirements - points of met penalties) / points of requirements, unclamped.

    This is the published task reward before clamping (MissionReport, Scoring). None unless every criterion
    has points and a verdict, and those of the requirements sum to more than 0.
    """
    known = [(each.points, each.met) for each in criteria if each.points is not None and each.met is not None]
    total = math.fsum(points for points, _ in known if points > 0)
    if len(known) < len(criteria) or total <= 0:
        return None
    return math.fsum(points for points, met in known if met) / total


def _scored(trial: Trial, reward: float) -> AttemptScore:
    """Score an attempt by its reward; its criteria restore what clamping the reward lost."""
    clamped = min(max(reward, 0.0), 1.0)
    detail = _state(trial)
    own = score_of_criteria(trial.criteria)
    if own is None:
        return AttemptScore(trial, Outcome.scored, reward, clamped, detail)
    if min(abs(own - reward), abs(min(max(own, 0.0), 1.0) - reward)) <= _TOLERANCE:
        # Only the criteria show a score below zero; otherwise the reward is more precise.
        return AttemptScore(trial, Outcome.scored, reward if 0 <= own <= 1 else own, clamped, detail)
    detail += "; " if detail else ""
    detail += f"the verifier's reward is {reward:g}, its criteria come to {own:.4g} by the published scoring"
    return AttemptScore(trial, Outcome.scored, reward, clamped, detail)


def _interrupted(trial: Trial) -> str:
    """Return what, other than the model, interrupted the attempt; empty if nothing did."""
    stopped = [f for f in trial.faults if f.voids_reward and f.kind not in VERIFIER_FAULTS]
    if stopped:
        return f"{stopped[0].kind}: {stopped[0].message}"
    if trial.reward is not None:
        return ""
    if not trial.is_finished:
        return "nothing says that it ended"
    if not trial.agent_ran:
        return "; ".join(["the agent never started", *(f"{f.kind}: {f.message}" for f in trial.faults)])
    return ""


def _ungraded(trial: Trial) -> tuple[Outcome, str]:
    """Return why an attempt that may have a good report has no reward."""
    failed = [fault for fault in trial.faults if fault.kind in VERIFIER_FAULTS]
    if failed:
        return Outcome.verifier_failed, f"{failed[0].kind}: {failed[0].message}"
    if trial.verifier_ran:
        return Outcome.verifier_failed, "the verifier ran and left no reward"
    why = [f"{fault.kind}: {fault.message}" for fault in trial.faults] or [trial.report_detail]
    return Outcome.not_verified, "; ".join(["no verifier ran", *(part for part in why if part)])


def _state(trial: Trial) -> str:
    """Return what is wrong with the report; empty if nothing is known."""
    if trial.report_state not in _NO_REPORT:
        return ""
    return f"{trial.report_state.value}: {trial.report_detail}"


def _unscored(trial: Trial, outcome: Outcome, detail: str) -> AttemptScore:
    return AttemptScore(trial, outcome, None, None, " ".join(detail.split()))


def _summary(job: HarborJob, trials: Sequence[Trial], lows: Mapping[str, float] | None) -> SystemSummary:
    agent, model, effort, dataset = trials[0].system
    attempts = tuple(score_trial(trial) for trial in trials)
    tasks = list(dict.fromkeys(trial.task for trial in trials))

    def scores(task: str, unscored: float | None) -> list[float | None]:
        own = [(a.clamped if lows is None else a.score) for a in attempts if a.trial.task == task]
        return [unscored if score is None else score for score in own]

    by_task = {task: _mean([s for s in scores(task, None) if s is not None]) for task in tasks}
    known = [value for value in by_task.values() if value is not None]
    counted = [trial for trial in trials if _harbor_counts(trial)]
    return SystemSummary(
        agent=agent,
        model=model,
        effort=effort,
        dataset=dataset,
        attempts=attempts,
        reported=_reported(job, trials[0]),
        mean_0_25=_mean([0.0 if (reward := _harbors(t)) is None else reward for t in counted]),
        mean_0_26=_mean([r for t in counted if (r := _harbors(t)) is not None and t.has_valid_reward]),
        ours=_mean(known),
        ours_low=_bound([scores(task, 0.0 if lows is None else lows.get(task)) for task in tasks]),
        ours_high=_bound([scores(task, 1.0) for task in tasks]),
        by_task=by_task,
        n_tasks=len(known),
        counts=Counter(attempt.outcome for attempt in attempts),
    )


def _harbor_counts(trial: Trial) -> bool:
    """True if Harbor included the attempt in its mean: it ended."""
    return trial.is_finished or (not trial.has_result and trial.reward is not None)


def _harbors(trial: Trial) -> float | None:
    """Return the reward that Harbor used, or without a result.json what the verifier wrote."""
    return trial.reward if trial.reward_source == "result.json" or not trial.has_result else None


def _reported(job: HarborJob, trial: Trial) -> float | None:
    """Return the job's own mean of a system; None if it pools the system with another one."""
    key = reported_key(trial)
    alike = {other.system for other in job.trials if reported_key(other) == key}
    return None if len(alike) > 1 else job.reported.get(key)


def _bound(by_task: Sequence[Sequence[float | None]]) -> float | None:
    """Return the mean over tasks of the mean of their attempts; None if an attempt has no bound."""
    means = [None if None in scores else _mean([s for s in scores if s is not None]) for scores in by_task]
    return None if None in means else _mean([mean for mean in means if mean is not None])


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
