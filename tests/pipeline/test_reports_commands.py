"""What calls nobody, on report tasks: plan, report, agreement; jobs of Harbor beside."""

import re

import pytest

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.common.errors import StaffbenchError
from flows.pipeline.commands.agreement import agreement
from flows.pipeline.commands.planning.plan import plan
from flows.pipeline.commands.report import report as write_report
from flows.pipeline.evaluate.flow import run_points
from flows.pipeline.harbor.jobs.imported import import_job
from flows.pipeline.native import renders
from tests.pipeline.reports_support import REPORTS, cells
from tests.support.harbor_trees import copy_job
from tests.support.plain_flow import run_here
from tests.support.report_bench import NO_OFFICE, a_report, project_here, sweep_here
from tests.support.report_endpoint import answer, judged, reports, verdicts
from tests.support.scripted_server import ScriptedServer


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "judge_pairs").symlink_to(project / "data" / "judge_pairs")
    return project_here(tmp_path, project / "conf", monkeypatch)


def planned(here, capsys, *overrides, multirun=False):
    """The rows of a plan, by model: briefs, to write, to judge; and all that it says."""
    capsys.readouterr()
    assert plan(here.folder, [*REPORTS, *overrides], multirun=multirun, screen=Screen()) == 0
    out = capsys.readouterr().out
    return {row[0].partition("-default-")[0]: row[1:4] for row in cells(out) if "·" in row[0]}, out


def test_a_plan_with_somebody_to_ask_and_without(here, capsys):
    with ScriptedServer(answer) as server:
        rows, _ = planned(here, capsys, *judged(server), "model=oracle,empty,absent,corrupt", multirun=True)
        # Three equal reports on each of two tasks are two questions; on what scores 0 by rule there is none.
        assert rows == {
            "oracle": ["6", "none", "2 of 6"],
            "empty": ["6", "none", "none"],
            "absent": ["6", "none", "none"],
            "corrupt": ["6", "none", "none"],
        }
        rows, out = planned(here, capsys, *reports(server)[1:])
        assert list(rows.values()) == [["6", "6 attempts", "6 of 6 (6 assumed)"]]
        assert "depends on the model, up to harness.max_steps" in out
        words = " ".join(out.split())
        assert "We know of no published interval for MissionReport scores" in words
        assert "±" not in words  # MA-Bench's is none of reports
        (line,) = [line for line in out.splitlines() if "6 attempts" in line]
        assert line.count("unknown") == 4  # tokens in and out, price, at most: never 0
        alone = [word for word in reports(server)[1:] if not word.startswith("judge")]
        assert list(planned(here, capsys, *alone)[0].values()) == [["6", "6 attempts", "none"]]
        assert server.calls == []
        assert not here.results.exists()


def test_a_plan_asks_about_pages_as_the_run_does(here, capsys):
    with ScriptedServer(verdicts) as server:
        seeing = ["model=fair", *judged(server), "judge.takes_images=true"]
        assert run_here(here.folder, *REPORTS, *seeing) == 0
        assert len(server.billed) == 2
        assert planned(here, capsys, *seeing)[0] == {"fair": ["6", "none", "0 of 6"]}
        assert planned(here, capsys, *seeing[:-1])[0] == {"fair": ["6", "none", "2 of 6"]}


def test_a_plan_counts_the_judgments_of_an_agent_and_not_their_price(here, capsys):
    with ScriptedServer(verdicts) as server:
        agent = [word for word in judged(server) if not word.startswith("judge.harness")]
        rows, out = planned(here, capsys, "model=fair", *agent)
        assert rows == {"fair": ["6", "none", "6 judgments"]}
        assert "depends on the judge, up to judge.max_steps" in " ".join(out.split())
        (line,) = [line for line in out.splitlines() if "6 judgments" in line]
        assert line.count("unknown") == 4
        assert server.calls == []


