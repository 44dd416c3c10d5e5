"""What the reports of sb-war-02, sb-war-08 and sb-aar-01 say follows from their sources; their traps."""

import re
from datetime import date, timedelta

import docx
import openpyxl
import pdfplumber
import pytest

from tests.support.report_tasks import W, attachment, golden, rows, text

TRIP, GUNNERY, EXERCISE = "sb-war-02", "sb-war-08", "sb-aar-01"


def minutes(start, end):
    """From one time of day to a later one, both as `0812`."""
    first, last = (60 * int(time[:2]) + int(time[2:]) for time in (start, end))
    return last - first


def test_gunnery_figures_follow_from_the_roster_less_its_exceptions():
    assigned, qualified, brigade = {}, {}, None
    for row in rows(GUNNERY, "03-master-gunner-roster.xlsx", "Summary", 4, 12):
        brigade = row[0] or brigade
        assigned[brigade] = assigned.get(brigade, 0) + row[2]
        qualified[brigade] = qualified.get(brigade, 0) + row[6]
        assert row[2] == row[6] + row[7] + row[8]  # qualified, unqualified, not fired
    assert (sum(assigned.values()), sum(qualified.values())) == (360, 269)  # what the roster itself sums
    for row in rows(GUNNERY, "03-master-gunner-roster.xlsx", "Exceptions", 3, 10):
        stable = not re.match("Gunner|Vehicle commander", row[4])
        if row[5].date() <= date(2031, 6, 13) and (not stable or "protest" in row[4]):
            qualified[row[0]] -= 1
    assert assigned == {"1 ABCT": 120, "2 ABCT": 116, "3 ABCT": 124}
    assert qualified == {"1 ABCT": 96, "2 ABCT": 106, "3 ABCT": 62}
    report = text(golden(GUNNERY))
    for name, crews in assigned.items():
        assert f"| {name} | {crews} | {qualified[name]} | {round(100 * qualified[name] / crews)}% |" in report
    assert "73 percent (264 of 360 crews)" in report


