"""Convert a verifier's judgment of one attempt into our verdicts and score."""

from collections.abc import Mapping, Sequence

from flows.pipeline.harbor.jobs.parts import Criteria
from flows.schema.harbor import AttemptScore, CriterionVerdict, Outcome
from flows.schema.verdict import BriefScore, FailureMode, Verdict, VerdictStatus

_UNGRADED = {each.value: each for each in VerdictStatus if each is not VerdictStatus.graded}


def verdicts_of(attempt: AttemptScore, known: Mapping[str, Criteria]) -> list[Verdict]:
    """Return the verdicts on one attempt.

    An attempt without a score has an `error`, or `refused`, on each known criterion of its task, so that it
    counts as ungraded. A report that scores 0 without a judge has no verdicts.
    """
    trial = attempt.trial
    refused = attempt.outcome is Outcome.refused
    if refused or (not trial.criteria and attempt.score is None):
        status = VerdictStatus.refused if refused else VerdictStatus.error
        return [
            Verdict(trial.task, trial.attempt, name, status, None, reason=attempt.detail)
            for name in known.get(trial.task, {})
        ]
    found: list[Verdict] = []
    for verdict in trial.criteria:
        status, mode, reason = VerdictStatus.graded, None, verdict.reason
        if verdict.passed is None:
            status, reason = _ungraded(verdict)
        elif verdict.is_penalty and not verdict.passed:
            mode = FailureMode.committed
        found.append(
            Verdict(trial.task, trial.attempt, verdict.criterion_id, status, verdict.passed, mode, reason)
        )
    return found


def _ungraded(verdict: CriterionVerdict) -> tuple[VerdictStatus, str]:
    """Status and reason of an item without a verdict; our verifier writes the status before the reason."""
    status, _, reason = verdict.detail.partition(": ")
    if status in _UNGRADED:
        return _UNGRADED[status], reason
    return VerdictStatus.unparsed, verdict.detail or f"met is {verdict.met}; {verdict.reason}"


def score_row(attempt: AttemptScore, verdicts: Sequence[Verdict], low: float | None) -> BriefScore:
    """Build an attempt's score row; shares are null if a verdict is missing.

    `low` is the lowest possible score: 0 for a report, which is clamped. The highest is 1.

    Raises:
        ValueError: there is neither a score nor a bound.
    """
    score = attempt.score
    lowest = low if score is None else score
    if lowest is None:
        raise ValueError(f"{attempt.trial.name}: no score and no lower bound")
    graded = {verdict.item_id for verdict in verdicts if verdict.passed is not None}
    is_complete = bool(graded) and not any(verdict.status.is_missing for verdict in verdicts)
    penalties = {v.criterion_id for v in attempt.trial.criteria if v.is_penalty}
    passed = {verdict.item_id for verdict in verdicts if verdict.passed}
    n_required = len(graded - penalties)
    judged_penalties = penalties & graded
    statuses = [verdict.status for verdict in verdicts]
    return BriefScore(
        scenario_id=attempt.trial.task,
        seed=attempt.trial.attempt,
        score=score,
        score_clamped=attempt.clamped,
        score_low=lowest,
        score_high=1.0 if score is None else score,
        correct=len(passed) / len(graded) if is_complete else None,
        passed=len(passed - penalties) / n_required if is_complete and n_required else None,
        wrong=len(judged_penalties - passed) if is_complete and judged_penalties else None,
        n_items=len(verdicts),
        n_graded=len(graded),
        n_refused=statuses.count(VerdictStatus.refused),
        n_unparsed=statuses.count(VerdictStatus.unparsed),
        n_error=statuses.count(VerdictStatus.error),
    )
