"""Jobs of exported MA-Bench scenarios: their briefs, verdicts and unclamped rewards, by benchmark."""

import json
import shutil

import pytest

from flows.adapters.config.compose import compose_points
from flows.adapters.harbor_jobs import read_job
from flows.adapters.objects import ObjectStore
from flows.adapters.screen import Screen
from flows.adapters.tables import table_files
from flows.pipeline.commands.report import report as write_report
from flows.pipeline.harbor.jobs.imported import import_job
from flows.pipeline.harbor.jobs.summary import summarize
from flows.pipeline.results.leaderboard import build_leaderboard
from flows.pipeline.results.stored import load_graded, load_scenarios
from flows.schema.harbor import HarborError
from flows.schema.settings import ProtocolName
from flows.stages.notes import notes
from flows.stages.table import to_markdown
from tests.pipeline.brief_jobs import STRONG, Jobs, change_judgments, verifying
from tests.support.harbor_trees import PLAIN, STEPS, cells, copy_job, make_brief

CAPPED = "The relief column has 412 soldiers. The bridge at Kerrin"  # ten of its fifteen words
# The strength weighs 9, the bridge 5.5, and to call the cholera confirmed -9.
BRIDGE_MISSED, ALL_WRONG = 9 / 14.5, -9 / 14.5


@pytest.fixture(scope="module")
def verified(project, tmp_path_factory):
    return verifying(project, tmp_path_factory.mktemp("verified"))


@pytest.fixture
def jobs(project, tmp_path, verified):
    return Jobs(project, tmp_path, verified)


versions = pytest.mark.parametrize("version", ["0.25.0", "0.26.0"])


@versions
def test_briefs_go_to_their_benchmark_with_their_words(jobs, version):
    tables = jobs.imported(jobs.job(version))
    assert list(tables) == ["ma_bench"]
    ((rows, about),) = tables["ma_bench"]["briefs"]
    keys = ("scenario_id", "seed", "status", "text", "words_raw", "words_kept", "cut")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("alder", 1, "written", CAPPED, 15, 10, True),
        ("alder", 2, "written", "Cholera is confirmed.", 3, 3, False),
        ("alder", 3, "missing", None, None, None, False),
        ("alder", 4, "written", CAPPED, 15, 10, True),
        ("birch", 1, "written", CAPPED, 15, 10, True),
        ("birch", 2, "empty", "", 0, 0, False),
        ("birch", 3, "written", "Of birch.", 2, 2, False),
        ("birch", 4, "written", CAPPED, 15, 10, True),
    ]
    heads = {(r["benchmark"], r["harness"], r["model"], r["word_cap"], r["word_counter"]) for r in rows}
    assert heads == {("ma_bench", "harbor", "fake/model-1", 10, "w1")}
    assert rows[2]["detail"] == "missing: brief.md is not there, by the verifier's check"
    assert (about["harbor"]["version"], about["harbor"]["clamped"]) == (version, False)
    assert about["harbor"]["scoring"] == "severity"


@versions
def test_items_become_verdicts_and_the_judge_is_named_as_a_stand_in(jobs, version):
    ((rows, about),) = jobs.imported(jobs.job(version))["ma_bench"]["verdicts"]
    found = {(r["scenario_id"], r["seed"], r["item_id"]): (r["status"], r["passed"]) for r in rows}
    passed, failed = ("graded", True), ("graded", False)
    items = ("strength", "bridge", "cholera")
    expected = {
        ("alder", 1): (passed, passed, passed),
        ("alder", 2): (failed, failed, failed),
        ("alder", 4): (passed, ("refused", None), passed),
        ("birch", 1): (passed, failed, passed),
        ("birch", 3): (failed, failed, failed),
        # No verifier left anything: the items are known from the other attempts.
        ("birch", 4): (("error", None),) * 3,
    }
    assert found == {
        (*brief, item): verdict
        for brief, verdicts in expected.items()
        for item, verdict in zip(items, verdicts, strict=True)
    }
    assert {(r["step"], r["tier"], r["severity"]) for r in rows} == {(None, None, None)}
    assert {(r["item_id"], r["points"]) for r in rows} == {
        ("strength", 9.0),
        ("bridge", 5.5),
        ("cholera", -9.0),
    }
    assert [r["mode"] for r in rows if r["item_id"] == "cholera" and r["passed"] is False] == [
        "committed"
    ] * 2
    refused = next(r for r in rows if r["status"] == "refused")
    assert refused["reason"] == "of bridge"
    assert (about["judge"]["name"], about["judge"]["is_stand_in"]) == ("offline", True)
    assert about["self_judged"] is False


