"""The labelled MissionReport reports: built from sources, within limits, every criterion labelled."""

import re
import shutil
import subprocess
import sys

import docx
import pytest

from flows.adapters.pages import find_converter
from flows.pipeline.inputs.submission_check import check_report
from flows.schema.report_task import ReportStatus
from tests.data.controls_support import (
    BATTALION,
    CENTER,
    DEPOT,
    EXERCISE,
    GUNNERY,
    HIRING,
    PIERS,
    PORT,
    ROTATION,
    TRIP,
    labels,
    report,
)
from tests.support.rendered import render_all
from tests.support.report_tasks import FOLDER, W, source

# required criteria met, their points, penalties committed, points that these cost, words
EXPECTED = {
    (TRIP, "fair"): (15, 27, ["WAR02-P4"], 1, 199),
    (TRIP, "weak"): (10, 13, ["WAR02-P1", "WAR02-P3"], 3, 261),
    (TRIP, "hostile"): (1, 1, [], 0, 135),
    (GUNNERY, "fair"): (13, 24, [], 0, 150),
    (GUNNERY, "weak"): (8, 12, ["WAR08-P1", "WAR08-P2"], 3, 187),
    (GUNNERY, "hostile"): (1, 1, [], 0, 137),
    (EXERCISE, "fair"): (10, 20, ["AAR01-P2"], 1, 450),
    (EXERCISE, "weak"): (6, 10, ["AAR01-P1", "AAR01-P3"], 3, 372),
    (EXERCISE, "hostile"): (0, 0, [], 0, 199),
    (ROTATION, "fair"): (19, 33, [], 0, 1440),
    (ROTATION, "weak"): (9, 12, ["AAR4-P01", "AAR4-P03"], 4, 988),
    (ROTATION, "hostile"): (1, 1, [], 0, 359),
    (HIRING, "fair"): (8, 18, [], 0, 350),
    (HIRING, "weak"): (5, 9, ["PSR1-P01"], 2, 337),
    (HIRING, "hostile"): (0, 0, [], 0, 161),
    (PORT, "fair"): (17, 43, [], 0, 418),
    (PORT, "weak"): (8, 16, ["SIT01-P1", "SIT01-P3"], 6, 331),
    (PORT, "hostile"): (0, 0, [], 0, 318),
    (DEPOT, "fair"): (15, 39, [], 0, 384),
    (DEPOT, "weak"): (9, 18, ["PAR01-P3", "PAR01-P4"], 5, 332),
    (DEPOT, "hostile"): (1, 1, [], 0, 285),
    (BATTALION, "fair"): (15, 39, [], 0, 386),
    (BATTALION, "weak"): (9, 18, ["INS01-P2", "INS01-P3"], 5, 329),
    (BATTALION, "hostile"): (0, 0, [], 0, 266),
    (PIERS, "fair"): (15, 38, [], 0, 435),
    (PIERS, "weak"): (8, 15, ["PSR2-P1", "PSR2-P2"], 6, 356),
    (PIERS, "hostile"): (0, 0, [], 0, 357),
    (CENTER, "fair"): (14, 40, ["PAR02-P1"], 3, 406),
    (CENTER, "weak"): (7, 16, ["PAR02-P1", "PAR02-P3"], 5, 329),
    (CENTER, "hostile"): (0, 0, [], 0, 271),
}

WITH_HIDDEN_TEXT = {TRIP, GUNNERY, EXERCISE, ROTATION, HIRING, PIERS, CENTER}


every_report = pytest.mark.parametrize(("task_id", "name"), EXPECTED)


every_task = pytest.mark.parametrize(
    "task_id", [TRIP, GUNNERY, EXERCISE, ROTATION, HIRING, PORT, DEPOT, BATTALION, PIERS, CENTER]
)


