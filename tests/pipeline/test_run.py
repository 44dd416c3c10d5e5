"""One condition, end to end: what a run does, what it does again, and what it does not."""

import pyarrow.parquet as pq
import pytest

from tests.support.bench import remote


def test_the_controls_are_ranked_and_each_stage_leaves_its_table(bench):
    done = bench("run", "+experiment=baselines")
    assert done.code == 0, done.err
    rows = {row["model"]: row for row in bench.board()}
    assert rows["strong"]["score"] == 1
    assert rows["empty"]["score"] == 0
    # Nothing earned; what the wrong move costs is not known, as the stand-in does not judge it.
    assert rows["weak"]["score"] == 0
    assert {row["wrong"] for row in rows.values()} == {None}
    assert {row["n_ungraded"] for row in rows.values()} == {0}
    assert "wrong moves or penalties" in done.out
    assert [row["model"] for row in bench.board() if row["copied"]] == ["extractive"]
    assert "\u2020" in done.out
    assert rows["extractive"]["score"] >= 0
    assert rows["empty"]["n_empty"] == 6
    assert {row["n_briefs"] for row in rows.values()} == {6}
    assert {row["n_scenarios"] for row in rows.values()} == {2}
    assert "stand-in" in done.out
    folder = bench.results / "ma_bench"
    assert pq.read_table(folder / "briefs" / "weak-default-3000-v0.parquet").num_rows == 6
    assert pq.read_table(folder / "verdicts" / "weak-default-3000-v0" / "offline.parquet").num_rows == 18
    assert pq.read_table(folder / "scores" / "weak-default-3000-v0" / "offline.parquet").num_rows == 6
    assert (bench.results / "mlflow.db").is_file()


def test_the_same_command_again_makes_nothing_again_and_equal_bytes(bench, endpoint):
    first = bench("run", *remote(endpoint))
    assert (first.code, first.paid, first.stages) == (0, 12, (11, 0)), first.err
    tables = {path: path.read_bytes() for path in bench.results.rglob("ma_bench/**/*") if path.is_file()}
    again = bench("run", *remote(endpoint))
    assert (again.code, again.paid, again.stages) == (0, 0, (11, 11)), again.err
    assert len(endpoint.billed) == 12
    assert {path: path.read_bytes() for path in tables} == tables


def test_scenarios_with_equal_briefs_are_not_taken_for_one_another(bench):
    """An empty brief is the same text in every scenario, and must not be the same stage."""
    first = bench("run", "model=empty", "tracking=none")
    assert first.code == 0, first.err
    rows = bench.board()
    again = bench("run", "model=empty", "tracking=none")
    assert again.code == 0, again.err
    assert again.stages == (11, 11)
    assert bench.board() == rows
    assert rows[0]["n_scenarios"] == 2


def test_a_change_reruns_what_hangs_on_it_and_no_more(bench, endpoint):
    assert bench("run", *remote(endpoint)).paid == 12  # 2 scenarios, 3 seeds, a writer and a judge call each

    cut = bench("run", *remote(endpoint, "word_cap=3"))
    assert cut.paid == 2  # a scenario's briefs now begin, and end, with the same three words
    assert cut.stages == (11, 4)  # packet and generate stand

    judged = bench("run", *remote(endpoint, "judge.name=judge-2"))
    assert judged.paid == 6
    assert judged.stages == (11, 6)  # packet, generate and truncate stand

    weighed = bench("run", *remote(endpoint, "scoring=unweighted"))
    assert weighed.paid == 0
    assert weighed.stages == (11, 8)  # only score and aggregate are new

    seeded = bench("run", *remote(endpoint, "seeds=4"))
    assert seeded.paid == 4  # the fourth brief of each scenario, and its verdicts

    text = (bench.folder / "data" / "ma_bench" / "alder" / "documents" / "01-order.txt").read_text()
    changed = text.replace("14 March", "15 March")
    (bench.folder / "data" / "ma_bench" / "alder" / "documents" / "01-order.txt").write_text(changed)
    repacked = bench("run", *remote(endpoint))
    assert (
        repacked.paid == 3
    )  # three new briefs of one scenario; their words, and so their verdicts, are the same


