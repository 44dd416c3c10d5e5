"""Items with a known verdict: where they stand, what they look like, and what a miss leads to."""

import json
import pickle
import re
from dataclasses import replace

import pytest

from flows.schema.completion import Completion, CompletionStatus, Usage
from flows.schema.scenario import Severity
from flows.schema.settings import JudgeMode
from flows.schema.verdict import VerdictStatus
from flows.stages.judge import (
    JudgeCall,
    MissedCanary,
    build_requests,
    judge_outcome,
    misses_canary,
    output_room,
    read_reply,
)
from flows.stages.judge.items import with_canaries
from tests.stages.test_judge import ITEMS, JUDGE, PROMPT, item

MODES = {"failed_only": JudgeMode.failed_only, "all_items": JudgeMode.all_items}
RUBRIC = [item(f"KR-{area}-{number:02}") for area in ("GUI", "TAS", "ENV") for number in (1, 2, 3)]


def call_for(mode, items=ITEMS):
    judge = replace(JUDGE, mode=mode, canaries=True)
    (call,) = build_requests(items, "The brief.", judge, PROMPT, 1)
    return call


def reply_to(call, wrong=(), failed=()):
    """A reply that passes everything but `failed`, and gets the canaries in `wrong` wrong."""
    is_error = {one.item_id: one.severity.is_error for one in call.items}
    unpassable, unfailable = sorted(call.canaries, key=lambda canary: is_error[canary])
    fails = {*failed, unpassable} ^ {{"requirement": unpassable, "error": unfailable}[kind] for kind in wrong}
    if call.mode is JudgeMode.failed_only:
        modes = {True: "committed", False: "omission"}
        listed = [{"id": i, "mode": modes[is_error[i]], "reason": "r"} for i in sorted(fails)]
        return json.dumps({"items": len(call.items), "failed": listed})
    entries = [{"id": i, "met": (i in fails) == error, "reason": "r"} for i, error in is_error.items()]
    return json.dumps({"verdicts": entries})


def completion(text, status=CompletionStatus.complete):
    return Completion("k", status, text, "stop", "judge-01", Usage(), None, ())


def test_each_stands_after_a_group_of_items_and_goes_on_with_its_numbers():
    mixed, ids = with_canaries(RUBRIC)
    assert [one for one in mixed if one.item_id not in ids] == RUBRIC
    positions = [[one.item_id for one in mixed].index(i) for i in ids]
    for item_id, position in zip(ids, positions, strict=True):
        stem = item_id[:-2]
        assert re.fullmatch(r"KR-(GUI|TAS|ENV)-0[45]", item_id)
        assert mixed[position - 1].item_id.startswith(stem)
        after = mixed[position + 1 : position + 2]
        assert all(not one.item_id.startswith(stem) or one.item_id in ids for one in after)
    kinds = {one.item_id: one.severity.is_error for one in mixed}
    assert [kinds[i] for i in ids] == [False, True]


def test_each_stands_among_its_own_kind():
    mixed, ids = with_canaries(ITEMS)
    assert ids == ("R3", "E2")
    assert [one.item_id for one in mixed] == ["R1", "R2", "R3", "E1", "E2"]


def test_the_place_is_the_rubrics_and_the_same_for_every_brief():
    assert with_canaries(RUBRIC) == with_canaries(RUBRIC)
    places = {
        tuple(ids.index(i) for i in canaries)
        for number in range(1, 12)
        for mixed, canaries in [with_canaries([item(f"x{number}-{one}") for one in range(number)])]
        for ids in [[one.item_id for one in mixed]]
    }
    assert len(places) > 5
    heads = [
        build_requests(RUBRIC, text, replace(JUDGE, canaries=True), PROMPT, 1)[0].request.messages[1].content
        for text in ("one brief", "another")
    ]
    assert heads[0].split("<brief>")[0] == heads[1].split("<brief>")[0]


@pytest.mark.parametrize("ids", [["strength", "bridge"], ["a1"], ["a9"], ["x", "x-2", "x-3"], ["7"]])
def test_ids_are_new_and_made_like_the_others(ids):
    mixed, canaries = with_canaries([item(i) for i in ids])
    assert len({one.item_id for one in mixed}) == len(ids) + 2
    for canary in canaries:
        assert re.fullmatch(r"(strength|bridge|x)(-\d)+|a\d+|\d", canary)


