"""staffbench new: from an empty folder and a folder of documents to a benchmark that runs."""

import json
import shutil
import subprocess

import docx
import openpyxl
import pytest
import yaml

from flows.adapters.config.compose import compose_points
from flows.adapters.config.described import shipped
from flows.adapters.config.every_option import check_options
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems
from flows.pipeline.commands.own import new as new_module
from flows.pipeline.commands.own.new import new
from flows.pipeline.commands.own.rubric import export_rubric, import_rubric
from flows.pipeline.commands.validate import validate
from flows.schema.settings import ProtocolName
from tests.support.mixed_documents import write_documents
from tests.support.plain_flow import run_here, without_prefect


@pytest.fixture
def empty(tmp_path, monkeypatch):
    without_prefect(monkeypatch)
    return tmp_path


@pytest.fixture
def documents(tmp_path):
    return write_documents(tmp_path / "elsewhere")


def test_an_empty_folder_becomes_a_benchmark_that_runs(empty, capsys):
    assert new("mybench", Screen(), here=empty) == 0
    out = capsys.readouterr().out
    assert "  staffbench run benchmark=mybench\n" in out
    assert (empty / "conf" / "config.yaml").is_file()
    scores = {}
    for model in ("strong", "weak", "empty"):
        assert run_here(empty, "benchmark=mybench", f"model={model}", "seeds=1", "tracking=none") == 0
    for row in json.loads((empty / "results" / "mybench" / "leaderboard.json").read_text())["rows"]:
        scores[row["model"]] = row["score"]
    assert scores["strong"] > 0.5
    assert scores["empty"] == 0
    assert scores["weak"] < 0.2


def test_a_scenario_is_made_of_documents_that_lie_anywhere(empty, documents, capsys):
    new("mybench", Screen(), here=empty)
    capsys.readouterr()
    assert new("mybench/flood", Screen(), here=empty, documents=documents) == 0
    out = capsys.readouterr().out
    folder = empty / "data" / "mybench" / "flood"
    names = [f"0{n}" for n in range(1, 6)]
    assert [name[:2] for name in yaml.safe_load((folder / "scenario.yaml").read_text())["documents"]] == names
    assert sorted(path.name[:2] for path in (folder / "documents").iterdir()) == names
    assert (folder / "documents" / "05-notes.txt").read_bytes() == (documents / "05-notes.txt").read_bytes()
    assert "page 1" in out
    assert "page 2" in out
    assert "Stocks" in out
    assert "Not copied: link.txt: a link" in out
    assert "Not copied: movie.mp4" in out
    book = openpyxl.load_workbook(folder / "rubric.xlsx")
    assert book["Items"]["A1"].value == "item_id"


def test_a_document_that_can_not_be_read_is_said_once(empty, documents, capsys):
    (documents / "06-broken.docx").write_bytes(b"no zip")
    new("mybench", Screen(), here=empty)
    with pytest.raises(
        Problems, match=r"data/mybench/flood/documents/06-broken\.docx"
    ):  # the copy, to correct
        new("mybench/flood", Screen(), here=empty, documents=documents)
    out = capsys.readouterr()
    assert "06-broken" not in out.out + out.err


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("My Bench", "'My Bench' is no name"),
        ("../x", "'..' is no name"),
        ("mybench/", "'' is no name"),
        ("mybench", "is already there"),
        ("mybench/flood", "no documents"),
        ("other/flood", "other"),
    ],
)
def test_what_can_not_be_made_is_refused_and_nothing_is_written(empty, target, said):
    new("mybench", Screen(), here=empty)
    before = sorted(path for path in empty.rglob("*"))
    documents = empty / "conf" if target.startswith("other") else None
    with pytest.raises(ConfigError) as caught:
        new(target, Screen(), here=empty, documents=documents)
    assert said in str(caught.value)
    assert sorted(path for path in empty.rglob("*")) == before


def test_without_a_project_a_scenario_says_what_to_do_first(empty, documents):
    with pytest.raises(ConfigError, match=r"Run staffbench new mybench first"):
        new("mybench/flood", Screen(), here=empty, documents=documents)


