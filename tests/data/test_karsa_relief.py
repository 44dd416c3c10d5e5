"""What is special to karsa_relief, and the check of documents; rules for all: test_corpus.py."""

import csv
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import docx
import openpyxl
import pytest
import yaml

from flows.schema.scenario import Severity, Tier

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "ma_bench" / "karsa_relief"


def check(folder):
    command = [sys.executable, str(ROOT / "data" / "build_documents.py"), "--check", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def items():
    return yaml.safe_load((FOLDER / "rubric.yaml").read_text(encoding="utf-8"))


def test_check_names_each_document_that_differs_is_missing_or_has_no_source(tmp_path):
    copy = tmp_path / "karsa_relief"
    shutil.copytree(FOLDER, copy)
    with (copy / "documents" / "09-message-log.docx").open("ab") as file:
        file.write(b"x")
    (copy / "documents" / "04-port-survey.pdf").unlink()
    (copy / "documents" / "11-orphan.pdf").write_bytes(b"")
    done = check(copy)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "karsa_relief/documents/04-port-survey.pdf: missing",
        "karsa_relief/documents/09-message-log.docx: differs from its source",
        "karsa_relief/documents/11-orphan.pdf: has no source",
    ]


def test_a_faulty_source_is_named_and_nothing_is_said_to_match(tmp_path):
    copy = tmp_path / "karsa_relief"
    shutil.copytree(FOLDER, copy)
    source = copy / "sources" / "04-port-survey.pdf.md"
    source.write_text(source.read_text(encoding="utf-8") + "\nA mark without a note.[^9]\n", encoding="utf-8")
    done = check(copy)
    assert done.returncode == 1
    assert done.stdout == f"{source}: note marks ['9'] but notes []\n"


def test_documents_have_the_office_features_that_readers_must_cope_with():
    order = zipfile.ZipFile(FOLDER / "documents" / "01-planning-order.docx")
    assert "Central Medical Stores" in order.read("word/footnotes.xml").decode()
    assert order.read("word/document.xml").count(b"<w:footnoteReference ") == 2
    annex = docx.Document(FOLDER / "documents" / "07-legal-annex.docx")
    assert [comment.author for comment in annex.comments] == ["LEGAD"]
    rows = annex.tables[0].rows
    assert rows[3].cells[2]._tc is rows[4].cells[2]._tc  # merged
    workbook = FOLDER / "documents" / "05-force-list.xlsx"
    shown, written = openpyxl.load_workbook(workbook, data_only=True), openpyxl.load_workbook(workbook)
    assert (written["Assigned"]["E15"].value, shown["Assigned"]["E15"].value) == ("=SUM(E3:E14)", 1443)


def test_severities_have_the_shares_of_the_paper(items):
    counts = Counter(Severity(item["severity"]) for item in items)
    asked = {
        "critically_important": 0.385,
        "important": 0.426,
        "slightly_important": 0.064,
        "detrimental": 0.065,
        "critically_detrimental": 0.060,
    }
    assert {name: counts[name] / len(items) for name in asked} == pytest.approx(asked, abs=0.01)


def test_a_stated_truth_rests_on_one_document(items):
    stated = [item for item in items if item["tier"] == Tier.stated.value]
    assert [item["item_id"] for item in stated if len({one["document"] for one in item["source"]}) > 1] == []


def test_no_single_ship_or_dam_holds_a_tenth_of_the_points(items):
    points = {"critically_important": 9.0, "important": 5.5, "slightly_important": 2.0}
    total = sum(points.get(item["severity"], 0) for item in items)
    for subject in (r"Berth 2|Resolve Strand|second survey", r"saddle dam"):
        held = [item for item in items if re.search(subject, item["requirement"])]
        assert held
        assert sum(points.get(item["severity"], 0) for item in held) < 0.08 * total


def test_controls_were_labelled_as_the_readme_says(items):
    with (FOLDER / "controls" / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["item_id"] for row in rows] == [item["item_id"] for item in items]
    errors = {item["item_id"] for item in items if Severity(item["severity"]).is_error}
    briefs = ("strong", "middle", "weak")
    met = {name: sum(row[name] == "pass" for row in rows if row["item_id"] not in errors) for name in briefs}
    made = {name: sum(row[name] == "fail" for row in rows if row["item_id"] in errors) for name in briefs}
    assert met == {"strong": 75, "middle": 42, "weak": 13}
    assert made == {"strong": 0, "middle": 6, "weak": 5}


def test_each_edit_of_the_middle_brief_changes_its_label():
    folder = FOLDER / "controls"
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["item_id"]: row for row in csv.DictReader(file)}
    with (folder / "middle_edits.csv").open(encoding="utf-8", newline="") as file:
        edited = [row["item_id"] for row in csv.DictReader(file)]
    assert sorted(edited) == sorted(name for name, row in rows.items() if row["strong"] != row["middle"])
