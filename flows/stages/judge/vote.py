"""Several verdicts on the same items as one: the members of a panel, or the repeats of a judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from flows.schema.brief import Brief
from flows.schema.scenario import Item
from flows.schema.verdict import Verdict, VerdictStatus

VOTE_VERSION = "1"
"""Raised when the same votes would give another verdict."""

# Of several reasons why there is no verdict, the one that a rerun can mend stands for all.
_UNGRADED = (VerdictStatus.error, VerdictStatus.refused, VerdictStatus.unparsed)


def majority(
    items: Sequence[Item], brief: Brief, votes: Mapping[str, Sequence[Verdict]], quorum: int
) -> list[Verdict]:
    """One verdict on each item, in rubric order, with how everybody voted as its reason.

    Votes without a verdict are not counted on either side. Where fewer than `quorum` have one, the
    item has none either: its status is that of a missing vote, `error` before `refused` before
    `unparsed`, so that whoever can be asked again is asked again.

    A brief is taken to say what more than half of the counted votes find in it, so a tie finds
    nothing: a requirement whose vote is tied is failed (MA-Bench, 4.3: what is unclear is failed),
    and a wrong move whose vote is tied was not made, because a charge has to be shown. It is how each
    single judge is told to read an unclear brief.

    The mode of a failed item is the one that most of the votes for failing give; of several, the
    first voter's.

    Args:
        items: the rubric.
        brief: what was graded.
        votes: by voter, as shown in the reason; each has one verdict on each item, in any order.
        quorum: how many must have a verdict, from 1.

    Raises:
        ValueError: a voter has no verdict on an item, not even one that says why.
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
    told = _told(votes, passed, failed)
    if len(passed) + len(failed) < quorum:
        statuses = {vote.status for vote in votes.values()}
        status = next(status for status in _UNGRADED if status in statuses)
        reason = f"fewer than {quorum} verdicts. {told}"
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
        f"{'Tied. ' if is_tie else ''}{told}{' ' if words else ''}{words}",
    )


def _told(votes: Mapping[str, Verdict], passed: Sequence[str], failed: Sequence[str]) -> str:
    """How everybody voted: `Passed by a, b; failed by c; no verdict from d (error)`."""
    none = [f"{voter} ({vote.status.value})" for voter, vote in votes.items() if vote.passed is None]
    parts = [
        f"{what} {', '.join(names)}"
        for what, names in (("passed by", passed), ("failed by", failed), ("no verdict from", none))
        if names
    ]
    told = "; ".join(parts)
    return f"{told[:1].upper()}{told[1:]}."
