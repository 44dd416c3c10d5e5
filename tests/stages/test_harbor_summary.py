"""What one attempt of a Harbor job scores, and which criteria it missed."""

import pytest

from flows.schema.harbor import (
    Outcome,
    ReportState,
)
from flows.stages.harbor_summary import (
    lowest_score,
    score_of_criteria,
    score_trial,
)
from tests.stages.harbor_support import a_criterion, a_fault, a_trial


@pytest.mark.parametrize("state", [ReportState.missing, ReportState.corrupt, ReportState.empty])
@pytest.mark.parametrize("faults", [(), ("RuntimeError", False), ("RewardFileNotFoundError", True)])
def test_no_report_is_zero_whether_or_not_a_verifier_said_so(state, faults):
    found = (a_fault(faults[0], voids=faults[1]),) if faults else ()
    attempt = score_trial(a_trial(report_state=state, report_detail="why", faults=found, verifier_ran=False))
    assert (attempt.outcome, attempt.score, attempt.clamped) == (Outcome.no_report, 0.0, 0.0)
    assert attempt.detail == f"{state.value}: why"


@pytest.mark.parametrize(
    ("changes", "outcome", "detail"),
    [
        (
            {"faults": (a_fault("VerifierTimeoutError", voids=True),)},
            Outcome.verifier_failed,
            "VerifierTimeoutError",
        ),
        # A reward beside a verifier's fault does not count.
        (
            {"reward": 0.0, "faults": (a_fault("VerifierTimeoutError", voids=True),)},
            Outcome.verifier_failed,
            "said",
        ),
        ({}, Outcome.verifier_failed, "the verifier ran and left no reward"),
        ({"verifier_ran": False}, Outcome.not_verified, "no verifier ran"),
        (
            {"verifier_ran": False, "faults": (a_fault("RuntimeError", voids=False),)},
            Outcome.not_verified,
            "RuntimeError: said",
        ),
        (
            {"verifier_ran": False, "report_state": ReportState.unknown, "report_detail": "not collected"},
            Outcome.not_verified,
            "not collected",
        ),
        # A provider that was down says nothing about the model, whatever was graded after it.
        (
            {
                "reward": 0.0,
                "report_state": ReportState.missing,
                "faults": (a_fault("ApiOverloadedError", voids=True),),
            },
            Outcome.interrupted,
            "ApiOverloadedError",
        ),
        (
            {"agent_ran": False, "verifier_ran": False, "report_state": ReportState.missing},
            Outcome.interrupted,
            "never started",
        ),
        ({"is_finished": False, "report_state": ReportState.missing}, Outcome.interrupted, "ended"),
    ],
)
def test_what_is_not_the_reports_fault_is_no_score(changes, outcome, detail):
    attempt = score_trial(a_trial(**changes))
    assert (attempt.outcome, attempt.score, attempt.clamped) == (outcome, None, None)
    assert detail in attempt.detail


def test_a_reward_stands_where_the_verifier_saw_a_report_that_nobody_collected():
    attempt = score_trial(
        a_trial(reward=0.5, report_state=ReportState.missing, report_detail="not collected")
    )
    assert (attempt.outcome, attempt.score) == (Outcome.scored, 0.5)
    assert attempt.detail == "missing: not collected"


def test_a_refusal_that_was_graded_keeps_its_reward():
    attempt = score_trial(a_trial(reward=0.0, faults=(a_fault("AgentSafetyRefusalError", voids=False),)))
    assert (attempt.outcome, attempt.score) == (Outcome.scored, 0.0)


@pytest.mark.parametrize(("reward", "clamped"), [(1.5, 1.0), (-0.5, 0.0), (0.25, 0.25)])
def test_each_attempt_is_clamped(reward, clamped):
    attempt = score_trial(a_trial(reward=reward))
    assert (attempt.score, attempt.clamped) == (reward, clamped)


def test_the_criteria_give_back_what_clamping_took():
    # (0 met of 3 points - 2 points of penalty) / 3 = -2/3, reported as 0.
    criteria = (a_criterion("c1", 3.0, met=False), a_criterion("p1", -2.0, met=True))
    attempt = score_trial(a_trial(reward=0.0, criteria=criteria))
    assert attempt.score == pytest.approx(-2 / 3)
    assert (attempt.clamped, attempt.detail) == (0.0, "")


def test_a_reward_that_its_criteria_do_not_come_to_stands_and_is_named():
    # The reward kit's own mean: (3 * 1 - 2 * 1) / (3 - 2) = 1; by the published scoring 1/3.
    criteria = (a_criterion("c1", 3.0, met=True), a_criterion("p1", -2.0, met=True))
    attempt = score_trial(a_trial(reward=1.0, criteria=criteria))
    assert (attempt.score, attempt.clamped) == (1.0, 1.0)
    assert "the verifier's reward is 1, its criteria come to 0.3333" in attempt.detail


@pytest.mark.parametrize(
    ("criteria", "score"),
    [
        ([("c1", True, 3.0), ("c2", False, 2.0), ("p1", True, -2.0)], 0.2),
        ([("c1", True, 3.0), ("c2", True, 2.0), ("p1", False, -2.0)], 1.0),
        ([("c1", None, 3.0)], None),
        ([("c1", True, None)], None),
        ([("p1", True, -2.0)], None),
        ([], None),
    ],
)
def test_the_published_score_of_criteria(criteria, score):
    found = score_of_criteria([a_criterion(name, points, met=met) for name, met, points in criteria])
    assert found == (None if score is None else pytest.approx(score))


@pytest.mark.parametrize(
    ("points", "lowest"),
    [((9.0, 5.5, -9.0), -9 / 14.5), ((2.0,), 0.0), ((-2.0,), None), ((1.0, None), None), ((), None)],
)
def test_the_lowest_score_of_a_rubric(points, lowest):
    assert lowest_score([a_criterion(f"c{n}", value, met=None) for n, value in enumerate(points)]) == lowest


@pytest.mark.parametrize(("reward", "agrees"), [(-0.5, True), (0.0, True), (-0.25, False)])
def test_a_reward_below_zero_is_that_of_its_criteria_or_its_clamped_one(reward, agrees):
    criteria = (a_criterion("a", 2.0, met=False), a_criterion("b", -1.0, met=True))  # -0.5
    found = score_trial(a_trial(reward=reward, criteria=criteria))
    assert (found.score, found.detail == "") == (-0.5 if agrees else reward, agrees)
