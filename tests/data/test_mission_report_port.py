"""What the report of sb-sit-01 says of a port follows from its sources."""

import datetime as dt
import math
import re

import pdfplumber

from tests.support.report_tasks import (
    attachment,
    golden,
    lines,
    rows,
    text,
    whole,
)

PORT = "sb-sit-01"
MANUAL = "03-harbor-recovery-manual.pdf"


def test_manual_is_long_small_and_varied():
    path = attachment(PORT, MANUAL)
    assert path.stat().st_size < 1_500_000
    with pdfplumber.open(path) as pdf:
        assert len(pdf.pages) >= 200
    paragraphs = [line for line in whole(path).splitlines() if re.match(r"\d+-\d+\. ", line)]
    assert len(text(path)) > 300_000
    said = [paragraph.partition(". ")[2] for paragraph in paragraphs]
    assert len(paragraphs) > 500
    assert len(set(said)) == len(said)


def test_controlling_depth_and_greatest_draft_follow_from_soundings_and_manual():
    soundings = lines(PORT, "04-soundings-21-sep.csv")
    assert {row["instrument"] for row in soundings} == {"single beam"}
    inside = [row for row in soundings if abs(int(row["offset_m"])) <= 50]
    reduced = {
        (row["station_m"], row["offset_m"]): round(float(row["measured_depth_m"]) - float(row["tide_m"]), 1)
        for row in inside
    }
    assert min(reduced.items(), key=lambda item: item[1]) == (("2400", "45"), 11.2)
    assert min(float(row["measured_depth_m"]) for row in inside) == 12.0  # the port captain's figure
    everything = [float(row["measured_depth_m"]) - float(row["tide_m"]) for row in soundings]
    assert round(min(everything), 1) == 10.4  # outside of the cleared width
    manual = text(attachment(PORT, MANUAL))
    allowance = float(re.search(r"\| Single beam \| (\d\.\d) \|", manual)[1])
    clearance = float(
        re.search(r"edge of the cleared width, under-keel clearance under way is (\d\.\d) m", manual)[1]
    )
    depth = round(11.2 - allowance, 1)
    free = max(tenth / 10 for tenth in range(80, 110) if tenth / 10 + max(tenth / 100, 0.6) <= depth)
    assert (depth, round(depth - clearance, 1), free) == (10.8, 9.3, 9.8)
    report = text(golden(PORT))
    for words in ("| Controlling depth | 10.8 m", "| Greatest draft | 9.3 m", "| Estimate | 9.8 m"):
        assert words in report


def test_dates_and_load_of_the_lift_follow_from_the_log():
    dives = [row for row in rows(PORT, "05-dive-and-salvage-log.xlsx", "Dives", 3) if row[2]]
    dived = {row[0].date() for row in dives if row[1]}
    last = max(dived)
    assert last == dt.date(2031, 9, 22)
    assert all(last - dt.timedelta(back) in dived for back in range(5))
    assert last - dt.timedelta(5) not in dived
    left = 8 - sum(row[3] or 0 for row in dives)
    days = math.ceil(left / 2)
    lift = last + dt.timedelta(1 + days + 1)  # a day of rest, days of slings, the lift
    assert (lift, lift + dt.timedelta(1)) == (dt.date(2031, 9, 26), dt.date(2031, 9, 27))
    manual = text(attachment(PORT, MANUAL))
    factor = float(re.search(r"Mud, wreck sunk in less than 1 m \| (\d\.\d+)", manual)[1])
    crane = manual[manual.index("| 12 | 50 | 300 |") :]
    capacity = {r: int(re.search(rf"\| {r} \| \d+ \| (\d+) \|", crane)[1]) for r in (14, 16, 18)}
    load = 212 * factor
    assert (load, capacity) == (265, {14: 280, 16: 262, 18: 240})
    assert capacity[16] < load < capacity[14]


def test_throughput_follows_from_the_berth_record():
    manual = text(attachment(PORT, MANUAL))
    assert "| Mobile crane | 32 | Berth lit, two shifts | 18 |" in manual
    assert "| Ship's gear | 20 | Berth not lit, one shift | 9 |" in manual
    storm = dt.date(2031, 9, 14)
    total, second = 0, 0
    for berth, _, surveyed, inspected, _, _, lit, gear, gangs, room, remark in rows(
        PORT, "06-berth-record.xlsx", "Berths", 3
    )[:6]:
        each = (18 if lit == "Yes" else 9) * (32 if gear == "Mobile crane" else 20)
        seen = surveyed is not None and inspected is not None and inspected.date() > storm
        if seen and "unsound" not in (remark or ""):
            total += gangs * each
        elif berth == 2:
            second = room * each
    assert (total, second, total + second) == (1872, 180, 2052)
    assert "1,872 tons a day of 2,000" in text(golden(PORT))
    assert "2,052 tons" in text(golden(PORT))


def test_decisions_are_due_48_hours_before_pilot_time_in_zulu():
    due = {}
    for row in lines(PORT, "08-arrival-list.csv"):
        local = dt.datetime.strptime(f"2031 {row['pilot_time_local']}", "%Y %d %b %H%M")  # noqa: DTZ007 -- local
        due[row["ship"]] = f"{local - dt.timedelta(hours=48 + 4):%d%H%M}Z"
    assert (due["MERROW"], due["STALWART BAY"]) == ("231200Z", "240600Z")
    report = text(golden(PORT))
    assert "Commander, Task Force 58, by 231200Z SEP" in report
    assert "Commander, Task Force 58, by 240600Z SEP" in report
