"""One report graded as in Harbor's sandbox: the reward, the judgment, and no reward where judging failed."""

import json
import shutil

import docx
import pytest

from flows.adapters.screen import Screen
from flows.common.errors import ProviderError
from flows.pipeline.harbor.export import export
from flows.pipeline.harbor.verify import UNGRADED, verify
from flows.schema.verdict import Verdict, VerdictStatus
from tests.support.bench import write_scenario

STRONG = "The relief column has 412 soldiers. The bridge at Kerrin carries at most 30 tonnes."


@pytest.fixture
def tests_folder(project, tmp_path):
    """`tests/` of an exported MA-Bench scenario, moved away from the rest of its tree, as in a sandbox."""

    def make(*overrides):
        write_scenario(tmp_path / "data", "alder", 412)
        words = ["benchmark.name=ma_bench", f"benchmark.data={tmp_path / 'data'}", *overrides]
        export(project, words, tmp_path / "out", install=None, screen=Screen())
        return shutil.move(tmp_path / "out/alder/tests", tmp_path / "tests")

    return make


@pytest.fixture
def task(project, tmp_path):
    """`tests/` of one of our own tasks, alone."""
    own = project / "data/mission_report/tasks/sb-war-02/tests"
    return shutil.copytree(own, tmp_path / "tests")


@pytest.fixture
def brief(tmp_path):
    path = tmp_path / "brief.md"
    path.write_text(STRONG)
    return path


@pytest.fixture
def logs(tmp_path):
    return tmp_path / "logs"


def left(logs):
    """What lies in the verifier's folder: reward or None, and judgment."""
    reward = logs / "reward.json"
    return (
        json.loads(reward.read_text()) if reward.exists() else None,
        json.loads((logs / "judgment.json").read_text()),
    )


def judge(seen=None, **outcomes):
    """A judge that passes everything but what `outcomes` say; None stands for no verdict."""

    async def grade(project, point, scenario, brief, report):
        if seen is not None:
            seen.append((point.settings, scenario, brief))
        verdicts = []
        for item in scenario.items:
            passed = outcomes.get(item.item_id.replace("-", "_"), True)
            status = VerdictStatus.unparsed if passed is None else VerdictStatus.graded
            reason = "the judge's reply was cut" if passed is None else f"of {item.item_id}"
            verdicts.append(Verdict(scenario.scenario_id, 1, item.item_id, status, passed, reason=reason))
        return verdicts

    return grade


def test_a_brief_earns_its_weighted_score_and_each_verdict_is_told(tests_folder, brief, logs):
    seen = []
    grade = judge(seen, bridge=False)
    assert verify([], brief, tests_folder(), logs, Screen(), grade=grade) == 0
    reward, judgment = left(logs)
    assert reward == {"reward": 9 / 14.5}  # the strength weighs 9, the bridge 5.5
    assert {key: judgment[key] for key in ("benchmark", "scenario_id", "scoring", "judge_model")} == {
        "benchmark": "ma_bench",
        "scenario_id": "alder",
        "scoring": "severity",
        "judge_model": "offline",
    }
    assert judgment["stand_in"] is True
    assert judgment["protocol"] == "ma_bench"
    assert (judgment["word_cap"], judgment["judge_names"]) == (3000, [])
    assert judgment["criteria"][0] == {
        "criterion_id": "strength",
        "points": 9.0,
        "polarity": "positive",
        "criterion": "States the strength of the relief column",
        "met": True,
        "reason": "of strength",
    }
    # Passed, of a wrong move, means that it was not made: the words of it are not met.
    assert [(c["criterion_id"], c["points"], c["met"]) for c in judgment["criteria"][1:]] == [
        ("bridge", 5.5, False),
        ("cholera", -9.0, False),
    ]
    assert seen[0][2].text == STRONG
    assert seen[0][2].words_kept == 15


def test_a_wrong_move_can_bring_a_brief_below_zero_and_no_further(tests_folder, brief, logs):
    grade = judge(strength=False, bridge=False, cholera=False)
    assert verify([], brief, tests_folder(), logs, Screen(), grade=grade) == 0
    assert left(logs)[0] == {"reward": -9 / 14.5}


def test_the_export_decides_on_weights_cap_and_judge(tests_folder, brief, logs):
    seen = []
    folder = tests_folder("scoring=unweighted", "word_cap=6", "judge=gpt_6_luna")
    assert verify([], brief, folder, logs, Screen(), grade=judge(seen, bridge=False)) == 0
    reward, judgment = left(logs)
    assert reward == {"reward": 0.5}  # one of two requirements
    assert judgment["judge_model"].startswith("gpt-6-luna")
    assert judgment["stand_in"] is False
    assert judgment["judge_names"] == [seen[0][0].judge.name]
    assert judgment["word_cap"] == 6
    assert seen[0][2].text == "The relief column has 412 soldiers."
    assert seen[0][2].cut is True


