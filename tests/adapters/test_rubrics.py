"""Rubrics in files of people and of other benchmarks: read back as written, faults named by cell."""

import json
import shutil
import subprocess
import time
from datetime import date
from pathlib import Path

import openpyxl
import pytest

from flows.adapters.rubrics import read_published, read_rows, write_rows
from flows.adapters.scenario_files import load_scenario
from flows.common.errors import ConfigError, Problems, ScenarioError
from flows.schema.rubric_row import read_item
from flows.schema.scenario import MA_BENCH, Evidence, Item

PROJECT = Path(__file__).parents[2]
DOCUMENTS = ("01-order.docx", "02: notes.txt")


def item(item_id="i1", **changes):
    fields = {
        "item_id": item_id,
        "step": "facts",
        "tier": 2,
        "severity": "important",
        "requirement": "States the strength: 40.",
        "ground_truth": "=40 soldiers, “all told”\nand no more",
        "pass_condition": "-1 is not it.",
        "fail_condition": "Anything else; or nothing.",
        "source": (Evidence("01-order.docx", "strength: 40"), Evidence("02: notes.txt", "forty, men")),
        "rationale": "Größe 大隊 \N{GRINNING FACE}.",
        "wrong_move": False,
    }
    return Item(**{**fields, **changes})


def back(path):
    found = [read_item(row.fields, DOCUMENTS, MA_BENCH) for row in read_rows(path, DOCUMENTS)]
    assert [faults for _, faults in found if faults] == []
    return [one for one, _ in found]


@pytest.mark.parametrize("suffix", ["xlsx", "csv", "json", "jsonl"])
def test_a_rubric_is_read_back_as_it_was_written(tmp_path, suffix):
    items = [item(), item("007", tier=1, severity="critically_detrimental", wrong_move=True)]
    path = tmp_path / f"rubric.{suffix}"
    write_rows(path, items, MA_BENCH, DOCUMENTS)
    assert back(path) == items


@pytest.mark.parametrize("scenario", ["karsa_relief", "varn_corridor"])
def test_the_shipped_rubrics_pass_through_a_workbook(tmp_path, scenario):
    loaded = load_scenario(PROJECT / "data" / "ma_bench" / scenario)
    path = tmp_path / "rubric.xlsx"
    write_rows(path, loaded.items, MA_BENCH, loaded.documents)
    for row, one in zip(read_rows(path, loaded.documents), loaded.items, strict=True):
        found, faults = read_item(row.fields, loaded.documents, MA_BENCH)
        assert faults == []
        assert found is not None
        assert [" ".join(e.quote.split()) for e in one.source] == [e.quote for e in found.source]
        assert (found.requirement, found.ground_truth) == (one.requirement, one.ground_truth)


@pytest.mark.skipif(shutil.which("soffice") is None, reason="needs LibreOffice")
@pytest.mark.parametrize("suffix", ["xlsx", "csv"])
def test_what_libreoffice_saves_reads_back_the_same(tmp_path, suffix):
    items = [item(), item("007")]
    write_rows(tmp_path / "rubric.xlsx", items, MA_BENCH, DOCUMENTS)
    out = tmp_path / "saved"
    command = ["soffice", "--headless", f"-env:UserInstallation=file://{tmp_path}/profile"]
    command += ["--convert-to", "csv:Text - txt - csv (StarCalc):59,34,76,1" if suffix == "csv" else "xlsx"]
    subprocess.run([*command, "--outdir", out, tmp_path / "rubric.xlsx"], check=True, capture_output=True)
    assert back(out / f"rubric.{suffix}") == items


def edited(tmp_path, **cells):
    path = tmp_path / "rubric.xlsx"
    write_rows(path, [item(), item("i2")], MA_BENCH, DOCUMENTS)
    book = openpyxl.load_workbook(path)
    for place, value in cells.items():
        book["Items"][place] = value
    book.save(path)
    return path


