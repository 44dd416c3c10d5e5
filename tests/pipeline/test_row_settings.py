"""Conditions that differ in an overridden setting: named on every table, and kept beside the results."""

import csv
import json

import pytest
import yaml

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.common.errors import Problems, StoreError
from flows.pipeline.commands.report import report
from flows.pipeline.evaluate.job import varied
from flows.pipeline.evaluate.showing import command_hint
from flows.pipeline.results.settings_file import read_settings
from flows.pipeline.work.evaluations import build_evaluations
from tests.support.bench import Project, answer, remote
from tests.support.plain_flow import run_here, without_prefect
from tests.support.report_bench import sweep_here
from tests.support.scripted_server import ScriptedServer

SWEEP = ("seeds=1", "benchmark.scenarios=[alder]", "model.parameters.temperature=0.2,0.9")


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    without_prefect(monkeypatch)
    return Project(tmp_path, project / "conf", {})


def test_two_temperatures_are_two_rows_that_say_so_everywhere(here, capsys):
    with ScriptedServer(answer) as server:
        assert sweep_here(here.folder, *remote(server, *SWEEP)) == 0
    folder = here.results / "ma_bench"
    screen = capsys.readouterr().out
    for value in ("0.2", "0.9"):
        assert f"temperature {value}" in screen
        assert f"temperature {value}" in (folder / "leaderboard.md").read_text(encoding="utf-8")
    rows = here.board()
    assert sorted(row["differs"] for row in rows) == [[["temperature", "0.2"]], [["temperature", "0.9"]]]
    with (folder / "leaderboard.csv").open(encoding="utf-8") as file:
        assert {row["differs"] for row in csv.DictReader(file)} == {"temperature 0.2", "temperature 0.9"}
    # Two calls each: one of the writer, one of the judge; nothing is known of prices.
    assert [(row["calls"], row["judge_calls"], row["usd"], row["judge_usd"]) for row in rows] == [
        (1, 1, None, None)
    ] * 2
    files = sorted((folder / "settings").rglob("*.yaml"))
    kept = [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files]
    assert {one["settings"]["model"]["parameters"]["temperature"] for one in kept} == {0.2, 0.9}
    assert all("model.parameters.temperature" in one["changed"] for one in kept)
    assert "runner" not in kept[0]["settings"]
    # From the files alone, and on the page.
    assert report(here.folder, [], Screen()) == 0
    assert "temperature 0.9" in (folder / "site" / "index.html").read_text(encoding="utf-8")
    assert [row["differs"] for row in here.board()] == [row["differs"] for row in rows]
    # Without the files the rows are still told apart.
    for file in files:
        file.unlink()
    assert report(here.folder, [], Screen()) == 0
    assert {row["differs"][0][0] for row in here.board()} == {"condition"}


def test_a_damaged_file_is_named_and_one_of_another_run_is_ignored(tmp_path):
    about = {
        "condition": {"label": "c", "digest": "1"},
        "judge": {"label": "j", "digest": "2"},
    }
    assert read_settings(tmp_path, about) is None
    path = tmp_path / "settings" / "c" / "j.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("digests: ['1', '2']\nsettings: {model: {}}\n", encoding="utf-8")
    assert read_settings(tmp_path, about)["settings"] == {"model": {}}
    path.write_text("digests: ['1', '3']\nsettings: {model: {}}\n", encoding="utf-8")
    assert read_settings(tmp_path, about) is None
    for broken in ("a: [", "- 1", "\0"):
        path.write_text(broken, encoding="utf-8")
        with pytest.raises(StoreError, match=r"j\.yaml"):
            read_settings(tmp_path, about)


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["scoring.weights.important=-1"], "scoring.weights.important: -1.0"),
        (
            [f"scoring.weights.{name}=0" for name in ("critically_important", "important")],
            "the rubric's requirements sum to no points",
        ),
    ],
)
def test_weights_that_can_not_score_a_rubric_are_refused_before_a_call(here, overrides, said):
    with ScriptedServer(answer) as server, pytest.raises(Problems, match=said) as error:
        run_here(here.folder, *remote(server, *overrides))
    assert not server.calls
    assert len(error.value.lines) == 1  # once, and not for each scenario


def test_a_run_is_named_by_what_it_varies_and_a_hint_carries_what_is_in_use(here):
    def evaluations(*overrides, multirun=True):
        return build_evaluations(here.folder, compose_points(here.folder, overrides, multirun=multirun))

    assert varied(evaluations("model=strong,weak", "word_cap=500")) == " · model strong, weak"
    one = ["model=openai_compatible", "model.name=m", "model.api_base=http://x/v1", SWEEP[-1]]
    named = varied(evaluations(*one))
    assert "temperature 0.2, 0.9" in named
    assert len(varied(evaluations(*one, "model.note=" + "x" * 900))) <= 200
    settings = compose_points(here.folder, ["results=my results"], multirun=False)[0].settings
    assert command_hint("report", here.folder, settings) == "staffbench report 'results=my results'"
    settings = compose_points(here.folder, ["benchmark=mission_report"], multirun=False)[0].settings
    assert command_hint("ui", here.folder, settings) == "staffbench ui benchmark=mission_report"
    own = ["benchmark.name=own", "benchmark.data=data/ma_bench"]
    settings = compose_points(here.folder, own, multirun=False)[0].settings
    assert command_hint("report", here.folder, settings) == (
        "staffbench report benchmark=ma_bench benchmark.name=own benchmark.data=data/ma_bench"
    )


def test_the_row_of_a_local_writer_costs_nothing_and_says_so(here):
    assert sweep_here(here.folder, "model=strong,weak", "seeds=1", "tracking=none") == 0
    content = json.loads((here.results / "ma_bench" / "leaderboard.json").read_text(encoding="utf-8"))
    assert {(row["calls"], row["usd"], row["judge_calls"]) for row in content["rows"]} == {(0, 0, 0)}
