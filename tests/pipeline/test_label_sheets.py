"""`staffbench agreement sheet`, and what experts send back."""

import shutil

import pytest
from openpyxl import load_workbook

from flows.adapters.screen import Screen
from flows.common.errors import ConfigError
from flows.pipeline.commands.agreement import agreement
from tests.pipeline.test_paper import rows
from tests.support.plain_flow import run_here, without_prefect
from tests.support.report_bench import a_report, expert, project_here


@pytest.fixture
def graded(bench, project, monkeypatch):
    without_prefect(monkeypatch)
    shutil.copytree(project / "data" / "judge_pairs", bench.folder / "data" / "judge_pairs")
    for model in ("strong", "weak"):
        assert run_here(bench.folder, f"model={model}", "seeds=2") == 0
    return bench


def drawn(bench, *more, folder="labels", raters="ann,ben"):
    return bench("agreement", "sheet", folder, "--raters", raters, "--briefs", "2", "--shared", "2", *more)


def fill(path, label):
    """Label every row by a function of kind and item, as a rater would."""
    book = load_workbook(path)
    page = book["Labels"]
    at = {cell.value: cell.column for cell in page[1]}
    for row in range(2, page.max_row + 1):
        kind, item = (page.cell(row, at[name]).value for name in ("kind", "item"))
        page.cell(row, at["label"]).value = label(kind, item)
    book.save(path)


def right(kind, item):
    return "not made" if kind == "wrong move" else "pass"


def test_sheets_go_out_blinded_and_what_comes_back_calibrates_the_judge(graded):
    done = drawn(graded)
    assert done.code == 0, done.err
    assert "Written: labels/ann.xlsx, labels/ben.xlsx" in done.out
    assert done.out.endswith("When they come back: staffbench agreement labels\n")
    (graded.folder / "elsewhere").symlink_to(graded.folder / "results")
    done = drawn(graded, "results=elsewhere", folder="my labels")
    assert done.out.endswith("When they come back: staffbench agreement 'my labels' results=elsewhere\n")
    folder = graded.folder / "labels"
    for path in folder.iterdir():
        words = {
            str(cell.value)
            for page in load_workbook(path)
            for row in page.iter_rows()
            for cell in row
            if cell.value
        }
        assert not any("default" in word or "offline" in word for word in words)
    fill(folder / "ann.xlsx", right)
    fill(folder / "ben.xlsx", lambda kind, item: "made" if kind == "wrong move" else "pass")
    done = graded("agreement", "labels")
    assert done.code == 0, done.err
    assert "offline against labels of ann" in done.out
    assert "May a judge stand in for an expert?" in done.out
    assert "Judges' errors by severity" in done.out
    # The same files make the paper's tables.
    done = graded("report", "--tables", "paper", "--labels", "labels")
    assert done.code == 0, done.err
    table = rows(graded.folder / "paper" / "table-02-experts.csv")
    assert [row["who"] for row in table] == ["panel of 2", "offline"]
    assert rows(graded.folder / "paper" / "corrected-scores.csv")[0]["why"]


def test_a_sheet_that_may_be_filled_in_is_not_written_over(graded):
    assert drawn(graded).code == 0
    before = (graded.folder / "labels" / "ann.xlsx").read_bytes()
    again = drawn(graded, raters="cem,ann")
    assert again.code == 2
    assert "labels/ann.xlsx: already there, and maybe filled in" in " ".join(again.err.split())
    assert (graded.folder / "labels" / "ann.xlsx").read_bytes() == before
    assert not (graded.folder / "labels" / "cem.xlsx").exists()


def test_labels_of_a_brief_that_was_written_again_are_named_by_their_cells(graded):
    assert drawn(graded).code == 0
    fill(graded.folder / "labels" / "ann.xlsx", right)
    for path in (graded.results / "ma_bench").rglob("strong-default-3000-v0*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert run_here(graded.folder, "model=strong", "seeds=2", "word_cap=250", "word_cap.words=3") == 0
    done = graded("agreement", "labels/ann.xlsx")
    assert done.code == 1
    assert "ann.xlsx, Labels!" in done.err
    assert "expected that of a stored brief" in " ".join(done.err.split())


REFUSED = [
    (["sheet"], {}, "0 folders; expected the folder to write"),
    (["sheet", "labels"], {}, "--raters: ''; expected different names"),
    (["sheet", "labels"], {"raters": "ann,ann"}, "--raters: 'ann,ann'"),
    (["sheet", "labels"], {"raters": "../ann"}, "--raters: '../ann'"),
    (["sheet", "labels"], {"raters": "ann", "briefs": 0}, "--briefs: 0; expected a number from 1"),
    (["sheet", "labels"], {"raters": "ann", "briefs": 2, "shared": 3}, "--shared: 3; expected a number"),
    (["sheet", "labels"], {"raters": "ann", "briefs": 50}, "50 different briefs for 1 rater, of 4"),
    (["sheet", "a_file"], {"raters": "ann", "briefs": 2}, "a_file: can't be written"),
    ([], {"raters": "ann"}, "no sheet to draw"),
    (["none.csv"], {}, "none.csv: no such file"),
    (["folder"], {}, "folder: no labels in this folder"),
]


def test_what_can_not_be_done_is_said(graded):
    (graded.folder / "folder").mkdir()
    (graded.folder / "a_file").write_text("")
    for words, wanted, said in REFUSED:
        named = [str(graded.folder / word) if word != "sheet" else word for word in words]
        with pytest.raises(ConfigError) as error:
            agreement(graded.folder, named, Screen(), **wanted)
        assert said in str(error.value)


def test_criteria_of_reports_are_labelled_beside_the_experts(tmp_path, project, monkeypatch):
    here = project_here(tmp_path, project / "conf", monkeypatch)
    mine = ["benchmark=mission_report", "benchmark.scenarios=[memo-01]"]
    folder = here.folder / "mine" / "memo-01"
    folder.mkdir(parents=True)
    for number, text in enumerate(("Route Amber is closed until 21 May.", "Nothing is known."), 1):
        (folder / f"{number}.docx").write_bytes(a_report(text))
    files = ["model=files", "model.folder=mine", "seeds=2", "judge=offline", "tracking=none"]
    assert run_here(here.folder, *mine, *files) == 0
    done = here("agreement", "sheet", "labels", *mine, "--raters", "ann", "--briefs", "2", "--shared", "2")
    assert done.code == 0, done.err
    path = here.folder / "labels" / "ann.xlsx"
    book = load_workbook(path)
    assert expert("memo-01") in {cell.value for (cell,) in book["Expert 1"].iter_rows(max_col=1)}
    assert book["Labels"].max_row == 1 + 2 * 4
    fill(path, right)
    done = here("agreement", "labels", *mine)
    assert done.code == 0, done.err
    assert "offline against labels of ann" in done.out
