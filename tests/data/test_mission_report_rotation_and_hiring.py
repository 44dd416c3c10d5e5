"""Trees, rubrics and reports of sb-aar-04 and sb-psr-01 hold together, and figures and traps of the first."""

import datetime as dt
import re
import shutil
import subprocess
from collections import Counter, defaultdict

import docx
import openpyxl
import pdfplumber
import pytest

from flows.readers import read_document
from flows.stages.truncate import count_words
from tests.data.staffing_support import AAR, PSR, attachments, book, report
from tests.support.report_tasks import W, build_check, golden, rubric, source, squeeze, text, tree

BUMPER = re.compile(r"\b[BE]\d\d\b")

# criteria, penalties, positive points, penalty points, source files, words
ORDERED = {AAR: (27, 3, 44, -5, 9, 1500), PSR: (13, 2, 24, -3, 7, 350)}


both = pytest.mark.parametrize("task_id", [AAR, PSR])


@both
def test_committed_tree_matches_its_sources(task_id):
    assert build_check(task_id) == (0, f"{task_id}: the tree matches its sources\n")


@both
def test_rubric_has_the_ordered_criteria_penalties_and_points(task_id):
    criteria = rubric(task_id)
    positive = [entry["points"] for entry in criteria if entry["polarity"] == "positive"]
    negative = [entry["points"] for entry in criteria if entry["polarity"] == "negative"]
    totals = (len(criteria), len(negative), sum(positive), sum(negative))
    print(f"{task_id}: criteria, penalties, points, penalty points: {totals}")  # noqa: T201 -- shown with -s
    assert totals == ORDERED[task_id][:4]
    assert len(positive) + len(negative) == len(criteria)
    assert all(1 <= points <= 4 for points in positive)
    assert all(-3 <= points <= -1 for points in negative)
    assert len({entry["criterion_id"] for entry in criteria}) == len(criteria)
    assert all(entry["criterion"].strip() and entry["justification"].strip() for entry in criteria)


@both
def test_every_criterion_rests_on_a_line_that_stands_in_its_file(task_id):
    names = sorted(path.name for path in attachments(task_id).iterdir())
    assert len(names) == ORDERED[task_id][4]
    texts = {name: text(attachments(task_id) / name) for name in names}
    texts["prompt"] = squeeze((tree(task_id) / "instruction.md").read_text(encoding="utf-8"))
    sources = source(task_id, "rubric")
    missing = [
        (entry["criterion_id"], place["file"], place["line"])
        for entry in sources
        for place in entry["source"]
        if squeeze(place["line"]) not in texts.get(place["file"], "")
    ]
    assert missing == []
    assert all(entry["source"] for entry in sources)
    listed = {name for name in names if f"`{name}`" in texts["prompt"]}
    assert listed == set(names)


@both
def test_expert_report_fills_the_template_and_stays_within_its_words(task_id):
    template_path = next(attachments(task_id).glob("02-*-template.docx"))
    template, filled = docx.Document(str(template_path)), docx.Document(str(golden(task_id)))
    words = count_words(read_document(golden(task_id)).text)
    print(f"{task_id}: {words} words, header and footer included")  # noqa: T201 -- shown with -s
    assert 0.8 * ORDERED[task_id][5] < words <= ORDERED[task_id][5]
    assert list(template.element.iter(f"{W}showingPlcHdr"))
    assert not list(filled.element.iter(f"{W}showingPlcHdr"))

    def fixed_headings(document):
        def headings(body):
            # Text in a content control is the writer's; what is outside of one is the form's.
            for paragraph in body.iter(f"{W}p"):
                style = paragraph.find(f"{W}pPr/{W}pStyle")
                if style is not None and style.get(f"{W}val") == "Heading1":
                    yield "".join(
                        text.text for run in paragraph.findall(f"{W}r") for text in run.iter(f"{W}t")
                    )

        return list(headings(document.element.body))

    assert fixed_headings(filled) == fixed_headings(template)
    assert len(fixed_headings(template)) == {AAR: 8, PSR: 6}[task_id]
    assert len(filled.tables) == len(template.tables)


@pytest.mark.skipif(shutil.which("soffice") is None, reason="page counts need LibreOffice")
def test_read_ahead_prints_on_two_pages_at_most(tmp_path):
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", str(tmp_path)]
    subprocess.run([*command, str(golden(PSR))], capture_output=True, check=True, timeout=100)
    with pdfplumber.open(tmp_path / "report.pdf") as pdf:
        assert 1 <= len(pdf.pages) <= 2


@pytest.mark.parametrize(
    ("task_id", "name", "deleted"),
    [
        (AAR, "01-tasking-memo.docx", ["21 March 2031", "2,000 words"]),
        (PSR, "01-tasker.docx", ["16 May 2031", "500"]),
        (PSR, "07-weekly-sync-notes.docx", ["Without the waiver we end at 140, so no worry."]),
    ],
)
def test_tracked_deletions_are_notices_and_no_text(task_id, name, deleted):
    document = read_document(attachments(task_id) / name)
    said = [notice.detail for notice in document.notices if notice.kind == "revisions"]
    for words in deleted:
        assert any(detail.endswith(f": {words}") for detail in said)
        assert words not in document.text


