"""A job of Harbor on the screen: rewards, means, criteria, and what is damaged."""

import shutil
from pathlib import Path

import pytest

from flows.adapters.pages import Rendered
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError
from flows.pipeline.harbor.jobs.summary import summarize
from flows.pipeline.native import renders
from tests.support.harbor_trees import FIXTURES, GOOD, REPORT, cells, copy_job, edit


@pytest.fixture(autouse=True)
def _one_page(monkeypatch):
    monkeypatch.setattr(renders, "render", lambda path, *, images=0: Rendered(1, (), None, "Office"))


@pytest.fixture
def job(tmp_path):
    return copy_job("0.25.0", tmp_path)


def shown(capsys):
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_the_summary_shows_rewards_and_three_means_beside_one_another(project, job, capsys):
    assert summarize(project, job, criteria=False, screen=Screen()) == 0
    out, err = shown(capsys)
    lines = [cells(line) for line in out.splitlines() if line.startswith("│")]
    assert lines == [
        [
            "fake/model-1",
            "scripted",
            "memo-01",
            "offline/keyword",
            "1.000 · 0.000 (corrupt) · 0.000 (missing) · verifier failed",
            "0.333",
        ],
        [
            *["fake/model-1", "scripted", "memo-02", "offline/keyword"],
            *["0.200 · 0.000 (empty) · 0.000 (missing) · 1.000", "0.300"],
        ],
        [
            *["fake/model-1", "scripted", "8", "3", "4", "1", "0.275", "0.275", "0.367", "0.317"],
            "0.275 to 0.400",
            "2 of 2",
        ],
    ]
    assert "Harbor 0.25.0" in out
    assert "ours: a missing, corrupt or empty report is 0; a refusal without a report" in out
    assert "memo-01 attempt 4 (memo-01__zTHzF6G): verifier_failed: RewardFileNotFoundError" in out
    assert "criteria missed 1, penalties triggered 1, undecided 0; verdicts in 3 of 8 attempts" in out
    assert "missed c2" not in out
    assert err == ""


def test_the_other_version_has_another_mean_and_the_same_one_of_ours(project, tmp_path, capsys):
    assert summarize(project, copy_job("0.26.0", tmp_path), criteria=False, screen=Screen()) == 0
    out, _ = shown(capsys)
    means = [cells(line) for line in out.splitlines() if line.startswith("│")][-1]
    assert means[6:10] == ["0.314", "0.275", "0.314", "0.317"]


def test_criteria_are_listed_with_points_and_reasons(project, job, capsys):
    assert summarize(project, job, criteria=True, screen=Screen()) == 0
    out, _ = shown(capsys)
    assert out.splitlines()[-2:] == [
        "memo-02 attempt 1 (memo-02__Ao2fYo9): missed c2 (+2): keyword judge",
        "memo-02 attempt 1 (memo-02__Ao2fYo9): penalty p1 (-2): keyword judge",
    ]


def test_undecided_criteria_and_a_reward_that_they_do_not_come_to(project, job, capsys):
    shutil.copy(FIXTURES / "rewardkit-reward-details.json", job / GOOD / "verifier" / "reward-details.json")
    (job / GOOD / "verifier" / "judgment.json").unlink()

    def not_judged(details):
        details["reward"]["components"][1]["detail"]["criteria"][0]["error"] = "judge timed out"

    summarize(project, job, criteria=True, screen=Screen())
    out, _ = shown(capsys)
    # (1 for the file + 3 for c1 - 2 for p1) / (1 + 3) = 0.5, where the kit's own mean is 1.
    assert f"({GOOD}): scored: the verifier's reward is 1, its criteria come to 0.5" in out
    assert f"({GOOD}): penalty p1 (-2): Mentions lunch: because" in out
    edit(job / GOOD / "verifier" / "reward-details.json", not_judged)
    summarize(project, job, criteria=True, screen=Screen())
    assert f"({GOOD}): undecided c1: judge timed out" in shown(capsys)[0]


def test_damage_is_named_and_the_rest_is_shown(project, job, capsys):
    (job / GOOD / "result.json").write_text("{")
    assert summarize(project, job, criteria=False, screen=Screen()) == 1
    out, err = shown(capsys)
    assert "0.200 · 0.000 (empty) · 0.000 (missing) · 1.000" in out
    assert f"{GOOD}/result.json: no JSON" in err


def test_a_judges_words_cannot_drive_the_terminal(project, job, capsys):
    def color(judgment):
        judgment["criteria"][1]["reason"] = "\x1b[2J\x07wiped\nmemo-02 attempt 9: all met"

    edit(job / "memo-02__Ao2fYo9" / "verifier" / "judgment.json", color)
    summarize(project, job, criteria=True, screen=Screen())
    out, _ = shown(capsys)
    assert "missed c2 (+2): [2J wiped memo-02 attempt 9: all met\n" in out
    assert "\x1b" not in out


def test_a_job_is_looked_up_from_the_project_too(project, tmp_path, monkeypatch):
    copy_job("0.25.0", tmp_path / "jobs")
    monkeypatch.chdir(project)
    assert summarize(tmp_path, Path("jobs/scripted-0.25.0"), criteria=False, screen=Screen()) == 0
    with pytest.raises(ConfigError, match="no such folder"):
        summarize(tmp_path, Path("jobs/other"), criteria=False, screen=Screen())


def test_a_report_that_no_verifier_saw_is_opened_here(project, job, capsys):
    for name, content in (("memo-01__zTHzF6G/steps/answer", b"PK no docx"), ("memo-02__gjDVFmk", b"")):
        (job / name / REPORT).write_bytes(content)
    summarize(project, job, criteria=False, screen=Screen())
    out, _ = shown(capsys)
    assert "1.000 · 0.000 (corrupt) · 0.000 (missing) · 0.000 (corrupt)" in out
    # The verifier saw the other one and gave it 1: what lies here now does not change that.
    assert "0.200 · 0.000 (empty) · 0.000 (missing) · 1.000" in out


def test_files_that_were_not_kept_with_a_job_are_no_fault(project, tmp_path, capsys):
    job = copy_job("0.26.0", tmp_path)
    for report in job.rglob("report.docx"):
        report.unlink()
    assert summarize(project, job, criteria=False, screen=Screen()) == 0
    shown = capsys.readouterr()
    assert "No fault: " in shown.out
    assert "not kept with the job" in shown.out
    assert shown.err == ""
