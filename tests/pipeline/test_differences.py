"""Rows that do not stand on the same things are named under their table; equal ones are not."""

import json

import pytest

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.adapters.tables import BLOCKS, BRIEFS, VERDICTS, read_table, write_table
from flows.common.digests import sha256_text
from flows.pipeline.commands.report import report
from flows.pipeline.results.stored import load_graded, load_scenarios
from flows.pipeline.work import digests
from tests.pipeline.differences_support import versions
from tests.pipeline.test_panel import panel
from tests.support.bench import Project, answer, remote
from tests.support.plain_flow import run_here, without_prefect
from tests.support.report_bench import INSTRUCTION, project_here, sweep_here
from tests.support.scripted_server import ScriptedServer

KEYS = ("scenario_id", "seed")


@pytest.fixture
def first_rules(monkeypatch):
    """The offline judge's rules as they were first, whatever they are now."""
    monkeypatch.setattr(digests, "OFFLINE_VERSION", "1")
    monkeypatch.setattr(digests, "REFERENCE_VERSION", "1")


@pytest.fixture
def here(tmp_path, project, monkeypatch, first_rules):
    without_prefect(monkeypatch)
    return Project(tmp_path, project / "conf", {})


def board(here):
    return json.loads((here.results / "ma_bench" / "leaderboard.json").read_text())


def local(here, *words):
    assert run_here(here.folder, *words, "tracking=none") == 0


def test_documents_that_were_edited_between_two_runs_are_named(here, endpoint):
    alder = here.folder / "data" / "ma_bench" / "alder"
    writer = [word for word in remote(endpoint) if not word.startswith("judge")]
    local(here, *writer, "model.label=a")
    local(here, "model=strong")
    assert board(here)["differences"] == []
    order = alder / "documents" / "01-order.txt"
    order.write_text(order.read_text().replace("14 March", "15 March"))
    head = alder / "scenario.yaml"
    head.write_text(head.read_text().replace("Write the mission", "Write a mission"))
    local(here, "model=weak")
    assert board(here)["differences"] == []  # a control is what it is, whatever the documents say
    local(here, *writer, "model.label=b")
    a, b = sorted(one["condition"] for one in board(here)["rows"] if one["model"] in ("a", "b"))
    expected = [
        versions("documents", "alder", f"{a}; {b}."),
        versions("assignment", "alder", f"{a}; {b}."),
    ]
    assert board(here)["differences"] == expected
    assert set(expected) < set(board(here)["notes"])
    assert f"- {expected[0]}" in (here.results / "ma_bench" / "leaderboard.md").read_text()
    local(here, *writer, "model.label=c", "prompt.system=Be brief.")
    (c,) = [one["condition"] for one in board(here)["rows"] if one["model"] == "c"]
    assert board(here)["differences"] == [
        versions("documents", "alder", f"{a}; {b}, {c}."),
        versions("assignment", "alder", f"{a}; {b}, {c}."),
        f"Rows were written by different texts of prompt v0: {a}, {b}; {c}.",
    ]


def test_verdicts_by_another_rule_of_the_offline_judge_are_left_out_everywhere(here, monkeypatch, capsys):
    local(here, "model=strong")
    local(here, "model=weak")
    before = {one["judge_digest"] for one in board(here)["rows"]}
    assert report(here.folder, [], Screen()) == 0
    folder = here.results / "ma_bench"
    _, about = read_table(folder / "verdicts" / "weak-default-3000-v0" / "offline.parquet", VERDICTS)
    assert about["judge_versions"] == {"offline": "1"}

    monkeypatch.setattr(digests, "OFFLINE_VERSION", "2")
    local(here, "model=strong")
    found = board(here)
    assert [one["model"] for one in found["rows"]] == ["strong"]
    assert {one["judge_digest"] for one in found["rows"]} == before  # names of files and rows stay
    why = (
        "verdicts/weak-default-3000-v0/offline.parquet: verdicts by another version of the offline judge "
        "(offline 1); expected the current one (offline 2). Run that condition again with this judge and "
        "as many seeds, as settings/weak-default-3000-v0/offline.yaml says; stored replies are not paid for "
        "again"
    )
    assert found["left_out"] == [why]
    assert f"- Left out: {why}." in (folder / "leaderboard.md").read_text()
    assert not any("Left out" in note or why in note for note in found["notes"])  # pages list them apart

    monkeypatch.setattr(digests, "OFFLINE_VERSION", "3")
    other = folder / "leaderboard.unweighted.md"
    other.write_text("of other weights")
    capsys.readouterr()
    assert report(here.folder, [], Screen()) == 1
    derived = ["leaderboard.json", "leaderboard.csv", "leaderboard.md", "metrics.json"]
    assert [name for name in derived if (folder / name).exists()] == []
    assert other.is_file()
    assert "No row is left." in capsys.readouterr().out
    pages = sorted(path.name for path in (folder / "site").rglob("*.html"))
    assert pages == ["index.html"]
    page = (folder / "site" / "index.html").read_text()
    assert "another version of the offline judge" in page
    assert str(here.folder) not in page