def test_tables_with_merged_cells_are_there():
    status = openpyxl.load_workbook(attachments(AAR) / "06-maintenance-and-logpac.xlsx")["Status"]
    pipeline = openpyxl.load_workbook(attachments(PSR) / "03-hiring-tracker.xlsx")["Pipeline"]
    assert len(status.merged_cells.ranges) == 7
    assert {"B4:B9", "B10:B25", "B26:B28"} <= {str(area) for area in pipeline.merged_cells.ranges}


def test_vehicle_lines_give_five_tanks_where_the_summary_counts_six():
    events = book(AAR, "05-engagement-record.xlsx", "Own", 5)
    lost, counted = defaultdict(set), Counter()
    for _, period, _, bumper, _, kind, *_, reset in events:
        assert reset is None  # so a vehicle is lost once in a period
        lost[period, kind].add(bumper)
        counted[period, kind] += 1
    vehicles = {key: len(bumpers) for key, bumpers in lost.items()}
    assert vehicles == {
        (1, "tank"): 5, (1, "IFV"): 1, (2, "tank"): 3, (2, "IFV"): 1,
        (3, "tank"): 4, (3, "IFV"): 2, (3, "ABV"): 1,
    }  # fmt: skip
    summary = book(AAR, "05-engagement-record.xlsx", "Summary", 4)
    assert [row[1] for row in summary] == [6, 3, 4, 13]
    assert counted[1, "tank"] == 6
    destroyed = [row[4] for row in summary[:3]]
    by_period = [sum(n for (period, _), n in vehicles.items() if period == p) for p in (1, 2, 3)]
    assert (by_period, destroyed) == ([6, 4, 7], [4, 12, 6])
    assert (
        "we lost 4 vehicles and destroyed 12. In the two attacks together we lost 13 and destroyed 10"
        in report(AAR)
    )


def test_readiness_is_84_percent_over_all_days_and_90_over_battle_days():
    days = [
        row
        for row in book(AAR, "06-maintenance-and-logpac.xlsx", "Status", 4)
        if isinstance(row[0], dt.datetime)
    ]
    hand, capable = sum(row[1] for row in days), sum(row[2] for row in days)
    assert (len(days), capable, hand, round(100 * capable / hand)) == (14, 118, 140, 84)
    assert all(row[1] - row[2] == row[3] for row in days)
    battle = [row[2] for row in days if row[0].day in (6, 9, 10, 13)]
    assert sum(battle) / 40 == 0.9
    assert "84 percent (118 of 140 tank-days" in report(AAR)


def test_faults_add_up_to_the_lost_days_and_four_of_six_requests_were_late():
    faults = [
        row for row in book(AAR, "06-maintenance-and-logpac.xlsx", "Faults", 4) if row[0].startswith("B")
    ]
    down = Counter()
    for _, _, first, last, length, waiting, _, _ in faults:
        assert (last - first).days + 1 == length
        assert waiting < length
        down.update(first.day + step for step in range(length))
    days = [
        row
        for row in book(AAR, "06-maintenance-and-logpac.xlsx", "Status", 4)
        if isinstance(row[0], dt.datetime)
    ]
    assert down == Counter({row[0].day: row[3] for row in days if row[3]})
    assert (sum(row[4] for row in faults), sum(row[5] for row in faults)) == (22, 14)
    sent = [row[7] for row in faults if row[7]]
    assert (len(sent), sum(moment.hour >= 14 for moment in sent)) == (6, 4)


def test_times_of_record_give_the_delays_that_the_report_states():
    text = squeeze(read_document(attachments(AAR) / "09-battle-timeline-v2.pdf").text)
    for time, event in (
        ("0642", "Last vehicle of the lead platoons crosses LD"),
        ("0655", "Lane open and marked"),
        ("0812", "Objective GRANITE seized; planned 0730"),
        ("13 Mar 0210", "LOGPAC reaches the company at LRP 6"),
    ):
        assert re.search(rf"{time} \| {re.escape(event)}", text)
    written = report(AAR)
    # 0642 - 0600, 0655 - 0615, 0812 - 0730, 0210 - 2200
    for words in (
        "0642, 42 minutes late",
        "0655, 40 minutes late",
        "0812, 42 minutes after",
        "4 hours and 10 minutes late",
    ):
        assert words in written


def test_rotation_report_springs_none_of_its_traps():
    text = report(AAR)
    assert BUMPER.search(squeeze(read_document(attachments(AAR) / "04-oct-notes.pdf").text))
    assert not BUMPER.search(text)
    for words in (
        "Wendt",
        "Tasker",
        "Dellacroix",
        "culvert",
        "4417",
        "Receiver",
        "0620",
        "0640",
        "0805",
        "13 of 15",
    ):
        assert words not in text
    document = docx.Document(str(golden(AAR)))
    styles = [paragraph.style.name for paragraph in document.paragraphs]
    texts = [paragraph._p.xpath("string(.)") for paragraph in document.paragraphs]
    assert styles.count("Heading 2") == 3  # matters to improve
    assert texts.index("5. Improve (at most three)") - texts.index("4. Sustain (at most three)") - 1 == 2
    cells = [row.cells[2]._tc.xpath("string(.)").strip() for row in document.tables[3].rows[1:]]
    dates = [dt.datetime.strptime(cell, "%d %B %Y").replace(tzinfo=dt.UTC).date() for cell in cells]
    assert len(dates) == 5
    assert max(dates) <= dt.date(2031, 5, 30)
