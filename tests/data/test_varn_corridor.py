"""What is special to varn_corridor: its counts, its labels by brief, its figures."""

import csv
import datetime as dt
from collections import Counter
from pathlib import Path

import openpyxl
import yaml

from flows.schema.scenario import Severity, Step, Tier

FOLDER = Path(__file__).parents[2] / "data" / "ma_bench" / "varn_corridor"


def sheet(workbook, name):
    book = openpyxl.load_workbook(FOLDER / "documents" / workbook, data_only=True)
    return list(book[name].iter_rows(values_only=True))


def test_items_labels_and_edits_are_as_the_readme_counts_them():
    items = yaml.safe_load((FOLDER / "rubric.yaml").read_text(encoding="utf-8"))
    steps = Counter(Step(item["step"]).value for item in items)
    tiers = Counter(Tier(item["tier"]).value for item in items)
    severities = Counter(Severity(item["severity"]).value for item in items)
    assert min(steps.values()) == 6
    assert tiers == {1: 34, 2: 34, 3: 32}
    assert severities == {
        "critically_important": 38,
        "important": 44,
        "slightly_important": 6,
        "detrimental": 6,
        "critically_detrimental": 6,
    }
    with (FOLDER / "controls" / "labels.csv").open(encoding="utf-8", newline="") as file:
        labels = {row["item_id"]: row for row in csv.DictReader(file)}
    with (FOLDER / "controls" / "middle_edits.csv").open(encoding="utf-8", newline="") as file:
        edits = [row["item_id"] for row in csv.DictReader(file)]
    errors = {item["item_id"] for item in items if Severity(item["severity"]).is_error}
    counts = {
        brief: (
            sum(row[brief] == "pass" for name, row in labels.items() if name not in errors),
            sum(labels[name][brief] == "fail" for name in errors),
        )
        for brief in ("strong", "middle", "weak")
    }
    assert counts == {"strong": (79, 0), "middle": (48, 4), "weak": (16, 6)}
    assert len(edits) == 35
    assert {(labels[name]["strong"], labels[name]["middle"]) for name in edits} == {("pass", "fail")}


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
    assert day(10, 7) + dt.timedelta(days=-(-187 // 40)) == day(10, 12)
    assert day(9, 15) + dt.timedelta(days=180) == dt.date(2032, 3, 13)
