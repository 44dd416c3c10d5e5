"""The rule for requirements: does the brief state the truth, with its numbers and certainty?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flows.schema.scenario import Item
from flows.schema.verdict import FailureMode
from flows.stages.offline import certainty, scales
from flows.stages.offline.index import BriefIndex, Target, Window
from flows.stages.offline.quantities import Quantity, same, scan
from flows.stages.offline.result import ItemGrade
from flows.stages.offline.swaps import counted, swapped
from flows.stages.offline.text import plain, strip_citations
from flows.stages.offline.words import DOUBT_KEYS

_LONGEST = 3
_ENOUGH = 0.37
_WEIGHTS = (1.0, 0.5, 1.0)  # requirement, ground truth, pass condition
_ANY_OF = re.compile(r"\b(?:at least (?:one|two|three)|any|one|two|three) of\b")
_ALL_BUT_NUMBERS = 0.6  # above it a missing number makes the item partial
_EXACT = re.compile(r"\b(?:is|are) (?:right|correct|accurate|exact)\b")
_COUNTED = re.compile(
    r"\b(?:at least|any|the|these|those|all) (?:one|two|three|four|\d)\b|\b(?:one|two|three|\d) of\b:?"
)
_DAY = re.compile(r"[a-z][+-]\d+")
_OR, _AND = ("or",), ("and",)
_NEAR = 4  # maximum tokens between two numbers joined by "or"
_SMALL = 20  # smaller numbers are common and may mean something else


def grade_requirement(item: Item, brief: BriefIndex) -> ItemGrade:
    """Pass an item if one passage of the brief has what it requires.

    Checks in order: enough of its words (omission), its numbers (partial or, if there is another number of
    the same kind, incorrect), no contrary value (incorrect), required doubt (unsupported), required certainty
    (incorrect).
    """
    wanted = Target.weighed(
        *zip((item.requirement, item.ground_truth, item.pass_condition), _WEIGHTS, strict=True)
    )
    if certainty.asks_for_doubt(_asked(item)):
        wanted = wanted.without_keys(DOUBT_KEYS)
    window = brief.best(wanted, longest=_LONGEST, only=brief.place(item))
    if window is None:
        return ItemGrade(item.item_id, passed=False, mode=FailureMode.omission, reason="nothing to compare")
    mode, why = _fault(item, wanted, brief, window)
    reason = f'{why}; closest: "{brief.quote(window)}"'
    return ItemGrade(item.item_id, passed=mode is None, mode=mode, reason=reason)


def _required(item: Item) -> list[list[Quantity | str]]:
    """Return the numbers that the brief must give: one of every list; a string is a day such as d+4.

    Numbers joined by "or", and a number in brackets after another, are alternatives. A number with words as
    its alternative ("approval, or 24 hours' notice") is not required.
    """
    condition = plain(item.pass_condition).lower()
    tokens = scan(strip_citations(_COUNTED.sub(" ", condition)).replace("(", " or "))
    if _ANY_OF.search(condition):
        numbers: list[Quantity | str] = [
            token for token in tokens if not isinstance(token, str) and not token.loose
        ]
        return [numbers] if numbers else []
    groups: list[list[Quantity | str]] = []
    since = _NEAR + 1  # tokens since the last number
    joined = loose = skipped = False
    for token in tokens:
        if token in _OR:
            joined, loose = since <= _NEAR, since > _NEAR
        elif token in _AND:
            joined = loose = False
        elif isinstance(token, str) and not _DAY.fullmatch(token):
            since += 1
            continue
        else:
            if not isinstance(token, str) and token.loose:
                continue
            skipped = loose or (joined and skipped)  # an alternative of a number that is not required
            if joined and groups and not skipped:
                groups[-1].append(token)
            elif not skipped:
                groups.append([token])
            since, joined, loose = 0, False, False
    if not groups and _EXACT.search(condition):
        return [[quantity] for quantity in Target.of(item.ground_truth).quantities]
    return groups


def _fault(item: Item, wanted: Target, brief: BriefIndex, window: Window) -> tuple[FailureMode | None, str]:
    share = f"{window.coverage:.0%} of what is asked for"
    if window.coverage < _ENOUGH:
        return FailureMode.omission, f"{share}, missing {', '.join(window.missing)}"
    required = _required(item)
    absent = [group[0] for group in required if not _given(group, wanted, brief, window)]
    if absent:
        known = [*wanted.quantities, *(q for group in required for q in group if not isinstance(q, str))]
        mode = FailureMode.partial
        if _another(absent, brief, window, known):
            mode = FailureMode.incorrect
        elif len(absent) == len(required) and window.coverage < _ALL_BUT_NUMBERS:
            mode = FailureMode.omission
        names = ", ".join(one if isinstance(one, str) else one.text for one in absent)
        return mode, f"{share}, without {names}"
    text = brief.text(window)
    if not required:
        # The condition has no number, so none is required, but a wrong one is not allowed.
        truths: list[Quantity | str] = list(Target.of(item.ground_truth).quantities)
        missing = [number for number in truths if not _given([number], wanted, brief, window)]
        if missing and len(missing) == len(truths) and _another(missing, brief, window, wanted.quantities):
            return FailureMode.incorrect, f"{share}, with other numbers than are true"
    true = strip_citations(plain(item.ground_truth)).lower()
    exchanged = swapped(counted(true), counted(text))
    if exchanged:
        return FailureMode.incorrect, f"{exchanged[0].text} and {exchanged[1].text} have changed places"
    contrary = scales.contradiction(scales.values(true), scales.values(text))
    if contrary:
        return FailureMode.incorrect, f"{contrary[1]} where {contrary[0]} is true"
    return _doubt(item, text) or (None, share)


def _asked(item: Item) -> str:
    return plain(f"{item.requirement} {item.pass_condition}").lower()


def _doubt(item: Item, text: str) -> tuple[FailureMode, str] | None:
    asked = _asked(item)
    if certainty.asks_for_doubt(asked):
        if not certainty.is_hedged(text):
            return FailureMode.unsupported, "given as certain"
    elif certainty.asks_for_firmness(asked) and certainty.asks_for_doubt(text):
        return FailureMode.incorrect, "given as doubtful"
    return None


def _given(group: Sequence[Quantity | str], wanted: Target, brief: BriefIndex, window: Window) -> bool:
    """True if the window gives one of `group` about something in the item."""
    text = brief.text(window)
    for one in group:
        if isinstance(one, str):
            if one in re.sub(r"\s*([+])\s*", r"\1", text):
                return True
        elif not brief.missing_quantities([one], window):
            heads = [words for number, words in counted(text) if same(one, number)]
            keys = set(wanted.keys)
            if one.dimension or one.value >= _SMALL or not heads or any(not w or w & keys for w in heads):
                return True
    return False


def _another(
    absent: Sequence[Quantity | str], brief: BriefIndex, window: Window, known: Sequence[Quantity]
) -> bool:
    """True if the window gives a number of the same kind as an absent one that is not in the item."""
    strange = brief.strange_quantities(known, window)
    return any(
        quantity.dimension == one.dimension
        for quantity in strange
        for one in absent
        if not isinstance(one, str)
    )
