"""Settings of panels, quotes and scoring, and refusals that name the key and what to write."""

import pytest

from flows.common.errors import StaffbenchError
from flows.schema.condition import judge_fields, judge_of
from tests.adapters.config_support import (
    labels,
    one,
    refusal,
)


def asked(place, name):
    key = f"judge.members.{place}"
    return [f"{key}=openai_compatible", f"{key}.name={name}", f"{key}.api_base=http://127.0.0.1:9/v1"]


def test_a_panel_of_presets_has_their_labels_in_the_order_of_its_places(project):
    point = one(project, "judge=panel")
    assert judge_of(point.settings, point.changed).label == "panel-v1"
    alone = [
        judge_of(other.settings, other.changed).label
        for preset in ("claude_opus_5_5", "gpt_6_1_sol", "gemini_4_argon")
        for other in [one(project, f"judge={preset}")]
    ]
    assert list(labels(point)) == alone  # so they are filed as the judges that they are


def test_members_are_chosen_added_left_out_and_changed_like_judges(project):
    point = one(
        project, "judge=panel", *asked("first", "a"), "judge.members.second=offline",
        "~judge.members.third", "+judge.members.tenth=gpt_6_luna", "judge.members.tenth.effort=high",
    )  # fmt: skip
    members = point.settings.judge.members
    assert {name: member.label for name, member in members.items()} == {
        "first": "a", "second": "offline", "tenth": "gpt-6-luna",
    }  # fmt: skip
    assert members["first"].provider == "http://127.0.0.1:9/v1"
    assert {"judge", "judge.members.first", "judge.members.tenth"} <= point.changed
    assert "judge.members.second" not in point.changed
    first, second, tenth = labels(point)
    assert first.startswith("a-medium-failed_only-v1-")
    assert second == "offline"
    assert tenth.startswith("gpt-6-luna-high-failed_only-v1-")


def test_what_a_panel_asks_for_holds_for_its_members_and_changes_their_digests(project):
    plain = one(project, "judge=panel")
    before = judge_of(plain.settings, plain.changed)
    for override in ("judge.canaries=true", "judge.repeat=2", "judge.members.first.max_attempts=7"):
        point = one(project, "judge=panel", override)
        after = judge_of(point.settings, point.changed)
        assert after.digest != before.digest
        assert after.members[0] != before.members[0]
    quorum = one(project, "judge=panel", "judge.quorum=3")
    assert judge_of(quorum.settings, quorum.changed).digest != before.digest
    assert labels(quorum) == before.members
    # More than half of three is two: said or not, it is the same panel.
    same = one(project, "judge=panel", "judge.quorum=2")
    assert judge_of(same.settings, same.changed).digest == before.digest


def test_leave_to_grade_itself_changes_no_verdict(project):
    digests = {
        judge_of(point.settings, point.changed).digest
        for override in ("judge.allow_self=false", "judge.allow_self=true")
        for point in [one(project, "judge=gpt_6_luna", override)]
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["judge.members.first=ofline"], "offline"),
        (["judge.members.first.nmae=x"], "judge.name"),
        (["judge.members.first=openai_compatible"], "judge.members.first.name"),
        (["judge.members.first=panel"], "panels have no panels"),
        (["judge.members.first.effort=minimal"], "judge.members.first.effort"),
        (["judge.members.first.repeat=0"], "judge.members.first.repeat"),
        (["~judge.members.first", "~judge.members.second"], "two or more"),
        (["judge.quorum=4"], "1 to 3"),
        (["judge.quorum=0"], "1 to 3"),
    ],
)
def test_a_panel_that_makes_no_sense_is_refused(project, overrides, said):
    assert said in refusal(project, "judge=panel", *overrides)


def test_only_a_panel_has_a_quorum_and_the_stand_in_is_asked_nothing(project):
    assert "judge.quorum" in refusal(project, "judge=gpt_6_luna", "judge.quorum=1")
    assert "judge.repeat" in refusal(project, "judge.repeat=2")
    assert "judge.canaries" in refusal(project, "judge.canaries=true")
    assert "asked nothing" in refusal(project, "judge.quotes=true")


