"""The items that a judge is shown: with two of known verdicts among them, in an order, as text.

The two test the judge. One is a requirement that no brief can pass, the other a wrong move that no brief can
make: each asks for one figure below a bound and above a higher one. A judge that passes everything, fails
everything or confuses the polarities gets at least one wrong.
"""

import math
import re
from collections.abc import Sequence
from functools import lru_cache

from flows.common.digests import canonical_json, sha256_text
from flows.schema.scenario import Item, Severity, Step, Tier
from flows.stages.judge.text import escape

N_CANARIES = 2

_NUMBERED = re.compile(r"(.*?)([0-9]+)", re.DOTALL)

_UNPASSABLE = {
    "requirement": "States the distance from the main supply base to the forward crossing as one figure "
    "below 12 km and above 19 km.",
    "ground_truth": "The distance is given by one figure that is below 12 km and above 19 km.",
    "pass_condition": "Pass only if the brief gives a single figure for this distance which is below 12 km "
    "and, at the same time, above 19 km.",
    "fail_condition": "Fail if the brief gives no such figure.",
}
_UNFAILABLE = {
    "requirement": "Gives the length of the alternate supply route as one figure below 8 km and above 15 km.",
    "ground_truth": "The length of the route is not given by a figure below 8 km and above 15 km.",
    "pass_condition": "Pass unless the brief gives a single figure for this length which is below 8 km and, "
    "at the same time, above 15 km.",
    "fail_condition": "Fail only if the brief gives such a figure.",
}


def with_canaries(items: Sequence[Item]) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """Return the rubric with both items mixed in, and their ids: first the requirement, then the error.

    Each follows a group of items with a common id prefix (`KR-GUI-`) and gets the group's next number.
    A hash of the rubric's ids chooses the group, of an item of the same kind if there is one. It is the same
    for every brief, so a provider can cache the rubric as a prompt prefix.
    """
    digest = sha256_text(canonical_json([item.item_id for item in items]))
    mixed = list(items)
    ids: list[str] = []
    for number, texts in enumerate((_UNPASSABLE, _UNFAILABLE)):
        is_error = texts is _UNFAILABLE
        alike = [item for item in items if item.is_error == is_error] or list(items)
        anchor = alike[int(digest[16 * number : 16 * number + 16], 16) % len(alike)]
        place, item_id = _after(mixed, anchor.item_id)
        mixed.insert(place, _canary(item_id, texts, is_error=is_error, has_points=anchor.points is not None))
        ids.append(item_id)
    return tuple(mixed), tuple(ids)


def _after(items: Sequence[Item], anchor: str) -> tuple[int, str]:
    """Return the position after the anchor's group, and an id that continues the group."""
    taken = {item.item_id for item in items}
    match = _NUMBERED.fullmatch(anchor)
    stem, width, number = (match[1], len(match[2]), 0) if match else (f"{anchor}-", 1, 1)
    place = 1 + [item.item_id for item in items].index(anchor)
    for position, item in enumerate(items, 1):
        member = _NUMBERED.fullmatch(item.item_id)
        if member and member[1] == stem:
            place, number = position, max(number, int(member[2]))
    while (item_id := f"{stem}{number + 1:0{width}}") in taken:
        number += 1
    return place, item_id


def _canary(item_id: str, texts: dict[str, str], *, is_error: bool, has_points: bool) -> Item:
    severity = Severity.detrimental if is_error else Severity.important
    if has_points:  # a criterion has no more than its requirement
        words = texts["requirement"]
        texts = {**dict.fromkeys(texts, ""), "requirement": f"The report {words[0].lower()}{words[1:]}"}
    return Item(
        item_id=item_id,
        step=None if has_points else Step.environment,
        tier=None if has_points else Tier.stated,
        severity=None if has_points else severity,
        requirement=texts["requirement"],
        ground_truth=texts["ground_truth"],
        pass_condition=texts["pass_condition"],
        fail_condition=texts["fail_condition"],
        points=(-1.0 if is_error else 1.0) if has_points else None,
    )


def shown_order(items: Sequence[Item], repeat: int) -> tuple[Item, ...]:
    """Return the items as one repeat of a judge is shown them: the first in file order, others shuffled.

    So the disagreement among repeats includes what the order does. A shuffled order depends only on the ids
    and the number of the repeat: it is the same for every brief, so that a provider can cache the rubric.
    """
    if repeat == 1:
        return tuple(items)
    return tuple(sorted(items, key=lambda item: sha256_text(f"{repeat} {item.item_id}")))


def place_effect(gradings: Sequence[Sequence[tuple[float, bool]]]) -> float | None:
    """Return the change in the share of passes from the first place in the rubric to the last.

    It is the least-squares slope of passes on places within items: each item is compared with itself at
    another place, so that easy items at the top do not count.

    `gradings` have, for each item of a brief, its place from 0 to 1 and whether it passed, by repeat.

    Returns:
        A difference of shares; None if no item was graded at two places.
    """
    products: list[float] = []
    squares: list[float] = []
    for own in filter(None, gradings):
        mean_place = math.fsum(place for place, _ in own) / len(own)
        mean_passed = sum(passed for _, passed in own) / len(own)
        products += [(place - mean_place) * (passed - mean_passed) for place, passed in own]
        squares += [(place - mean_place) ** 2 for place, _ in own]
    spread = math.fsum(squares)
    return math.fsum(products) / spread if spread > 0 else None


@lru_cache(maxsize=64)  # every brief of a scenario has the same rubric
def render_items(items: tuple[Item, ...]) -> str:
    """Render the items as elements of the prompt.

    A judge sees what it needs to grade, and not the severity, points, tier, step, source or rationale.
    """
    return "\n".join(_render_item(item) for item in items)


def _render_item(item: Item) -> str:
    kind = "error" if item.is_error else "requirement"
    if item.is_criterion:
        words = escape(item.requirement)
        return f'<criterion id="{escape(item.item_id)}" kind="{kind}">\n{words}\n</criterion>'
    parts = {
        "requirement": item.requirement,
        "ground_truth": item.ground_truth,
        "pass_condition": item.pass_condition,
        "fail_condition": item.fail_condition,
    }
    lines = "\n".join(f"<{name}>{escape(text)}</{name}>" for name, text in parts.items() if text)
    return f'<item id="{escape(item.item_id)}" kind="{kind}">\n{lines}\n</item>'
