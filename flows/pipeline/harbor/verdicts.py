"""What a verifier said of one attempt as our verdicts, and its reward as our score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flows.pipeline.harbor.parts import Criteria
from flows.schema.harbor import AttemptScore, CriterionVerdict
from flows.schema.verdict import BriefScore, FailureMode, Verdict, VerdictStatus

_UNGRADED = {each.value: each for each in VerdictStatus if each is not VerdictStatus.graded}


def verdicts_of(attempt: AttemptScore, known: Mapping[str, Criteria]) -> list[Verdict]:
    """The verdicts on one attempt.

    An attempt without a score has an `error` on each criterion of its task that is known, so that it is
    counted as ungraded. A report that scores 0 without being judged has none.
    """
    trial = attempt.trial
    if not trial.criteria and attempt.score is None:
        return [
            Verdict(trial.task, trial.attempt, name, VerdictStatus.error, None, reason=attempt.detail)
            for name in known.get(trial.task, {})
        ]
    found: list[Verdict] = []
    for verdict in trial.criteria:
        status, mode, reason = VerdictStatus.graded, None, verdict.reason
        if verdict.passed is None:
            # A verdict that can't be read as passed or failed is none, whatever the judge wrote.
            status, reason = _why_none(verdict)
        elif verdict.is_penalty and not verdict.passed:
            mode = FailureMode.committed
        found.append(
            Verdict(trial.task, trial.attempt, verdict.criterion_id, status, verdict.passed, mode, reason)
        )
    return found


def _why_none(verdict: CriterionVerdict) -> tuple[VerdictStatus, str]:
    """Why there is no yes or no: our verifier says it by its status, others by their own words."""
    word, _, more = verdict.detail.partition(": ")
    if word in _UNGRADED:
        return _UNGRADED[word], more
    return VerdictStatus.unparsed, verdict.detail or f"met is {verdict.met}; {verdict.reason}"


def score_row(attempt: AttemptScore, verdicts: Sequence[Verdict], low: float | None) -> BriefScore:
    """An attempt's score beside the counts of its verdicts.

    Shares are null unless every criterion has a verdict.

    Args:
        attempt: the attempt.
        verdicts: those on it.
        low: the least that it could have scored: 0 for a report, which is clamped. At most it could
            have scored 1.

    Raises:
        ValueError: neither a score nor a bound.
    """
    score = attempt.score
    lowest = low if score is None else score
    if lowest is None:
        raise ValueError(f"{attempt.trial.name}: no score and no lower bound")
    n_graded = sum(verdict.passed is not None for verdict in verdicts)
    whole = bool(verdicts) and n_graded == len(verdicts)
    penalties = {v.criterion_id for v in attempt.trial.criteria if v.is_penalty}
    passed = {verdict.item_id for verdict in verdicts if verdict.passed}
    n_required = len(verdicts) - len(penalties)
    statuses = [verdict.status for verdict in verdicts]
    return BriefScore(
        scenario_id=attempt.trial.task,
        seed=attempt.trial.attempt,
        score=score,
        score_clamped=attempt.clamped,
        score_low=lowest,
        score_high=1.0 if score is None else score,
        correct=len(passed) / len(verdicts) if whole else None,
        passed=len(passed - penalties) / n_required if whole and n_required else None,
        wrong=len(penalties - passed) if whole else None,
        n_items=len(verdicts),
        n_graded=n_graded,
        n_refused=statuses.count(VerdictStatus.refused),
        n_unparsed=statuses.count(VerdictStatus.unparsed),
        n_error=statuses.count(VerdictStatus.error),
    )