@versions
def test_rewards_stay_unclamped_and_an_attempt_without_one_is_bounded_by_its_rubric(jobs, version):
    ((rows, _),) = jobs.imported(jobs.job(version))["ma_bench"]["scores"]
    keys = ("score", "score_clamped", "score_low", "score_high", "wrong", "n_items", "n_graded")
    nothing = (0.0, 0.0, 0.0, 0.0, None, 0, 0)
    wrong = (ALL_WRONG, 0.0, ALL_WRONG, ALL_WRONG, 1, 3, 3)
    assert {(r["scenario_id"], r["seed"]): tuple(r[key] for key in keys) for r in rows} == {
        ("alder", 1): (1.0, 1.0, 1.0, 1.0, 0, 3, 3),
        ("alder", 2): wrong,
        ("alder", 3): nothing,
        ("alder", 4): (None, None, ALL_WRONG, 1.0, None, 3, 2),
        ("birch", 1): (BRIDGE_MISSED,) * 4 + (0, 3, 3),
        ("birch", 2): nothing,
        ("birch", 3): wrong,
        ("birch", 4): (None, None, ALL_WRONG, 1.0, None, 3, 0),
    }


def test_the_leaderboard_takes_them_unclamped(jobs, tmp_path, capsys):
    jobs.imported(jobs.job("0.26.0"))
    settings = compose_points(jobs.project, jobs.overrides, multirun=False)[0].settings
    scenarios, _ = load_scenarios(jobs.project, settings)
    graded, problems = load_graded(tmp_path / "results/ma_bench", scenarios)
    assert problems == []
    objects = ObjectStore(tmp_path / "objects")
    board = build_leaderboard(graded, scenarios, settings.scoring, objects)
    (row,) = board.rows
    # Over three scored attempts at alder, and three at birch.
    assert row.score == pytest.approx(((1 + ALL_WRONG) / 3 + (BRIDGE_MISSED + ALL_WRONG) / 3) / 2)
    assert row.score_clamped == pytest.approx((1 / 3 + BRIDGE_MISSED / 3) / 2)
    assert row.score_low == pytest.approx(((1 + 2 * ALL_WRONG) / 4 + (BRIDGE_MISSED + 2 * ALL_WRONG) / 4) / 2)
    assert (row.harness, row.word_cap, row.judge, row.judge_id) == ("harbor", 10, "offline", "harbor-offline")
    assert (row.n_briefs, row.n_briefs_all, row.n_ungraded, row.n_empty, row.n_cut) == (6, 8, 4, 1, 4)
    text = to_markdown(board, notes(board))
    assert "Judge harbor-offline is a deterministic stand-in" in text
    assert "a report's within [0, 1], a brief's unclamped." in text
    capsys.readouterr()
    assert write_report(jobs.project, jobs.overrides, Screen()) == 0
    assert capsys.readouterr().err == "Writing the pages of 1 condition ...\n"
    assert json.loads((tmp_path / "results/ma_bench/leaderboard.json").read_text())["rows"][0]["score"] == (
        pytest.approx(row.score)
    )


