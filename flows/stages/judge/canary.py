"""Two items with known verdicts, mixed into a rubric to test the judge.

One is a requirement that no brief can pass, the other a wrong move that no brief can make: each asks
for one figure below a bound and above a higher one. A judge that passes everything, fails everything
or confuses the polarities gets at least one wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from flows.common.digests import canonical_json, sha256_text
from flows.schema.scenario import Item, Severity, Step, Tier

N_CANARIES = 2

_NUMBERED = re.compile(r"(.*?)([0-9]+)", re.DOTALL)

_UNPASSABLE = {
    "severity": Severity.important,
    "requirement": "States the distance from the main supply base to the forward crossing as one figure "
    "below 12 km and above 19 km.",
    "ground_truth": "The distance is given by one figure that is below 12 km and above 19 km.",
    "pass_condition": "Pass only if the brief gives a single figure for this distance which is below 12 km "
    "and, at the same time, above 19 km.",
    "fail_condition": "Fail if the brief gives no such figure.",
}
_UNFAILABLE = {
    "severity": Severity.detrimental,
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

    Args:
        items: the rubric, in file order; not empty.
    """
    digest = sha256_text(canonical_json([item.item_id for item in items]))
    mixed = list(items)
    ids: list[str] = []
    for number, fields in enumerate((_UNPASSABLE, _UNFAILABLE)):
        is_error = Severity(fields["severity"]).is_error
        alike = [item for item in items if item.is_error == is_error] or list(items)
        anchor = alike[int(digest[16 * number : 16 * number + 16], 16) % len(alike)]
        place, item_id = _after(mixed, anchor.item_id)
        mixed.insert(place, _canary(item_id, fields, is_criterion=anchor.points is not None))
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


def _canary(item_id: str, fields: dict[str, str | Severity], *, is_criterion: bool) -> Item:
    if is_criterion:
        is_error = Severity(fields["severity"]).is_error
        return Item(
            item_id=item_id,
            step=None,
            tier=None,
            severity=None,
            requirement=f"The report {str(fields['requirement'])[0].lower()}{str(fields['requirement'])[1:]}",
            ground_truth="",
            pass_condition="",
            fail_condition="",
            source=(),
            rationale="",
            points=-1.0 if is_error else 1.0,
        )
    return Item(
        item_id=item_id,
        step=Step.environment,
        tier=Tier.stated,
        severity=Severity(fields["severity"]),
        requirement=str(fields["requirement"]),
        ground_truth=str(fields["ground_truth"]),
        pass_condition=str(fields["pass_condition"]),
        fail_condition=str(fields["fail_condition"]),
        source=(),
        rationale="",
    )
