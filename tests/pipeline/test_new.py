"""staffbench new: from an empty folder and a folder of documents to a benchmark that runs."""

import json
import shutil
import subprocess
from email.message import EmailMessage

import docx
import openpyxl
import pytest
import yaml
from dvc.repo import Repo
from reportlab.pdfgen.canvas import Canvas

from flows.adapters.config.compose import compose_points
from flows.adapters.config.described import shipped
from flows.adapters.config.every_option import check_options
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, Problems
from flows.pipeline.commands import validate as module
from flows.pipeline.commands.own import new as new_module
from flows.pipeline.commands.own.new import new
from flows.pipeline.commands.own.rubric import export_rubric, import_rubric
from flows.pipeline.commands.own.track import track
from flows.pipeline.commands.report import report
from flows.pipeline.commands.run import run
from flows.pipeline.commands.validate import validate
from flows.pipeline.evaluate import run as evaluate_run
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
    assert "Not read: " in out.err  # the writer of a report opens the files itself
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
    assert export_rubric(empty, ["benchmark=reports"], "flood", empty / "out.csv", Screen()) == 0
    assert import_rubric(empty, ["benchmark=reports"], "flood", empty / "out.csv", Screen()) == 0
    again = json.loads((task / "tests" / "fixtures" / "rubric.json").read_text())["criteria"]
    assert again == criteria
    assert run_here(empty, "benchmark=reports", "model=oracle", "seeds=1", "tracking=none") == 0
    (row,) = json.loads((empty / "results" / "reports" / "leaderboard.json").read_text())["rows"]
    assert row["score"] == 1


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


def test_a_run_names_what_is_still_to_be_written(empty, documents, capsys, monkeypatch):
    monkeypatch.setattr(evaluate_run, "run_points", lambda *_, **__: 0)  # what follows the note
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
