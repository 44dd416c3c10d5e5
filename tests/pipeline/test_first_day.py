"""What somebody tries first: one brief, a comparison, removing a row, a folder of scenarios of their own."""

import json
import os
import signal
import sqlite3
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from flows.pipeline.commands.compare import in_turn
from tests.support.bench import remote, write_scenario

GOOD = "The relief column has 412 soldiers. The bridge at Kerrin carries at most 30 tonnes.\n"


def test_one_brief_is_graded_without_a_server_and_each_item_is_shown(bench):
    (bench.folder / "My brief.md").write_text(GOOD, encoding="utf-8")
    done = bench("grade", "My brief.md", "--scenario", "alder", PREFECT_API_URL="http://127.0.0.1:9/api")
    assert done.code == 0, done.err
    assert "alder: file-my-brief, judged by offline" in done.out
    assert "2 of 2 requirements met, 1 described wrong move not judged" in done.out
    (row,) = bench.board()
    assert (row["score"], row["n_scenarios"], row["n_briefs"]) == (1, 1, 1)


@pytest.mark.parametrize("name", ["Ébauche de l'ordre", "報告"])
def test_a_brief_is_called_by_its_files_name_in_any_script(bench, name):
    (bench.folder / f"{name}.md").write_text("The relief column has 412 soldiers.\n")
    assert bench("grade", f"{name}.md", "--scenario", "alder").code == 0
    (row,) = bench.board()
    assert row["model"] == {"報告": "file-報告"}.get(name, "file-ébauche-de-l-ordre")


def test_of_two_briefs_in_another_script_each_is_removed_by_its_name(bench):
    for name in ("План", "Цели"):
        (bench.folder / f"{name}.md").write_text("The relief column has 412 soldiers.\n", encoding="utf-8")
        assert bench("grade", f"{name}.md", "--scenario", "alder").code == 0
    unknown = bench("remove", "file-plan", "--yes")
    assert (unknown.code, "/offline (file-план)" in unknown.err, "/offline (file-цели)" in unknown.err) == (
        2,
        True,
        True,
    )
    done = bench("remove", "file-план", "--yes")
    assert done.code == 0, done.err
    assert [row["model"] for row in bench.board()] == ["file-цели"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["brief.md"], "its scenario is not given; expected one of alder, birch"),
        (["brief.md", "--scenario", "elm"], "no scenario 'elm' in ma_bench; expected one of alder, birch"),
        (["nothing", "--scenario", "alder"], "nothing: no such file or folder"),
        (["data"], "no folder of a scenario in it"),
    ],
)
def test_what_can_not_be_graded_is_said_before_anything_runs(bench, words, said):
    (bench.folder / "brief.md").write_text(GOOD, encoding="utf-8")
    done = bench("grade", *words)
    assert done.code == 2
    assert said in done.err
    assert not bench.results.exists()


def test_a_missing_brief_is_named_and_the_others_are_graded(bench):
    for name, seeds in (("alder", (1, 2)), ("birch", (2,))):
        (bench.folder / "briefs" / name).mkdir(parents=True)
        for seed in seeds:
            (bench.folder / "briefs" / name / f"{seed}.md").write_text(GOOD, encoding="utf-8")
    done = bench("grade", "briefs", "tracking=none")
    assert done.code == 4, done.err
    assert "files on birch, seed 1: no brief: no file; expected one of 1.md" in done.err
    (row,) = bench.board()
    assert (row["n_briefs"], row["n_briefs_all"], row["n_ungraded"]) == (3, 4, 3)
    assert "3 items have no verdict; they are counted, not scored: 3 error. error, first: birch" in " ".join(
        done.err.split()
    )


