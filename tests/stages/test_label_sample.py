"""The sample that experts label: balanced, blinded, shared, and the same again."""

from collections import Counter

import pytest

from flows.common.errors import ConfigError
from flows.stages.label_sample import Brief, Size, draw_sample
from tests.support.paper_results import make_scenarios

ITEMS = {name: scenario.items for name, scenario in make_scenarios(n_scenarios=4, n_items=126).items()}
BRIEFS = [
    Brief(f"model-{model}", name, seed, f"{model} on {name}, {seed}")
    for model in range(5)
    for name in ITEMS
    for seed in (1, 2, 3)
]
RATERS = ("ann", "ben", "cem")


def drawn(briefs=BRIEFS, raters=RATERS, size=Size(8, 15, 4), sample="b 1"):  # noqa: B008 -- immutable
    return draw_sample(briefs, ITEMS, raters, size, sample)


def keys(parts):
    return {
        (brief.condition, brief.scenario_id, brief.seed): {i.item_id for i in items} for brief, items in parts
    }


def test_raters_share_some_briefs_with_the_same_items_and_read_others_alone():
    found = {rater: keys(parts) for rater, parts in drawn().items()}
    shared = set.intersection(*(set(own) for own in found.values()))
    assert len(shared) == 4
    assert all(len(own) == 8 for own in found.values())
    assert len(set().union(*found.values())) == 4 + 3 * 4
    for place in shared:
        assert found["ann"][place] == found["ben"][place] == found["cem"][place]


def test_the_sample_is_balanced_over_scenarios_models_and_severities():
    parts = [pair for own in drawn().values() for pair in own]
    briefs = {(brief.condition, brief.scenario_id, brief.seed): items for brief, items in parts}
    by_scenario = Counter(name for _, name, _ in briefs)
    assert max(by_scenario.values()) == min(by_scenario.values())
    by_model = Counter(model for model, _, _ in briefs)
    assert max(by_model.values()) - min(by_model.values()) <= 1
    by_severity = Counter(item.severity for items in briefs.values() for item in items)
    assert max(by_severity.values()) - min(by_severity.values()) <= 1
    assert all(len(items) == 15 for items in briefs.values())


def test_the_same_draw_is_the_same_and_another_is_another():
    assert drawn() == drawn()
    assert drawn(BRIEFS[::-1]) == drawn()
    assert drawn(sample="b 2") != drawn()


def test_each_rater_has_an_order_of_their_own():
    found = drawn(size=Size(8, 15, 8))
    ann, ben = (found[name] for name in ("ann", "ben"))
    assert keys(ann) == keys(ben)
    assert [brief for brief, _ in ann] != [brief for brief, _ in ben]
    orders = {
        name: {brief.text: [item.item_id for item in items] for brief, items in found[name]}
        for name in ("ann", "ben")
    }
    assert orders["ann"] != orders["ben"]


def test_a_code_tells_nothing_and_changes_with_the_text():
    brief = BRIEFS[0]
    code = brief.code("b 1")
    assert brief.condition not in code
    others = [
        Brief("model-1", brief.scenario_id, 1, brief.text),
        Brief(brief.condition, brief.scenario_id, 1, "other"),
    ]
    assert len({code, brief.code("b 2"), *(one.code("b 1") for one in others)}) == 4


def test_equal_texts_count_once_and_too_few_are_refused():
    copies = [Brief("strong", "scenario_01", seed, "the same") for seed in (1, 2, 3)]
    with pytest.raises(ConfigError, match="2 different briefs for 1 rater, of 1"):
        drawn(copies, raters=("ann",), size=Size(2, 5, 0))
    ((brief, items),) = drawn(copies, raters=("ann",), size=Size(1, 500, 1))["ann"]
    assert (brief.seed, len(items)) == (1, 126)