def test_they_are_shown_as_any_other_item_and_counted_as_one():
    call = call_for(JudgeMode.failed_only)
    prompt = call.request.messages[1].content
    assert "The rubric has 5 items." in prompt
    assert len(re.findall(r'<item id="[^"]+" kind="(?:requirement|error)">\n<requirement>', prompt)) == 5
    assert "canar" not in str(call.request).lower()
    assert call.item_ids == ("R1", "R2", "E1")
    assert call.request.parameters["max_tokens"] == output_room(5, JUDGE)
    plain = build_requests(ITEMS, "The brief.", JUDGE, PROMPT, 1)[0]
    assert plain.canaries == ()
    assert plain.request.key != call.request.key


@pytest.mark.parametrize("mode", MODES)
def test_a_reply_that_gets_them_right_is_read_without_them(mode):
    call = call_for(MODES[mode])
    found = read_reply(call, reply_to(call, failed=["R2"]))
    assert [(v.item_id, v.passed) for v in found] == [("R1", True), ("R2", False), ("E1", True)]
    assert not misses_canary(call, completion(reply_to(call)))


@pytest.mark.parametrize("wrong", [["requirement"], ["error"], ["requirement", "error"]])
@pytest.mark.parametrize("mode", MODES)
def test_a_reply_that_gets_one_wrong_is_rejected_and_not_told_which(mode, wrong):
    call = call_for(MODES[mode])
    text = reply_to(call, wrong)
    with pytest.raises(MissedCanary):
        read_reply(call, text)
    assert misses_canary(call, completion(text))
    again = judge_outcome(call, completion(text), 2)
    assert isinstance(again, JudgeCall)
    note = again.request.messages[1].content.removeprefix(call.request.messages[1].content)
    assert "the gradings go against the items' own pass and fail conditions" in note
    assert not any(i in note for i in (*call.canaries, "R1", "R2", "E1", "km"))
    ended = judge_outcome(again, completion(text), 2)
    assert [(v.item_id, v.status, v.passed) for v in ended] == [
        (i, VerdictStatus.unparsed, None) for i in ("R1", "R2", "E1")
    ]


def test_a_judge_that_passes_or_fails_everything_is_found_out():
    call = call_for(JudgeMode.failed_only)
    everything = [
        {"id": one.item_id, "mode": "committed" if one.severity.is_error else "omission", "reason": "r"}
        for one in call.items
    ]
    for listed in ([], everything):
        assert misses_canary(call, completion(json.dumps({"items": 5, "failed": listed})))


def test_only_a_whole_and_valid_reply_can_miss_one():
    call = call_for(JudgeMode.failed_only)
    for text in ("", "{}", json.dumps({"items": 3, "failed": []})):
        assert not misses_canary(call, completion(text))
    text = reply_to(call, ["error"])
    assert not misses_canary(call, completion(text, CompletionStatus.cut))
    assert not misses_canary(replace(call, canaries=()), completion(text))


def test_one_item_a_call_asks_for_each_on_its_own():
    judge = replace(JUDGE, mode=JudgeMode.per_item, canaries=True)
    calls = build_requests(ITEMS, "The brief.", judge, PROMPT, 1)
    own = [call for call in calls if call.canaries]
    assert [call.item_ids for call in calls if not call.canaries] == [("R1",), ("R2",), ("E1",)]
    assert sorted(call.items[0].severity for call in own) == [Severity.detrimental, Severity.important]
    for call in own:
        text = '{"verdicts": [{"id": "%s", "met": %s, "reason": "r"}]}'
        right = judge_outcome(call, completion(text % (call.canaries[0], "false")), 2)
        assert right == ()
        wrong = judge_outcome(call, completion(text % (call.canaries[0], "true")), 2)
        assert isinstance(wrong, JudgeCall)
        assert judge_outcome(wrong, completion(text % (call.canaries[0], "true")), 2) == ()


def test_the_miss_survives_a_process():
    fault = pickle.loads(pickle.dumps(MissedCanary()))
    assert fault.fault == MissedCanary().fault
