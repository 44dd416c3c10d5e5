"""The task sb-psr-02: tree, evidence, form, and figures from the sources."""

import datetime as dt
import re

import docx
import pytest
from docx.enum.section import WD_ORIENT

from tests.support.report_tasks import (
    W,
    attachment,
    golden,
    lines,
    sheet_rows,
    text,
)

TASK = "sb-psr-02"
FORM = "01-quad-chart-form.docx"


def test_chart_is_a_landscape_page_with_a_legend_of_thresholds():
    form = docx.Document(str(attachment(TASK, FORM)))
    section = form.sections[0]
    assert section.orientation == WD_ORIENT.LANDSCAPE
    assert section.page_width > section.page_height
    assert {p.text for p in (section.header.paragraphs[0], section.footer.paragraphs[-1])} == {
        "UNCLASSIFIED // EXERCISE"
    }
    legend = [[cell.text for cell in row.cells] for row in form.tables[-1].rows]
    assert legend[0] == ["LEGEND", "Measured as", "GREEN", "YELLOW", "RED"]
    assert [row[0] for row in legend[1:]] == ["Cost", "Schedule", "Quality", "Outages", "Spares"]
    fills = [cell._tc.find(f"{W}tcPr/{W}shd").get(f"{W}fill") for cell in form.tables[-1].rows[0].cells]
    assert fills == ["E7E6E6", "E7E6E6", "C6E0B4", "FFE699", "F4B0A8"]


def test_cost_follows_from_piers_and_the_change_with_merit():
    cost = {row[0]: row[1:] for row in sheet_rows(TASK, "03-cost-and-spares.xlsx", "Cost")}
    reserve = cost.pop("Management reserve")[0]
    budget, actual, to_complete, july = (sum(row[at] for row in cost.values()) for at in range(4))
    assert (budget, actual, to_complete, july, reserve) == (46_000, 31_200, 15_900, 47_300, 2_000)
    changes = {row[0]: row[2:4] for row in sheet_rows(TASK, "03-cost-and-spares.xlsx", "Changes")}
    letter = text(attachment(TASK, "08-contracting-officer.eml"))
    assert [name for name in changes if re.search(rf"{name}, [^:]*: finding of merit", letter)] == ["CR-11"]
    estimate = actual + to_complete + changes["CR-11"][1]
    assert (estimate, round(100 * (estimate / budget - 1), 1)) == (48_500, 5.4)
    assert round(100 * ((estimate + 350) / budget - 1), 1) == 6.2
    assert (estimate - budget - reserve, estimate + 350 - budget - reserve) == (500, 850)
    asked = changes["CR-11"][0] - changes["CR-11"][1]
    assert (asked, 100 * ((estimate + asked) / budget - 1) <= 10) == (900, True)  # the second risk
    assert round(100 * (july / budget - 1), 1) == 2.8  # GREEN in July as well, so WORSE now
    report = text(golden(TASK))
    assert "$48.5 million of $46.0 million, 5.4 percent over | YELLOW | WORSE" in report
    assert "the reserve is then $0.85 million short" in report


def test_days_late_follow_from_baseline_and_berth():
    plan = sheet_rows(TASK, "04-schedule-october.xlsx", "Acceptance")
    late = {pier: (now - base).days for pier, base, _, now, _ in plan}
    forecast = next(now for pier, _, _, now, _ in plan if pier == "Pier 9").date()
    baseline = dt.date(2032, 6, 30)
    moved = forecast + (dt.date(2032, 4, 19) - dt.date(2032, 4, 5))
    assert late == {"Pier 3": 12, "Pier 5": 39, "Pier 7": 27, "Pier 9": 51}
    assert (moved, (moved - baseline).days) == (dt.date(2032, 9, 3), 65)
    shift = dt.timedelta(10)
    alone, together = (moved - shift - baseline).days, (forecast - shift - baseline).days
    assert (alone, together, forecast - shift) == (55, 41, dt.date(2032, 8, 10))
    assert late["Pier 9"] > 45 < alone
    assert together <= 45
    assert (dt.date(2032, 8, 14) - baseline).days == 45  # July's forecast, YELLOW by the baseline
    notice = dt.date(2032, 4, 5) - dt.timedelta(120)
    assert (f"{notice:%A}", notice - dt.timedelta(2)) == ("Sunday", dt.date(2031, 12, 5))
    report = text(golden(TASK))
    assert "65, RED" in report
    assert "By Friday, 5 December 2031" in report
    assert "10 August 2032, 41 days late, YELLOW" in report


def test_first_attempts_that_count():
    tests = lines(TASK, "05-full-load-tests.csv")
    first, naive, final = {}, {}, {}
    for row in sorted(tests, key=lambda row: int(row["attempt"])):
        station = row["station"]
        if row["witnessed_by_government"] == "yes" and row["result"] in ("pass", "fail"):
            first.setdefault(station, row["result"])
        naive.setdefault(station, row["result"])
        final[station] = row["result"]
    counts = [list(results.values()).count("pass") for results in (first, naive, final)]
    assert (len(first), counts) == (40, [35, 33, 40])
    assert "35 of 40 stations, 87.5 percent | YELLOW | STEADY" in text(golden(TASK))


def test_outage_record_covers_too_little_of_the_quarter():
    covered = (dt.date(2031, 10, 5) - dt.date(2031, 7, 31)).days
    whole = (dt.date(2031, 10, 31) - dt.date(2031, 7, 31)).days
    assert (covered, whole, covered / whole < 0.8) == (66, 92, True)
    assert max(row["date"] for row in lines(TASK, "11-outage-log.csv")) == "2031-10-03"
    spares = sheet_rows(TASK, "03-cost-and-spares.xlsx", "Spares")
    assert (sum(row[1] for row in spares), sum(row[2] for row in spares)) == (42, 41)
    report = text(golden(TASK))
    assert "Record covers 66 of 92 days; figure known after 21 November | NOT RATED | NONE" in report
    assert "41 of 42 lines, 98 percent | GREEN | IMPROVED" in report


@pytest.mark.parametrize(
    ("where", "trap"),
    [
        ("06-contractor-monthly.pdf", "40 OF 40"),
        ("08-contracting-officer.eml", "CR-11"),
        ("10-port-operations.eml", "MERIDIAN BAY"),
        ("06-contractor-monthly.pdf", "FLASH"),
        ("04-schedule-october.xlsx", "Plan B"),
    ],
)
def test_each_trap_lies_in_a_source_and_not_in_the_report(where, trap):
    assert trap in text(attachment(TASK, where))
    assert trap.lower() not in text(golden(TASK)).lower()