def test_two_conditions_are_compared_and_one_is_removed(bench):
    assert bench("run", "-m", "model=strong,weak", "seeds=1", "tracking=none").code == 0
    done = bench("compare", "strong", "weak")
    assert done.code == 0, done.err
    # Weak earns nothing; what its wrong moves cost is not known, as the stand-in does not judge them.
    assert (
        "A - B: +1.000, from 1.000 to 1.000. Paired by scenario, 2 of 2 scenarios; range of 2 scenarios"
        in done.out
    )
    said = "Items with different shares of passes: 4 of 4; on 2 others, one or both have no verdict."
    assert said in done.out
    assert done.out.index(said) < done.out.index("A - B:")  # the answer comes last, still on the screen
    compare = bench.results / "ma_bench" / "compare"
    assert (
        f"Page: {(compare / 'compare.html').as_uri()}#a=strong-default-3000-v0%2Foffline&b=weak" in done.out
    )
    assert "States the strength of the relief column" in (compare / "data" / "items.js").read_text()
    assert '"+1.000, from 1.000 to 1.000.' in (compare / "data" / "compare.js").read_text()
    damaged = bench.results / "ma_bench" / "verdicts" / "weak-default-3000-v0" / "offline.parquet"
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:100])
    told = bench("compare", "strong", "weak")
    assert (told.code, "offline.parquet" in told.err, "weak: no such condition" in told.err) == (
        1,
        True,
        True,
    )
    damaged.write_bytes(whole)
    assert bench("run", "model=strong", "seeds=1", "tracking=none", "word_cap=500").code == 0
    equal = bench("compare", "strong-default-3000-v0", "strong-default-500-v0")
    assert "Items with different shares of passes: 0 of 4; on 2 others" in equal.out
    assert "passes by item" not in equal.out
    several = bench("compare", "strong", "weak")
    wanted = "one of strong-default-3000-v0/offline, strong-default-500-v0/offline"
    assert (several.code, f"strong: several conditions; expected {wanted}" in several.err) == (2, True), (
        several.err
    )
    assert bench("report", "scoring=unweighted").code == 0
    removed = bench("remove", "strong-default-500-v0", "--yes")
    assert removed.code == 0
    listed = removed.out[: removed.out.index("The leaderboard is written again")]
    gone = [f"leaderboard.unweighted.{suffix}" for suffix in ("json", "csv", "md")]
    assert [
        name for name in [*gone, "site.unweighted", "verdicts/strong-default-500-v0"] if name not in listed
    ] == []
    assert not [path for path in (bench.results / "ma_bench").iterdir() if "unweighted" in path.name]
    compared = bench("compare", "strong", "weak")
    assert "States the strength of the relief column" in compared.out  # the items' words, not their ids alone

    asked = bench("remove", "weak")
    assert (asked.code, "add --yes" in asked.err.lower()) == (2, True)
    assert "verdicts/weak-default-3000-v0/offline.parquet" in asked.out
    assert "  results/ma_bench/compare" in asked.out
    assert len(bench.board()) == 2
    assert bench("remove", "weak", "--yes").code == 0
    assert [row["model"] for row in bench.board()] == ["strong"]
    assert not list(bench.results.rglob("weak*"))
    assert not compare.exists()
    assert bench("remove", "strong-default-3000-v0/offline", "--yes").code == 0
    assert not (bench.results / "ma_bench" / "leaderboard.json").exists()


def test_another_folder_of_scenarios_is_another_benchmark(bench):
    assert bench("run", "model=strong", "seeds=1", "tracking=none").code == 0
    board = (bench.results / "ma_bench" / "leaderboard.json").read_bytes()
    write_scenario(bench.folder / "elsewhere" / "my scenarios", "elm", 55)
    own = "benchmark.data=elsewhere/my scenarios"
    done = bench("run", "model=strong", "seeds=1", "tracking=none", own)
    assert done.code == 0, done.err
    assert (bench.results / "ma_bench" / "leaderboard.json").read_bytes() == board
    assert len(json.loads((bench.results / "my_scenarios" / "leaderboard.json").read_text())["rows"]) == 1
    assert bench("report").code == 0


