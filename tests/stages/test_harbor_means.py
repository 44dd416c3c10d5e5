"""Means over attempts, tasks and systems of a Harbor job, by its rules and by ours."""

import pytest

from flows.adapters.harbor_jobs import read_job
from flows.schema.harbor import (
    HarborJob,
    Outcome,
)
from flows.stages.harbor_summary import (
    missed,
    score_trial,
    summarize_job,
    undecided,
)
from tests.stages.harbor_support import a_criterion, a_fault, a_trial
from tests.support.harbor_trees import copy_job


def a_job(*trials, reported=None):
    return HarborJob("job", None, "0.26.0", trials, reported or {})


def test_the_same_eight_attempts_under_three_rules(tmp_path):
    # 1 + 0.2 + 1 = 2.2 over eight attempts. 0.25 has rewards for six of them, 0.26 for seven: it
    # also graded the one whose agent failed. Both leave the one whose verifier failed without.
    (old,) = summarize_job(read_job(copy_job("0.25.0", tmp_path)))
    (new,) = summarize_job(read_job(copy_job("0.26.0", tmp_path)))
    assert old.reported == 0.275
    assert old.mean_0_25 == pytest.approx(2.2 / 8, abs=1e-12) == pytest.approx(old.reported, abs=1e-12)
    assert new.reported == 0.31428571428571433
    assert new.mean_0_26 == pytest.approx(2.2 / 7, abs=1e-12) == pytest.approx(new.reported, abs=1e-12)
    # Each rule on the other's tree.
    assert old.mean_0_26 == pytest.approx(2.2 / 6, abs=1e-12)
    assert new.mean_0_25 == pytest.approx(2.2 / 8, abs=1e-12)
    # Ours is the same for both: memo-01 (1, 0, 0, no score), memo-02 (0.2, 0, 0, 1).
    for summary in (old, new):
        assert summary.by_task == {
            "memo-01": pytest.approx(1 / 3, abs=1e-12),
            "memo-02": pytest.approx(0.3, abs=1e-12),
        }
        assert summary.ours == pytest.approx((1 / 3 + 0.3) / 2, abs=1e-12)
        assert summary.ours_low == pytest.approx((1 / 4 + 0.3) / 2, abs=1e-12)
        assert summary.ours_high == pytest.approx((2 / 4 + 0.3) / 2, abs=1e-12)
        assert summary.counts == {Outcome.scored: 3, Outcome.no_report: 4, Outcome.verifier_failed: 1}
        assert summary.n_tasks == 2


def test_missed_criteria_then_triggered_penalties_then_what_is_undecided():
    criteria = (
        a_criterion("p1", -2.0, met=True),
        a_criterion("p2", -1.0, met=False),
        a_criterion("c1", 3.0, met=False),
        a_criterion("c2", 1.0, met=True),
        a_criterion("c3", 1.0, met=None),
        a_criterion("c4", None, met=True),
    )
    attempt = score_trial(a_trial(reward=0.0, criteria=criteria))
    assert [verdict.criterion_id for verdict in missed(attempt)] == ["c1", "p1"]
    assert [verdict.criterion_id for verdict in undecided(attempt)] == ["c3", "c4"]


def test_tasks_weigh_the_same_however_many_attempts_they_have():
    job = a_job(
        a_trial(task="a", reward=1.0),
        a_trial(task="b", reward=0.0),
        a_trial(task="b", attempt=2, reward=0.0),
        a_trial(task="b", attempt=3, reward=0.0),
        a_trial(task="c", verifier_ran=False),
    )
    (summary,) = summarize_job(job)
    assert (summary.mean_0_25, summary.mean_0_26, summary.ours) == (0.2, 0.25, 0.5)
    assert (summary.n_tasks, summary.by_task["c"]) == (2, None)
    assert summary.ours_low == pytest.approx(1 / 3)
    assert summary.ours_high == pytest.approx(2 / 3)


def test_0_26_leaves_out_a_reward_beside_a_fault_and_0_25_counts_it():
    job = a_job(
        a_trial(reward=1.0),
        a_trial(attempt=2, reward=0.5, faults=(a_fault("ApiRateLimitError", voids=True),)),
    )
    (summary,) = summarize_job(job)
    assert (summary.mean_0_25, summary.mean_0_26, summary.ours) == (0.75, 1.0, 1.0)
    assert (summary.ours_low, summary.ours_high) == (0.5, 1.0)


def test_an_attempt_that_has_not_ended_is_in_neither_of_harbors_means():
    (summary,) = summarize_job(a_job(a_trial(reward=1.0), a_trial(attempt=2, is_finished=False)))
    assert (summary.mean_0_25, summary.mean_0_26) == (1.0, 1.0)
    assert summary.counts[Outcome.interrupted] == 1


def test_a_reward_that_only_the_verifiers_file_has_is_not_harbors():
    trial = a_trial(reward=0.5, reward_source="verifier/reward.json")
    (summary,) = summarize_job(a_job(trial))
    assert (summary.mean_0_25, summary.mean_0_26, summary.ours) == (0.0, None, 0.5)


def test_nothing_scored_is_no_mean():
    (summary,) = summarize_job(a_job(a_trial(is_finished=False)))
    assert (summary.mean_0_25, summary.mean_0_26, summary.ours) == (None, None, None)
    assert (summary.ours_low, summary.ours_high) == (0.0, 1.0)


def test_systems_are_apart_and_a_mean_that_harbor_pooled_is_nobodys():
    reported = {"a__m__d": 0.5, "a__n__d": 0.25}
    job = a_job(
        a_trial(reward=1.0),
        a_trial(reward=0.0, effort="high"),
        a_trial(reward=0.25, model="n"),
        reported=reported,
    )
    summaries = summarize_job(job)
    assert [(s.model, s.effort, s.ours, s.reported) for s in summaries] == [
        ("m", "", 1.0, None),
        ("m", "high", 0.0, None),
        ("n", "", 0.25, 0.25),
    ]


def test_briefs_count_unclamped_and_are_bounded_by_their_rubric():
    criteria = (a_criterion("a", 9.0, met=False), a_criterion("b", -9.0, met=True))
    job = a_job(
        a_trial(name="t__1", reward=-1.0, criteria=criteria),
        a_trial(name="t__2", reward=1.0, attempt=2),
        a_trial(name="t__3", attempt=3),  # its verifier left no reward
    )
    (found,) = summarize_job(job, {"t": -1.0})
    assert found.attempts[0].score == -1.0
    assert (found.ours, found.by_task) == (0.0, {"t": 0.0})
    assert (found.ours_low, found.ours_high) == (pytest.approx(-1 / 3), pytest.approx(1 / 3))
    (clamped,) = summarize_job(job)
    assert (clamped.ours, clamped.ours_low, clamped.ours_high) == (
        0.5,
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    )


def test_a_task_of_which_nothing_is_known_has_no_lower_bound():
    (found,) = summarize_job(a_job(a_trial(reward=0.5), a_trial(name="t__2", attempt=2)), {})
    assert (found.ours, found.ours_low, found.ours_high) == (0.5, None, 0.75)
