"""The tasks sb-sit-01, sb-par-01 and sb-ins-01: trees, evidence, forms, and figures from the sources."""

import datetime as dt
import math
import statistics

import docx
import pytest

from flows.adapters.pages import find_converter
from tests.support.rendered import render_all
from tests.support.report_tasks import (
    W,
    assert_form_filled,
    attachment,
    build_check,
    criterion_points,
    golden,
    lines,
    ordered,
    rows,
    text,
    unmarked,
    unsupported,
)

PORT, DEPOT, BATTALION = "sb-sit-01", "sb-par-01", "sb-ins-01"
# family, setting, length limit; source files, criteria, penalties, points, penalty points
ORDERED = {
    PORT: ("Situation reports", "Navy", "500 words", (12, 25, 3, 54, -8)),
    DEPOT: (
        "Performance and accomplishment reports",
        "Army",
        "two pages, 600 words",
        (10, 24, 4, 50, -10),
    ),
    BATTALION: ("Inspection reports", "Marine Corps", "two pages, 650 words", (12, 23, 3, 50, -8)),
}
FORMS = {
    PORT: "01-sitrep-form.docx",
    DEPOT: "02-memorandum-form.docx",
    BATTALION: "01-inspection-report-form.docx",
}
every_task = pytest.mark.parametrize("task_id", ORDERED)


@every_task
def test_committed_tree_matches_its_sources(task_id):
    assert build_check(task_id) == (0, f"{task_id}: the tree matches its sources\n")


@every_task
def test_family_setting_limit_counts_and_points(task_id):
    assert ordered(task_id) == ORDERED[task_id]
    points = criterion_points(task_id)
    assert {p for p in points if p > 0} == {1, 2, 3, 4}
    assert {p for p in points if p < 0} <= {-2, -3}


@every_task
def test_every_criterion_rests_on_a_line_of_a_named_file(task_id):
    assert unsupported(task_id) == []


@every_task
def test_every_file_says_that_it_is_synthetic(task_id):
    assert unmarked(task_id) == []


@every_task
def test_expert_fills_the_form_within_its_limit(task_id):
    headings = assert_form_filled(task_id, FORMS[task_id])
    assert len(headings) == {PORT: 7, DEPOT: 8, BATTALION: 7}[task_id]


@every_task
def test_form_has_a_marking_on_every_page_and_labels_in_bold(task_id):
    form = docx.Document(str(attachment(task_id, FORMS[task_id])))
    section = form.sections[0]
    for paragraph in (section.header.paragraphs[0], section.footer.paragraphs[-1]):
        assert paragraph.text.startswith("UNCLASSIFIED // ")
        assert all(run.bold for run in paragraph.runs)
    if task_id != DEPOT:  # its memorandum opens with lines, not with a table
        for row in form.tables[0].rows:
            for number, cell in enumerate(row.cells):
                bold = [run.find(f"{W}rPr/{W}b") is not None for run in cell._tc.iter(f"{W}r")]
                assert bold
                assert set(bold) == {number % 2 == 0}


@pytest.mark.skipif(find_converter() is None, reason="pages are counted by LibreOffice")
def test_reports_print_on_two_pages():
    assert [pages.pages for pages in render_all([golden(task_id) for task_id in ORDERED])] == [2, 2, 2]


def test_vehicles_turnaround_and_unit_cost_follow_from_the_register():
    first, last = dt.date(2030, 10, 1), dt.date(2031, 9, 30)
    register = [row for row in rows(DEPOT, "04-work-order-register.xlsx", "Register", 3) if row[1]]
    assert len(register) == 48
    days, shop = [], 0
    for _, inducted, completed, accepted, returned, again, _ in register:
        shop += completed is not None and first <= completed.date() <= last
        counts = again if returned else accepted
        if counts is not None and first <= counts.date() <= last:
            days.append((counts - inducted).days)
    assert (shop, len(days), statistics.median(days)) == (46, 42, 97)
    assert (15_120_000 / len(days), round(100 * (1 - 360 / 378))) == (360_000, 5)
    report = text(golden(DEPOT))
    assert "| Recovery vehicles accepted | 39 | 45 | 42 | No |" in report
    assert "| Turnaround, median days | 118 | 105 or less | 97 | Yes |" in report
    assert "$15,120,000, or $360,000 for each accepted vehicle, 5 percent less" in report


def test_one_injury_of_the_year_cost_a_full_shift():
    injuries = [
        row
        for row in lines(DEPOT, "07-safety-log.csv")
        if "2030-10-01" <= row["date_of_injury"] <= "2031-09-30" and int(row["full_shifts_lost"])
    ]
    assert [row["entry"] for row in injuries] == ["32-02"]
    assert "| Lost-time injuries | 3 | 0 | 1 | No |" in text(golden(DEPOT))