def build(folder, *arguments):
    command = [sys.executable, str(folder / "build_controls.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_committed_reports_match_their_sources():
    done = build(FOLDER, "--check")
    assert done.stdout.splitlines() == [
        f"{task_id}: the controls match their sources"
        for task_id in (*(EXERCISE, ROTATION, BATTALION, DEPOT, CENTER, HIRING, PIERS, PORT, TRIP, GUNNERY),)
    ]
    assert done.returncode == 0


def test_check_names_what_differs_is_missing_or_has_no_source(tmp_path):
    copy = tmp_path / "data" / "mission_report"
    shutil.copytree(FOLDER.parent / "builders", tmp_path / "data" / "builders")
    for part in (f"controls/{TRIP}", f"tasks/{TRIP}"):
        shutil.copytree(FOLDER / part, copy / part)
    for script in FOLDER.glob("*.py"):
        shutil.copy(script, copy)
    folder = copy / "controls" / TRIP
    (folder / "weak.docx").unlink()
    (folder / "other.docx").write_bytes(b"stray")
    edited = (folder / "fair.yaml").read_text(encoding="utf-8").replace("office: A4R", "office: A4")
    (folder / "fair.yaml").write_text(edited, encoding="utf-8")
    done = build(copy, "--check")
    assert done.stdout.splitlines() == [
        f"controls/{TRIP}/fair.docx: differs from its source",
        f"controls/{TRIP}/other.docx: has no source",
        f"controls/{TRIP}/weak.docx: missing",
    ]
    assert done.returncode == 1
    (folder / "fair.yaml").write_text(edited.replace("  office: A4\n", ""), encoding="utf-8")
    done = build(copy)
    assert done.stdout == f"{folder / 'fair.yaml'}: controls left empty: office\n"
    assert done.returncode == 1


@every_report
def test_labels_cover_every_criterion_and_come_to_the_stated_points(task_id, name):
    points = {entry["criterion_id"]: entry["points"] for entry in source(task_id, "rubric")}
    rows = labels(task_id)
    assert [row["criterion_id"] for row in rows] == list(points)
    assert {row[name] for row in rows} == {"pass", "fail"}
    met = [points[row["criterion_id"]] for row in rows if row[name] == "pass"]
    committed = [
        row["criterion_id"] for row in rows if row[name] == "fail" and points[row["criterion_id"]] < 0
    ]
    required = [worth for worth in met if worth > 0]
    assert (len(required), sum(required), committed, -sum(points[key] for key in committed)) == EXPECTED[
        (task_id, name)
    ][:4]


@every_report
def test_report_is_readable_and_has_its_words(task_id, name):
    read = check_report(report(task_id, name))
    hidden = ["hidden_text"] if name == "hostile" and task_id in WITH_HIDDEN_TEXT else []
    assert (read.status, [notice.kind for notice in read.notices]) == (ReportStatus.readable, hidden)
    assert read.words.counted == EXPECTED[(task_id, name)][4]
    limit = source(task_id, "task")["limits"].get("words")
    if name == "fair" and limit is not None:
        assert read.words.counted <= limit


@pytest.mark.skipif(find_converter() is None, reason="pages are counted by LibreOffice")
def test_reports_with_a_limit_of_pages_keep_it():
    exercise, hiring = render_all([report(EXERCISE, "fair"), report(HIRING, "fair")])
    assert exercise.pages == 1
    assert hiring.pages == 1  # of two


@every_report
def test_report_fills_the_form(task_id, name):
    filled = docx.Document(str(report(task_id, name)))
    expert = docx.Document(str(FOLDER / "tasks" / task_id / "tests" / "golden" / "report.docx"))
    headings, form = (
        [p.text for p in document.paragraphs if p.style.name in ("Title", "Heading 1")]
        for document in (filled, expert)
    )
    assert headings == form
    expected = {TRIP: 5, HIRING: 7}
    # a letterhead instead of a title; the chart has nothing but tables
    expected |= {GUNNERY: 4, EXERCISE: 6, ROTATION: 8, PORT: 7, DEPOT: 8, BATTALION: 7, PIERS: 0, CENTER: 7}
    assert len(headings) == expected[task_id]
    assert not list(filled.element.body.iter(f"{W}showingPlcHdr", f"{W}ins", f"{W}del"))


@every_report
def test_report_shares_no_sentence_with_the_experts(task_id, name):
    tree = FOLDER / "tasks" / task_id
    form = tree / "steps/answer/workdir/attachments" / source(task_id, "golden")["template"]
    written, expert, given = (
        {
            " ".join(re.findall(r"[\w'-]+", sentence.lower()))
            for line in check_report(path).text.splitlines()
            if not line.startswith(("#", "|", "[Header]", "[Footer]"))  # the form's words, and figures
            for sentence in re.split(r"(?<=[.:;?!]) ", line)
        }
        for path in (report(task_id, name), tree / "tests" / "golden" / "report.docx", form)
    )
    given.add("memorandum for commander 7th sustainment support command")  # the addressee fills a line
    # Shorter ones are statements of fact such as "Objective SLATE was not taken."
    assert [sentence for sentence in (written & expert) - given if len(sentence.split()) > 5] == []


@every_task
def test_reports_lie_outside_of_the_tasks(task_id):
    inside = {path.name for path in (FOLDER / "tasks" / task_id).rglob("*")}
    assert not inside & {"fair.docx", "weak.docx", "hostile.docx", "labels.csv", "controls"}
    assert {path.name for path in (FOLDER / "controls" / task_id).iterdir()} == {
        *(f"{name}.{ending}" for name in ("fair", "weak", "hostile") for ending in ("docx", "yaml")),
        "labels.csv",
    }
