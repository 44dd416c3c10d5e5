"""`staffbench report --tables FOLDER --figures FOLDER`, and the experiments that feed them."""

import csv

import pytest

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.pipeline.commands.planning.plan import plan
from tests.support.plain_flow import run_here, without_prefect


@pytest.fixture
def graded(bench, monkeypatch):
    without_prefect(monkeypatch)
    for model in ("strong", "weak", "empty"):
        assert run_here(bench.folder, f"model={model}", "seeds=2") == 0
    return bench


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_one_folder_has_all_and_a_readme(graded):
    board = {row["model"]: row for row in graded.board()}
    before = {path: path.read_bytes() for path in graded.results.rglob("*") if path.is_file()}
    done = graded("report", "--tables", "paper", "--figures", "paper")
    assert done.code == 0, done.err
    assert "Written: paper/README.md, and what they list" in done.out
    assert "one judge only (+experiment=judges): table-01-judge-agreement" in " ".join(done.out.split())
    folder = graded.folder / "paper"
    table = rows(folder / "table-04-main-results.csv")
    assert [row["model"] for row in table] == ["strong", "empty", "weak"]
    for row in table:
        assert float(row["score"]) == pytest.approx(board[row["model"]]["score"])
    readme = (folder / "README.md").read_text()
    made = {path.name for path in folder.iterdir()} - {"README.md"}
    assert all(f"]({name})" in readme for name in made)
    assert readme.count("](") == len(made)
    assert "- Judge: offline, where a table doesn't compare judges.\n" in readme
    assert "This judge is a stand-in. Its numbers are not to be published." in readme
    assert "| table-10-word-cap | no model was run with the benchmark's cap and without one" in readme
    # Nothing else is written: no site, no leaderboard.
    after = {path: path.read_bytes() for path in graded.results.rglob("*") if path.is_file()}
    assert {path: text for path, text in after.items() if ".cache" not in path.parts} == {
        path: text for path, text in before.items() if ".cache" not in path.parts
    }


def test_again_is_equal_bytes_and_what_is_no_longer_made_is_deleted(graded):
    folder = graded.folder / "paper"
    folder.mkdir()
    (folder / "mine.txt").write_text("kept")
    (folder / "refusals.csv").write_text("of an earlier call")
    texts = []
    for _ in range(2):
        assert graded("report", "--tables", "paper").code == 0
        texts.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert texts[0] == texts[1]
    assert "mine.txt" in texts[0]
    assert "refusals.csv" not in texts[0]
    assert not list(folder.glob("*.svg"))


def test_experts_labels_make_the_tables_of_experts(graded):
    lines = ["condition,scenario_id,seed,item_id,label,rater"]
    for row in rows_of_verdicts(graded):
        lines += [
            f"{row['condition']},{row['scenario_id']},{row['seed']},{row['item_id']},{label},{rater}"
            for rater, label in (
                ("a", "pass"),
                ("b", "fail" if row["condition"].startswith("empty") else "pass"),
            )
        ]
    (graded.folder / "labels.csv").write_text("\n".join(lines))
    done = graded("report", "--tables", "paper", "--labels", "labels.csv")
    assert done.code == 0, done.err
    table = rows(graded.folder / "paper" / "table-02-experts.csv")
    assert [row["who"] for row in table] == ["panel of 2", "offline"]


def rows_of_verdicts(bench):
    import pyarrow.parquet as pq

    for path in sorted((bench.results / "ma_bench" / "verdicts").rglob("*.parquet")):
        yield from (row for row in pq.read_table(path).to_pylist() if row["passed"] is not None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--labels", "labels.csv"], "nothing uses them"),
        (["--tables", "a_file"], "a_file: a file; expected a folder"),
        (["--tables", "paper", "--labels", "none.csv"], "none.csv"),
        (["--tables", "paper", "judge=gpt_6_1_sol"], "no verdict by judge gpt-6.1-sol-medium-failed_only-v1"),
    ],
)
def test_what_can_not_be_made_is_said(graded, words, said):
    (graded.folder / "a_file").write_text("")
    done = graded("report", *words)
    assert done.code in (1, 2)
    assert said in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_nothing_graded_is_said(bench):
    done = bench("report", "--tables", "paper")
    assert done.code == 1
    assert "nothing graded here" in done.err
    assert not (bench.folder / "paper").exists()


LONG = ("cap", "main", "judges", "effort")
EXPERIMENTS = {"main": 25, "effort": 15, "cap": 50, "judges": 24, "test_retest": 4, "scale": 4}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in EXPERIMENTS]
)
def test_an_experiment_is_planned(bench, project, capsys, name):
    points = compose_points(project, [f"+experiment={name}"], multirun=False)
    assert len(points) == EXPERIMENTS[name]
    axes = ("model", "judge", "effort", "word_cap")
    assert len({tuple(point.choices[axis] for axis in axes) for point in points}) == len(points)
    if name == "test_retest":
        assert {point.settings.judge.repeat for point in points} == {3}
    if name == "cap":
        assert {(p.settings.word_cap.words, p.settings.prompt.version) for p in points} == {
            (3000, "v0"),
            (None, "v0_no_limit"),
        }
    assert plan(bench.folder, [f"+experiment={name}"], multirun=False, screen=Screen()) == 0
    assert "Tokens are estimated" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_the_same_models_are_capped_and_uncapped(project):
    def models(name, *more):
        points = compose_points(project, [f"+experiment={name}", *more], multirun=False)
        return [(point.choices["model"], point.settings.word_cap.words) for point in points]

    cap = models("cap")
    for words in (3000, None):
        assert {model for model, own in cap if own == words} == {model for model, _ in models("main")}
    # One that is given replaces what the experiment varies.
    assert models("cap", "model=gpt_5_4") == [("gpt_5_4", 3000), ("gpt_5_4", None)]
    assert models("cap", "model=gpt_5_4", "word_cap=500", "prompt=v0") == [("gpt_5_4", 500)]