def test_verdicts_on_a_scenario_that_is_gone_are_left_out_with_a_note(bench):
    write_scenario(bench.folder / "data" / "ma_bench", "elm", 55)
    assert bench("run", "model=strong", "seeds=1", "tracking=none").code == 0
    assert bench("run", "model=weak", "seeds=1", "tracking=none", "benchmark.scenarios=[alder]").code == 0
    for path in sorted((bench.folder / "data" / "ma_bench" / "elm").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (bench.folder / "data" / "ma_bench" / "elm").rmdir()
    done = bench("report")
    assert done.code == 0, done.err
    assert "verdicts on elm, which is not a scenario of the benchmark" in done.out
    assert [row["model"] for row in bench.board()] == ["weak"]


def test_a_page_follows_the_run(bench):
    done = bench("run", "--watch", "model=strong", "seeds=1", "tracking=none")
    assert done.code == 0, done.err
    page = (bench.results / "ma_bench" / "run.html").read_text(encoding="utf-8")
    assert 'http-equiv="refresh"' not in page  # it is finished
    assert "finished" in page
    assert "strong-default-3000-v0 · offline" in page
    assert "<h1>ma_bench: run of 1 condition</h1>" in page
    assert "run --watch model=strong seeds=1 tracking=none" in page  # the command
    assert "1.000" in page
    assert "Judge <b>offline</b> is a deterministic stand-in" in page
    assert '<a href="leaderboard.md">leaderboard.md</a>' in page


def test_a_killed_run_is_crashed_once_the_next_one_of_its_folder_begins(bench, endpoint):
    home = Path(bench.environment["PREFECT_HOME"])
    overrides = remote(endpoint, "runner.concurrency=1", "seeds=5")
    endpoint.delay = 0.3
    process = bench.start("run", *overrides)
    marks = bench.results / ".cache" / "flow_runs"
    deadline = time.monotonic() + 300
    while not (marks.is_dir() and list(marks.iterdir())):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (mark,) = marks.iterdir()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert bench("run", "model=strong", "tracking=none").code == 0
    assert list(marks.iterdir()) == []
    with sqlite3.connect(f"file:{home}/prefect.db?mode=ro", uri=True) as database:
        ids = (mark.name, mark.name.replace("-", ""))
        state = database.execute("select state_type from flow_run where id in (?, ?)", ids).fetchall()
        texts = database.execute("select message from log where name = 'staffbench'").fetchall()
        begun = "state_type in ('RUNNING', 'PENDING') and flow_run_id in (?, ?)"
        left = database.execute(f"select count(*) from task_run where {begun}", ids).fetchone()
    assert state == [("CRASHED",)]
    assert left == (0,)
    assert any("strong-default-3000-v0 · offline: score 1.000" in text for (text,) in texts)


def test_equal_items_of_every_scenario_are_compared_in_turn():
    items = [
        SimpleNamespace(scenario_id=name, gap=gap)
        for name in ("alder", "birch")
        for gap in (0.0, 1.0, 1.0, -1.0, None)
    ]
    shown = [(item.scenario_id, item.gap) for item in in_turn(items)]
    assert [name for name, gap in shown if gap and abs(gap) == 1] == ["alder", "birch"] * 3
    assert [gap for _, gap in shown[6:]] == [0.0, 0.0, None, None]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ui", "--port", "99999"], "--port: 99999; expected 1 to 65535"),
        (["run", "model=strong", "prompt=coached"], "prompt: has no effect: strong asks no model"),
        (["run", "model.api_key=sk-abcdef123456"], "model.api_key: no such key: settings are stored"),
        (["run", "runner.contact=host:99999", "runner=dask"], "expected HOST:PORT"),
    ],
)
def test_a_mistake_is_refused_in_a_line(bench, words, said):
    done = bench(*words)
    assert (done.code, said in done.err) == (2, True), done.err
    assert "Traceback" not in done.err
    assert "sk-abcdef123456" not in done.err


def test_a_limit_in_dollars_without_a_price_is_refused_before_anything_runs(bench, endpoint):
    done = bench("run", *remote(endpoint), "budget.max_usd=1", "tracking=none")
    assert done.code == 2
    assert "expected model.price.input_usd and model.price.output_usd" in done.err
    assert not endpoint.billed
    assert "generate" not in done.out + done.err
