"""Combine the verdicts of a panel's members, or of a judge's repeats, by majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from flows.schema.brief import Brief
from flows.schema.scenario import Item
from flows.schema.verdict import Verdict, VerdictStatus

VOTE_VERSION = "1"
"""Increment when the same votes give another verdict."""

# Of several reasons for a missing verdict, the one that a rerun can fix comes first.
_UNGRADED = (VerdictStatus.error, VerdictStatus.refused, VerdictStatus.unparsed, VerdictStatus.abstained)


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

    Args:
        items: the rubric.
        brief: the brief.
        votes: verdicts by voter name, one on each item, in any order.
        quorum: number of verdicts needed, from 1.

    Raises:
        ValueError: a voter has no verdict on an item, not even an ungraded one.
    """
    by_voter = {
        voter: {verdict.item_id: verdict for verdict in verdicts} for voter, verdicts in votes.items()
    }
    found: list[Verdict] = []
    for item in items:
        missing = [voter for voter, verdicts in by_voter.items() if item.item_id not in verdicts]
        if missing:
            raise ValueError(f"{brief.brief_id}: {', '.join(missing)} did not vote on {item.item_id}")
        own = {voter: verdicts[item.item_id] for voter, verdicts in by_voter.items()}
        found.append(_decide(item, brief, own, quorum))
    return found


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
    """Format all votes: `Passed by a, b; failed by c; no verdict from d (error)`."""
    none = [f"{voter} ({vote.status.value})" for voter, vote in votes.items() if vote.passed is None]
    parts = [
        f"{what} {', '.join(names)}"
        for what, names in (("passed by", passed), ("failed by", failed), ("no verdict from", none))
        if names
    ]
    votes_text = "; ".join(parts)
    return f"{votes_text[:1].upper()}{votes_text[1:]}."
