"""Verdicts on a brief: of one judge, without a judge, and by majority of several votes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from flows.schema.brief import Brief
from flows.schema.scenario import Item
from flows.schema.verdict import FailureMode, ItemVerdict, Verdict, VerdictStatus

VOTE_VERSION = "1"
"""Increment when the same votes give another verdict."""

# Of several reasons for a missing verdict, the one that a rerun can fix comes first.
_UNGRADED = (VerdictStatus.error, VerdictStatus.refused, VerdictStatus.unparsed, VerdictStatus.abstained)


def verdicts_for_brief(items: Sequence[Item], brief: Brief, found: Iterable[ItemVerdict]) -> list[Verdict]:
    """Return the verdicts on a brief in rubric order, from the results of its calls.

    Raises:
        ValueError: an item of the rubric is missing or duplicated, or an item is not in the rubric.
    """
    by_id: dict[str, ItemVerdict] = {}
    for verdict in found:
        if verdict.item_id in by_id:
            raise ValueError(f"{brief.brief_id}: two verdicts on {verdict.item_id}")
        by_id[verdict.item_id] = verdict
    odd = by_id.keys() ^ {item.item_id for item in items}
    if odd:
        raise ValueError(f"{brief.brief_id}: verdicts and rubric differ in {', '.join(sorted(odd))}")
    return [
        Verdict(brief.scenario_id, brief.seed, one.item_id, one.status, one.passed, one.mode, one.reason)
        for one in (by_id[item.item_id] for item in items)
    ]


def verdicts_for_missing(
    items: Sequence[Item], brief: Brief, status: VerdictStatus, reason: str
) -> list[Verdict]:
    """Return the verdicts on an ungraded brief: every item has `status`, none passed or failed.

    `status` is `refused`, `unparsed` or `error`.

    Raises:
        ValueError: `status` is `graded`.
    """
    return [
        Verdict(brief.scenario_id, brief.seed, item.item_id, status, None, reason=reason) for item in items
    ]


def verdicts_for_no_report(items: Sequence[Item], brief: Brief, reason: str) -> list[Verdict]:
    """Return the verdicts on a report that is missing, corrupt or empty, without a judge.

    No required criterion is met and no penalty is triggered, so its score is 0 (MissionReport, Scoring).
    """
    return [
        Verdict(
            brief.scenario_id,
            brief.seed,
            item.item_id,
            VerdictStatus.graded,
            item.is_error,
            None if item.is_error else FailureMode.omission,
            reason,
        )
        for item in items
    ]


def majority(
    items: Sequence[Item], brief: Brief, votes: Mapping[str, Sequence[Verdict]], quorum: int
) -> list[Verdict]:
    """Return one verdict on each item, in rubric order, with all votes as its reason.

    Votes without a verdict are not counted. With fewer than `quorum` verdicts the item has none: its
    status is that of a missing vote, `error` before `refused` before `unparsed` before `abstained`, so that
    calls that can be retried are retried.

    A brief says what more than half of the counted votes find in it. On a tie a requirement is failed
    (MA-Bench, 4.3: what is unclear is failed) and a wrong move was not made, as single judges are instructed
    for unclear briefs.

    The mode of a failed item is the most frequent one among the failing votes, or of the first voter on a
    tie.

    Raises:
        ValueError: a voter has no verdict on an item, not even an ungraded one.
    """
    by_item: dict[str, dict[str, Verdict]] = {item.item_id: {} for item in items}
    for voter, verdicts in votes.items():
        for verdict in verdicts:
            by_item[verdict.item_id][voter] = verdict
    for item_id, own in by_item.items():
        if missing := [voter for voter in votes if voter not in own]:
            raise ValueError(f"{brief.brief_id}: {', '.join(missing)} did not vote on {item_id}")
    return [_decide(item, brief, by_item[item.item_id], quorum) for item in items]


def _decide(item: Item, brief: Brief, votes: Mapping[str, Verdict], quorum: int) -> Verdict:
    passed = [voter for voter, vote in votes.items() if vote.passed is True]
    failed = [voter for voter, vote in votes.items() if vote.passed is False]
    votes_text = _format_votes(votes, passed, failed)
    if len(passed) + len(failed) < quorum:
        statuses = {vote.status for vote in votes.values()}
        status = next(status for status in _UNGRADED if status in statuses)
        reason = f"fewer than {quorum} verdicts. {votes_text}"
        return Verdict(brief.scenario_id, brief.seed, item.item_id, status, None, reason=reason)
    is_tie = len(passed) == len(failed)
    passes = item.is_error if is_tie else len(passed) > len(failed)
    winners = [votes[voter] for voter in (passed if passes else failed)]
    modes = Counter(vote.mode for vote in winners if vote.mode is not None)
    words = next((vote.reason for vote in winners if vote.reason), "")
    return Verdict(
        brief.scenario_id,
        brief.seed,
        item.item_id,
        VerdictStatus.graded,
        passes,
        modes.most_common(1)[0][0] if modes and not passes else None,
        f"{'Tied. ' if is_tie else ''}{votes_text}{' ' if words else ''}{words}",
    )


def _format_votes(votes: Mapping[str, Verdict], passed: Sequence[str], failed: Sequence[str]) -> str:
    none = [f"{voter} ({vote.status.value})" for voter, vote in votes.items() if vote.passed is None]
    parts = [
        f"{what} {', '.join(names)}"
        for what, names in (("passed by", passed), ("failed by", failed), ("no verdict from", none))
        if names
    ]
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
