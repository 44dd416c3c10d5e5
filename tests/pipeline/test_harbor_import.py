"""What an import of a Harbor job measures, grades again and shows, beside what its own verifier said."""

import json

import pytest

from flows.adapters.screen import Screen
from flows.common.errors import ConfigError
from flows.pipeline.commands.report import report as write_report
from flows.pipeline.harbor.jobs.imported import import_job
from tests.support.harbor_trees import copy_job
from tests.support.report_bench import project_here

REPORTS = ["benchmark=mission_report"]
FIRST = "memo-01__GGemPUp"
STEPS = [
    {
        "step_id": 1,
        "source": "user",
        "message": "Write <b>the</b> memo.",
        "timestamp": "2026-11-29T20:15:30Z",
    },
    {
        "step_id": 2,
        "source": "agent",
        "message": [{"type": "text", "text": "I list the files."}, {"type": "image"}],
        "timestamp": "2026-11-29T20:15:32.5Z",
        "tool_calls": [{"tool_call_id": "call_2", "function_name": "bash", "arguments": {"command": "ls"}}],
        "observation": {"results": [{"source_call_id": "call_2", "content": "notes.txt" + "x" * 3000}]},
        "metrics": {"prompt_tokens": 1400, "completion_tokens": 50},
    },
    {"step_id": 3, "source": "agent", "message": "Copied.", "is_copied_context": True},
    {"step_id": 4, "source": "agent", "message": "Done."},
    "no step",
]


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    return project_here(tmp_path, project / "conf", monkeypatch)


@pytest.fixture
def job(tmp_path):
    return copy_job("0.25.0", tmp_path / "jobs")


def trajectory(job, content):
    path = job / FIRST / "steps/answer/agent/trajectory.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_reports_are_measured_by_the_rules_of_our_own_runs(here, job):
    assert import_job(here.folder, REPORTS, job, Screen()) == 4
    rows = {(row["scenario_id"], row["seed"]): row for row in here.rows("reports")}
    assert len(rows) == 8
    first, missing = rows["memo-01", 1], rows["memo-01", 3]
    assert (first["words"], first["word_limit"], first["pages"], first["status"]) == (18, 20, 1, "written")
    assert (first["harness"], first["ended"], first["n_calls"]) == ("harbor", "finished", 0)
    assert (missing["words"], missing["word_limit"], missing["report"]) == (None, 20, None)
    kept = {row["seed"]: row["report"] for row in here.rows("briefs") if row["scenario_id"] == "memo-01"}
    assert kept[1] == first["report"]
    assert kept[3] is None


def test_the_trajectory_that_a_job_kept_is_on_the_attempts_page(here, job):
    trajectory(job, {"schema_version": "ATIF-v1.8", "steps": STEPS})
    assert import_job(here.folder, REPORTS, job, Screen()) == 4
    assert write_report(here.folder, REPORTS, Screen()) == 0
    (folder,) = (here.own / "site" / "attempts").iterdir()
    page = (folder / "memo-01-1.html").read_text()
    for said in ("Write &lt;b&gt;the&lt;/b&gt; memo.", "I list the files.", "[image]", "notes.txt", "2.5 s"):
        assert said in page
    assert "Reply 2 of 2" in page
    index = (here.own / "site" / "index.html").read_text()
    assert f'<a href="attempts/{folder.name}/memo-01-1.html">memo-01 1</a>' in index
    assert "&lt;a" not in index
    assert "1,400 tokens in" in page
    assert "3,009 characters in all" in page
    assert "Copied." not in page
    assert "Places such as p7" not in page  # those are places of our own tools
    assert "Its trajectory is not among these results." in (folder / "memo-02-1.html").read_text()
    assert f"attempts/{folder.name}/memo-01-1.html" in (here.own / "site" / "index.html").read_text()
    assert {row["n_calls"] for row in here.rows("reports") if row["scenario_id"] == "memo-02"} == {0}


@pytest.mark.parametrize("content", ["{", "[]", '{"steps": 5}', '{"steps": [{"source": "agent"}]}'])
def test_a_damaged_trajectory_is_no_reason_to_refuse_a_job(here, job, content):
    trajectory(job, content)
    assert import_job(here.folder, REPORTS, job, Screen()) == 4
    assert len(here.rows("reports")) == 8


def test_the_next_command_names_the_folder_of_results(here, job, capsys):
    assert import_job(here.folder, [*REPORTS, "results=results/jobs here"], job, Screen()) == 4
    command = "staffbench report benchmark=mission_report 'results=results/jobs here'"
    assert f"The leaderboard with them: {command}" in " ".join(capsys.readouterr().out.split())


def test_our_judge_grades_the_kept_reports_beside_the_verifier(here, job, capsys):
    assert import_job(here.folder, [*REPORTS, "judge=offline"], job, Screen()) == 4
    assert write_report(here.folder, REPORTS, Screen()) == 0
    said = (here.own / "leaderboard.md").read_text()
    assert "The submissions that Harbor kept were graded again here" in said
    rows = {row["judge_id"]: row for row in here.board()}
    assert set(rows) == {"harbor-offline_keyword", "offline"}
    assert rows["offline"]["condition"] == rows["harbor-offline_keyword"]["condition"]
    # The verifier failed on one attempt, whose report is there: our judge has a score of it.
    assert (rows["harbor-offline_keyword"]["n_briefs"], rows["offline"]["n_briefs"]) == (7, 8)
    scores = {(row["judge"], row["scenario_id"], row["seed"]): row["score"] for row in here.rows("scores")}
    assert scores["harbor-offline_keyword", "memo-01", 1] == 1.0
    assert scores["harbor-offline_keyword", "memo-01", 4] is None
    assert scores["offline", "memo-01", 4] is not None
    assert {scores["offline", "memo-01", seed] for seed in (2, 3)} == {0.0}  # corrupt, missing
    ours = [row for row in here.rows("verdicts") if row["judge"] == "offline"]
    assert {row["item_id"] for row in ours} == {"C1", "C2", "P1", "P2"}
    assert {row["points"] for row in ours} == {3, 2, -2, -4}
    assert {(row["scenario_id"], row["seed"]) for row in ours} == {
        *(("memo-01", seed) for seed in (1, 4)),
        *(("memo-02", seed) for seed in (1, 4)),
    }


def test_a_task_that_is_not_here_can_not_be_graded(here, job):
    (here.tasks / "memo-02" / "task.toml").unlink()
    with pytest.raises(ConfigError, match="memo-02 can't be graded here"):
        import_job(here.folder, [*REPORTS, "judge=offline"], job, Screen())


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["model=strong"], "no effect on an import"),
        (["seeds=2"], "no effect on an import"),
        (["judge_prompt=report_v1"], "without judge="),
        (["judge=offline", "effort=high"], "no effect on an import"),
    ],
)
def test_an_override_without_effect_is_refused(here, job, overrides, said):
    with pytest.raises(ConfigError, match=said):
        import_job(here.folder, [*REPORTS, *overrides], job, Screen())


def test_another_stand_in_is_not_given_the_figures_of_the_offline_judge(here, job, capsys):
    for path in sorted(job.glob("*/**/verifier/judgment.json")):
        judgment = json.loads(path.read_text())
        if "judge_model" in judgment:
            about = {"staffbench": "0.1.0", "benchmark": "mission_report", "stand_in": True}
            path.write_text(json.dumps({**judgment, **about, "judge_model": "offline: copy"}))
    assert import_job(here.folder, REPORTS, job, Screen()) == 4
    assert write_report(here.folder, REPORTS, Screen()) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "offline_copy is a deterministic stand-in" in said
    assert "labelled controls held out" not in said
