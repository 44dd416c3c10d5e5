"""Files of verdicts in a job tree."""

import json
import shutil

import pytest

from tests.support.harbor_trees import FIXTURES, GOOD, copy_job, trial


@pytest.fixture
def job(tmp_path):
    return copy_job("0.25.0", tmp_path)


def write_verdicts(job, name, content):
    (job / GOOD / "verifier" / name).write_text(json.dumps(content))
    return trial(job, GOOD)


def test_the_reward_kits_details(job):
    (job / GOOD / "verifier" / "judgment.json").unlink()
    shutil.copy(FIXTURES / "rewardkit-reward-details.json", job / GOOD / "verifier" / "reward-details.json")
    found, damage = trial(job, GOOD)
    assert [
        (c.criterion_id, c.met, c.points, c.is_penalty, c.passed, c.text, c.reason) for c in found.criteria
    ] == [
        (
            "file_exists:outputs/report.docx",
            True,
            1.0,
            False,
            True,
            "Check that outputs/report.docx exists in the workspace",
            "",
        ),
        ("c1", True, 3.0, False, True, "Leads with the delayed pallets", "because"),
        ("p1", True, -2.0, True, False, "Mentions lunch", "because"),
    ]
    assert found.judges == ("openai/fake-judge (medium)",)
    assert damage == ""


def test_marks_between_yes_and_no_faults_and_negations_of_the_reward_kit(job):
    (job / GOOD / "verifier" / "judgment.json").unlink()
    criterion = {"name": "a", "value": 0.5, "raw": 3, "weight": 1.0, "description": "Is clear"}
    timed_out = {"name": "b", "value": 0.0, "raw": None, "weight": 1.0, "error": "judge timed out after 300s"}
    negated = {
        "name": "c",
        "value": 1.0,
        "raw": "no",
        "weight": 1.0,
        "negate": True,
        "description": "Has lunch",
    }
    details = {"reward": {"score": 0.5, "kind": "agent", "criteria": [criterion, timed_out, negated]}}
    found, _ = write_verdicts(job, "reward-details.json", details)
    assert [(c.met, c.passed, c.text, c.detail) for c in found.criteria] == [
        (None, None, "Is clear", "value 0.5, raw mark 3"),
        (None, None, "", "judge timed out after 300s"),
        (True, True, "not: Has lunch", ""),
    ]


def test_verdicts_by_id_without_points_and_with_a_polarity(job):
    content = {
        "verdicts": {
            "c1": {"met": False, "reason": "absent"},
            "p1": {"met": True, "polarity": "penalty", "justification": "line 3"},
            "c2": {"met": "yes", "points": 2},
        }
    }
    found, _ = write_verdicts(job, "judgment.json", content)
    assert [(c.criterion_id, c.met, c.is_penalty, c.passed, c.reason) for c in found.criteria] == [
        ("c1", False, None, None, "absent"),
        ("p1", True, True, False, "line 3"),
        ("c2", None, False, None, ""),
    ]
    assert found.criteria[2].detail == "met is 'yes'"


def test_files_that_contradict_one_another(job):
    content = {"criteria": [{"id": "c1", "points": 3, "met": False}, {"id": "c9", "points": 1, "met": True}]}
    found, damage = write_verdicts(job, "again.json", content)
    assert [(c.criterion_id, c.met) for c in found.criteria] == [
        ("c1", True),
        ("c2", True),
        ("p1", False),
        ("c9", True),
    ]
    assert "again.json: says met=False of c1, where verifier/judgment.json says met=True" in damage


def test_an_id_that_comes_twice_is_told_apart_by_its_part(job):
    (job / GOOD / "verifier" / "judgment.json").unlink()
    one = {"name": "exists", "value": 1.0, "raw": True, "weight": 1.0}
    details = {
        "format": {"score": 1.0, "criteria": [one]},
        "content": {"score": 0.0, "criteria": [{**one, "value": 0.0}, {**one, "value": 0.0}]},
    }
    found, damage = write_verdicts(job, "reward-details.json", details)
    assert [(c.criterion_id, c.met) for c in found.criteria] == [
        ("format/exists", True),
        ("content/exists", False),
    ]
    assert "criterion content/exists twice; the first is kept" in damage


def test_halves_of_surrogate_pairs_become_question_marks(job):
    (job / GOOD / "verifier" / "judgment.json").write_text(
        '{"criteria": [{"id": "c\\ud800", "points": 1, "met": true, "reason": "a\\udc00b"}]}'
    )
    found, _ = trial(job, GOOD)
    assert [(c.criterion_id, c.reason) for c in found.criteria] == [("c?", "a?b")]