def test_a_fault_names_its_cell(tmp_path):
    path = edited(tmp_path, B3="weather", C2="many", F3=" ", J2="03-gone.pdf: quote")
    found = {}
    for row in read_rows(path, DOCUMENTS):
        for fault in read_item(row.fields, DOCUMENTS, MA_BENCH)[1]:
            found[row.where(fault.field)] = fault.found
    assert found == {
        "Items!B3": "'weather'",
        "Items!C2": "'many'",
        "Items!F3": "missing",
        "Items!J2": "document '03-gone.pdf'",
    }


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"L1": "colour"}, "Items!L1: 'colour'"),
        ({"B1": "item_id"}, "Items!B1: 'item_id'; expected each column once"),
        ({"A1": "name"}, "Items!A1: 'name'"),
        ({"C2": "=1+1"}, "Items!C2: tier: a formula without a stored value"),
        ({"A2": date(2031, 5, 3)}, "Items!A2: item_id: a date, 2031-05-03; expected a text"),
        ({"A2": "#REF!"}, "Items!A2: item_id: an error"),
    ],
)
def test_a_sheet_that_can_not_be_read_as_meant_is_refused_by_cell(tmp_path, cells, said):
    with pytest.raises(Problems, match=r"rubric\.xlsx") as caught:
        read_rows(edited(tmp_path, **cells), DOCUMENTS)
    assert said in str(caught.value)


def test_what_spreadsheets_do_to_values_is_undone(tmp_path):
    path = edited(tmp_path, A2=7, C2="2", C3=2.0, E2=None, D1="Severity ", B1="STEP")
    first, second = back(path)
    assert (first.item_id, first.tier, second.tier) == ("7", 2, 2)


def test_a_workbook_offers_the_classes_and_explains_the_columns(tmp_path):
    path = edited(tmp_path)
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Items", "Lists", "Columns"]
    offered = {
        str(one.sqref).split(":")[0]: one.formula1 for one in book["Items"].data_validations.dataValidation
    }
    assert offered == {"B2": "Lists!$A$2:$A$13", "C2": "Lists!$B$2:$B$4", "D2": "Lists!$C$2:$C$6"}
    assert [cell.value for cell in book["Lists"]["A"]][1:] == list(MA_BENCH.steps)
    assert book["Items"]["G2"].data_type == "s"  # a text that begins like a formula
    explained = {row[0].value: row[1].value for row in book["Columns"].iter_rows(min_row=2)}
    assert "1 stated fact; 2 synthesis; 3 inferred judgment" in explained["tier"]