def test_a_benchmark_may_lie_in_any_folder(empty, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("far") / "data here"
    new("mybench", Screen(), here=empty, folder=elsewhere)
    assert (elsewhere / "example" / "rubric.yaml").is_file()
    assert run_here(empty, "benchmark=mybench", "model=strong", "seeds=1", "tracking=none") == 0
    shutil.rmtree(elsewhere)


def test_a_benchmark_of_reports_validates_and_its_expert_scores_1(empty, capsys):
    assert new("reports", Screen(), here=empty, protocol=ProtocolName.mission_report) == 0
    assert validate(empty, ["benchmark=reports"], Screen()) == 0
    assert "1 task, 2 source files" in capsys.readouterr().out
    for model in ("oracle", "empty"):
        assert run_here(empty, "benchmark=reports", f"model={model}", "seeds=1") == 0
    rows = json.loads((empty / "results" / "reports" / "leaderboard.json").read_text())["rows"]
    assert {row["model"]: row["score"] for row in rows} == {"oracle": 1, "empty": 0}


def test_a_report_task_is_made_of_documents_a_report_and_a_spreadsheet(empty, documents, capsys):
    new("reports", Screen(), here=empty, protocol=ProtocolName.mission_report)
    with pytest.raises(ConfigError, match=r"no expert's report; expected --report FILE"):
        new("reports/flood", Screen(), here=empty, documents=documents)
    with pytest.raises(ConfigError, match=r"expected the expert's report, a Word file"):
        new("reports/flood", Screen(), here=empty, documents=documents, report=documents / "05-notes.txt")
    expert = documents / "report.docx"
    word = docx.Document()
    word.add_paragraph("The bridge carries 12 tonnes, and the river rises.")
    word.save(expert)
    (documents / "06-broken.docx").write_bytes(b"no zip")
    assert new("reports/flood", Screen(), here=empty, documents=documents, report=expert) == 0
    out = capsys.readouterr()
    assert "Not read: " in out.err
    assert "workdir/attachments/06-broken.docx" in out.err.replace(
        "\n", ""
    )  # the writer of a report opens the files itself
    task = empty / "data" / "reports" / "tasks" / "flood"
    given = sorted(path.name for path in (task / "steps" / "answer" / "workdir" / "attachments").iterdir())
    assert given == sorted(path.name for path in documents.glob("0*"))
    assert (task / "tests" / "golden" / "report.docx").read_bytes() == expert.read_bytes()
    assert validate(empty, ["benchmark=reports"], Screen()) == 1
    said = capsys.readouterr()
    assert "staffbench rubric import" in said.err
    assert "flood: worth another look: as staffbench new wrote it, to be replaced: assignment.\n" in said.out
    sheet = empty / "data" / "reports" / "flood.xlsx"
    book = openpyxl.load_workbook(sheet)
    names = [cell.value for cell in book["Items"][1]]
    assert names == ["item_id", "points", "requirement", "source", "rationale"]  # all that a criterion has
    for number, (points, text, source) in enumerate(
        [(3, "Gives 12 tonnes.", "01: 12"), (-1, "Gives 40.", None)]
    ):
        values = {"item_id": f"c{number}", "points": points, "requirement": text, "source": source}
        for name, value in values.items():
            book["Items"].cell(number + 2, names.index(name) + 1, value)
    book.save(sheet)
    assert import_rubric(empty, ["benchmark=reports"], "flood", sheet, Screen()) == 0
    criteria = json.loads((task / "tests" / "fixtures" / "rubric.json").read_text())["criteria"]
    assert [(one["criterion_id"], one["points"], one["polarity"]) for one in criteria] == [
        ("c0", 3, "positive"),
        ("c1", -1, "negative"),
    ]
    assert [one.get("source") for one in criteria] == ["01: 12", None]
    wider = empty / "wider.csv"
    wider.write_text("item_id,points,severity,requirement,ground_truth\nc0,3,,Gives 12 tonnes.,It is 12.\n")
    with pytest.raises(Problems, match=r"ground_truth: 'It is 12.'; expected nothing here: a criterion"):
        import_rubric(empty, ["benchmark=reports"], "flood", wider, Screen())
    wider.write_text("item_id,points,severity,requirement\nc0,3,vital,Gives 12 tonnes.\n")
    with pytest.raises(Problems, match=r"severity: 'vital'; expected nothing here: this benchmark has"):
        import_rubric(empty, ["benchmark=reports"], "flood", wider, Screen())
    assert export_rubric(empty, ["benchmark=reports"], "flood", empty / "out.csv", Screen()) == 0
    assert import_rubric(empty, ["benchmark=reports"], "flood", empty / "out.csv", Screen()) == 0
    again = json.loads((task / "tests" / "fixtures" / "rubric.json").read_text())["criteria"]
    assert again == criteria
    assert run_here(empty, "benchmark=reports", "model=oracle", "seeds=1", "tracking=none") == 0
    (row,) = json.loads((empty / "results" / "reports" / "leaderboard.json").read_text())["rows"]
    assert row["score"] == 1


def test_options_of_somebody_s_own_in_a_clone_do_not_come_with_a_new_folder(tmp_path, monkeypatch):
    clone, folder = tmp_path / "clone", tmp_path / "folder"
    shutil.copytree(shipped(), clone / "conf")
    subprocess.run(["git", "init", "--quiet"], cwd=clone, check=True)
    subprocess.run(["git", "add", "conf"], cwd=clone, check=True)
    new("first", Screen(), here=clone)
    monkeypatch.setattr(new_module, "shipped", lambda: clone / "conf")
    folder.mkdir()
    new("second", Screen(), here=folder)
    names = {path.stem for path in (folder / "conf" / "benchmark").iterdir()}
    assert names >= {"second", "ma_bench"}
    assert "first" not in names


def test_the_comment_of_a_new_benchmark_leads_to_classes_of_its_own(empty):
    new("mybench", Screen(), here=empty)
    conf = empty / "conf"
    lines = (conf / "benchmark" / "mybench.yaml").read_text().splitlines()
    said = [line.removeprefix("# ") for line in lines]
    start = said.index("  dimensions:")
    dimensions = "\n".join(said[start : start + 6])
    defaults = "\n".join(said[said.index("defaults:") :][:2])
    weights = next(line for line in said if line.startswith("  weights:")).strip()
    severity = yaml.safe_load((conf / "scoring" / "severity.yaml").read_text())
    scoring = severity | {"name": "mybench", "assumed": []} | yaml.safe_load(weights)
    (conf / "scoring" / "mybench.yaml").write_text(yaml.safe_dump(scoring))
    null = next(line for line in lines if line.startswith("  dimensions: null"))
    text = "\n".join(lines).replace(null, dimensions).replace("\nbenchmark:", f"\n{defaults}\n\nbenchmark:")
    (conf / "benchmark" / "mybench.yaml").write_text(text)
    settings = compose_points(empty, ["benchmark=mybench"], multirun=False)[0].settings
    assert settings.benchmark.dimensions
    assert settings.benchmark.dimensions.severities == ("vital", "useful")
    assert settings.scoring.weights == {"vital": 4, "useful": 1, "harmful": -2}
    assert check_options(empty)[1] == []