@versions
def test_the_summary_shows_rewards_below_zero(jobs, version, capsys):
    job = jobs.job(version)
    capsys.readouterr()
    assert summarize(jobs.project, job, criteria=False, screen=Screen()) == 0
    out = capsys.readouterr().out
    lines = [cells(line) for line in out.splitlines() if line.startswith("│")]
    assert [line[2:] for line in lines[:2]] == [
        ["alder", "offline", "1.000 · -0.621 · 0.000 (missing) · verifier failed", "0.126"],
        ["birch", "offline", "0.621 · 0.000 (empty) · -0.621 · verifier failed", "0.000"],
    ]
    # 0.25: (1 - 0.621 + 0.621 - 0.621) / 8 attempts; 0.26: over the six with a reward. The bounds take the
    # two without one as -0.621 and as 1: ((1 - 0.621 - 0.621) / 4 + (0.621 - 0.621 - 0.621) / 4) / 2.
    assert lines[2][7:] == ["0.047", "0.063", "0.063", "-0.108 to 0.297", "2 of 2"]
    assert "Attempts count unclamped, below 0 where wrong moves outweigh the rest" in out
    assert f"ma_bench: scripted-{version} (Harbor {version}): reward per task" in out


def test_a_job_of_two_benchmarks_is_taken_apart(jobs, capsys):
    job = copy_job("0.26.0", jobs.folder / "jobs")
    jobs.attempts(job, STEPS["0.26.0"], "alder", [(STRONG, {})] * 4)
    tables = jobs.imported(job, code=0)
    assert sorted(tables) == ["ma_bench", "mission_report"]
    found = {
        name: [(r["scenario_id"], r["seed"], r["score"]) for r in kinds["scores"][0][0]]
        for name, kinds in tables.items()
    }
    assert found == {
        "ma_bench": [("alder", seed, 1.0) for seed in (1, 2, 3, 4)],
        "mission_report": [(f"memo-0{2}", seed, score) for seed, score in enumerate((0.2, 0.0, 0.0, 1.0), 1)],
    }
    about = {name: kinds["scores"][0][1] for name, kinds in tables.items()}
    assert {name: each["harbor"]["clamped"] for name, each in about.items()} == {
        "ma_bench": False,
        "mission_report": True,
    }
    # Harbor's own mean is over both, and so of neither.
    assert {name: each["harbor"]["means"]["job"] for name, each in about.items()} == {
        "ma_bench": None,
        "mission_report": None,
    }
    assert about["ma_bench"]["condition"]["digest"] != about["mission_report"]["condition"]["digest"]
    assert about["mission_report"]["judge"]["is_stand_in"] is False


def test_one_scenario_under_two_caps_is_two_conditions(jobs):
    job = jobs.job("0.26.0")
    change_judgments(job, STEPS["0.26.0"][:1], word_cap=None)
    briefs = jobs.imported(job)["ma_bench"]["briefs"]
    found = {
        about["condition"]["word_cap"]: [(r["scenario_id"], r["seed"]) for r in rows]
        for rows, about in briefs
    }
    # The other attempts at alder are numbered anew, and the one cut at no cap has all its words.
    assert found[None] == [("alder", 1)]
    assert found[10] == [
        *[("alder", seed) for seed in (1, 2, 3)],
        *[("birch", seed) for seed in (1, 2, 3, 4)],
    ]
    uncut = next(rows[0] for rows, about in briefs if about["condition"]["word_cap"] is None)
    assert (uncut["text"], uncut["words_kept"], uncut["cut"]) == (STRONG, 15, False)


def test_a_task_that_no_verifier_graded_is_bounded_by_its_scenario_here(jobs):
    job = jobs.job("0.26.0")
    for trial in PLAIN["0.26.0"]:
        make_brief(job / trial, "birch", STRONG, None)
    tables = jobs.imported(job)["ma_bench"]
    scores = [r for r in tables["scores"][0][0] if r["scenario_id"] == "birch"]
    assert [(r["score"], r["score_low"], r["n_items"], r["n_error"]) for r in scores] == [
        (None, ALL_WRONG, 3, 3)
    ] * 4
    assert [r["word_cap"] for r in tables["briefs"][0][0]] == [10] * 8  # as the rest of the job


