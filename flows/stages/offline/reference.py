"""What criteria of reports ask for. They have no ground truth: the expert's report takes its place."""

import re
from functools import lru_cache

from flows.schema.scenario import Item
from flows.stages.offline import markers
from flows.stages.offline.passages import Target, TextIndex
from flows.stages.offline.quantities import same
from flows.stages.offline.requirements import Wanted, number_groups
from flows.stages.offline.text import plain

REFERENCE_VERSION = "3"
"""Increment when a rule, a table or a threshold changes, as verdicts may change."""

REFERENCE_TUNED_ON = frozenset({"sb-war-02", "sb-aar-01", "sb-psr-01"})
"""Tasks whose reports its rule was tuned on: agreement on them is reported separately."""

_ENOUGH = 0.6  # of the share that the expert's passage has
_WEIGHTS = (1.0, 0.3)  # criterion, expert's passage
_SAYS = re.compile(r"^(?:the \w+ |it )?(?:says?|states?|notes?|tells?|explains?|reports?|shows?|gives?)\b")
_FORM = re.compile(
    r"^(?:(?:the |this )?(?:report|memo\w*|brief|paper|entry|summary|it) )?"
    r"(?:leaves? out|omits?|excludes?|avoids?|refrains?|(?:does|do|must|should) not|doesn't|never|no|nothing"
    r"|is (?:silent|free)|(?:contains?|names?|mentions?|makes?|includes?|uses?) (?:no\w*|neither))\b"
    r"|\b(?:at most|no (?:more|longer) than|within|under|up to|exceed\w*|fits? (?:on|in)|limit of) "
    r"(?:the )?(?:[\d,]+|one|two|a|a single) (?:words?|pages?)\b"
    r"|\b(?:headings?|template)\b"
)


def is_of_form(item: Item) -> bool:
    """True if a criterion is about what is left out, the length or the headings, not about a statement."""
    criterion = plain(item.requirement).lower()
    return _SAYS.match(criterion) is None and _FORM.search(criterion) is not None


@lru_cache(maxsize=4096)  # a sweep grades many reports by the same criteria
def wanted_beside(item: Item, reference: str) -> Wanted:
    """Return what a report must say to meet a criterion, measured by the expert's report.

    The expert's passage with most of the criterion's words is the truth. A report needs a share of what that
    passage has of the criterion, and those of its numbers and doubts that the passage has too. So the
    expert's report meets every criterion by construction.
    """
    expert = _index(reference)
    asked = plain(item.requirement)
    passage = expert.best(Target.of((asked, 1.0)))
    truth = "" if passage is None else expert.quote(passage, whole=True)
    target = Target.of((asked, _WEIGHTS[0]), (truth, _WEIGHTS[1]))
    best = expert.best(target)
    offered = [] if best is None else expert.quantities(best)
    return Wanted(
        target=target,
        enough=0.0 if best is None else _ENOUGH * best.share,
        numbers=[
            group
            for group in number_groups(item.requirement)
            if any(same(one, q) for one in group for q in offered)
        ],
        truth=truth,
        doubtful=markers.asks_for_doubt(asked.lower()) and markers.is_hedged(truth.lower()),
    )


@lru_cache(maxsize=64)
def _index(text: str) -> TextIndex:
    return TextIndex(text)
