"""The scenario varn_corridor holds together: documents, rubric, evidence, controls, labels, figures."""

import csv
import datetime as dt
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import openpyxl
import pytest
import yaml

from flows.readers import read_document
from flows.schema.scenario import Severity, Step, Tier

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data" / "ma_bench" / "varn_corridor"
KEYS = [
    *("item_id", "step", "tier", "severity", "requirement", "ground_truth"),
    *("pass_condition", "fail_condition", "source", "rationale"),
]


def squeeze(text):
    return re.sub(r"\s+", " ", text)


@pytest.fixture(scope="module")
def scenario():
    return yaml.safe_load((FOLDER / "scenario.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def items():
    return yaml.safe_load((FOLDER / "rubric.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def labels():
    with (FOLDER / "controls" / "labels.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def texts(scenario):
    return {name: squeeze(read_document(FOLDER / "documents" / name).text) for name in scenario["documents"]}


def sheet(workbook, name):
    book = openpyxl.load_workbook(FOLDER / "documents" / workbook, data_only=True)
    return list(book[name].iter_rows(values_only=True))


def test_committed_documents_match_their_sources():
    command = [sys.executable, str(ROOT / "data" / "build_documents.py"), "--check", str(FOLDER)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "varn_corridor: documents match their sources\n")


def test_twelve_documents_of_three_kinds(scenario):
    assert Counter(Path(name).suffix for name in scenario["documents"]) == {".docx": 6, ".pdf": 4, ".xlsx": 2}
    assert scenario["synthetic"] is True
    assert scenario["licence"] == "CC-BY-4.0"


def test_packet_is_as_long_as_it_should_be(texts):
    characters = sum(map(len, texts.values()))
    assert 90_000 < characters < 100_000


def test_rubric_is_well_formed_and_spread_over_steps_tiers_and_severities(items):
    assert len({item["item_id"] for item in items}) == len(items) == 95
    for item in items:
        assert list(item) == KEYS
        assert all(
            isinstance(item[key], str) and item[key].strip() for key in KEYS if key not in ("tier", "source")
        )
    steps = Counter(Step(item["step"]).value for item in items)
    tiers = Counter(Tier(item["tier"]).value for item in items)
    severities = Counter(Severity(item["severity"]).value for item in items)
    assert steps == {
        "higher_guidance": 7,
        "tasks": 12,
        "facts": 12,
        "assumptions": 5,
        "limitations": 11,
        "environment": 10,
        "centers_of_gravity": 5,
        "objectives": 5,
        "forces": 9,
        "risk": 9,
        "ccir": 6,
        "mission_statement": 4,
    }
    assert tiers == {1: 31, 2: 32, 3: 32}
    assert severities == {
        "critically_important": 36,
        "important": 41,
        "slightly_important": 6,
        "detrimental": 6,
        "critically_detrimental": 6,
    }


def test_every_quote_stands_in_its_document(items, texts):
    pairs = [(item["item_id"], place) for item in items for place in item["source"]]
    assert len(pairs) >= len(items)
    lost = [(name, p) for name, p in pairs if squeeze(p["quote"]) not in texts[p["document"]]]
    assert lost == []
    assert all(4 <= len(place["quote"].split()) <= 25 for _, place in pairs)


def test_labels_cover_every_item_once_and_keep_their_shares(items, labels):
    assert [row["item_id"] for row in labels] == [item["item_id"] for item in items]
    assert {row[name] for row in labels for name in ("strong", "weak")} == {"pass", "fail"}
    errors = {item["item_id"] for item in items if Severity(item["severity"]).is_error}
    passed = {
        name: sum(row[name] == "pass" for row in labels if row["item_id"] not in errors)
        for name in ("strong", "weak")
    }
    committed = {
        name: sum(row[name] == "fail" for row in labels if row["item_id"] in errors)
        for name in ("strong", "weak")
    }
    assert passed == {"strong": 74, "weak": 15}
    assert committed == {"strong": 0, "weak": 8}


def test_controls_keep_to_their_length():
    words = {
        name: len((FOLDER / "controls" / f"{name}.md").read_text().split()) for name in ("strong", "weak")
    }
    assert 2_400 <= words["strong"] <= 2_950
    assert 500 <= words["weak"] <= 900


def test_fuel_figures_are_what_the_rubric_says():
    fuel = {row[0]: row for row in sheet("07-logistics-status.xlsx", "Fuel") if row[0]}
    stock, rate, days = fuel["Total"][3], fuel["Consumption a day"][3], fuel["Days of supply"][3]
    assert (
        sum(row[3] for row in sheet("07-logistics-status.xlsx", "Fuel") if row[1] and row[1] != "Tank")
        == 1840
    )
    assert (stock, rate, round(days, 1)) == (1840, 96, 19.2)
    issued = [
        row[1] for row in sheet("07-logistics-status.xlsx", "Issues") if isinstance(row[0], dt.datetime)
    ]
    assert (sum(issued) / len(issued), issued[0], issued[-1]) == (128, 104, 145)
    assert round(1310 / 128, 1) == 10.2
    assert (stock - 1310 - 300, 15 * 96, 15 * 128) == (230, 1440, 1920)


def test_strength_lift_and_companies_are_what_the_rubric_says():
    units = [row for row in sheet("06-force-availability.xlsx", "Units") if isinstance(row[0], int)]
    assert sum(row[4] for row in units) == 3229
    assert sum(row[4] for row in units if row[3] != "Offered") == 2679
    assert sum(row[5] for row in units) == 1856
    duties = [row[1] for row in sheet("06-force-availability.xlsx", "Companies") if isinstance(row[1], int)]
    assert (sum(duties), 4 + 3) == (9, 7)
    assert (44 + 10 + 4, -(-58 // 6) * 2) == (58, 20)


def test_dates_are_what_the_rubric_says():
    def day(month, number):
        return dt.date(2031, month, number)

    assert day(9, 6) + dt.timedelta(days=21) == day(9, 27)
    assert day(9, 20) + dt.timedelta(days=42 // 6) == day(9, 27)
    assert day(10, 5) - dt.timedelta(days=10) == day(9, 25)
    assert day(9, 28) + dt.timedelta(days=12 + 2) == day(10, 12)
    assert day(10, 12) + dt.timedelta(days=9) == day(10, 21)
    assert day(10, 16) - dt.timedelta(days=21) == day(9, 25)
    assert day(9, 15) + dt.timedelta(days=180) == dt.date(2032, 3, 13)
