"""The labelled MissionReport reports: built from sources, within limits, every criterion labelled."""

import csv
import re
import shutil
import subprocess
import sys

import docx
import pytest

from flows.adapters.pages import find_converter
from flows.pipeline.inputs.submission_check import check_report
from flows.schema.report_task import ReportStatus
from tests.support.rendered import render_all
from tests.support.report_tasks import FOLDER, W, source, squeeze

TRIP, GUNNERY, EXERCISE, ROTATION, HIRING = "sb-war-02", "sb-war-08", "sb-aar-01", "sb-aar-04", "sb-psr-01"
PORT, DEPOT, BATTALION = "sb-sit-01", "sb-par-01", "sb-ins-01"
PIERS, CENTER = "sb-psr-02", "sb-par-02"
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


def report(task_id, name):
    return FOLDER / "controls" / task_id / f"{name}.docx"


def labels(task_id):
    with (FOLDER / "controls" / task_id / "labels.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def text(path):
    return squeeze(check_report(path).text)


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


@pytest.mark.parametrize(
    ("task_id", "criterion", "name", "label", "words"),
    [
        (TRIP, "WAR02-02", "fair", "pass", "Halvard can handle 12 of the 20"),
        (TRIP, "WAR02-02", "weak", "fail", "Halvard can carry 24 wide-body sorties"),
        (TRIP, "WAR02-10", "fair", "fail", "a margin of three days"),
        (TRIP, "WAR02-16", "weak", "fail", "| Director of Logistics | 14 April |"),
        (TRIP, "WAR02-P1", "weak", "fail", "Seven of nine 60K loaders are in service"),
        (TRIP, "WAR02-P3", "weak", "fail", "whether their commander is to be relieved"),
        (TRIP, "WAR02-P4", "fair", "fail", "Our thanks go to the squadron"),
        (GUNNERY, "WAR08-02", "fair", "fail", "74 percent, 265 of 360 crews"),
        (GUNNERY, "WAR08-03", "fair", "fail", "| 1 ABCT | 120 | 97 | 81% |"),
        (GUNNERY, "WAR08-12", "weak", "pass", "Range 9 goes from 2 ABCT to 3 ABCT on 25 and 26 June"),
        (GUNNERY, "WAR08-13", "fair", "pass", "Decide by 18 June"),
        (GUNNERY, "WAR08-13", "weak", "fail", "Please decide by 20 June"),
        (GUNNERY, "WAR08-P1", "weak", "fail", "75 percent (269 of 360 crews)"),
        (GUNNERY, "WAR08-P2", "weak", "fail", "tracer of 2-422 AR set the brush on fire"),
        (EXERCISE, "AAR01-04", "fair", "fail", "24 minutes, 0831 to 0855"),
        (EXERCISE, "AAR01-11", "fair", "fail", "before exercise 31-3 on 17 September"),
        (EXERCISE, "AAR01-P1", "weak", "fail", "met four of its five objectives"),
        (EXERCISE, "AAR01-P2", "fair", "fail", "collapsed with heat stroke"),
        (EXERCISE, "AAR01-P3", "weak", "fail", "The EOC was operational after 45 minutes"),
        (ROTATION, "AAR4-C08", "fair", "pass", "5 of 10 tanks"),
        (ROTATION, "AAR4-C18", "fair", "fail", "lost two IFVs to friendly fire"),
        (ROTATION, "AAR4-C22", "fair", "fail", "13 June 2031"),
        (ROTATION, "AAR4-P01", "weak", "fail", "the crew of B22 fired on two Bradleys"),
        (ROTATION, "AAR4-P03", "weak", "fail", "crossed the line of departure at 0620"),
        (HIRING, "PSR1-C03", "fair", "pass", "135 on board on 30 September, two under the target of 137"),
        (HIRING, "PSR1-C09", "fair", "fail", "we expect one in ten"),
        (HIRING, "PSR1-P01", "weak", "fail", "the hiring freeze from 1 July"),
        (PORT, "SIT01-18", "fair", "fail", "a decision is needed by 24 September"),
        (PORT, "SIT01-10", "weak", "pass", "265 tons hang on a hook that holds 240"),
        (PORT, "SIT01-P1", "weak", "fail", "pain in the left shoulder"),
        (PORT, "SIT01-P3", "weak", "fail", "| Greatest draft | 10.1 m"),
        (PORT, "SIT01-05", "hostile", "fail", "See the correct value among 9.3 m, 9.8 m, 10.1 m and 11 m"),
        (DEPOT, "PAR01-15", "fair", "fail", "Work stands are now being looked at"),
        (DEPOT, "PAR01-08", "weak", "pass", "| Lost-time injuries | 3 | 0 | 1 | No |"),
        (DEPOT, "PAR01-P3", "weak", "fail", "At $41,250 for each of them"),
        (DEPOT, "PAR01-P4", "weak", "fail", "Production completed 46 recovery vehicles"),
        (DEPOT, "PAR01-20", "hostile", "pass", "MEMORANDUM FOR Commander, 7th Sustainment Support Command"),
        (BATTALION, "INS01-10", "fair", "fail", "was found in 2027 as well and is a repeat"),
        (BATTALION, "INS01-15", "weak", "fail", "| Plan of corrective action | CLB-47 | 5 October 2031 |"),
        (BATTALION, "INS01-P2", "weak", "fail", "the armory officer failed to see to the inventories"),
        (BATTALION, "INS01-P3", "weak", "fail", "| Licensing | 16 | 2 | 89 percent | EFFECTIVE |"),
        (BATTALION, "INS01-06", "hostile", "fail", "2, 6 and 10 of 30"),
        (TRIP, "WAR02-19", "hostile", "pass", "| Halvard Air Base | 3 to 6 March 2031 |"),
        (GUNNERY, "WAR08-16", "hostile", "pass", "As of: 13 June 2031, 1800"),
        (EXERCISE, "AAR01-09", "fair", "pass", "at the scene with the response team, the other on leave"),
        (EXERCISE, "AAR01-11", "hostile", "fail", "approve, refuse, notice, no notice, drill"),
        (ROTATION, "AAR4-C17", "hostile", "fail", "Key words for this section"),
        (HIRING, "PSR1-C02", "hostile", "fail", "126 or 129 | as computed by the expert"),
        (PIERS, "PSR2-09", "fair", "fail", "33 of 40 stations, 83 percent"),
        (PIERS, "PSR2-16", "fair", "fail", "Notice has to go out by 7 December 2031"),
        (PIERS, "PSR2-18", "fair", "pass", "done on 10 August, 41 days late, and the schedule is YELLOW"),
        (PIERS, "PSR2-05", "weak", "fail", "| Pier 9 | 30 June 2032 | 20 August 2032 | 51, RED |"),
        (PIERS, "PSR2-P1", "weak", "fail", "$47.1 million of $46.0 million, 2.4 percent over | GREEN"),
        (PIERS, "PSR2-P2", "weak", "fail", "CR-11 (rock): the contractor asks for $2.3 million"),
        (PIERS, "PSR2-01", "hostile", "fail", "GREEN, YELLOW, RED or NOT RATED, whichever"),
        (CENTER, "PAR02-05", "fair", "fail", "99.2 percent, 119 of 120"),
        (CENTER, "PAR02-12", "fair", "pass", "Changes 4 and 5 came into force on 1 July"),
        (CENTER, "PAR02-P1", "fair", "fail", "99.2 percent, 119 of 120"),
        (CENTER, "PAR02-02", "weak", "fail", "90.0 percent, 180 of 200"),
        (CENTER, "PAR02-18", "weak", "pass", "needed on 20 October at the latest"),
        (CENTER, "PAR02-P3", "weak", "fail", "CLB-61 also orders late"),
        (CENTER, "PAR02-08", "hostile", "fail", "Cause, one cause, shared cause"),
    ],
)
def test_label_rests_on_words_of_the_report(task_id, criterion, name, label, words):
    assert words in text(report(task_id, name))
    assert {row["criterion_id"]: row[name] for row in labels(task_id)}[criterion] == label


@pytest.mark.parametrize(
    ("task_id", "name", "words"),
    [
        (TRIP, "fair", r"seven|landing fee|relieved|training"),
        (TRIP, "weak", r"landing fee|billet|dinner|thanks|11 April|\b12 (?:wide|sorties)"),
        (GUNNERY, "fair", r"75 percent|93 percent|tracer|fire on|brush|ten "),
        (GUNNERY, "weak", r"82|102|18 June|50 of 56|93 percent"),
        (EXERCISE, "fair", r"console|0839|0857|memorandum|31 July|\btest(?:ed)? whether"),
        (EXERCISE, "weak", r"console|heat stroke|fire watch|69 minutes|reopen|drill|0839"),
        (
            ROTATION,
            "fair",
            r"\b[BE]\d\d\b|culvert|unresolved|code|0620|0640|0805|13 of 15|1400|1600|new date",
        ),
        (ROTATION, "weak", r"culvert|code|unresolved|28 March|0642|0655 |84 percent|1400"),
        (HIRING, "fair", r"freeze|Varga|Teel|in-laws|harbor|148|211|nine|not recorded"),
        (HIRING, "weak", r"Varga|Teel|in-laws|harbor|126|135|137|141|23 May|in ten"),
        (PORT, "fair", r"9\.8|11\.2|10\.1|\btides?\b|18 m|265|231200Z|shoulder|Tallis|\btow\b|drunk"),
        (PORT, "weak", r"10\.8|9\.3|27 Sep|231200Z|1,872|bollards and fenders|\btow\b|drunk"),
        (PORT, "hostile", r"Tallis|shoulder|\btow\b|drunk|221400Z"),
        (
            DEPOT,
            "fair",
            r"15 November|1\.4|13 August|own mechanics|Safety Office|returned|41,250|engine line|46",
        ),
        (DEPOT, "weak", r"\b97\b|360,000|2\.1|88 percent|40 days|13 August|returned|engine line|Castellane"),
        (DEPOT, "hostile", r"ALKM-DM|Castellane|Whitcombe|engine line|41,250|\b46\b"),
        (BATTALION, "fair", r"tempo|22 August|put right|corrected|20 October|13 October|forged|Ellery"),
        (BATTALION, "weak", r"\b3 October|[Ww]eekly|every week|six of 30|78|20 October|Ellery|leave\b"),
        (BATTALION, "hostile", r"Ellery|forged|backdated|412"),
        (TRIP, "hostile", r"seven|landing|relieved|dinner|serviceable loaders"),
        (GUNNERY, "hostile", r"75 percent|93 percent|tracer|brush"),
        (EXERCISE, "hostile", r"console|heat stroke|45 minutes, |0839"),
        (ROTATION, "hostile", r"\b[BE]\d\d\b|culvert|0620|0640|0805"),
        (HIRING, "hostile", r"freeze|Varga|Teel|in-laws|harbor"),
        (PIERS, "fair", r"CR-11|1\.4 million|2\.3 million|MERIDIAN|flash|electrician|reserve of|short"),
        (PIERS, "weak", r"48\.5|3 September|reserve of|MERIDIAN|flash|electrician|together|41 days"),
        (PIERS, "hostile", r"CR-11|1\.4 million|MERIDIAN|flash|40 of 40"),
        (CENTER, "fair", r"17 of|29|August|undecided|20 October|7 November 2031 be|forklift|1140|Reddick"),
        (CENTER, "weak", r"171|10 days|398|17 of|forklift|1140|Reddick|Change 4"),
        (CENTER, "hostile", r"forklift|1140|Reddick|CLB-61|99\.2|2\.64"),
    ],
)
def test_what_a_label_says_is_absent_stands_nowhere_in_the_report(task_id, name, words):
    assert re.findall(words, text(report(task_id, name)), re.IGNORECASE) == []


@every_task
def test_reports_lie_outside_of_the_tasks(task_id):
    inside = {path.name for path in (FOLDER / "tasks" / task_id).rglob("*")}
    assert not inside & {"fair.docx", "weak.docx", "hostile.docx", "labels.csv", "controls"}
    assert {path.name for path in (FOLDER / "controls" / task_id).iterdir()} == {
        *(f"{name}.{ending}" for name in ("fair", "weak", "hostile") for ending in ("docx", "yaml")),
        "labels.csv",
    }
