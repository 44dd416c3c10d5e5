"""Replies of a judge: what is read, and what is rejected with which fault."""

import json
import pickle
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.schema.completion import CompletionStatus
from flows.schema.settings import JudgeMode
from flows.schema.verdict import FailureMode, VerdictStatus
from flows.stages.judge import (
    RejectedReply,
    build_requests,
    read_reply,
)
from flows.stages.judge.reply import reject_if_cut
from tests.stages.judge_support import (
    GOOD,
    ITEMS,
    JUDGE,
    PROMPT,
    call_for,
    completion,
    entry,
    failed,
)


def met(**values):
    return json.dumps(
        {"verdicts": [{"id": key, "met": value, "reason": "r"} for key, value in values.items()]}
    )


def graded(found):
    return [(v.item_id, v.status.value, v.passed, v.mode and v.mode.value, v.reason) for v in found]


def test_failed_only_unlisted_is_passed_for_both_polarities():
    assert graded(read_reply(call_for(JudgeMode.failed_only), failed())) == [
        ("R1", "graded", True, None, ""),
        ("R2", "graded", True, None, ""),
        ("E1", "graded", True, None, ""),
    ]


def test_failed_only_listed_is_failed():
    reply = "\n " + failed(entry("E1", "committed", "claims it"), entry("R1", "partial", "half")) + " \n"
    assert graded(read_reply(call_for(JudgeMode.failed_only), reply)) == [
        ("R1", "graded", False, "partial", "half"),
        ("R2", "graded", True, None, ""),
        ("E1", "graded", False, "committed", "claims it"),
    ]


@pytest.mark.parametrize("mode", ["omission", "partial", "incorrect", "unsupported"])
def test_the_four_modes_of_a_requirement(mode):
    found = read_reply(call_for(JudgeMode.failed_only), failed(entry("R2", mode)))
    assert (found[1].passed, found[1].mode) == (False, FailureMode(mode))


def test_met_means_passed_for_a_requirement_and_made_for_an_error():
    reply = met(E1=True, R2=False, R1=True)
    assert graded(read_reply(call_for(JudgeMode.all_items), reply)) == [
        ("R1", "graded", True, None, "r"),
        ("R2", "graded", False, None, "r"),
        ("E1", "graded", False, "committed", "r"),
    ]
    assert read_reply(call_for(JudgeMode.all_items), met(R1=True, R2=True, E1=False))[2].passed is True


def test_per_item_reads_its_one_item():
    calls = build_requests(ITEMS, "b", replace(JUDGE, mode=JudgeMode.per_item), PROMPT, 1)
    assert graded(read_reply(calls[2], met(E1=False))) == [("E1", "graded", True, None, "r")]
    with pytest.raises(RejectedReply, match="unknown id 'E1'"):
        read_reply(calls[0], met(E1=False))


BAD_FAILED = {
    "empty": ("", "it is empty"),
    "blank": (" \n", "it is empty"),
    "prose before": ("Here it is: " + GOOD, "not one JSON object and nothing else"),
    "prose after": (GOOD + "\nDone.", "not one JSON object and nothing else"),
    "two objects": (GOOD + GOOD, "not one JSON object and nothing else"),
    "fence": (f"```json\n{GOOD}\n```", "a code fence"),
    "byte order mark": ("\ufeff" + GOOD, "not one JSON object and nothing else"),
    "cut": (GOOD[:-3], "not one JSON object and nothing else"),
    "refusal": ("I can't help with that.", "not one JSON object and nothing else"),
    "list": (json.dumps([entry("R1")]), "it is JSON, but no object"),
    "text": ('"failed"', "it is JSON, but no object"),
    "null": ("null", "it is JSON, but no object"),
    "no keys": ("{}", "the keys none"),
    "no count": (json.dumps({"failed": []}), "the object has the keys 'failed'"),
    "no list": (json.dumps({"items": 3}), "the object has the keys 'items'"),
    "further key": (json.dumps({"items": 3, "failed": [], "score": 1}), "'score', and should have"),
    "other mode's reply": (met(R1=True, R2=True, E1=False), "the object has the keys 'verdicts'"),
    "count low": (failed(items=2), "items is 2, and 3 were to be graded"),
    "count high": (failed(items=4), "items is 4, and 3"),
    "count zero": (failed(items=0), "items is 0, and 3"),
    "count float": (failed(items=3.0), "items is 3.0, and 3"),
    "count text": (failed(items="3"), "items is '3', and 3"),
    "count true": (failed(items=True), "items is true, and 3"),
    "count null": (failed(items=None), "items is null, and 3"),
    "count deep": ('{"items": ' + "[" * 500 + "]" * 500 + ', "failed": []}', "items is a list, and 3"),
    "too deep": ('{"items": ' + "[" * 100_000, "nested too deeply"),
    "long number": ('{"items": ' + "3" * 5000 + ', "failed": []}', "not one JSON object and nothing else"),
    "double key": ('{"items": 3, "failed": [], "failed": []}', "the key 'failed' twice"),
    "double key inside": (
        '{"items": 3, "failed": [{"id": "R1", "id": "R2", "mode": "partial", "reason": ""}]}',
        "the key 'id' twice",
    ),
    "NaN": ('{"items": NaN, "failed": []}', "NaN is no JSON"),
    "Infinity": ('{"items": Infinity, "failed": []}', "Infinity is no JSON"),
    "overflow": ('{"items": 1e999, "failed": []}', "items is Infinity, and 3"),
    "failed no list": (json.dumps({"items": 3, "failed": {}}), "failed is no list"),
    "failed null": (json.dumps({"items": 3, "failed": None}), "failed is no list"),
    "ids only": (json.dumps({"items": 3, "failed": ["R1"]}), "entry 1 of failed is no object"),
    "entry without mode": (
        json.dumps({"items": 3, "failed": [{"id": "R1", "reason": ""}]}),
        "entry 1 of failed has the keys 'id', 'reason', and should have 'id', 'mode', 'reason'",
    ),
    "entry with more": (failed(entry("R1") | {"passed": False}), "entry 1 of failed has the keys"),
    "unknown id": (failed(entry("R1"), entry("R9")), "entry 2 of failed has the unknown id 'R9'"),
    "id in other case": (failed(entry("r1")), "unknown id 'r1'"),
    "id with space": (failed(entry("R1 ")), "unknown id 'R1 '"),
    "id number": (failed(entry(1)), "unknown id 1"),
    "id list": (failed(entry(["R1"])), "unknown id a list"),
    "id twice": (failed(entry("R1"), entry("R1", "partial")), "the id 'R1' is listed twice"),
    "unknown mode": (failed(entry("R1", "missing")), "'R1', a requirement, is 'missing', not omission"),
    "mode in other case": (failed(entry("R1", "Omission")), "is 'Omission'"),
    "mode null": (failed(entry("R1", None)), "is null"),
    "mode list": (failed(entry("R1", ["omission"])), "is a list"),
    "committed requirement": (failed(entry("R1", "committed")), "'R1', a requirement, is 'committed'"),
    "omitted error": (failed(entry("E1", "omission")), "'E1', an error, is 'omission', not committed"),
    "reason null": (failed(entry("R1", reason=None)), "reason of 'R1' is no text"),
    "reason list": (failed(entry("R1", reason=[])), "reason of 'R1' is no text"),
    "reason empty": (failed(entry("R1", reason="")), "reason of 'R1' is empty"),
    "reason blank": (failed(entry("R1", reason=" \n")), "reason of 'R1' is empty"),
    "half a character": (failed(entry("R1", reason="\ud83d")), "half of a character"),
}  # fmt: skip