def test_a_report_comes_from_the_tables_alone(here, monkeypatch):
    assert sweep_here(here.folder, *REPORTS, "model=oracle,fair,weak,empty,absent") == 0
    assert write_report(here.folder, REPORTS, Screen()) == 0
    first = here.tables()
    assert {path.name for path in first} >= {"tasks.md", "leaderboard.md", "leaderboard.json", "index.html"}
    for folder in (here.own / "reports" / "files", here.own / "renders", here.results / ".cache"):
        for path in sorted(folder.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()

    def nobody(*_args, **_more):
        raise AssertionError("a report lays out nothing")

    monkeypatch.setattr(renders, "render", nobody)
    monkeypatch.setattr(renders, "find_converter", nobody)
    monkeypatch.setenv("PATH", NO_OFFICE["PATH"])
    assert write_report(here.folder, REPORTS, Screen()) == 0
    assert here.tables() == first
    assert not list((here.own / "renders").rglob("*"))
    lines = (here.own / "tasks.md").read_text().splitlines()
    # Fair meets three of five points; weak earns nothing. The cause that it names is not judged.
    assert lines[2].endswith("| published mean | oracle | fair | absent | empty | weak |")
    assert lines[-1].endswith("| 1.000 | 0.600 | 0.000 | 0.000 | 0.000 |")
    weak = [row for row in here.rows("scores", "weak") if row["seed"] == 1]
    assert [(row["score"], row["wrong"]) for row in weak] == [(0, None), (0, None)]
    absent = [row for row in here.rows("scores", "absent") if row["seed"] == 1]
    assert [(row["score"], row["wrong"]) for row in absent] == [(0, None), (0, None)]


def test_verdicts_beside_another_expert_report_are_left_out_until_they_are_made_again(here, capsys):
    assert run_here(here.folder, *REPORTS, "model=fair", "seeds=1") == 0
    before = here.rows("verdicts")
    (here.tasks / "memo-02" / "tests" / "golden" / "report.docx").write_bytes(
        a_report("Route Birch is open.")
    )
    capsys.readouterr()
    assert write_report(here.folder, REPORTS, Screen()) == 1
    assert "another rubric of memo-02" in " ".join(capsys.readouterr().err.split())
    assert run_here(here.folder, *REPORTS, "model=fair", "seeds=1") == 0
    assert write_report(here.folder, REPORTS, Screen()) == 0
    assert here.rows("verdicts") != before
    with pytest.raises(StaffbenchError, match="memo-03"):
        run_here(here.folder, *REPORTS, "model=fair", "benchmark.scenarios=[memo-03]")


def test_a_report_over_its_tasks_limit_is_counted_and_named(here):
    folder = here.folder / "mine" / "memo-01"
    folder.mkdir(parents=True)
    for number, words in ((1, 20), (2, 21), (3, 12)):
        (folder / f"{number}.docx").write_bytes(a_report(" ".join(["word"] * words)))
    one = [*REPORTS, "benchmark.scenarios=[memo-01]"]
    assert run_here(here.folder, *one, "model=files", "model.folder=mine") == 0
    assert run_here(here.folder, *one, "model=absent") == 0
    assert {row["model"]: row["n_over_limit"] for row in here.board()} == {"files": 1, "absent": None}
    assert [row["words"] for row in here.rows("reports", "files")] == [20, 21, 12]
    (row,) = [row for row in here.board() if row["model"] == "files"]
    assert (
        f"{row['condition']} 1. The limit itself costs no points" in (here.own / "leaderboard.md").read_text()
    )


def test_agreement_of_the_stand_in_and_of_a_judge_that_was_asked(here, capsys):
    with ScriptedServer(lambda call: verdicts(call, "C2")) as server:
        assert sweep_here(here.folder, *REPORTS, *judged(server), "model=fair,weak") == 0
        assert len(server.billed) == 4
        assert sweep_here(here.folder, *REPORTS, "model=fair,weak") == 0
        capsys.readouterr()
        asked = len(server.calls)
        assert agreement(here.folder, [*REPORTS, *judged(server)], Screen()) == 0
        assert len(server.calls) == asked
    out = capsys.readouterr().out
    assert "pairs" not in out  # they are items of the other protocol
    assert "offline against labelled controls held out" in " ".join(out.split())
    # The judge fails the second criterion of each report and nothing else. Of the fair ones it is right on
    # all four, of the weak ones on two: 12 of 16. It passes 12, the labels 8: by chance 0.5, kappa 0.5.
    assert re.search(r"judge-1-\S+ +against labelled controls", " ".join(out.split()))
    tables = out.split("judge-1-")
    assert ["all", "16", "0.75", "0.50"] in [row[:4] for row in cells(tables[1])]
    against = next(row for row in cells(out) if row[0].startswith("judge-1") and row[1] == "offline")
    assert against[2:4] == ["8", "8"]  # the stand-in abstains from the penalties


def test_jobs_of_harbor_stand_beside_ours_and_are_pooled_with_nothing(here, tmp_path, capsys):
    """Its tasks are called memo-01 and memo-02 as ours are, and we have lost the second one."""
    for path in sorted((here.tasks / "memo-02").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    (here.tasks / "memo-02").rmdir()
    for version in ("0.25.0", "0.26.0"):
        assert import_job(here.folder, REPORTS, copy_job(version, tmp_path / "jobs"), Screen()) == 4
    assert run_here(here.folder, *REPORTS, "model=oracle", "seeds=1") == 0
    rows = here.board()
    assert [(row["harness"], row["model"], row["score"]) for row in rows] == [
        ("native", "oracle", 1),
        ("harbor", "fake/model-1", pytest.approx((1 / 3 + 0.3) / 2)),
        ("harbor", "fake/model-1", pytest.approx((1 / 3 + 0.3) / 2)),
    ]
    assert len({row["condition"] for row in rows}) == 3
    assert [(row["n_scenarios"], row["n_briefs"], row["n_briefs_all"]) for row in rows] == [
        (1, 1, 1),
        (2, 7, 8),
        (2, 7, 8),
    ]
    # The attempt without a score as 0 and as 1, as for the summary of the job.
    assert [(row["score_low"], row["score_high"]) for row in rows[1:]] == [pytest.approx((0.275, 0.4))] * 2
    head, _, ours, foreign, overall = (here.own / "tasks.md").read_text().strip().splitlines()[2:]
    assert head.endswith(f"| oracle | {rows[1]['condition']} | {rows[2]['condition']} |")
    assert ours.startswith("| memo-01 | Closure of Route Amber | Weekly activity reports | Army |")
    assert ours.endswith("| 1.000 | 0.333 | 0.333 |")
    assert foreign == "| memo-02 | - | - | - | - | - | - | - | - | - | 0.300 | 0.300 |"
    assert overall.endswith("| 1.000 (1 of 2) | 0.317 | 0.317 |")
    capsys.readouterr()
    assert write_report(here.folder, REPORTS, Screen()) == 0
    out = capsys.readouterr()
    assert re.fullmatch(r"Writing the pages of \d+ conditions \.\.\.\n", out.err)
    site = here.own / "site"
    assert sorted(path.name for path in (site / "rubric").iterdir()) == ["memo-01.html", "memo-01.js"]
    index = (site / "index.html").read_text()
    assert "harbor" in index
    assert "memo-02" in index
    assert not [path for path in site.rglob("*.html") if "harbor" in str(path.relative_to(site))]
    before = here.tables()
    assert write_report(here.folder, REPORTS, Screen()) == 0
    assert here.tables() == before


def test_the_table_of_tasks_has_only_the_rows_of_this_run_where_they_are_asked_for(here, capsys):
    one = [*REPORTS, "benchmark.scenarios=[memo-01]", "tracking=none"]
    assert run_here(here.folder, *one, "model=oracle") == 0
    assert "oracle" in capsys.readouterr().out
    points = compose_points(here.folder, [*one, "model=empty"], multirun=False)
    assert run_points(here.folder, points, server=None, screen=Screen(only_this_run=True)) == 0
    shown = capsys.readouterr().out
    assert "score on each task" in shown
    assert ("empty" in shown, "oracle" in shown) == (True, False)
