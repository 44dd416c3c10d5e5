"""Several verdicts as one: majorities, ties, and votes that are missing."""

import pytest

from flows.schema.brief import Brief, BriefStatus
from flows.schema.scenario import Evidence, Item, Severity, Step, Tier
from flows.schema.verdict import FailureMode, Verdict, VerdictStatus
from flows.stages.judge import majority

BRIEF = Brief("alder", 2, BriefStatus.written, "text", 1, 1, cut=False, cut_by_provider=False,
              word_counter="w1", completion=None)  # fmt: skip
UNGRADED = {
    "error": VerdictStatus.error,
    "refused": VerdictStatus.refused,
    "unparsed": VerdictStatus.unparsed,
    "abstained": VerdictStatus.abstained,
}


def item(item_id, severity):
    return Item(item_id=item_id, step=Step.risk, tier=Tier.stated, severity=severity, requirement="r",
                ground_truth="g", pass_condition="p", fail_condition="f",
                source=(Evidence("d", "q"),), rationale="y")  # fmt: skip


REQUIREMENT = item("R1", Severity.important)
ERROR = item("E1", Severity.detrimental)


def vote(item_id, what, mode=None, reason=""):
    if what in UNGRADED:
        return Verdict("alder", 2, item_id, UNGRADED[what], None, reason=reason)
    return Verdict("alder", 2, item_id, VerdictStatus.graded, what == "passed", mode, reason)


def decide(item_, quorum, *votes):
    """The verdict on one item; voters are called a, b, c, ..."""
    by_voter = {name: [vote(item_.item_id, *words)] for name, words in zip("abcde", votes, strict=False)}
    (found,) = majority([item_], BRIEF, by_voter, quorum)
    return found


@pytest.mark.parametrize("item_", [REQUIREMENT, ERROR], ids=["requirement", "error"])
@pytest.mark.parametrize(("votes", "quorum", "passed"), [
    (["passed", "passed", "failed"], 2, True),
    (["failed", "passed", "failed"], 2, False),
    (["passed", "error", "passed"], 2, True),
    (["failed", "error", "unparsed"], 1, False),
    (["passed", "passed", "passed", "failed", "failed"], 3, True),
])  # fmt: skip
def test_more_than_half_of_those_with_a_verdict_decide(item_, votes, quorum, passed):
    found = decide(item_, quorum, *[(v,) for v in votes])
    assert (found.status, found.passed) == (VerdictStatus.graded, passed)


@pytest.mark.parametrize("votes", [["passed", "failed"], ["failed", "error", "passed"]])
def test_a_tie_finds_nothing_in_the_brief(votes):
    """What a requirement asks for is then not there, and the wrong move was not made."""
    requirement = decide(REQUIREMENT, 2, *[(v,) for v in votes])
    error = decide(ERROR, 2, *[(v,) for v in votes])
    assert requirement.passed is False
    assert error.passed is True
    assert requirement.reason.startswith("Tied. Passed by ")


@pytest.mark.parametrize(("votes", "status"), [
    (["passed", "unparsed", "unparsed"], "unparsed"),
    (["passed", "unparsed", "refused"], "refused"),
    (["refused", "unparsed", "error"], "error"),
    (["failed", "error", "refused"], "error"),
])  # fmt: skip
def test_below_the_quorum_there_is_no_verdict_for_either_polarity(votes, status):
    for item_ in (REQUIREMENT, ERROR):
        found = decide(item_, 2, *[(v,) for v in votes])
        assert (found.status.value, found.passed, found.mode) == (status, None, None)
        assert found.reason.startswith("fewer than 2 verdicts. ")


def test_the_reason_tells_how_everybody_voted():
    found = decide(
        REQUIREMENT, 2, ("failed", FailureMode.partial, "half"), ("passed",), ("failed",), ("error",)
    )
    assert found.reason == "Passed by b; failed by a, c; no verdict from d (error). half"
    assert decide(ERROR, 1, ("passed",)).reason == "Passed by a."


def test_the_mode_is_the_commonest_of_those_that_failed_it_and_the_first_of_equals():
    partial, omission = FailureMode.partial, FailureMode.omission
    two = decide(REQUIREMENT, 2, ("failed", partial), ("failed", omission), ("failed", omission))
    assert two.mode is omission
    assert decide(REQUIREMENT, 2, ("failed", partial), ("failed", omission)).mode is partial
    assert decide(REQUIREMENT, 2, ("passed",), ("passed",), ("failed", omission)).mode is None
    committed = FailureMode.committed
    assert decide(ERROR, 2, ("passed",), ("failed", committed), ("failed", committed)).mode is committed


def test_every_voter_must_say_something_of_every_item():
    with pytest.raises(ValueError, match="alder/2: b did not vote on R1"):
        majority([REQUIREMENT], BRIEF, {"a": [vote("R1", "passed")], "b": []}, 1)


def test_verdicts_come_in_rubric_order_and_know_their_brief():
    votes = {"a": [vote("E1", "failed"), vote("R1", "passed")]}
    found = majority([REQUIREMENT, ERROR], BRIEF, votes, 1)
    assert [(v.scenario_id, v.seed, v.item_id, v.passed) for v in found] == [
        ("alder", 2, "R1", True), ("alder", 2, "E1", False),
    ]  # fmt: skip


def test_a_member_that_abstains_has_no_vote():
    assert decide(ERROR, 2, ["failed"], ["failed"], ["abstained"]).passed is False
    assert decide(ERROR, 2, ["failed"], ["abstained"], ["abstained"]).status is VerdictStatus.abstained
    missing = decide(ERROR, 2, ["failed"], ["abstained"], ["unparsed"])
    assert missing.status is VerdictStatus.unparsed  # asked again, as the vote may be had