def test_gunnery_remedy_follows_from_the_schedule_in_force():
    superseded = rows(GUNNERY, "08-range-schedule-v2.xlsx", "Schedule", 3, 6)
    assert sum(row[4] for row in superseded if row[3] == "3 ABCT") == 11
    schedule = docx.Document(str(attachment(GUNNERY, "09-range-schedule-v3.docx"))).tables[0]
    days = {
        (row.cells[0].text, row.cells[3].text): int(row.cells[2].text.split()[0])
        - int(row.cells[1].text.split()[0])
        + 1
        for row in schedule.rows[1:]
        if row.cells[2].text != "open"
    }
    assert days[("Range 9", "3 ABCT")] == 5
    assert days[("Range 9", "2 ABCT")] == 4
    crews = 8  # a range and day, SOP 5-2
    needed = -(-124 * 9 // 10) - 62
    assert (needed, 62 + 5 * crews) == (50, 102)
    assert (5 + 2) * crews == 56 >= needed > (5 + 1) * crews  # two more days are needed, one is too few
    assert (4 - 2) * crews >= 116 - 106
    assert date(2031, 6, 25) - timedelta(days=7) == date(2031, 6, 18)
    report = text(golden(GUNNERY))
    assert "82 percent (102 crews)" in report
    assert "Decide by 18 June" in report
    assert "50 of 56 crews" in report


def test_trip_figures_follow_from_the_loaders_and_the_dates():
    notes = docx.Document(str(attachment(TRIP, "01-trip-file.docx"))).tables[2]
    states = [row.cells[1].text for row in notes.rows[1:]]
    serviceable = states.count("Serviceable")
    assert (len(states), serviceable) == (9, 4)
    assert len(states) - states.count("Waiting for parts") == 7  # the squadron's slide counts what drives
    assert (serviceable - 1) * 4 == 12
    assert 20 // 4 + 1 == 6 == serviceable + states.count("Waiting for parts")
    day, left = date(2031, 3, 28), 2 * 5  # parts arrive; two loaders of five working days, one bay
    while left:
        day += timedelta(days=1)
        left -= day.weekday() < 5
    assert day == date(2031, 4, 11)
    assert (date(2031, 4, 14) - day).days == 3  # a weekend
    assert date(2031, 4, 14) - timedelta(days=21) == date(2031, 3, 24)
    report = text(golden(TRIP))
    for figure in ("supports 12", "Four of nine", "six are needed", "11 April", "capped at 10", "24 March"):
        assert figure in report


def test_exercise_times_follow_from_the_sources_of_record():
    record = text(attachment(EXERCISE, "09-warning-system-record.pdf"))
    released = re.search(r"11 JUN (\d\d):(\d\d):\d\d \| WG-01", record)
    local = f"{int(released[1]) - 6:02}{released[2]}"
    timings = {row[0]: row for row in rows(EXERCISE, "08-observer-sheets.xlsx", "Timings", 3, 8)}
    assert minutes(timings["2 Warning"][2], local) == 23
    assert minutes(timings["1 EOC"][2], timings["1 EOC"][4]) == 69
    assert minutes(timings["3 Evacuation"][2], timings["3 Evacuation"][4]) == 27
    assert minutes(timings["4 Casualties"][2], timings["4 Casualties"][4]) == 53
    old, new = (
        {row[0]: row for row in rows(EXERCISE, name, "MSEL", first, last)}
        for name, first, last in (("04-msel-v3.xlsx", 3, 9), ("05-msel-v4.xlsx", 4, 10))
    )
    assert (old[21][1], new[21][1], new[21][5], new[24][5]) == ("0945", "1045", "Not played", "1030, early")
    assert date(2031, 6, 11) + timedelta(days=50) == date(2031, 7, 31)
    report = text(golden(EXERCISE))
    for line in (
        "| 69 minutes (0812 to 0921) | Not met |",
        "| 23 minutes (0829 to 0852) | Not met |",
        "| 27 minutes (0831 to 0858) | Met |",
        "| 20 casualties in 53 minutes (0826 to 0919) | Met |",
        "| Not played | Not observed |",
    ):
        assert line in report


def test_sources_are_as_messy_as_they_were_meant_to_be():
    directive = docx.Document(str(attachment(EXERCISE, "02-exercise-directive.docx"))).element
    deleted = ["".join(part.text for part in gone.iter(f"{W}delText")) for gone in directive.iter(f"{W}del")]
    assert deleted == ["18", "15"]
    claim = docx.Document(str(attachment(GUNNERY, "04-1abct-input.docx"))).element
    added = ["".join(part.text for part in new.iter(f"{W}t")) for new in claim.iter(f"{W}ins")]
    assert added[:2] == ["93", "108"]
    roster = openpyxl.load_workbook(attachment(GUNNERY, "03-master-gunner-roster.xlsx"))
    assert "A4:A6" in {str(merged) for merged in roster["Summary"].merged_cells.ranges}
    assert roster["Last week"].sheet_state == "hidden"
    ammunition = rows(GUNNERY, "07-ammunition-status.xlsx", "Status", 3, 8)
    assert [row[1] for row in ammunition] == [3310, 3130, 180, 30, 96, 2880]
    with pdfplumber.open(attachment(EXERCISE, "07-incident-command-log.pdf")) as pdf:
        words = {word["text"]: word["top"] for word in pdf.pages[0].extract_words()}
    # One typed line laid askew: 39 columns of 5.7 points at 0.8 degrees are 3.1 points.
    assert words["DATE"] - words["LOCAL"] == pytest.approx(3.1, abs=0.2)


@pytest.mark.parametrize(
    ("task_id", "trap", "where"),
    [
        (TRIP, "seven of nine in service", "01-trip-file.docx"),
        (TRIP, "landing fees", "01-trip-file.docx"),
        (TRIP, "relieved", "01-trip-file.docx"),
        (TRIP, "Billets", "01-trip-file.docx"),
        (GUNNERY, "93 percent", "04-1abct-input.docx"),
        (GUNNERY, "75%", "03-master-gunner-roster.xlsx"),
        (GUNNERY, "tracer", "06-3abct-range-log.pdf"),
        (EXERCISE, "Call it met", "13-hot-wash-notes.docx"),
        (EXERCISE, "controller", "13-hot-wash-notes.docx"),
        (EXERCISE, "heat stroke", "10-medical-group-report.docx"),
        (EXERCISE, "0857", "12-fire-emergency-report.pdf"),
        (EXERCISE, "0839", "06-eoc-log.docx"),
    ],
)
def test_each_trap_lies_in_a_source_and_not_in_the_report(task_id, trap, where):
    assert trap.lower() in text(attachment(task_id, where)).lower()
    assert trap.lower() not in text(golden(task_id)).lower()