def test_an_order_at_once_would_have_come_on_13_august():
    known, ordered, delivery = dt.date(2031, 4, 30), dt.date(2031, 6, 9), dt.timedelta(105)
    assert (ordered - known).days == 40
    assert ordered + delivery == dt.date(2031, 9, 22)
    assert known + delivery == dt.date(2031, 8, 13)
    notes = text(attachment(DEPOT, "10-production-control-notes.txt"))
    assert all(words in notes for words in ("30 APR Forecast", "9 JUN Order released", "22 SEP Delivered"))
    assert "the parts would have arrived on 13 August" in text(golden(DEPOT))


def test_grades_follow_from_the_sheets_and_the_list_in_force():
    critical = {
        row["question"] for row in lines(BATTALION, "04-critical-questions.csv") if row["list_of_1_JUL_2031"]
    }
    before = text(attachment(BATTALION, "11-inspection-2029.pdf"))
    grades = {}
    for area in ("Motor transport", "Armory", "Licensing", "Hazardous material", "Supply"):
        sheet = [row for row in rows(BATTALION, "03-inspection-sheets.xlsx", area, 3) if row[1]]
        answers = [row[2] for row in sheet]
        failed = {row[0] for row in sheet if row[2] == "No"}
        if sum(answer is not None for answer in answers) < 0.8 * len(sheet):
            grades[area] = "NOT EVALUATED"
            assert (len(answers), sum(answer is not None for answer in answers)) == (30, 11)
            continue
        yes, no = answers.count("Yes"), answers.count("No")
        score = math.floor(100 * yes / (yes + no) + 0.5)
        effective = score >= 85 and not failed & critical
        repeat = any(f"| {question} " in before for question in failed)
        grades[area] = (
            yes,
            no,
            score,
            ("EFFECTIVE WITH REPEAT" if repeat else "EFFECTIVE") if effective else "NOT",
        )
    assert grades == {
        "Motor transport": (21, 2, 91, "EFFECTIVE"),
        "Armory": (21, 2, 91, "NOT"),
        "Licensing": (14, 4, 78, "NOT"),
        "Hazardous material": (14, 2, 88, "EFFECTIVE WITH REPEAT"),
        "Supply": "NOT EVALUATED",
    }
    report = text(golden(BATTALION))
    assert "| Armory | 21 | 2 | 91 percent | NOT EFFECTIVE" in report
    assert "| Licensing | 14 | 4 | 78 percent | NOT EFFECTIVE |" in report


def test_six_of_thirty_dispatches_were_not_valid():
    roster = {row[0]: row[1:3] for row in rows(BATTALION, "06-operator-roster.xlsx", "Operators", 3)}
    sample = lines(BATTALION, "05-dispatch-sample.csv")
    invalid, late, any_letter = [], 0, 0
    for row in sample:
        expires, signed = roster[row["operator"]]
        day = dt.datetime.strptime(row["date"], "%Y-%m-%d")  # noqa: DTZ007 -- a date
        until = expires + dt.timedelta(60) if signed and signed <= expires else expires
        if day > until:
            invalid.append(row["ticket"])
            late += signed is not None and signed > expires
        any_letter += day > (expires + dt.timedelta(60) if signed else expires)
    assert (len(sample), len(invalid), late, any_letter) == (30, 6, 4, 2)
    assert "Six of 30 dispatches sampled for July were not valid. Four rested on letters" in text(
        golden(BATTALION)
    )


def test_dates_of_the_inspection_report():
    report = dt.date(2031, 9, 5)
    plan, supply, second = (report + dt.timedelta(days) for days in (30, 45, 60))
    assert (plan.strftime("%A"), supply.weekday() < 5, second.weekday() < 5) == ("Sunday", True, True)
    for date in (plan - dt.timedelta(2), supply, second):
        assert f"{date.day} {date:%B %Y}" in text(golden(BATTALION))
    assert dt.date(2029, 9, 19) > dt.date(2029, 8, 18)  # 24 months before the first day


@pytest.mark.parametrize(
    ("task_id", "where", "trap"),
    [
        (PORT, "07-port-captain.eml", "2,600 tons"),
        (PORT, "07-port-captain.eml", "let go of the tow"),
        (PORT, "10-watch-log.txt", "shoulder"),
        (PORT, "10-watch-log.txt", "Tallis"),
        (DEPOT, "05-shop-draft.docx", "engine line"),
        (DEPOT, "05-shop-draft.docx", "$41,250"),
        (DEPOT, "05-shop-draft.docx", "Whitcombe"),
        (DEPOT, "05-shop-draft.docx", "46 "),
        (DEPOT, "07-safety-log.csv", "Castellane"),
        (BATTALION, "12-inspector-notes.txt", "Ellery"),
        (BATTALION, "12-inspector-notes.txt", "another state"),
        (BATTALION, "09-battalion-xo.eml", "89 percent"),
    ],
)
def test_each_trap_lies_in_a_source_and_not_in_the_report(task_id, where, trap):
    assert trap in text(attachment(task_id, where))
    assert trap not in text(golden(task_id))