def test_a_report_is_clamped_by_its_own_points(task, logs):
    report = task / "golden/report.docx"
    assert verify([], report, task, logs, Screen(), grade=judge(WAR02_01=False, WAR02_P4=False)) == 0
    reward, judgment = left(logs)
    assert reward == {"reward": pytest.approx((33 - 3 - 1) / 33)}
    assert judgment["scenario_id"] == "sb-war-02"
    nothing = {f"WAR02_{number:02}": False for number in range(1, 20)}
    assert verify([], report, task, logs, Screen(), grade=judge(**nothing, WAR02_P1=False)) == 0
    reward, judgment = left(logs)
    assert reward == {"reward": 0.0}
    assert judgment["score"] == pytest.approx(-2 / 33)


def test_a_task_that_says_no_id_is_left_to_harbors_name_of_it(task, logs):
    config = task / "fixtures/config.json"
    told = {key: value for key, value in json.loads(config.read_text()).items() if key != "task_id"}
    config.write_text(json.dumps(told))
    assert verify([], task / "golden/report.docx", task, logs, Screen(), grade=judge()) == 0
    reward, judgment = left(logs)
    assert reward == {"reward": 1.0}
    assert "scenario_id" not in judgment


def test_the_task_names_its_judge_and_without_its_key_there_is_no_reward(task, logs, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(ProviderError, match="ANTHROPIC_API_KEY is not set"):
        verify([], task / "golden/report.docx", task, logs, Screen())
    reward, judgment = left(logs)
    assert reward is None
    assert judgment["judge_model"].startswith("claude-opus-5-5-medium-all_items")


def test_the_experts_report_meets_everything_by_the_stand_in(task, logs, capsys):
    assert verify(["judge=offline"], task / "golden/report.docx", task, logs, Screen()) == 0
    assert left(logs)[0] == {"reward": 1.0}
    assert "Judged by offline, a stand-in" in capsys.readouterr().err


def test_an_item_without_a_verdict_leaves_no_reward(tests_folder, brief, logs, capsys):
    code = verify([], brief, tests_folder(), logs, Screen(), grade=judge(bridge=None))
    assert code == UNGRADED
    reward, judgment = left(logs)
    assert reward is None
    assert judgment["score"] is None
    bridge = judgment["criteria"][1]
    assert bridge["met"] is None
    assert bridge["error"] == "unparsed: the judge's reply was cut"
    assert "1 of 3 items have no verdict" in capsys.readouterr().err


def test_a_judge_that_can_not_be_asked_leaves_no_reward(task, logs, monkeypatch):
    words = "openai_compatible judge.name=x judge.api_base=http://127.0.0.1:9/v1 runner.max_attempts=1"
    monkeypatch.setenv("STAFFBENCH_JUDGE", words)
    with pytest.raises(ProviderError, match="no connection"):
        verify([], task / "golden/report.docx", task, logs, Screen())
    reward, judgment = left(logs)
    assert reward is None
    assert "no connection" in judgment["error"]
    assert judgment["judge_model"].startswith("x-")


def test_the_environment_chooses_the_judge_and_its_replies_are_kept(
    tests_folder, brief, logs, endpoint, monkeypatch
):
    words = f"openai_compatible judge.name=judge-1 judge.api_base={endpoint.base}"
    monkeypatch.setenv("STAFFBENCH_JUDGE", words)
    assert verify([], brief, tests_folder("judge=gpt_6_luna"), logs, Screen()) == 0
    reward, judgment = left(logs)
    assert reward == {"reward": 1.0}  # this judge lists no failure
    assert judgment["judge_model"].startswith("judge-1-")
    assert any((logs / "staffbench/completions").iterdir())


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "missing: brief.md is not there"),
        (b"", "empty: nothing in it"),
        (b" \n\n", "empty: nothing in it"),
        (b"***\n", "empty: no word in it"),
    ],
)
def test_a_brief_that_says_nothing_scores_zero_unasked(tests_folder, logs, content, fault):
    path = logs.with_name("brief.md")
    if content is not None:
        path.write_bytes(content)
    seen = []
    assert verify([], path, tests_folder(), logs, Screen(), grade=judge(seen)) == 0
    reward, judgment = left(logs)
    assert (reward, judgment["format_error"]) == ({"reward": 0.0}, fault)
    assert seen == []


def test_a_brief_that_is_no_text_is_corrupt(tests_folder, tmp_path, logs):
    (tmp_path / "brief.md").write_bytes(b"PK\x03\x04\x00\xff\xfe")
    assert verify([], tmp_path / "brief.md", tests_folder(), logs, Screen(), grade=judge()) == 0
    reward, judgment = left(logs)
    assert reward == {"reward": 0.0}
    assert judgment["format_error"].startswith("corrupt: ")


def test_reports_that_are_missing_corrupt_or_empty_score_zero(task, tmp_path, logs):
    report = tmp_path / "report.docx"
    found = []
    for make in (lambda: None, lambda: report.write_bytes(b"no zip"), lambda: docx.Document().save(report)):
        make()
        assert verify([], report, task, logs, Screen(), grade=judge()) == 0
        reward, judgment = left(logs)
        found.append((reward["reward"], judgment["format_error"].partition(":")[0]))
    assert found == [(0.0, "missing"), (0.0, "corrupt"), (0.0, "empty")]
