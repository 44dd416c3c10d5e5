"""Job trees that Harbor 0.25 and 0.26 wrote, whole and damaged."""

import shutil

import pytest

from flows.adapters.harbor_jobs import read_job
from flows.common.errors import ConfigError
from flows.schema.harbor import HarborError, ReportState
from tests.support.harbor_trees import FIXTURES, GOOD, IN_STEPS, REPORT, copy_job, edit, trial


@pytest.fixture
def job(tmp_path):
    return copy_job("0.25.0", tmp_path)


def rows(job):
    return [
        (t.task, t.attempt, t.name, t.reward, t.report_state.value, [fault.kind for fault in t.faults])
        for t in job.trials
    ]


def test_the_job_of_0_25(job):
    found = read_job(job)
    assert (found.version, found.job_id) == ("0.25.0", "d7c6d7fd-ef96-4745-b76e-8c0f0e525f61")
    assert found.reported == {"scripted__fake/model-1__tasks": 0.275}
    assert found.damage == ()
    assert rows(found) == [
        ("memo-01", 1, "memo-01__GGemPUp", 1.0, "readable", []),
        ("memo-01", 2, "memo-01__Z43SFr4", 0.0, "corrupt", []),
        ("memo-01", 3, "memo-01__z3HTPmu", 0.0, "missing", []),
        ("memo-01", 4, "memo-01__zTHzF6G", None, "readable", ["RewardFileNotFoundError"]),
        ("memo-02", 1, "memo-02__Ao2fYo9", 0.2, "readable", []),
        ("memo-02", 2, "memo-02__VaipWbk", 0.0, "empty", []),
        ("memo-02", 3, "memo-02__MrbpFSY", None, "missing", ["RuntimeError"]),
        ("memo-02", 4, "memo-02__gjDVFmk", 1.0, "readable", []),
    ]
    assert {(t.agent, t.agent_version, t.model, t.effort, t.dataset) for t in found.trials} == {
        ("scripted", "0.1.0", "fake/model-1", None, "tasks")
    }


def test_the_job_of_0_26(tmp_path):
    found = read_job(copy_job("0.26.0", tmp_path))
    assert found.version == "0.26.0"
    assert [*found.reported.values()] == [0.31428571428571433]
    assert found.damage == ()
    assert rows(found) == [
        ("memo-01", 1, "memo-01__DvhAAmK", 1.0, "readable", []),
        ("memo-01", 2, "memo-01__HmN3C3G", 0.0, "corrupt", []),
        ("memo-01", 3, "memo-01__XnFbaJY", 0.0, "missing", []),
        ("memo-01", 4, "memo-01__iu2ftd4", None, "readable", ["RewardFileNotFoundError"]),
        ("memo-02", 1, "memo-02__C8LjdZR", 0.2, "readable", []),
        ("memo-02", 2, "memo-02__NvJ3fG2", 0.0, "empty", []),
        # 0.26 grades an attempt whose agent failed; 0.25 did not, and has no reward for it.
        ("memo-02", 3, "memo-02__YQEjaVW", 0.0, "missing", ["RuntimeError"]),
        ("memo-02", 4, "memo-02__3NREJCo", 1.0, "readable", []),
    ]


def test_criteria_reports_and_faults_of_a_trial_with_steps(job):
    found, _ = trial(job, IN_STEPS)
    assert found.report == f"{IN_STEPS}/steps/answer/{REPORT}"
    assert found.judges == ("offline/keyword",)
    assert [(c.criterion_id, c.met, c.points, c.is_penalty, c.passed, c.reason) for c in found.criteria] == [
        ("c1", True, 3.0, False, True, "keyword judge"),
        ("c2", True, 2.0, False, True, "keyword judge"),
        ("p1", False, -2.0, True, True, "keyword judge"),
    ]
    assert found.criteria[0].file == "steps/answer/verifier/judgment.json"
    failed, _ = trial(job, "memo-01__zTHzF6G")
    assert [(f.kind, f.voids_reward) for f in failed.faults] == [("RewardFileNotFoundError", True)]


def test_a_fault_that_voids_a_reward_by_the_list_and_by_what_0_26_recorded(job):
    def limited(result):
        result["exception_info"] = {"exception_type": "ApiRateLimitError", "exception_message": "429"}

    edit(job / GOOD / "result.json", limited)
    found, _ = trial(job, GOOD)
    assert found.faults[0].voids_reward
    assert not found.has_valid_reward

    def overridden(result):
        result["exception_info"]["policy"] = {"has_valid_reward": True}

    edit(job / GOOD / "result.json", overridden)
    assert trial(job, GOOD)[0].has_valid_reward


