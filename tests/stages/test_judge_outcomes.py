"""Verdicts of a brief from a judge's replies: what is asked again, and what stands if none is valid."""

from itertools import product

import pytest

from flows.schema.brief import Brief, BriefStatus
from flows.schema.completion import CompletionStatus
from flows.schema.settings import JudgeMode
from flows.schema.verdict import FailureMode, ItemVerdict, Verdict, VerdictStatus
from flows.stages.judge import (
    JudgeCall,
    judge_outcome,
    verdicts_for_brief,
    verdicts_for_missing,
)
from tests.stages.judge_support import GOOD, ITEMS, R1, R2, call_for, completion, failed, prompt_of

BRIEF = Brief("harbour", 2, BriefStatus.written, "text", 1, 1, cut=False, cut_by_provider=False,
              word_counter="w1", completion="k")  # fmt: skip


# Ask, reject, ask again


def run(replies, mode=JudgeMode.failed_only, max_attempts=3):
    """Drive the outcome as the pipeline does; gives the verdicts and the calls made."""
    step, calls = call_for(mode), []
    for reply in replies:
        calls.append(step)
        step = judge_outcome(step, reply, max_attempts)
        if not isinstance(step, JudgeCall):
            return step, calls
    pytest.fail("asked again after the last reply")


def test_the_first_valid_reply_counts():
    found, calls = run([completion(GOOD)])
    assert [verdict.passed for verdict in found] == [False, True, True]
    assert len(calls) == 1


def test_a_rejected_reply_is_asked_again_with_its_fault_named():
    found, calls = run(
        [completion(failed(items=2)), completion(GOOD, CompletionStatus.cut), completion(GOOD)]
    )
    assert [verdict.passed for verdict in found] == [False, True, True]
    assert "items is 2, and 3 were to be graded" in prompt_of(calls[1])
    assert "cut at the output limit" in prompt_of(calls[2])
    assert len({call.request.key for call in calls}) == 3


def test_after_the_last_attempt_items_are_unparsed():
    found, calls = run([completion("no")] * 2, max_attempts=2)
    assert len(calls) == 2
    assert {(verdict.status, verdict.passed, verdict.mode) for verdict in found} == {
        (VerdictStatus.unparsed, None, None)
    }
    assert found[0].reason.startswith("no valid reply in 2 attempts; the last: it is not one JSON object")


ENDINGS = [
    ([completion(None, CompletionStatus.error, "timeout")], "error", "timeout"),
    ([completion(None, CompletionStatus.error)], "error", "no reply from the judge"),
    ([completion(None, CompletionStatus.refused, "content filter")], "refused", "content filter"),
    ([completion("", CompletionStatus.refused)], "refused", "the judge was refused"),
    ([completion(None)] * 3, "unparsed", "it is empty"),
    ([completion("null")] * 3, "unparsed", "no object"),
    ([completion(failed(), CompletionStatus.cut)] * 3, "unparsed", "cut"),
    ([completion("null"), completion(None, CompletionStatus.error, "http 500")], "error", "http 500"),
]


@pytest.mark.parametrize(
    ("mode", "ending"), list(product([JudgeMode.failed_only, JudgeMode.all_items], ENDINGS))
)
def test_a_failure_never_becomes_a_verdict_for_either_polarity(mode, ending):
    replies, status, reason = ending
    found, _ = run(replies, mode)
    assert [(v.item_id, v.status.value, v.passed) for v in found] == [
        ("R1", status, None),
        ("R2", status, None),
        ("E1", status, None),
    ]
    assert all(reason in verdict.reason for verdict in found)


# Verdicts of a brief


def test_verdicts_come_in_rubric_order():
    found = [
        ItemVerdict("E1", VerdictStatus.error, None, reason="timeout"),
        ItemVerdict("R2", VerdictStatus.graded, passed=False, mode=FailureMode.partial, reason="half"),
        ItemVerdict("R1", VerdictStatus.graded, passed=True),
    ]
    assert verdicts_for_brief(ITEMS, BRIEF, found) == [
        Verdict("harbour", 2, "R1", VerdictStatus.graded, passed=True),
        Verdict(
            "harbour", 2, "R2", VerdictStatus.graded, passed=False, mode=FailureMode.partial, reason="half"
        ),
        Verdict("harbour", 2, "E1", VerdictStatus.error, None, None, "timeout"),
    ]


def test_verdicts_must_cover_the_rubric_once():
    passed = [ItemVerdict(one.item_id, VerdictStatus.graded, passed=True) for one in ITEMS]
    with pytest.raises(ValueError, match="differ in E1"):
        verdicts_for_brief(ITEMS, BRIEF, passed[:2])
    with pytest.raises(ValueError, match="two verdicts on R1"):
        verdicts_for_brief(ITEMS, BRIEF, [*passed, passed[0]])
    with pytest.raises(ValueError, match="differ in E1"):
        verdicts_for_brief([R1, R2], BRIEF, passed)


@pytest.mark.parametrize("status", ["refused", "unparsed", "error"])
def test_a_brief_that_nobody_graded_has_a_status_for_each_item(status):
    assert verdicts_for_missing(ITEMS, BRIEF, VerdictStatus(status), "content filter") == [
        Verdict("harbour", 2, item_id, VerdictStatus(status), None, None, "content filter")
        for item_id in ("R1", "R2", "E1")
    ]


def test_a_missing_brief_can_not_be_graded():
    with pytest.raises(ValueError, match="passed=None"):
        verdicts_for_missing(ITEMS, BRIEF, VerdictStatus.graded, "")
