"""Workbooks that experts fill in: what is in them, what comes back, and what is wrong with it."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from openpyxl import load_workbook

from flows.adapters.labels import SheetBrief, read_labels, write_sheet
from flows.common.errors import StaffbenchError
from flows.schema.scenario import Evidence, Item, Scenario

HOSTILE = '=HYPERLINK("x")\n\n<b>bold</b> & "quotes" \x07\n+1 -2 @3\n' + "long " * 9000 + "\nüñïçødé 東京"


def item(name, severity="important"):
    texts = dict.fromkeys(("ground_truth", "pass_condition", "fail_condition"), "=1+1")
    return Item(
        name, "facts", 1, severity, "=cmd|' /C calc'!A0", source=(Evidence("a", "b"),), rationale="r", **texts
    )


ITEMS = (item("A"), item("B"), item("W", "detrimental"))
SCENARIO = Scenario("port", "The port", "a", (), ITEMS, {}, synthetic=True, licence="CC-BY-4.0")
BRIEF = SheetBrief("secret-model-medium", "port", 2, {one.item_id: one for one in ITEMS})
KNOWN = {"c0ffee": BRIEF, "decade": replace(BRIEF, seed=3)}


def briefs(sample):
    assert sample == "ma_bench 1"
    return KNOWN


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "ann.xlsx"
    parts = [("c0ffee", HOSTILE, ITEMS), ("decade", "Short.", ITEMS[1:])]
    write_sheet(path, "ann", "ma_bench 1", parts, dict.fromkeys(KNOWN, SCENARIO))
    return path


def fill(path, labels, column="label"):
    """Write labels by row number; other columns to break them."""
    book = load_workbook(path)
    page = book["Labels"]
    at = next(cell.column for cell in page[1] if str(cell.value).startswith(column))
    for row, value in labels.items():
        page.cell(row, at).value = value
    book.save(path)
    return path


ALL = {2: "pass", 3: "Fail ", 4: "not made", 5: None, 6: "made"}
READ = [(2, "A", True), (2, "B", False), (2, "W", True), (3, "W", False)]


def told(labels):
    return [(label.seed, label.item_id, label.passed) for label in labels]


def test_what_is_filled_in_is_read_with_its_cell(sheet):
    labels = read_labels([fill(sheet, ALL)], briefs)
    assert told(labels) == READ
    assert {(label.rater, label.condition, label.scenario_id) for label in labels} == {
        ("ann", "secret-model-medium", "port")
    }
    assert labels[1].where == "ann.xlsx, Labels!H3"


def test_a_sheet_shows_no_model_and_no_formula_and_all_of_the_text(sheet):
    book = load_workbook(sheet)
    cells = [cell for page in book for row in page.iter_rows() for cell in row if cell.value is not None]
    assert all(cell.data_type != "f" for cell in cells)
    assert not any("secret" in str(cell.value) for cell in cells)
    text = "\n".join(str(cell.value) for cell in book["Brief 1"]["A"][2:] if cell.value)
    assert text.split() == HOSTILE.replace("\x07", " ").split()
    assert max(len(str(cell.value)) for cell in cells) < 32_767
    assert book["Labels"]["A2"].hyperlink.location or book["Labels"]["A2"].hyperlink.target
    offered = {
        one.formula1: {*map(str, one.sqref.ranges)} for one in book["Labels"].data_validations.dataValidation
    }
    assert set(offered) == {'"pass,fail"', '"not made,made"'}


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_a_sheet_that_libreoffice_saved_reads_the_same(sheet, tmp_path):
    fill(sheet, ALL)
    profile = f"-env:UserInstallation=file://{tmp_path}/profile"

    def convert(path, form, folder):
        command = [
            "soffice",
            "--headless",
            profile,
            "--convert-to",
            form,
            "--outdir",
            tmp_path / folder,
            path,
        ]
        subprocess.run(command, capture_output=True, timeout=300, check=True)

    convert(sheet, "xlsx", "xlsx")
    convert(sheet, "ods", "ods")  # loses more on the way
    convert(tmp_path / "ods" / "ann.ods", "xlsx", "back")
    for folder in ("xlsx", "back"):
        assert told(read_labels([tmp_path / folder / "ann.xlsx"], briefs)) == READ


def faults(paths):
    with pytest.raises(StaffbenchError) as error:
        read_labels(paths, briefs)
    return str(error.value)


def test_everything_that_is_wrong_is_named_by_its_cell(sheet):
    fill(sheet, {2: "maybe", 3: "made", 4: "pass", 5: 1, 6: "made"})
    text = faults([sheet])
    assert "ann.xlsx, Labels!H2: label 'maybe'; expected pass or fail, or nothing" in text
    assert "Labels!H3: label 'made'; expected pass or fail" in text  # a requirement
    assert "Labels!H4: label 'pass'; expected not made or made" in text  # a wrong move
    assert "Labels!H5: label '1'" in text
    assert text.count("Labels!") == 4


def test_a_changed_code_a_row_twice_and_a_part_that_was_sorted_are_named(sheet):
    fill(sheet, ALL)
    fill(sheet, {2: "beef A", 5: "c0ffee B", 6: None}, "code")
    fill(sheet, {4: "A"}, "item")
    text = faults([sheet])
    assert "Labels!J2: code 'beef A'; expected that of a stored brief" in text
    assert (
        "Labels!C4: item 'A' beside the code of W" in text
        or "Labels!B4: item 'A' beside the code of W" in text
    )
    assert "Labels!J5: the row of B in Brief 2 again; expected once; row 3 is the first" in text
    assert "Labels!J6: code ''" in text


def test_a_column_that_was_sorted_alone_is_one_fault(sheet):
    fill(sheet, ALL)
    fill(sheet, dict.fromkeys(range(2, 7), "Z"), "item")
    (line,) = faults([sheet]).splitlines()
    assert re.search(
        r"ann\.xlsx, Labels: 5 rows whose item is not that of their code; the first is .*2;", line
    )


def test_rows_that_were_deleted_are_missed(sheet):
    book = load_workbook(fill(sheet, ALL))
    book["Labels"].delete_rows(3, 2)
    book.save(sheet)
    assert "ann.xlsx, Labels: 3 different rows; expected the 5 that were written" in faults([sheet])


def test_two_files_of_one_rater_may_not_differ_and_a_folder_is_read(sheet, tmp_path):
    folder = tmp_path / "back"
    folder.mkdir()
    fill(sheet, ALL)
    shutil.copy(sheet, folder / "ann.xlsx")
    (folder / ".~lock.ann.xlsx#").write_text("")
    assert told(read_labels([folder], briefs)) == READ
    shutil.copy(fill(sheet, {2: "fail"}), folder / "ann again.xlsx")
    text = faults([folder])
    assert (
        "ann.xlsx, Labels!H2: another label than before by ann; expected one; the first is ann again.xlsx"
        in text
    )
    assert "ann.xlsx, Labels!H3: a second label by ann" in text


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:2000]), "no Excel workbook"),
        (lambda path: path.write_text("a,b"), "no Excel workbook"),
        (lambda path: sheets(path, lambda book: book.remove(book["Read me"])), "no sheet of labels"),
        (lambda path: sheets(path, lambda book: book["Labels"].delete_cols(9)), "no label"),
        (lambda path: sheets(path, lambda book: book["Read me"].delete_rows(1)), "no rater"),
        (lambda path: sheets(path, lambda book: put(book, "many")), "no number of rows"),
        (lambda path: None, "no label; expected one or more rows with a label"),
    ],
)
def test_what_is_no_sheet_is_said(sheet, spoil, said):
    spoil(sheet)
    assert said in faults([sheet])


def sheets(path, change):
    book = load_workbook(path)
    change(book)
    book.save(path)


def put(book, value):
    book["Read me"]["B3"].value = value