def test_a_missing_result_leaves_what_the_other_files_say(job):
    (job / GOOD / "result.json").unlink()
    found, damage = trial(job, GOOD)
    assert (found.task, found.agent, found.model, found.dataset) == (
        "memo-02",
        "scripted",
        "fake/model-1",
        "tasks",
    )
    assert (found.reward, found.reward_source, found.has_result) == (1.0, "verifier/reward.json", False)
    assert [criterion.met for criterion in found.criteria] == [True, True, False]
    assert f"{GOOD}: no result.json" in damage


def test_a_cut_result_is_named_and_the_steps_are_found_by_name(job):
    path = job / IN_STEPS / "result.json"
    path.write_text(path.read_text()[:900])
    found, damage = trial(job, IN_STEPS)
    assert (found.reward, found.reward_source) == (1.0, "steps/answer/verifier/reward.json")
    assert found.report == f"{IN_STEPS}/steps/answer/{REPORT}"
    assert f"{IN_STEPS}/result.json: no JSON" in damage


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe{", b"[" * 100_000, b"[1]", b'"text"', b""],
    ids=["utf8", "deep", "list", "text", "no"],
)
def test_a_result_that_is_no_object_costs_one_trial_only(job, content):
    (job / GOOD / "result.json").write_bytes(content)
    found, damage = trial(job, GOOD)
    assert (found.reward, found.has_result) == (1.0, False)
    assert f"{GOOD}/result.json" in damage
    assert len(read_job(job).trials) == 8


@pytest.mark.parametrize(
    "value", ['"high"', "NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400, "true", "null"]
)
def test_a_reward_that_is_no_finite_number_is_none(job, value):
    (job / GOOD / "verifier" / "reward.json").write_text(f'{{"reward": {value}}}')
    edit(job / GOOD / "result.json", lambda result: result["verifier_result"]["rewards"].clear())
    found, damage = trial(job, GOOD)
    assert (found.reward, found.reward_source) == (None, "")
    assert "no finite number" in damage


def test_nan_in_the_result_leaves_the_verifiers_own_number_with_a_word(job):
    path = job / GOOD / "result.json"
    path.write_text(path.read_text().replace('"reward": 1.0', '"reward": NaN'))
    found, damage = trial(job, GOOD)
    assert (found.reward, found.reward_source) == (1.0, "verifier/reward.json")
    assert f"{GOOD}: result.json: reward is nan, no finite number" in damage


@pytest.mark.parametrize(
    ("text", "reward"), [("0.25\n", 0.25), ("a quarter", None), ("nan", None), ("", None)]
)
def test_reward_txt(job, text, reward):
    (job / GOOD / "result.json").unlink()
    (job / GOOD / "verifier" / "reward.json").unlink()
    (job / GOOD / "verifier" / "reward.txt").write_text(text)
    assert trial(job, GOOD)[0].reward == reward


def test_disagreeing_rewards_are_named_and_harbors_is_kept(job):
    (job / GOOD / "verifier" / "reward.json").write_text('{"reward": 0.75}')
    found, damage = trial(job, GOOD)
    assert found.reward == 1.0
    assert "verifier/reward.json has reward 0.75, result.json has 1.0; the latter is kept" in damage


def test_rewards_of_other_names(job):
    def named(rewards):
        def change(result):
            result["verifier_result"]["rewards"] = rewards

        (job / GOOD / "verifier" / "reward.json").unlink(missing_ok=True)
        edit(job / GOOD / "result.json", change)
        return trial(job, GOOD)

    found, _ = named({"reward": 0.5, "style": 0.25})
    assert found.reward == 0.5
    assert named({"accuracy": 0.5})[0].reward == 0.5
    found, damage = named({"accuracy": 0.5, "style": 0.25})
    assert found.reward is None
    assert "none called reward" in damage


def test_nothing_is_made_of_several_steps_rewards_and_the_last_report_counts(job):
    def two_steps(result):
        first = result["step_results"][0]
        result["step_results"] = [{**first, "step_name": "draft"}, first]
        result["verifier_result"] = None

    edit(job / IN_STEPS / "result.json", two_steps)
    shutil.copytree(job / IN_STEPS / "steps" / "answer", job / IN_STEPS / "steps" / "draft")
    found, _ = trial(job, IN_STEPS)
    assert found.reward is None
    assert found.report == f"{IN_STEPS}/steps/answer/{REPORT}"
    assert [c.criterion_id for c in found.criteria] == [
        f"{step}/{name}" for step in ("draft", "answer") for name in ("c1", "c2", "p1")
    ]


def test_a_trial_without_verifier(job):
    shutil.rmtree(job / GOOD / "verifier")

    def unverified(result):
        result["verifier_result"] = result["verifier"] = None

    edit(job / GOOD / "result.json", unverified)
    found, damage = trial(job, GOOD)
    assert (found.reward, found.criteria, found.judges, found.verifier_ran) == (None, (), (), False)
    assert found.report_state is ReportState.readable
    assert damage == ""


def test_a_report_that_nobody_collected_is_unknown_and_not_missing(job):
    shutil.rmtree(job / GOOD / "artifacts")
    found, _ = trial(job, GOOD)
    assert (found.report, found.report_state) == (None, ReportState.unknown)


def test_a_report_that_the_manifest_has_and_the_tree_has_not_is_damage(job):
    (job / GOOD / REPORT).unlink()
    found, damage = trial(job, GOOD)
    assert found.report_state is ReportState.unknown
    assert f"the manifest says that {REPORT} was collected" in damage


@pytest.mark.parametrize("version", ["0.31.0", "1.0", "0.2"])
def test_an_unknown_version_is_named_and_read(job, version):
    edit(job / "lock.json", lambda lock: lock["harbor"].update(version=version))
    found = read_job(job)
    assert found.version == version
    assert [d.detail for d in found.damage] == [f"Harbor {version} was not tried, only 0.25 and 0.26"]
    assert len(found.trials) == 8


def test_without_a_lock_the_version_is_unknown(job):
    (job / "lock.json").unlink()
    found = read_job(job)
    assert found.version is None
    assert found.damage[0].where == "lock.json"


def test_without_the_jobs_result_its_id_is_its_trials(job):
    (job / "result.json").unlink()
    found = read_job(job)
    assert found.job_id == "d7c6d7fd-ef96-4745-b76e-8c0f0e525f61"
    assert found.reported == {}


def test_lost_trials_and_other_folders_are_named(job):
    shutil.rmtree(job / GOOD)
    (job / "notes").mkdir()
    damage = {(d.where, d.detail.partition(":")[0]) for d in read_job(job).damage}
    assert damage == {
        ("result.json", "8 trials planned, 7 in the tree"),
        ("notes", "no trial"),
    }


def test_folders_that_are_no_job(tmp_path):
    with pytest.raises(ConfigError, match="no such folder"):
        read_job(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(HarborError, match=r"no trial in it.*one job, not of all jobs"):
        read_job(tmp_path / "empty")
    shutil.copytree(FIXTURES / "scripted-0.25.0", tmp_path / "jobs" / "scripted-0.25.0")
    with pytest.raises(HarborError, match=r"a folder of jobs.*one job, not of all jobs"):
        read_job(tmp_path / "jobs")


def test_attempts_are_numbered_for_each_system(job):
    def think(result):
        result["config"]["agent"]["kwargs"]["reasoning_effort"] = "high"

    edit(job / GOOD / "result.json", think)
    numbers = {t.name: (t.effort, t.attempt) for t in read_job(job).trials if t.task == "memo-02"}
    assert numbers == {
        "memo-02__Ao2fYo9": (None, 1),
        "memo-02__VaipWbk": (None, 2),
        "memo-02__MrbpFSY": (None, 3),
        GOOD: ("high", 1),
    }


def test_tasks_of_one_short_name_are_told_apart(job):
    edit(job / GOOD / "result.json", lambda result: result.update(task_name="other/memo-02"))
    found = read_job(job)
    assert {t.task for t in found.trials} == {"memo-01", "demo/memo-02", "other/memo-02"}
    assert "several tasks called memo-02" in found.damage[0].detail


def test_two_versions_of_a_task_are_named(job):
    edit(job / GOOD / "result.json", lambda result: result.update(task_checksum="0" * 64))
    assert "2 versions of task memo-02" in read_job(job).damage[0].detail