def test_a_sweep_shares_what_its_conditions_have_in_common(bench, endpoint):
    endpoint.together = 2
    done = bench("run", "-m", *remote(endpoint, "word_cap=none,3000,1000"))
    assert done.code == 0, done.err
    assert done.paid == 12  # the caps cut nothing here: one set of briefs and one of verdicts
    assert len(bench.board()) == 3
    assert endpoint.peak >= 2


def test_a_report_by_other_weights_calls_nobody(bench, endpoint):
    assert bench("run", *remote(endpoint)).code == 0
    done = bench("report", "scoring=unweighted")
    assert done.code == 0, done.err
    assert bench.board("leaderboard.unweighted")[0]["score"] == 1
    assert len(endpoint.billed) == 12


def test_verdicts_on_another_rubric_are_left_out_and_said_to_be(bench):
    assert bench("run", "model=strong", "tracking=none").code == 0
    rubric = bench.folder / "data" / "ma_bench" / "alder" / "rubric.yaml"
    rubric.write_text(rubric.read_text().replace("States the strength", "Gives the strength"))
    done = bench("report")
    assert done.code == 1
    assert "another rubric of alder" in done.err


def test_of_several_results_that_are_left_out_the_first_is_explained_and_the_others_counted(bench):
    assert bench("run", "-m", "model=strong,weak,extractive", "tracking=none").code == 0
    rubric = bench.folder / "data" / "ma_bench" / "alder" / "rubric.yaml"
    rubric.write_text(rubric.read_text().replace("States the strength", "Gives the strength"))
    done = bench("run", "model=strong", "tracking=none")
    assert done.code == 0
    said = " ".join(done.err.split())
    assert said.count("another rubric of alder") == 1
    assert "left out, too: 1 other file of verdicts; leaderboard.md says why" in said
    text = (bench.folder / "results" / "ma_bench" / "leaderboard.md").read_text()
    assert text.count("another rubric of alder") == 2


def test_briefs_from_a_folder_are_graded(bench):
    for name, strength in (("alder", 412), ("birch", 99)):
        (bench.folder / "mine" / name).mkdir(parents=True)
        text = f"# Brief\n\nThe relief column has {strength} soldiers.\n"
        (bench.folder / "mine" / name / "1.md").write_text(text)
    done = bench("grade", "mine", "seeds=1", "tracking=none")
    assert done.code == 0, done.err
    # alder earns 9 of 14.5, birch gives a wrong figure and earns nothing
    assert bench.board()[0]["score"] == pytest.approx(9 / 14.5 / 2)
    assert "Not graded" not in done.err
    missing = bench("grade", "mine", "seeds=2", "tracking=none")
    assert missing.code == 4  # the others are graded
    assert "no brief" in missing.err


def test_what_a_folder_holds_beside_briefs_of_scenarios_is_named(bench):
    for name in ("alder/1.md", "alder/zwei.md", "bireh/1.md", "birch.md", "notes.csv", ".hidden/1.md"):
        path = bench.folder / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("The relief column has 412 soldiers.\n")
    done = bench("grade", "mine", "tracking=none")
    assert done.code == 0, done.err
    said = " ".join(done.err.split())
    assert "Not graded in mine: alder/zwei.md, birch.md, bireh. A brief is read from SCENARIO/1.md" in said
    assert bench.board()[0]["n_scenarios"] == 1
    for number in range(9):
        (bench.folder / "mine" / f"x{number}").mkdir()
    crowded = " ".join(bench("grade", "mine", "tracking=none").err.split())
    assert "alder/zwei.md, birch.md, bireh, x0, x1, x2, x3, x4 and 4 more. A brief is read from" in crowded


def test_the_whole_brief_is_graded_up_to_the_cap(bench):
    assert bench("run", "model=strong", "word_cap=6", "tracking=none").code == 0
    row = bench.board()[0]
    assert row["score"] == pytest.approx(9 / 14.5)  # the bridge stands after the sixth word
    assert row["n_cut"] == 6
    assert row["words_kept"] == 6
    assert row["words_raw"] == 15
