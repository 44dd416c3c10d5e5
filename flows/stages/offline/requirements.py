"""The rule: does a passage of the text state the truth, with its numbers and certainty?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from flows.schema.scenario import Item
from flows.schema.verdict import FailureMode, ItemVerdict, VerdictStatus
from flows.stages.offline import markers
from flows.stages.offline.passages import Passage, Target, TextIndex, read
from flows.stages.offline.quantities import Quantity, same, scan
from flows.stages.offline.text import plain, strip_citations

_ENOUGH = 0.35  # share of what is asked for
_WEIGHTS = (0.5, 0.5, 1.0)  # requirement, ground truth, pass condition
_ALL_BUT_NUMBERS = 0.6  # share from which a missing number makes the item partial, not omitted
_EXACT = re.compile(r"\b(?:is|are) (?:right|correct|accurate|exact)\b")
# "At least two of the three" counts what follows and is no figure to give.
_COUNTED = re.compile(
    r"\b(?:at least|any|the|these|those|all) (?:one|two|three|four|\d)\b|\b(?:one|two|three|\d) of\b:?"
)
_NEAR = 4  # most tokens between two numbers that an "or" joins


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a text must say to meet an item."""

    target: Target  # its words and quantities
    enough: float  # least share of them
    numbers: Sequence[Sequence[Quantity]]  # quantities that the passage must give, one of every list
    truth: str  # what is true, as written
    doubtful: bool  # True if the passage must leave it open


@lru_cache(maxsize=4096)  # a sweep grades hundreds of briefs by the same items
def wanted_of(item: Item) -> Wanted:
    """Return what a brief must say to meet a requirement."""
    texts = (item.requirement, item.ground_truth, item.pass_condition)
    numbers = number_groups(item.pass_condition)
    if not numbers and _EXACT.search(_lower(item.pass_condition)):
        numbers = [[quantity] for quantity in read(_lower(item.ground_truth))[1]]
    return Wanted(
        target=Target.of(*zip(texts, _WEIGHTS, strict=True)),
        enough=_ENOUGH,
        numbers=numbers,
        truth=item.ground_truth,
        doubtful=markers.asks_for_doubt(_lower(item.requirement)),
    )


def grade(item_id: str, wanted: Wanted, text: TextIndex) -> ItemVerdict:
    """Grade the passage of `text` with most of what is wanted.

    Checks in order: enough of the words (omission), the numbers (partial), nothing contrary or denied
    (incorrect), required doubt (unsupported).
    """
    passage = text.best(wanted.target)
    mode, reason = FailureMode.omission, "nothing to compare"
    if passage is not None:
        mode, why = _fault(wanted, text, passage)
        reason = f'{passage.share:.0%} of what is asked for{why}; closest: "{text.quote(passage)}"'
    return ItemVerdict(item_id, VerdictStatus.graded, mode is None, mode, reason)


def number_groups(condition: str) -> list[list[Quantity]]:
    """Return the quantities that a condition names; those joined by "or" or a bracket are alternatives."""
    groups: list[list[Quantity]] = []
    since, joined = _NEAR + 1, False  # tokens since the last quantity; whether an "or" follows it
    for word in scan(_COUNTED.sub(" ", _lower(condition)).replace("(", " or ")):
        if isinstance(word, Quantity):
            if joined and groups:
                groups[-1].append(word)
            else:
                groups.append([word])
            since, joined = 0, False
        else:
            joined = since <= _NEAR if word == "or" else joined and word != "and"
            since += 1
    return groups


def _fault(wanted: Wanted, text: TextIndex, passage: Passage) -> tuple[FailureMode | None, str]:
    if passage.share < wanted.enough:
        return FailureMode.omission, f", missing {', '.join(passage.missing) or 'its numbers'}"
    if wrong := _wrong_number(wanted, text, passage):
        return wrong
    said = text.text(passage)
    if found := markers.contrary(_lower(wanted.truth), said):
        return FailureMode.incorrect, f", {found[1]} where {found[0]} is true"
    if markers.denies(wanted.truth, text, passage):
        return FailureMode.incorrect, ", which it denies"
    if wanted.doubtful and not markers.is_hedged(said):
        return FailureMode.unsupported, ", given as certain"
    return None, ""


def _wrong_number(wanted: Wanted, text: TextIndex, passage: Passage) -> tuple[FailureMode, str] | None:
    offered = text.quantities(passage)
    absent = [each[0] for each in wanted.numbers if not any(same(one, q) for one in each for q in offered)]
    if absent:
        few = len(absent) == len(wanted.numbers) and passage.share < _ALL_BUT_NUMBERS
        mode = FailureMode.omission if few else FailureMode.partial
        return mode, f", without {', '.join(one.text for one in absent)}"
    if not wanted.numbers and passage.first == passage.last:
        # No number is required. But in a single sentence other numbers stand in the place of the true ones.
        true = read(_lower(wanted.truth))[1]
        others = any(one.dimension == q.dimension for one in true for q in offered)
        if others and not any(same(one, q) for one in true for q in offered):
            return FailureMode.incorrect, f", without {true[0].text}"
    return None


def _lower(text: str) -> str:
    return strip_citations(plain(text)).lower()
