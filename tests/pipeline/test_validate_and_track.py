"""staffbench validate, track and run on a benchmark that staffbench new has made."""

import shutil
import subprocess

import pytest
import yaml
from dvc.repo import Repo

from flows.adapters.config.every_option import check_options
from flows.adapters.screen import Screen
from flows.common.errors import Problems
from flows.pipeline.commands import validate as module
from flows.pipeline.commands.own.new import new
from flows.pipeline.commands.own.track import track
from flows.pipeline.commands.report import report
from flows.pipeline.commands.run import run
from flows.pipeline.commands.validate import validate
from flows.pipeline.evaluate import flow as flow_module
from tests.support.mixed_documents import write_documents
from tests.support.plain_flow import run_here, without_prefect


@pytest.fixture
def empty(tmp_path, monkeypatch):
    without_prefect(monkeypatch)
    return tmp_path


@pytest.fixture
def documents(tmp_path):
    return write_documents(tmp_path / "elsewhere")


def test_validate_shows_faults_before_it_composes_options_and_composes_them_once(empty, monkeypatch, capsys):
    new("mybench", Screen(), here=empty)
    rubric = empty / "data" / "mybench" / "example" / "rubric.yaml"
    good = rubric.read_text()
    rubric.write_text(good.replace("tier: 1", "tier: 9", 1))
    shown: list[str] = []

    def check(project, on_step):
        shown.append(capsys.readouterr().err)
        return 1, []

    monkeypatch.setattr(module, "check_options", check)
    assert validate(empty, ["benchmark=mybench"], Screen()) == 1
    rubric.write_text(good)
    assert validate(empty, ["benchmark=mybench"], Screen()) == 0
    assert len(shown) == 1
    assert "tier: 9" in shown[0]
    (empty / "conf" / "model" / "own.yaml").write_text("label: own\n")
    validate(empty, ["benchmark=mybench"], Screen())
    assert len(shown) == 2


def test_own_dimensions_are_not_held_against_other_weights_and_a_bad_option_is_named_by_its_file(empty):
    new("mybench", Screen(), here=empty)
    conf = empty / "conf"
    (conf / "benchmark" / "mybench.yaml").write_text(
        "# @package _global_\ndefaults: [override /scoring: mybench]\n"
        "benchmark: {name: mybench, protocol: ma_bench, data: data/mybench, controls: null,\n"
        "  scenarios: null, dimensions: {steps: [a], tiers: [b], severities: [c], wrong_moves: [d]}}\n"
    )
    weights = yaml.safe_load((conf / "scoring" / "severity.yaml").read_text())
    weights |= {"name": "mybench", "weights": {"c": 1, "d": -1}, "assumed": []}
    (conf / "scoring" / "mybench.yaml").write_text(yaml.safe_dump(weights))
    severity = conf / "scoring" / "severity.yaml"
    severity.write_text(severity.read_text() + "# edited\n")
    (conf / "runner" / "mine.yaml").write_text("concurrency: 0\n")
    _, problems = check_options(empty)
    assert [str(one).split(": ")[0] for one in problems] == ["conf/runner/mine.yaml"]


def test_track_says_what_it_did_and_what_comes_next(empty, documents, capsys):
    new("mybench", Screen(), here=empty)
    assert track(empty, ["benchmark=mybench"], Screen()) == 0
    said = capsys.readouterr().err
    assert "not under DVC yet: git init, then dvc init" in said
    new("mybench/flood", Screen(), here=empty, documents=documents)
    validate(empty, ["benchmark=mybench", "benchmark.scenarios=[flood]"], Screen())
    assert "staffbench track" not in capsys.readouterr().out  # one of them was chosen
    shutil.rmtree(empty / "data" / "mybench" / "example")
    capsys.readouterr()
    validate(empty, ["benchmark=mybench"], Screen())
    assert "staffbench track benchmark=mybench" in capsys.readouterr().out
    assert track(empty, ["benchmark=mybench"], Screen()) == 0
    assert "Written again for the scenarios and models of mybench: " in capsys.readouterr().err
    for chosen in ([], ["benchmark.scenarios=[flood]"]):
        validate(empty, ["benchmark=mybench", *chosen], Screen())
        assert "staffbench track" not in capsys.readouterr().out


