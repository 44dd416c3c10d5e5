"""The scenario karsa_relief holds together: documents, rubric, evidence, controls, labels."""

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

from flows.readers import read_document
from flows.schema.scenario import Severity, Step, Tier

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "ma_bench" / "karsa_relief"
KEYS = [
    *("item_id", "step", "tier", "severity", "requirement", "ground_truth"),
    *("pass_condition", "fail_condition", "source", "rationale"),
]


def squeeze(text):
    return re.sub(r"\s+", " ", text)


def check(folder):
    command = [sys.executable, str(ROOT / "data" / "build_documents.py"), "--check", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def scenario():
    return yaml.safe_load((FOLDER / "scenario.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def items():
    return yaml.safe_load((FOLDER / "rubric.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def texts(scenario):
    return {name: squeeze(read_document(FOLDER / "documents" / name).text) for name in scenario["documents"]}


def test_committed_documents_match_their_sources():
    done = check(FOLDER)
    assert (done.returncode, done.stdout) == (0, "karsa_relief: documents match their sources\n")


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


def test_scenario_names_its_folder_and_ten_documents(scenario):
    assert scenario["scenario_id"] == FOLDER.name
    assert scenario["synthetic"] is True
    assert scenario["licence"] == "CC-BY-4.0"
    kinds = Counter(Path(name).suffix for name in scenario["documents"])
    assert kinds == {".docx": 5, ".pdf": 3, ".xlsx": 2}


def test_packet_is_forty_thousand_characters(texts):
    assert 38_000 <= sum(map(len, texts.values())) <= 44_000


def test_items_have_their_keys_in_order_and_valid_classes(items):
    assert all(list(item) == KEYS for item in items)
    assert len({item["item_id"] for item in items}) == len(items) == 88
    steps = Counter(Step(item["step"]) for item in items)
    assert set(steps) == set(Step)
    assert min(steps.values()) == 5
    assert Counter(Tier(item["tier"]) for item in items) == {1: 30, 2: 30, 3: 28}
    assert Counter(Severity(item["severity"]) for item in items) == {
        "critically_important": 33,
        "important": 38,
        "slightly_important": 6,
        "detrimental": 6,
        "critically_detrimental": 5,
    }


def test_every_quote_stands_in_its_document(items, texts):
    lost = [
        (item["item_id"], evidence["document"], evidence["quote"])
        for item in items
        for evidence in item["source"]
        if squeeze(evidence["quote"]) not in texts[evidence["document"]]
    ]
    assert lost == []


def test_labels_cover_every_item_and_the_controls_lie_far_apart(items):
    with (FOLDER / "controls" / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["item_id"] for row in rows] == [item["item_id"] for item in items]
    assert {row[name] for row in rows for name in ("strong", "weak")} == {"pass", "fail"}
    errors = {item["item_id"] for item in items if Severity(item["severity"]).is_error}
    passed = {
        name: sum(row[name] == "pass" for row in rows if row["item_id"] not in errors)
        for name in ("strong", "weak")
    }
    wrong = {
        name: sum(row[name] == "fail" for row in rows if row["item_id"] in errors)
        for name in ("strong", "weak")
    }
    assert passed == {"strong": 68, "weak": 14}
    assert wrong == {"strong": 0, "weak": 7}


def test_controls_have_the_length_of_real_briefs():
    words = {
        name: len((FOLDER / "controls" / f"{name}.md").read_text(encoding="utf-8").split())
        for name in ("strong", "weak")
    }
    assert 2_400 <= words["strong"] <= 2_950
    assert 500 <= words["weak"] <= 900
