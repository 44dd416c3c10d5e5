"""The rule for wrong moves: does the brief make it, affirmatively and unconditionally?"""

from __future__ import annotations

import re

from flows.schema.scenario import Item
from flows.schema.verdict import FailureMode
from flows.stages.offline import certainty
from flows.stages.offline.index import BriefIndex, Target, Window
from flows.stages.offline.result import ItemGrade
from flows.stages.offline.text import plain

_LONGEST = 2
_ENOUGH = 0.5
_ENOUGH_OF_EXAMPLE = 0.8
_TRUTH_SAID = 0.4
_LEAST_WORDS = 3  # of an example that is distinctive enough to search for
_EXAMPLE = re.compile(r"\"([^\"\n]+)\"")
_WRONG = re.compile(r"\bwrong move\b", re.IGNORECASE)


def grade_wrong_move(item: Item, brief: BriefIndex) -> ItemGrade:
    """Fail an item (committed) only if a passage of the brief makes the wrong move.

    The move is searched for by the words of the requirement and of the examples in the ground truth. Not
    committed: too few words that are not denied, a missing number, a hedge if the move is to state something
    as certain, a condition, a correction, or more of the truth than of the error.
    """
    before, *after = _WRONG.split(plain(item.ground_truth), maxsplit=1)
    truth = Target.of(before)
    tries = [(Target.of(item.requirement), _ENOUGH)]
    for example in _EXAMPLE.findall(" ".join(after)):
        move = Target.of(example)
        if len(move.keys) >= _LEAST_WORDS:
            tries.append((move, _ENOUGH_OF_EXAMPLE))
    closest = "nothing to compare"
    for move, enough in tries:
        window = brief.best(move, longest=_LONGEST, affirmed=True, only=brief.place(item))
        if window is None:
            continue
        share = f"{window.coverage:.0%} of the move's words"
        why = share if window.coverage < enough else _defence(item, move, truth, brief, window)
        quote = f'"{brief.quote(window)}"'
        if why is None:
            reason = f"{share}: {quote}"
            return ItemGrade(item.item_id, passed=False, mode=FailureMode.committed, reason=reason)
        closest = f"{why}; closest: {quote}"
    return ItemGrade(item.item_id, passed=True, mode=None, reason=closest)


def _defence(item: Item, move: Target, truth: Target, brief: BriefIndex, window: Window) -> str | None:
    """Return why a window with the move's words does not make it; None if it does."""
    absent = brief.missing_quantities(move.quantities, window)
    if absent:
        return f"without {', '.join(quantity.text for quantity in absent)}"
    text = brief.text(window)
    # A hedge or a correction may follow directly: "Berth 2 takes the ship. Unproved, and by survey false."
    around = brief.text(window, beyond=1)
    asked = plain(f"{item.requirement} {item.fail_condition}").lower()
    unsure = certainty.is_hedged(around) or certainty.denies(around)
    right = brief.coverage(truth.without(move), window)
    defences = {
        "hedged or denied": unsure and certainty.asks_for_firmness(asked),
        "under a condition": certainty.is_conditional(text) and not certainty.is_conditional(asked),
        "corrected": certainty.is_corrected(around) and not certainty.is_corrected(asked),
        "says what is true": right >= max(_TRUTH_SAID, brief.coverage(move.without(truth), window)),
    }
    return next((why for why, holds in defences.items() if holds), None)