@pytest.mark.filterwarnings("ignore:_NoneStep.value:DeprecationWarning")  # of a library of DVC
def test_track_needs_no_dvc_repro_before_it(empty, monkeypatch, capsys):
    monkeypatch.chdir(empty)
    new("mybench", Screen(), here=empty)
    assert run_here(empty, "benchmark=mybench", "model=extractive", "seeds=1", "tracking=none") == 0
    assert report(empty, ["benchmark=mybench"], Screen()) == 0
    subprocess.run(["git", "init", "--quiet"], cwd=empty, check=True)
    Repo.init(str(empty)).close()
    (empty / "results" / "completions").mkdir()
    (empty / "results" / "completions" / "reply.json").write_text("{}")
    capsys.readouterr()
    assert track(empty, ["benchmark=mybench"], Screen()) == 0
    # The pipeline's leaderboard also rests on the control briefs, which were not run.
    said = capsys.readouterr()
    assert "dvc repro data/mybench/dvc.yaml:report makes them" in " ".join(said.err.split())
    shown = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "results"],
        cwd=empty,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert "results/.gitignore" in shown
    assert set(shown) <= set(said.out.split())  # in its line for git add
    lock = yaml.safe_load((empty / "data" / "mybench" / "dvc.lock").read_text())
    assert set(lock["stages"]) == {"packets@example", "evaluate@extractive"}


def test_a_scenario_without_items_is_refused_with_what_to_do(empty, documents):
    new("mybench", Screen(), here=empty)
    new("mybench/flood", Screen(), here=empty, documents=documents)
    with pytest.raises(
        Problems, match=r"rubric.yaml: no item; .* Run staffbench rubric import mybench/flood FILE"
    ):
        run_here(empty, "benchmark=mybench", "model=empty", "seeds=1")


def test_validate_names_what_is_left_to_write(empty, documents, capsys):
    new("mybench", Screen(), here=empty)
    new("mybench/flood", Screen(), here=empty, documents=documents)
    file = empty / "data" / "mybench" / "flood" / "scenario.yaml"
    chosen = ["benchmark=mybench", "benchmark.scenarios=[flood]"]
    start = "flood: worth another look: as staffbench new wrote it, to be replaced: "
    validate(empty, chosen, Screen())
    assert f"{start}licence, notice, assignment.\n" in capsys.readouterr().out
    head = yaml.safe_load(file.read_text())
    head |= {"assignment": "You work on the staff of a town. Write the analysis.", "notice": "Invented."}
    file.write_text(yaml.safe_dump(head))
    validate(empty, chosen, Screen())
    assert f"{start}licence.\n" in capsys.readouterr().out
    file.write_text(yaml.safe_dump(head | {"licence": "CC BY 4.0"}))
    validate(empty, chosen, Screen())
    assert start not in capsys.readouterr().out


def test_validate_names_faults_of_files_documents_and_quotes_at_once(empty, capsys):
    new("mybench", Screen(), here=empty)
    folder = empty / "data" / "mybench" / "example"
    text = (folder / "rubric.yaml").read_text()
    text = text.replace("severity: important", "severity: imporant", 1)
    (folder / "rubric.yaml").write_text(
        text.replace("quote: so this is", "quote: so that is").replace(
            "quote: They have not opened", "quote: They have never opened"
        )
    )
    assert validate(empty, ["benchmark=mybench"], Screen()) == 1
    said = capsys.readouterr().err
    assert "'imporant'" in said
    assert "ex-04: quote not found in 03-mail.eml: 'They have never opened" in said
    assert "the nearest are at" in said
    (folder / "documents" / "01-order.txt").write_bytes(b"\x00\x01\x02")
    assert validate(empty, ["benchmark=mybench"], Screen()) == 1
    said = capsys.readouterr().err
    assert "'imporant'" in said
    assert "01-order.txt" in said


def test_a_run_names_what_is_still_to_be_written(empty, documents, capsys, monkeypatch):
    monkeypatch.setattr(flow_module, "run_points", lambda *_, **__: 0)  # what follows the note
    new("mybench", Screen(), here=empty)
    new("mybench/flood", Screen(), here=empty, documents=documents)
    rubric = yaml.safe_load((empty / "data" / "mybench" / "example" / "rubric.yaml").read_text())
    source = [{"document": "01-order.docx", "quote": "The bridge carries 12 tonnes."}]
    rubric = [one | {"source": source} for one in rubric]
    (empty / "data" / "mybench" / "flood" / "rubric.yaml").write_text(yaml.safe_dump(rubric))
    brief = empty / "brief.md"
    brief.write_text("The bridge carries 12 tonnes.")
    assert run(empty, ["benchmark=mybench"], Screen(), target=str(brief), scenario="flood") == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "flood: worth another look: as staffbench new wrote it, to be replaced: licence, notice" in said