def test_quotes_need_a_mode_that_lists_what_passes_and_change_the_judge_only_where_they_are_asked(project):
    assert "failed_only lists no item that passes" in refusal(
        project, "judge=gpt_6_luna", "judge.quotes=true"
    )
    assert "judge.members.NAME.quotes" in refusal(project, "judge=panel", "judge.quotes=true")
    quoting = ["judge=gpt_6_luna", "judge.mode=all_items", "judge.quotes=true"]
    assert "no quotes" in refusal(project, *quoting, "judge_prompt.quotes=''")
    with_quotes, without = one(project, *quoting), one(project, *quoting[:2])
    fields = judge_fields(without.settings.judge, without.settings.judge_prompt)
    assert "quotes" not in fields["judge"] | fields["prompt"]
    fields = judge_fields(with_quotes.settings.judge, with_quotes.settings.judge_prompt)
    assert "quotes" in fields["judge"].keys() & fields["prompt"].keys()


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("scoring.interval=normal", "one of t, bootstrap"),
        ("scoring.refusals=half", "one of unscored, zero"),
        ("scoring.min_graded=0", "more than 0, up to 1"),
        ("scoring.min_graded=95", "more than 0, up to 1"),
        ("scoring.min_coverage=-0.1", "0 to 1"),
        ("scoring.resamples=1", "2 or more"),
    ],
)
def test_rules_of_scoring_out_of_range_are_refused(project, override, said):
    assert said in refusal(project, override)


def test_other_rules_of_scoring_have_a_board_of_their_own(project):
    names = {
        one(project, override).settings.scoring.name
        for override in (
            "scoring.interval=bootstrap", "scoring.refusals=zero", "scoring.min_graded=1",
            "scoring.min_coverage=0", "scoring.interval=t",
        )
    }  # fmt: skip
    assert len(names) == 5
    assert "severity" in names


@pytest.mark.parametrize(
    ("override", "name", "points"),
    [
        ("scoring.weights.important=3", "important", 3.0),
        ("scoring.weights.detrimental=-1.5", "detrimental", -1.5),
        ("scoring.weights.important=0", "important", 0.0),
    ],
)
def test_a_single_weight_can_be_set_and_the_others_stay(project, override, name, points):
    published, scoring = one(project).settings.scoring, one(project, override).settings.scoring
    assert scoring.weights == {**published.weights, name: points}
    assert scoring.name.startswith("severity-")  # never the published board
    assert name in scoring.assumed


def test_a_single_weight_of_a_polarity_can_be_set(project):
    chosen = ["benchmark=mission_report", "scoring=equal_points", "scoring.weights.negative=-2"]
    assert one(project, *chosen).settings.scoring.weights == {"positive": 1, "negative": -2}


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["scoring.weights.imprtant=3"], "no weight 'imprtant' in scoring=severity; expected important or"),
        (["scoring.weights.positive=3"], "expected one of critically_important, important"),
        (["+scoring.weights.foo=3"], "no weight 'foo'"),
        (["scoring.weights.important=many"], "scoring.weights.important: 'many'; expected a number"),
        (["scoring.weights.important=null"], "scoring.weights.important: null; expected a number"),
        (["scoring.weights.important=true"], "scoring.weights.important: true; expected a number"),
        (["~scoring.weights.important"], "scoring.weights.important: not set; expected a number of points"),
        (
            ["benchmark=mission_report", "scoring.weights.important=3"],
            "in scoring=points; expected equal_points",
        ),
    ],
)
def test_a_weight_that_is_none_is_refused(project, overrides, said):
    assert said in refusal(project, *overrides)