def test_what_nothing_bounds_is_refused_and_nothing_is_written(jobs):
    job = jobs.job("0.26.0")
    for trial in PLAIN["0.26.0"]:
        make_brief(job / trial, "birch", STRONG, None)
    shutil.rmtree(jobs.folder / "data/birch")
    with pytest.raises(HarborError, match="no score, and the lowest possible score of birch is unknown"):
        import_job(jobs.project, jobs.overrides, job, Screen())
    assert not (jobs.folder / "results").exists()


def test_a_job_whose_verifier_never_ran_is_told_by_its_files(jobs, capsys):
    job = jobs.job("0.25.0")
    for trial in STEPS["0.25.0"]:
        make_brief(job / trial, "alder", STRONG, None)
    for trial in PLAIN["0.25.0"]:
        make_brief(job / trial, "birch", None, None)
    found = read_job(job)
    assert {each.origin.protocol for each in found.trials} == {ProtocolName.ma_bench}
    assert {each.origin.benchmark for each in found.trials} == {"ma_bench"}
    assert len(found.damage) == 8
    assert found.damage[0].detail == "no verifier says what it is of; taken for ma_bench by its brief.md"
    # A brief that Harbor looked for in vain is missing, whether or not a verifier says so: 0.
    assert {(t.task, t.report_state.value) for t in found.trials} == {
        ("alder", "readable"),
        ("birch", "missing"),
    }
    tables = jobs.imported(job, code=1)["ma_bench"]
    assert {(r["scenario_id"], r["score"]) for r in tables["scores"][0][0]} == {
        ("alder", None),
        ("birch", 0.0),
    }


@pytest.mark.parametrize("name", ["../../elsewhere", "/etc", ".cache", "a/b", ""])
def test_a_benchmark_that_is_no_plain_name_is_not_followed(jobs, name):
    job = jobs.job("0.26.0")
    change_judgments(job, STEPS["0.26.0"], benchmark=name, scenario_id=name)
    found = read_job(job)
    assert {each.origin.benchmark for each in found.trials} == {"ma_bench"}
    assert {trial.task for trial in found.trials} == {"alder", "birch"}
    if name:
        assert any(f"benchmark {name!r} is no plain name" in damage.detail for damage in found.damage)


def test_a_folder_of_something_else_is_not_taken_for_a_benchmark(jobs):
    job = jobs.job("0.26.0")
    change_judgments(job, STEPS["0.26.0"][:1], benchmark="completions")
    (jobs.folder / "results/completions").mkdir(parents=True)
    with pytest.raises(HarborError, match="completions: not a benchmark's results"):
        import_job(jobs.project, jobs.overrides, job, Screen())
    assert [path.name for path in (jobs.folder / "results").rglob("*")] == ["completions"]


def test_a_clone_whose_results_nobody_has_pulled_takes_a_job(jobs):
    folder = jobs.folder / "results/ma_bench"
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("/site\n")
    assert import_job(jobs.project, jobs.overrides, jobs.job("0.26.0"), Screen()) == 4  # a verifier failed
    assert any((folder / "verdicts").rglob("*.parquet"))


def test_a_judge_of_the_writers_own_model_is_told(jobs):
    job = jobs.job("0.26.0")
    change_judgments(job, STEPS["0.26.0"], judge_names=["other/model-1"], stand_in=False)
    change_judgments(job, PLAIN["0.26.0"][:3], stand_in=False)
    ((_, about),) = jobs.imported(job)["ma_bench"]["verdicts"]
    assert about["self_judged"] is True
    assert about["judge"]["is_stand_in"] is False


def test_importing_again_writes_the_same_bytes(jobs):
    job = jobs.job("0.26.0")

    def contents():
        jobs.imported(job)
        return {path.name: path.read_bytes() for path in table_files(jobs.folder / "results")}

    assert contents() == contents()