@pytest.mark.parametrize(
    ("text", "said"),
    [("a\x07b", "i1: rationale has control characters"), ("x" * 40_000, "40,000 characters")],
)
def test_a_text_that_no_cell_holds_is_named(tmp_path, text, said):
    with pytest.raises(ScenarioError, match=said):
        write_rows(tmp_path / "rubric.xlsx", [item(rationale=text)], MA_BENCH, DOCUMENTS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_of_other_programs_is_read(tmp_path, delimiter):
    path = tmp_path / "rubric.csv"
    names = ["requirement", "item_id", "points"]
    row = (
        ['"Gr\u00f6\u00dfe, in m"', "a1", "\u22122.5"]
        if delimiter != ","
        else ['"Gr\u00f6\u00dfe"', "a1", "\u22122.5"]
    )
    path.write_bytes("\r\n".join(delimiter.join(cells) for cells in (names, row)).encode("utf-8"))
    (found,) = read_rows(path, ())
    assert found.fields["points"] == -2.5
    assert found.fields["requirement"].startswith("Größe")
    assert found.where("points") == "row 2, column 3"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("r.xlsx", b"no zip", "no Excel workbook"),
        ("r.csv", b'item_id,requirement\n"a', "not CSV"),
        ("r.json", b"{", "not JSON"),
        ("r.jsonl", b'{"item_id": "a"}\n{', "line 2: not JSON"),
        ("r.json", b"[1]", "item 1 is a int"),
        ("r.ods", b"", "expected one of .xlsx"),
        ("r.csv", b"a,b\n1,2\n", "'a'"),
        ("r.csv", b"a,b\n1,2\n", "no columns item_id and requirement"),
        ("r.csv", b"item_id,requirment\n1,2\n", "r.csv: no column requirement; expected a first row"),
    ],
)
def test_a_file_that_is_no_rubric_is_refused(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises((ConfigError, ScenarioError, Problems)) as caught:
        read_rows(path, ())
    assert said in str(caught.value)


def test_two_thousand_items_pass_in_seconds(tmp_path):
    path = tmp_path / "rubric.xlsx"
    items = [item(f"i{number}") for number in range(2000)]
    before = time.process_time()
    write_rows(path, items, MA_BENCH, DOCUMENTS)
    assert back(path) == items
    assert time.process_time() - before < 60  # a few seconds; a guard against quadratic work alone


HEALTHBENCH = {
    "prompt_id": "p-1",
    "prompt": [{"role": "user", "content": "What should I do about a fever?"}],
    "rubrics": [
        {
            "criterion": "Asks how high the fever is.",
            "points": 5,
            "tags": ["level:example", "axis:context_awareness"],
        },
        {"criterion": "Recommends antibiotics at once.", "points": -8, "tags": ["axis:accuracy"]},
    ],
}
PRBENCH = {
    "task": "t-1",
    "rubric": [
        {
            "id": "r1",
            "title": "States the filing deadline.",
            "annotations": {
                "criteria_category": "Legal Accuracy",
                "criteria_description": "The deadline decides the case.",
                "weight_class": "critically important",
                "critically_important_weight": 9,
            },
        },
        {
            "id": "r2",
            "title": "Cites a repealed statute.",
            "annotations": {
                "criteria_category": "Legal Accuracy",
                "weight_class": "slightly detrimental",
                "slightly_detrimental_weight": 2,
            },
        },
    ],
}
MISSION_REPORT = [
    {
        "criterion_id": "c1",
        "points": 3,
        "polarity": "positive",
        "criterion": "The report names the unit.",
        "source": "prompt",
        "justification": "The reader asks for it.",
    },
    {"criterion_id": "c2", "points": -2, "polarity": "negative", "criterion": "The report invents a loss."},
]


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (HEALTHBENCH, "healthbench", [("c001", 5, "context_awareness"), ("c002", -8, "accuracy")]),
        (PRBENCH, "prbench", [("r1", 9, "legal_accuracy"), ("r2", -2, "legal_accuracy")]),
        (MISSION_REPORT, "mission_report", [("c1", 3, None), ("c2", -2, None)]),
        ({"rubric": json.dumps(MISSION_REPORT)}, "mission_report", [("c1", 3, None), ("c2", -2, None)]),
    ],
)
def test_published_rubrics_are_read(tmp_path, value, form, expected):
    path = tmp_path / "published.json"
    path.write_text(json.dumps(value))
    found = read_published(path, None)
    assert found is not None
    assert found.form == form
    rows = [(row.fields["item_id"], row.fields["points"], row.fields.get("step")) for row in found.rows]
    assert rows == expected


def test_one_example_of_many_is_asked_for_by_name_or_number(tmp_path):
    path = tmp_path / "published.jsonl"
    path.write_text("".join(json.dumps({**HEALTHBENCH, "prompt_id": name}) + "\n" for name in ("a", "b")))
    with pytest.raises(ConfigError, match=r"2 examples .*one of a, b"):
        read_published(path, None)
    for name in ("b", "2"):
        found = read_published(path, name)
        assert found is not None
        assert found.example == "b"
    with pytest.raises(ConfigError, match="'c'"):
        read_published(path, "c")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"criterion": "", "points": 1}, "criterion 1 has no text"),
        ({"criterion": "x", "points": 0}, "criterion 1 has 0 points"),
        ({"criterion": "x", "points": float("nan")}, "nan points"),
        ("x", "criterion 1 is a str"),
    ],
)
def test_a_published_criterion_without_text_or_points_is_refused(tmp_path, row, said):
    path = tmp_path / "published.json"
    path.write_text(json.dumps({**HEALTHBENCH, "rubrics": [row]}))
    with pytest.raises(ScenarioError, match=said):
        read_published(path, None)


def test_a_rubric_of_ours_is_not_taken_for_a_published_one(tmp_path):
    path = tmp_path / "rubric.json"
    write_rows(path, [item()], MA_BENCH, DOCUMENTS)
    assert read_published(path, None) is None
