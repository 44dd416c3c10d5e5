"""staffbench new: from an empty folder and a folder of documents to a benchmark that runs."""

import json
import shutil
from email.message import EmailMessage

import docx
import openpyxl
import pytest
import yaml
from reportlab.pdfgen.canvas import Canvas

from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems
from flows.pipeline.commands.own.new import new
from flows.pipeline.commands.validate import validate
from flows.schema.settings import ProtocolName
from tests.support.plain_flow import run_here, without_prefect


@pytest.fixture
def empty(tmp_path, monkeypatch):
    without_prefect(monkeypatch)
    return tmp_path


@pytest.fixture
def documents(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    word = docx.Document()
    word.add_paragraph("The bridge carries 12 tonnes.")
    word.save(folder / "01-order.docx")
    pdf = Canvas(str(folder / "02-report.pdf"))
    for page in (1, 2):
        pdf.drawString(72, 720, f"Page {page} of the report says that the river rises.")
        pdf.showPage()
    pdf.save()
    book = openpyxl.Workbook()
    book.active.title = "Stocks"
    book.active["A1"] = "flour"
    book.active["B1"] = 40
    book.save(folder / "03-stocks.xlsx")
    mail = EmailMessage()
    mail["Subject"] = "Ferry"
    mail.set_content("The ferry runs from noon.")
    (folder / "04-mail.eml").write_bytes(bytes(mail))
    (folder / "05-notes.txt").write_text("Größe: 40\n")
    (folder / "movie.mp4").write_bytes(b"\x00")
    (folder / ".hidden.txt").write_text("no")
    (folder / "link.txt").symlink_to(folder / "05-notes.txt")
    return folder


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
    assert "1 tasks, 2 source files" in capsys.readouterr().out
    for model in ("oracle", "empty"):
        assert run_here(empty, "benchmark=reports", f"model={model}", "seeds=1") == 0
    rows = json.loads((empty / "results" / "reports" / "leaderboard.json").read_text())["rows"]
    assert {row["model"]: row["score"] for row in rows} == {"oracle": 1, "empty": 0}


def test_a_scenario_without_items_is_refused_with_what_to_do(empty, documents):
    new("mybench", Screen(), here=empty)
    new("mybench/flood", Screen(), here=empty, documents=documents)
    with pytest.raises(
        Problems, match=r"rubric.yaml: no item; .* Run staffbench rubric import mybench/flood FILE"
    ):
        run_here(empty, "benchmark=mybench", "model=empty", "seeds=1")


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
