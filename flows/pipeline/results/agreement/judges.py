"""Agreement of judges with labelled controls, with other judges, and with themselves."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from flows.adapters.objects import ObjectStore
from flows.common.text import in_task_terms
from flows.pipeline.results.agreement.offline import (
    LABELLED_CONTROLS,
    OFFLINE,
    beside_labels,
    labelled_controls,
    offline_agreements,
)
from flows.pipeline.results.agreement.text import phrase
from flows.pipeline.results.graded import Graded, items_of
from flows.pipeline.results.table_rows import VerdictRows
from flows.schema.leaderboard import JudgeNote
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import Agreement, PlaceEffect, SelfAgreement, Verdict, VerdictStatus
from flows.stages.aggregate import interval_over
from flows.stages.agreement import (
    Repeated,
    compare_verdicts,
    measure_agreement,
    measure_self_agreement,
)
from flows.stages.judge import place_effect, shown_order

_SHOWN_DIGITS = 16


def judge_note(
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    objects: ObjectStore,
    scoring: ScoringSettings,
) -> JudgeNote:
    """Build the leaderboard's note on a judge.

    The offline judge's agreement with the labelled controls is always known; another judge's only if it
    graded them (`controls_agreement`).

    `graded` is everything that the judge graded: not empty, and of one label.
    """
    judge, is_stand_in = graded[0].about["judge"], graded[0].is_stand_in
    # Imported jobs have no such count.
    missed: list[int | None] = [entry.about.get("n_canary_missed") for entry in graded]
    known = [count for count in missed if count is not None]
    # The stand-in of a sandbox without staffbench is another one, which nobody measured.
    if is_stand_in and judge["name"] == OFFLINE:
        agreements = offline_agreements(scenarios, objects)
    else:
        agreements = controls_agreement(graded, scenarios)
    has_tasks = any(scenario.task is not None for scenario in scenarios.values())
    return JudgeNote(
        judge_id=str(judge["label"]),
        is_stand_in=is_stand_in,
        agreements=agreements,
        measured=tuple(in_task_terms(said) if has_tasks else said for said in map(phrase, agreements)),
        n_abstained=sum(
            len(VerdictRows.of(entry.verdicts).with_status([VerdictStatus.abstained])) for entry in graded
        ),
        members=tuple(judge["members"]),
        n_canary_missed=sum(known) if len(known) == len(missed) else None,
        self_agreement=self_agreement(graded, scenarios),
        place_effect=measure_place_effect(graded, scenarios, scoring),
    )


def measure_place_effect(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> PlaceEffect | None:
    """Measure what an item's place in the rubric does to its verdict, from repeats in different orders.

    `graded` is everything that the judge graded; equal briefs of a scenario count once.
    """
    shuffled = [entry for entry in graded if entry.about.get("items_shuffled")]
    gradings: dict[str, list[list[tuple[float, bool]]]] = {}
    for entry, _, verdicts in _each_brief_once(shuffled):
        repeats = entry.passed_at_each_repeat
        for v in verdicts:
            passed = repeats[_place(v)]
            own = zip(_places(scenarios[v.scenario_id], len(passed))[v.item_id], passed, strict=True)
            gradings.setdefault(v.scenario_id, []).append([(at, is_) for at, is_ in own if is_ is not None])
    changes = {name: place_effect(own) for name, own in gradings.items()}
    known = {name: change for name, change in changes.items() if change is not None}
    if not known:
        return None
    n = sum(len(own) for name in known for own in gradings[name] if len(own) > 1)
    values = list(known.values())
    return PlaceEffect(math.fsum(values) / len(values), interval_over(values, scoring), n)


def _places(scenario: Scenario, n_repeats: int) -> dict[str, list[float]]:
    """Return the place of each item, from 0 to 1, at each repeat."""
    last = max(1, len(scenario.items) - 1)
    found: dict[str, list[float]] = {}
    for repeat in range(1, n_repeats + 1):
        for number, item in enumerate(shown_order(scenario.items, repeat)):
            found.setdefault(item.item_id, []).append(number / last)
    return found


def controls_agreement(graded: Sequence[Graded], scenarios: Mapping[str, Scenario]) -> tuple[Agreement, ...]:
    """Measure how far a judge agrees with the labelled controls that it graded.

    A verdict counts if the graded text equals a control's current text, whoever submitted it. A control that
    was cut by the word cap, or rewritten since, is another text: its labels may no longer hold. Each item of
    a control counts once, from the first condition and seed with that text.

    `graded` is everything that one judge graded; imported jobs are ignored.

    Returns:
        One agreement per judge digest; if there are several, each is named, including one that graded no
        control (n 0). Empty if no control was graded.
    """
    controls = {
        (name, control.text): control
        for name, scenario in scenarios.items()
        for control in labelled_controls(scenario)
    }
    found = [
        measure_agreement(
            LABELLED_CONTROLS + suffix,
            [
                pair
                for _, text, verdicts in _each_brief_once(entries, controls)
                for control in [controls[verdicts[0].scenario_id, text]]
                for pair in beside_labels(
                    scenarios[verdicts[0].scenario_id], control, {v.item_id: v.passed for v in verdicts}
                )
            ],
        )
        for (_, suffix), entries in sorted(_by_digest(graded).items())
    ]
    return tuple(found) if any(agreement.n + agreement.n_ungraded for agreement in found) else ()


def judges_agreement(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario]
) -> list[tuple[str, Agreement]]:
    """Compare each pair of judges on the briefs that both graded; equal briefs of a scenario count once.

    Returns:
        The first judge of a pair and its agreement with the second, sorted by name. A label with several
        judge digests counts as several judges, each named with its digest.
    """
    items = items_of(scenarios.values())
    by_judge = {
        judge + suffix: {entry.condition: entry for entry in entries}
        for (judge, suffix), entries in _by_digest(graded).items()
    }
    found: list[tuple[str, Agreement]] = []
    for first, second in combinations(sorted(by_judge), 2):
        shared = [name for name in by_judge[first] if name in by_judge[second]]
        pairs: list[Repeated] = []
        for entry, _, verdicts in _each_brief_once([by_judge[first][name] for name in shared]):
            other = by_judge[second][entry.condition].passed
            pairs += [_repeated(items, entry, v, (v.passed, other[_place(v)])) for v in verdicts]
        if pairs:
            found.append((first, compare_verdicts(second, pairs)))
    return found


def self_agreement(graded: Sequence[Graded], scenarios: Mapping[str, Scenario]) -> SelfAgreement | None:
    """Measure how far the repeats of one judge agree; None without repeats.

    Also None if the repeats are of several judge digests, since one figure can't cover them.

    `graded` is everything that the judge graded; equal briefs of a scenario count once.
    """
    items = items_of(scenarios.values())
    repeated = [entry for entry in graded if entry.repeats]
    if len(_by_digest(repeated)) > 1:
        return None
    answers: list[Repeated] = []
    for entry, _, verdicts in _each_brief_once(repeated):
        repeats = entry.passed_at_each_repeat
        answers += [_repeated(items, entry, v, repeats[_place(v)]) for v in verdicts]
    return measure_self_agreement(answers)


def _place(v: Verdict) -> tuple[str, int, str]:
    return v.scenario_id, v.seed, v.item_id


def _repeated(
    items: Mapping[tuple[str, str], Item], entry: Graded, v: Verdict, passed: Sequence[bool | None]
) -> Repeated:
    return Repeated(items[v.scenario_id, v.item_id], passed, v.scenario_id, f"{entry.condition}/{v.seed}")


def _by_digest(graded: Sequence[Graded]) -> dict[tuple[str, str], list[Graded]]:
    """Group the entries of our judges by label and a suffix that makes it unique.

    A label has several digests if its prompt or preset was edited. The suffix is then ` (judge digest ...)`,
    as on the pages; else it is empty.
    """
    digests: dict[str, dict[str, list[Graded]]] = {}
    for entry in graded:
        if not entry.is_foreign:
            by_digest = digests.setdefault(entry.judge, {})
            by_digest.setdefault(str(entry.about["judge"]["digest"]), []).append(entry)
    return {
        (judge, f" (judge digest {digest[:_SHOWN_DIGITS]})" if len(by_digest) > 1 else ""): entries
        for judge, by_digest in digests.items()
        for digest, entries in by_digest.items()
    }


def _each_brief_once(
    graded: Sequence[Graded], wanted: Collection[tuple[str, str]] | None = None
) -> Iterator[tuple[Graded, str, list[Verdict]]]:
    """Yield each brief with a text and its verdicts; of equal briefs of a scenario, only the first.

    With `wanted`, scenarios and texts, only those; verdicts of other conditions are not decoded.
    """
    seen: set[tuple[str, str]] = set()
    for entry in graded if wanted is None or wanted else ():
        verdicts: dict[tuple[str, int], list[Verdict]] | None = None
        for (scenario_id, seed), text in entry.texts.items():
            if text is None or (scenario_id, text) in seen:
                continue
            if wanted is None or (scenario_id, text) in wanted:
                seen.add((scenario_id, text))
                verdicts = entry.by_brief if verdicts is None else verdicts
                yield entry, text, verdicts[scenario_id, seed]