PANEL = ["judge=panel", "judge.members.second=offline"]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["harness.max_steps=4"], "harness.max_steps: has no effect under harness=single_prompt"),
        (["benchmark.controls=there"], "benchmark.controls: has no effect under the protocol ma_bench"),
        (["judge.name=x"], "judge.name: has no effect with judge=offline"),
        (
            ["model=extractive", "model.parameters.temperature=0.2"],
            "model.parameters.temperature: has no effect: extractive asks no model",
        ),
        (["judge=gpt_6_luna", "judge.writer=files"], "judge.writer: has no effect: a judge writes no briefs"),
        (["judge=gpt_6_luna", "judge.folder=x"], "judge.folder: has no effect"),
        (["judge=gpt_6_luna", "judge.benchmark_effort=low"], "expected judge.effort"),
        (
            [*PANEL, "judge.max_attempts=2"],
            "has no effect on a panel, which is asked nothing itself; expected",
        ),
        ([*PANEL, "judge.members.first.folder=x"], "judge.members.first.folder: has no effect"),
        ([*PANEL, "judge.members.second.mode=per_item"], "with judge.members.second=offline"),
    ],
)
def test_a_value_without_effect_is_refused_in_one_line_that_says_what_would_have_one(
    project, overrides, said
):
    message = refusal(project, *overrides)
    assert said in message
    assert "; expected " in message
    assert len(message.splitlines()) == 1


def test_several_values_without_effect_are_named_together_and_a_presets_own_value_is_none(project):
    message = refusal(project, "harness.max_steps=4", "judge.mode=per_item", "judge.price.taken=x")
    assert all(
        f"{key}: has no effect" in message for key in ("harness.max_steps", "judge.mode", "judge.price.taken")
    )
    for same in (
        "harness.max_steps=null",
        "judge.mode=all_items",
        "benchmark.controls=null",
        "judge.name=null",
    ):
        assert one(project, same).changed == frozenset()
    reports = one(project, "benchmark=mission_report", "harness.max_steps=4", "benchmark.controls=elsewhere")
    assert reports.settings.harness.max_steps == 4
    assert reports.settings.benchmark.controls == "elsewhere"


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("model=extractve", "no option 'extractve'; expected extractive"),
        ("modle=x", "no key 'modle'; expected model"),
        ("scenarios=[foo]", "no key 'scenarios'; expected benchmark.scenarios"),
        ("benchmark.scenarios=foo", "'foo'; expected a list, such as benchmark.scenarios=[a,b]"),
        ("word_cap=abc", "no cap 'abc'; expected a number of words, as in word_cap=1500, or none"),
        ("word_cap=3,000", "a number with commas; expected word_cap=3000"),
        ("cap=500", "no key 'cap'; expected word_cap"),
        ("model.temperature=1", "expected model.parameters.temperature for a field of the request"),
        ("~judge.canaries", "judge.canaries: not set; expected a value; it can't be removed"),
        ("~model", "an axis can't be removed"),
        ("judge.members.x=offline", "the judge has no such member; expected judge=panel"),
        ("experiment=baselines", "expected +experiment=baselines"),
        ("model={a:b", ": absent, anthropic, azure"),
        ("prompt.words=[1", "a value that has to be quoted"),
        ("seeds=many", "seeds: 'many'; expected a whole number"),
        ("results=", "results: not set; expected a folder"),
        ("foo", "foo: not an override; expected key=value"),
        ("foo=1", "no key 'foo'; expected one of benchmark, budget, effort"),
    ],
)
def test_a_refusal_names_the_key_what_was_found_and_what_to_write(project, override, said):
    message = refusal(project, override)
    assert said in message
    assert "\n" not in message
    assert len(message) < 320
    for parsers in ("no viable alternative", "mismatched input", "Could not override", "{'", "dict"):
        assert parsers not in message


ASKED_JUDGE = ["judge=openai_compatible", "judge.name=j", "judge.api_base=http://127.0.0.1:9/v1"]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (
            [*ASKED_JUDGE, "judge.max_steps=9"],
            r"judge\.max_steps.*has no effect under judge\.harness=single_call",
        ),
        (
            ["judge=panel", "judge.members.first.harness=agent"],
            r"judge\.members\.first\.harness.*has no effect on a member of a panel",
        ),
    ],
)
def test_settings_of_an_agent_judge_that_nothing_reads_are_refused(project, overrides, said):
    with pytest.raises(StaffbenchError, match=said):
        one(project, *overrides)
