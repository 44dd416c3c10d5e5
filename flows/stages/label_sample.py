"""The sample of items and briefs that experts label without knowing who wrote or graded them."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from flows.common.digests import canonical_json, sha256_text
from flows.common.errors import ConfigError
from flows.common.text import plural
from flows.schema.scenario import Item

_Drawn = TypeVar("_Drawn")
_Counts = Counter[tuple[int, Hashable]]  # how often each value of each class was chosen
_CODE_LENGTH = 12


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief that may be labelled: where it is stored, and its text."""

    condition: str
    scenario_id: str
    seed: int
    text: str

    def code(self, sample: str) -> str:
        """Return its name in the sheets of a sample, which tells nothing and changes with the text."""
        parts = [sample, self.condition, self.scenario_id, self.seed, self.text]
        return sha256_text(canonical_json(parts))[:_CODE_LENGTH]


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a sample."""

    briefs: int  # that each rater reads
    items: int  # labelled in each brief, or all if it has fewer
    shared: int  # briefs that all raters read; the others are each read by one


def draw_sample(
    briefs: Sequence[Brief],
    items: Mapping[str, Sequence[Item]],
    raters: Sequence[str],
    size: Size,
    sample: str,
) -> dict[str, list[tuple[Brief, list[Item]]]]:
    """Draw briefs and items for each rater; equal arguments give equal sheets.

    Briefs are balanced over scenarios, then conditions; items over severities (else polarities), then tiers
    and steps. Verdicts play no part: a sample that is balanced by them would bias the judge's error rates.
    Briefs and their items are in an order of their own for each rater.

    Equal texts of a scenario count once. `sample` names the draw.

    Raises:
        ConfigError: there are fewer briefs than the sample needs.
    """
    distinct = list({(brief.scenario_id, brief.text): brief for brief in reversed(briefs)}.values())
    if not distinct:
        raise ConfigError("sample", "no graded brief to draw from", remedy="staffbench run first")
    needed = size.shared + len(raters) * (size.briefs - size.shared)
    if needed > len(distinct):
        raise ConfigError(
            "sample",
            f"{needed} different briefs for {plural(len(raters), 'rater')}, of {len(distinct)}",
            remedy="fewer --briefs, or more of them --shared",
        )
    chosen = _balanced(
        distinct,
        needed,
        lambda brief: (brief.scenario_id, brief.condition),
        lambda brief: brief.code(sample),
        Counter(),
    )
    counted: _Counts = Counter()
    drawn = [
        (
            brief,
            _balanced(
                items[brief.scenario_id],
                size.items,
                lambda item: (item.severity or item.is_error, item.tier, item.step),
                lambda item, brief=brief: sha256_text(f"{brief.code(sample)} {item.item_id}"),
                counted,
            ),
        )
        for brief in chosen
    ]
    shared, own = drawn[: size.shared], drawn[size.shared :]
    found: dict[str, list[tuple[Brief, list[Item]]]] = {}
    for place, rater in enumerate(raters):
        read = sorted(
            [*shared, *own[place :: len(raters)]], key=lambda one: _shuffled(rater, one[0].code(sample))
        )
        found[rater] = [
            (brief, sorted(part, key=lambda item: _shuffled(rater, brief.text, item.item_id)))
            for brief, part in read
        ]
    return found


def _balanced(
    candidates: Sequence[_Drawn],
    n: int,
    classes: Callable[[_Drawn], tuple[Hashable, ...]],
    chance: Callable[[_Drawn], str],
    seen: _Counts,
) -> list[_Drawn]:
    """Choose the candidate whose first class was chosen least so far, then its second, then by chance."""
    left = sorted(candidates, key=chance)
    chosen: list[_Drawn] = []
    for _ in range(min(n, len(left))):
        best = min(left, key=lambda one: [seen[place] for place in enumerate(classes(one))])
        left.remove(best)
        chosen.append(best)
        seen.update(enumerate(classes(best)))
    return chosen


def _shuffled(*parts: str) -> str:
    return sha256_text(canonical_json(parts))
