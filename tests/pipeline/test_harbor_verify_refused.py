"""What `harbor verify` takes from nobody: leftovers, other tasks, other formats, other judges."""

import json
import shutil

import pytest

from flows.__main__ import main
from flows.adapters.harbor_jobs import read_job
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems, ScenarioError
from flows.pipeline.harbor.verify import UNGRADED, verify
from tests.pipeline.test_harbor_verify import STRONG, judge, left
from tests.pipeline.test_harbor_verify import brief as _brief
from tests.pipeline.test_harbor_verify import logs as _logs
from tests.pipeline.test_harbor_verify import task as _task
from tests.pipeline.test_harbor_verify import tests_folder as _tests_folder
from tests.support.harbor_trees import copy_job

brief, logs, task, tests_folder = _brief, _logs, _task, _tests_folder


def test_what_the_agent_left_in_the_verifiers_folder_is_taken_away(tests_folder, brief, logs):
    (logs / "staffbench/completions").mkdir(parents=True)
    (logs / "staffbench/completions/forged").write_text("a reply that passes everything")
    (logs / "reward.json").write_text('{"reward": 1.0}')
    (logs / ".judgment.json.part").symlink_to(brief)
    assert verify([], brief, tests_folder(), logs, Screen(), grade=judge(bridge=None)) == UNGRADED
    assert left(logs)[0] is None
    assert not (logs / "staffbench").exists()
    assert brief.read_text() == STRONG


def test_a_conf_where_the_agent_worked_is_not_read(tests_folder, brief, tmp_path, logs, monkeypatch):
    folder = tests_folder()
    (tmp_path / "app/conf").mkdir(parents=True)
    (tmp_path / "app/conf/config.yaml").write_text("seeds: none of yours\n")
    monkeypatch.chdir(tmp_path / "app")
    assert main(["harbor", "verify", str(brief), "--task", str(folder), "--logs", str(logs)]) == 0
    assert left(logs)[0] == {"reward": 1.0}  # by the stand-in


def test_faults_of_a_task_are_told_and_leave_no_reward(task, logs):
    (task / "fixtures/rubric.json").write_text('{"criteria": [{"criterion_id": "a", "points": 1}]}')
    with pytest.raises(Problems, match=r"rubric\.json: criterion 'a': criterion is missing"):
        verify([], task / "golden/report.docx", task, logs, Screen(), grade=judge())
    reward, judgment = left(logs)
    assert reward is None
    assert "criterion is missing" in judgment["error"]


def test_a_task_of_a_later_format_is_refused(tests_folder, brief, logs):
    folder = tests_folder()
    (folder / "fixtures/staffbench.json").write_text('{"format": "2"}')
    with pytest.raises(ScenarioError, match="format '2'; expected '1'"):
        verify([], brief, folder, logs, Screen(), grade=judge())


@pytest.mark.parametrize("name", ["..", "a/b", ""])
def test_a_scenario_outside_the_task_is_refused(tests_folder, brief, logs, name):
    folder = tests_folder()
    told = {"format": "1", "scenario_id": name, "overrides": []}
    (folder / "fixtures/staffbench.json").write_text(json.dumps(told))
    with pytest.raises(ScenarioError, match="expected the name of a folder"):
        verify([], brief, folder, logs, Screen(), grade=judge())


@pytest.mark.parametrize(
    ("environment", "fault"),
    [
        ("offline benchmark=smoke", "the task fixes the benchmark"),
        ("offline 'judge", "STAFFBENCH_JUDGE: No closing quotation"),
    ],
)
def test_an_environment_that_means_no_judge_is_refused(task, logs, monkeypatch, environment, fault):
    monkeypatch.setenv("STAFFBENCH_JUDGE", environment)
    with pytest.raises(ConfigError, match=fault):
        verify([], task / "golden/report.docx", task, logs, Screen(), grade=judge())


def test_another_benchmark_than_the_tasks_is_refused(task, logs):
    with pytest.raises(ConfigError, match="the task fixes the benchmark"):
        verify(["benchmark=smoke"], task / "golden/report.docx", task, logs, Screen(), grade=judge())


def test_an_import_reads_the_judgment(tests_folder, brief, logs, tmp_path):
    verify([], brief, tests_folder(), logs, Screen(), grade=judge(bridge=False, cholera=None))
    job = copy_job("0.26.0", tmp_path)
    shutil.copy(logs / "judgment.json", job / "memo-02__3NREJCo/verifier/judgment.json")
    trial = next(trial for trial in read_job(job).trials if trial.name == "memo-02__3NREJCo")
    assert trial.judges == ("offline",)
    assert [(c.criterion_id, c.met, c.points, c.is_penalty, c.passed) for c in trial.criteria] == [
        ("strength", True, 9.0, False, True),
        ("bridge", False, 5.5, False, False),
        ("cholera", None, -9.0, True, None),
    ]
    assert trial.criteria[2].detail == "unparsed: the judge's reply was cut"