@pytest.mark.parametrize("name", ["m" * 400, "org/m:1 @x", "modell-ä"], ids=["long", "signs", "letters"])
def test_a_model_of_any_name_is_paid_for_once_and_stored(here, endpoint, name):
    words = [word for word in remote(endpoint) if not word.startswith("model.name")]
    words += [f'model.name="{name}"', "judge.name=judge-" + "j" * 400, "seeds=1"]
    local(here, *words)
    assert len(endpoint.billed) == 4
    (row,) = board(here)["rows"]
    assert row["model"] == name
    assert row["n_ungraded"] == 0
    assert report(here.folder, [], Screen()) == 0
    local(here, *words)
    assert len(endpoint.billed) == 4


def test_what_a_prompt_asks_beyond_the_published_one_is_listed_as_assumed(here, endpoint):
    words = [*remote(endpoint), "seeds=1"]
    local(here, *words)
    assert not [line for line in board(here)["assumptions"] if line.startswith("prompt ")]
    local(here, *words, "prompt=coached")
    (line,) = [line for line in board(here)["assumptions"] if line.startswith("prompt ")]
    assert line.startswith("prompt coached also asks for ")
    assert "what would show an assumption to be wrong" in line
    assert {row["prompt"] for row in board(here)["rows"]} == {"v0", "coached"}


def rewrite(path, schema, keys, change):
    """Store a table again with its metadata changed."""
    rows, about = read_table(path, schema)
    write_table(path, schema, rows, keys, change(about))


def test_files_from_before_versions_were_kept_are_of_the_first_rule(here, monkeypatch):
    local(here, "model=weak")
    folder = here.results / "ma_bench"
    new = ("written_from", "judge_versions")
    for kind, schema, keys in (("briefs", BRIEFS, KEYS), ("verdicts", VERDICTS, (*KEYS, "item_id"))):
        for path in (folder / kind).rglob("*.parquet"):
            rewrite(path, schema, keys, lambda about: {k: v for k, v in about.items() if k not in new})
    scenarios, _ = load_scenarios(here.folder, compose_points(here.folder, [], multirun=False)[0].settings)
    monkeypatch.setattr(digests, "OFFLINE_VERSION", "1")  # files from then name none
    graded, problems = load_graded(folder, scenarios)
    assert (len(graded), problems) == (1, [])
    monkeypatch.setattr(digests, "OFFLINE_VERSION", "2")
    graded, problems = load_graded(folder, scenarios)
    assert len(graded) == 0
    assert "another version of the offline judge (offline 1)" in str(problems[0])


def test_a_panel_with_the_offline_judge_rests_on_its_rule_and_an_asked_judge_does_not(here, monkeypatch):
    with ScriptedServer(answer) as server:
        assert run_here(here.folder, *panel(server, "judge-a", "judge-b", "offline")) == 0
        folder = here.results / "ma_bench"
        versions = {
            path.name.partition("-")[0].partition(".")[0]: read_table(path, VERDICTS)[1]["judge_versions"]
            for path in (folder / "verdicts").rglob("*.parquet")
        }
        assert versions == {"judge": {}, "offline": {"offline": "1"}, "panel": {"offline": "1"}}
        monkeypatch.setattr(digests, "OFFLINE_VERSION", "2")
        assert report(here.folder, [], Screen()) == 1
    assert [row["judge"] for row in board(here)["rows"]] == ["judge-a", "judge-b"]
    assert len(board(here)["left_out"]) == 2


@pytest.mark.usefixtures("first_rules")
def test_reports_rest_on_files_and_assignment_where_a_writer_reads_them(tmp_path, project, monkeypatch):
    here = project_here(tmp_path, project / "conf", monkeypatch)
    words = ("benchmark=mission_report", "seeds=1", "benchmark.scenarios=[memo-01]")
    assert sweep_here(here.folder, *words, "model=extractive,fair") == 0
    found = {}
    for path in (here.own / "verdicts").rglob("*.parquet"):
        _, about = read_table(path, VERDICTS)
        found[about["condition"]["model"]] = about
    extractive, fair = found["extractive"], found["fair"]
    packets = here.folder / "data" / "packets" / "mission_report" / "memo-01.parquet"
    _, packet = read_table(packets, BLOCKS)
    assert extractive["written_from"]["documents"] == {"memo-01": packet["digest"]}
    assignment = INSTRUCTION.format(route="Route Amber").strip()
    assert extractive["written_from"]["assignments"] == {"memo-01": sha256_text(assignment)}
    assert fair["written_from"] == {"documents": {}, "assignments": {}, "prompt": None}
    assert fair["judge_versions"] == {"offline": "1", "reference": "1"}
    assert run_here(here.folder, *words[:2], "model=weak") == 0
    notes = json.loads((here.own / "leaderboard.json").read_text())["differences"]
    rows = ", ".join(one["condition"]["label"] for one in (extractive, fair))
    assert notes == [f"Rows do not cover the same scenarios: {rows} on memo-01."]
    assert (here.own / "tasks.md").is_file()
    monkeypatch.setattr(digests, "REFERENCE_VERSION", "2")
    assert report(here.folder, ["benchmark=mission_report"], Screen()) == 1
    assert not (here.own / "tasks.md").exists()