BAD_MET = {
    "one missing": (met(R1=True, E1=False), "2 of 3 items are in the list; missing is 'R2'"),
    "none": (met(), "0 of 3 items"),
    "unknown": (met(R1=True, R2=True, E1=True, X=True), "entry 4 of verdicts has the unknown id 'X'"),
    "met number": (met(R1=1, R2=True, E1=True), "met of 'R1' is 1, neither true nor false"),
    "met text": (met(R1="true", R2=True, E1=True), "met of 'R1' is 'true', neither"),
    "met null": (met(R1=True, R2=None, E1=True), "met of 'R2' is null, neither"),
    "other mode's reply": (failed(), "should have 'verdicts'"),
    "twice": (
        json.dumps({"verdicts": [{"id": "R1", "met": True, "reason": "so"}] * 2}),
        "the id 'R1' is listed twice",
    ),
    "with a mode": (
        json.dumps({"verdicts": [{"id": "R1", "met": True, "reason": "", "mode": "partial"}]}),
        "should have 'id', 'met', 'reason'",
    ),
}  # fmt: skip


BAD = [
    *((JudgeMode.failed_only, *pair) for pair in BAD_FAILED.values()),
    *((JudgeMode.all_items, *pair) for pair in BAD_MET.values()),
]


BAD_NAMES = [*BAD_FAILED, *(f"all_items, {name}" for name in BAD_MET)]


@pytest.mark.parametrize(("mode", "reply", "fault"), BAD, ids=BAD_NAMES)
def test_a_reply_out_of_format_is_rejected_with_its_fault(mode, reply, fault):
    with pytest.raises(RejectedReply) as caught:
        read_reply(call_for(mode), reply)
    assert fault in caught.value.fault
    assert '"' not in caught.value.fault.replace('\\"', "")  # see _quoted


def test_the_good_reply_that_the_bad_ones_are_made_from_is_read():
    assert [found.passed for found in read_reply(call_for(JudgeMode.failed_only), GOOD)] == [
        False,
        True,
        True,
    ]


def test_a_fault_repeats_only_the_start_of_what_was_written():
    with pytest.raises(RejectedReply) as caught:
        read_reply(call_for(JudgeMode.failed_only), failed(entry("x" * 100_000)))
    assert len(caught.value.fault) < 150


@given(st.integers(0, len(GOOD) - 1))
@settings(deadline=None)  # the machine may be busy
def test_no_cut_reply_is_read(length):
    with pytest.raises(RejectedReply):
        read_reply(call_for(JudgeMode.failed_only), GOOD[:length])


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["R1", "partial"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["items", "failed", "verdicts", "id", "mode", "met", "reason"]), inner
        )
    ),
    max_leaves=12,
)


@given(JSON | st.fixed_dictionaries({"items": st.just(3), "failed": st.lists(JSON, max_size=2)}))
@settings(deadline=None)  # the machine may be busy
def test_any_json_is_read_whole_or_rejected(value):
    for mode in (JudgeMode.failed_only, JudgeMode.all_items):
        try:
            found = read_reply(call_for(mode), json.dumps(value))
        except RejectedReply:
            continue
        assert [verdict.item_id for verdict in found] == ["R1", "R2", "E1"]
        assert all(verdict.status is VerdictStatus.graded for verdict in found)


def test_a_reply_cut_at_the_limit_is_rejected_however_whole_it_looks():
    with pytest.raises(RejectedReply, match="cut at the output limit"):
        reject_if_cut(completion(GOOD, CompletionStatus.cut))
    assert reject_if_cut(completion(GOOD)) is None


def test_a_rejection_survives_pickling():
    again = pickle.loads(pickle.dumps(RejectedReply("it is empty")))
    assert (again.fault, str(again)) == ("it is empty", "it is empty")
