"""Which settings make another condition or another judge, and how each is named."""

import dataclasses
import re

import pytest

from flows.schema.condition import condition_of, file_name, judge_of, members_of
from tests.adapters.config_support import (
    REMOTE,
    one,
)


def test_another_form_of_the_judges_call_is_another_judge(project):
    reports = ["benchmark=mission_report", "judge=gpt_6_luna"]
    agent, single = one(project, *reports), one(project, *reports, "judge.harness=single_call")
    first, second = (judge_of(point.settings, point.changed) for point in (agent, single))
    assert (first.harness, second.harness) == ("agent", "single_call")
    assert first.digest != second.digest
    assert first.label != second.label
    steps = one(project, *reports, "judge.max_steps=41")
    assert judge_of(steps.settings, steps.changed).digest != first.digest
    briefs = one(project, "judge=gpt_6_luna")
    assert judge_of(briefs.settings, briefs.changed).harness is None


def test_a_panels_members_are_asked_as_each_would_be_alone(project):
    panel = one(project, "benchmark=mission_report", "judge=panel")
    alone = one(project, "benchmark=mission_report", "judge=claude_opus_5_5")
    members = [member.judge for member, _ in members_of(panel.settings, panel.changed)]
    assert {(member.mode, member.harness) for member in members} == {("all_items", "agent")}
    expected = judge_of(alone.settings, alone.changed)
    assert expected.label in judge_of(panel.settings, panel.changed).members
    assert judge_of(panel.settings, panel.changed).harness == "agent"


@pytest.mark.parametrize(
    "override",
    [
        "+model.parameters.temperature=0.5",
        "++model.parameters.temperature=0.5",
        "model.parameters={temperature: 0.5}",
        "+model.parameters={temperature: 0.5}",
    ],
)
def test_ways_to_write_a_parameter_are_one_condition(project, override):
    plain, written = (one(project, *REMOTE, word) for word in ("model.parameters.temperature=0.5", override))
    assert written.settings.model.parameters == {"temperature": 0.5}
    labels = {condition_of(point.settings, point.changed).label for point in (plain, written)}
    assert len(labels) == 1


def test_headers_by_variable_are_no_part_of_a_condition(project):
    plain, other = one(project, *REMOTE), one(project, *REMOTE, "model.headers.X-Team=MY_TEAM")
    assert other.settings.model.headers == {"X-Team": "MY_TEAM"}
    digests = {condition_of(point.settings, point.changed).digest for point in (plain, other)}
    assert len(digests) == 1


def test_a_named_point_has_a_plain_label_and_an_overridden_one_its_digest(project):
    plain = one(project, "word_cap=500")
    condition = condition_of(plain.settings, plain.changed)
    assert condition.label == "extractive-default-500-v0"
    changed = one(project, "prompt.words=1000")
    condition = condition_of(changed.settings, changed.changed)
    assert condition.label == f"extractive-default-3000-v0-{condition.digest[:8]}"
    assert judge_of(plain.settings, plain.changed).label == "offline"


def test_seeds_and_weights_do_not_make_another_condition(project):
    labels = set()
    for overrides in ([], ["seeds=5"], ["scoring=unweighted"], ["runner.concurrency=3"]):
        point = one(project, *overrides)
        labels.add(condition_of(point.settings, point.changed))
    assert len(labels) == 1


@pytest.mark.parametrize(
    "override",
    ["model.name=c", "effort=high", "word_cap=500", "prompt=v0_no_limit", "model.parameters.top_p=0.1"],
)
def test_everything_that_changes_a_brief_changes_the_digest(project, override):
    def digest(*more):
        point = one(project, *REMOTE, *more)
        return condition_of(point.settings, point.changed).digest

    assert digest() != digest(override)


def test_a_name_that_no_file_can_have_is_made_one(project):
    point = one(project, *REMOTE)
    label = condition_of(point.settings, point.changed).label
    assert label.startswith("a_b-medium-3000-v0-")


NAMES = [
    "x" * 300,
    "a/b",
    "../../etc/passwd",
    ".hidden",
    "-rf",
    "a\0b",
    "日本",
    "a\nb",
    "CON: 1",
    "\U0001f600",
    "",
    " ",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_file_name_is_short_plain_and_its_own(name):
    (found, cut, same) = (
        file_name([name, "medium"]),
        file_name([f"{name}{'y' * 300}", "v1"]),
        file_name([f"{name}{'y' * 300}", "v2"]),
    )
    for made in (found, cut, same, file_name([name], "0123456789")):
        assert re.fullmatch(r"[A-Za-z0-9_+][A-Za-z0-9._+-]*", made)
        assert len(made) < 120
    assert cut != same
    assert file_name([name], "0123456789").endswith("-01234567")


@pytest.mark.parametrize("key", ["model.name", "model.label"])
def test_names_that_differ_only_in_signs_or_far_behind_are_two_conditions(project, key):
    words = [word for word in REMOTE if not word.startswith(key)]
    labels = set()
    for value in ("x" * 300, "x" * 299 + "y", "a/b", "a_b"):
        point = one(project, *words, f"model.name={value}", f"{key}='{value}'")
        labels.add(condition_of(point.settings, point.changed).label.casefold())
    assert len(labels) == 4


def test_a_presets_label_with_signs_ends_in_its_digest(project):
    point = one(project, *REMOTE)
    model = dataclasses.replace(point.settings.model, label="My model")
    condition = condition_of(dataclasses.replace(point.settings, model=model), frozenset())
    assert condition.label == f"My_model-medium-3000-v0-{condition.digest[:8]}"
