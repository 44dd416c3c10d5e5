"""The trees of sb-war-02, sb-war-08 and sb-aar-01, file by file; what all ten tasks have in common."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import docx
import pdfplumber
import pytest

from flows.pipeline.inputs.submission_check import check_report
from tests.support.report_tasks import FOLDER, W, golden, rubric, source, squeeze, text, tree

TRIP, GUNNERY, EXERCISE = "sb-war-02", "sb-war-08", "sb-aar-01"
# title, family, setting, reader, length limit as the specification's table gives them; then counts:
# source files, criteria, penalties, positive points, penalty points
ORDERED = {
    TRIP: (
        "Staff trip entry for a mobility command",
        "Weekly activity reports",
        "Air Force",
        "the directorate head and the command's commander",
        "200 words",
        (1, 23, 4, 33, -5),
    ),
    GUNNERY: (
        "Division gunnery qualification weekly activity report",
        "Weekly activity reports",
        "Army",
        "a deputy commanding general",
        "150 words",
        (10, 18, 2, 29, -3),
    ),
    EXERCISE: (
        "Wing emergency operations exercise after-action report",
        "After-action reports",
        "Air Force",
        "a wing commander",
        "one full page",
        (15, 16, 3, 25, -4),
    ),
}
every_task = pytest.mark.parametrize("task_id", ORDERED)


def attachments(task_id):
    return tree(task_id) / "steps" / "answer" / "workdir" / "attachments"


def config(task_id):
    return json.loads((tree(task_id) / "tests/fixtures/config.json").read_text(encoding="utf-8"))


def build(folder, *arguments):
    command = [sys.executable, str(folder / "build_tasks.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_committed_trees_match_their_sources():
    done = build(FOLDER, "--check", *ORDERED)
    assert done.stdout.splitlines() == [f"{task_id}: the tree matches its sources" for task_id in ORDERED]
    assert done.returncode == 0


@pytest.fixture
def copied(tmp_path):
    """The folder with the task TRIP alone."""
    copy = tmp_path / "data" / "mission_report"
    copy.mkdir(parents=True)
    shutil.copytree(FOLDER.parent / "builders", tmp_path / "data" / "builders")
    for script in FOLDER.glob("*.py"):
        shutil.copy(script, copy)
    for part in ("sources", "tasks"):
        shutil.copytree(FOLDER / part / TRIP, copy / part / TRIP)
    return copy


def test_check_names_what_differs_is_missing_or_has_no_source(copied):
    root = copied / "tasks" / TRIP
    with (root / "instruction.md").open("a", encoding="utf-8") as file:
        file.write("And hurry.\n")
    (root / "tests/test.sh").unlink()
    (root / "notes.txt").write_text("stray", encoding="utf-8")
    done = build(copied, "--check")
    assert done.stdout.splitlines() == [
        f"tasks/{TRIP}/instruction.md: differs from its source",
        f"tasks/{TRIP}/notes.txt: has no source",
        f"tasks/{TRIP}/tests/test.sh: missing",
    ]
    assert done.returncode == 1


def test_a_control_left_empty_is_an_error(copied):
    source = copied / "sources" / TRIP / "golden.yaml"
    whole = source.read_text(encoding="utf-8")
    source.write_text(whole.replace("  office: A4 Readiness\n", ""), encoding="utf-8")
    done = build(copied)
    assert (done.returncode, done.stdout) == (1, f"{source}: controls left empty: office\n")


def test_an_open_marker_is_an_error(copied):
    source = copied / "sources" / TRIP / "attachments" / "01-trip-file.docx.form"
    with source.open("a", encoding="utf-8") as file:
        file.write("\nAn {++open marker.\n")
    done = build(copied)
    assert done.stdout == f"{source}: a marker spans formatting or is not closed: An {{++open marker.\n"
    assert done.returncode == 1


@every_task
def test_the_tree_has_the_specifications_files_and_no_others(task_id):
    found = {str(path.relative_to(tree(task_id))) for path in tree(task_id).rglob("*") if path.is_file()}
    given = {f"steps/answer/workdir/attachments/{path.name}" for path in attachments(task_id).iterdir()}
    assert found - given == {
        *("task.toml", "instruction.md", "environment/Dockerfile", "steps/answer/instruction.md"),
        *("tests/test.sh", "tests/fixtures/rubric.json", "tests/fixtures/config.json"),
        *("tests/golden/report.docx", "solution/solve.sh", "tests/agent_judge.py"),
        *("tests/report_text.py", "tests/fixtures/judge.json"),  # what the script reads; ours
    }
    assert all(os.access(tree(task_id) / name, os.X_OK) for name in ("tests/test.sh", "solution/solve.sh"))


@every_task
def test_task_toml_says_what_was_ordered(task_id):
    settings = tomllib.loads((tree(task_id) / "task.toml").read_text(encoding="utf-8"))
    facts = settings["metadata"]
    keys = ("title", "report_family", "setting", "reader", "length_limit")
    assert tuple(facts[key] for key in keys) == ORDERED[task_id][:5]
    assert (facts["task_id"], facts["synthetic"], facts["licence"]) == (task_id, True, "CC-BY-4.0")
    assert (settings["agent"]["timeout_sec"], settings["verifier"]["timeout_sec"]) == (3600.0, 5100.0)
    assert settings["steps"] == [{"name": "answer"}]
    assert settings["artifacts"] == ["/app/outputs/report.docx"]
    assert settings["metadata"]["judge"] == config(task_id)["judge"]


@every_task
def test_counts_and_points_are_as_ordered_and_polarity_agrees_with_the_sign(task_id):
    criteria = rubric(task_id)
    required = [entry["points"] for entry in criteria if entry["polarity"] == "positive"]
    penalties = [entry["points"] for entry in criteria if entry["polarity"] == "negative"]
    files = len(list(attachments(task_id).iterdir()))
    totals = (files, len(criteria), len(penalties), sum(required), sum(penalties))
    print(f"{task_id}: files, criteria, penalties, points, penalty points: {totals}")  # noqa: T201 -- shown with -s
    assert totals == ORDERED[task_id][5]
    assert set(required) == {1, 2, 3}
    assert set(penalties) <= {-1, -2, -3}
    assert len(required) + len(penalties) == len(criteria)
    assert len({entry["criterion_id"] for entry in criteria}) == len(criteria)
    assert len({entry["criterion"] for entry in criteria}) == len(criteria)


def test_the_five_tasks_with_published_ids_have_the_published_points():
    """The specification gives 83 required criteria worth 155 points and 14 penalties worth 20."""
    points = [
        entry["points"]
        for task_id in (TRIP, GUNNERY, EXERCISE, "sb-aar-04", "sb-psr-01")
        for entry in rubric(task_id)
    ]
    required, penalties = [p for p in points if p > 0], [p for p in points if p < 0]
    assert (len(required), sum(required), len(penalties), sum(penalties)) == (83, 155, 14, -20)


def test_ten_tasks_over_six_families():
    families = {}
    for task in FOLDER.glob("tasks/*/task.toml"):
        facts = tomllib.loads(task.read_text(encoding="utf-8"))["metadata"]
        families.setdefault(facts["report_family"], []).append(facts["task_id"])
    assert {family: len(tasks) for family, tasks in families.items()} == {
        "Weekly activity reports": 2,
        "After-action reports": 2,
        "Program status reports": 2,
        "Performance and accomplishment reports": 2,
        "Situation reports": 1,
        "Inspection reports": 1,
    }


def test_no_expert_writes_contractions():
    found = {}
    for path in FOLDER.glob("tasks/*/tests/golden/report.docx"):
        words = re.findall(r"\b\w+(?:n['\u2019]t|['\u2019](?:re|ve|ll|d))\b|\b[Ii]t['\u2019]s\b", text(path))
        found[path.parents[2].name] = words
    assert len(found) == 10
    assert {task_id: words for task_id, words in found.items() if words} == {}


@every_task
def test_every_criterion_rests_on_a_line_of_a_named_file(task_id):
    texts = {path.name: text(path) for path in attachments(task_id).iterdir()}
    texts["prompt"] = squeeze(config(task_id)["prompt"])
    sources = source(task_id, "rubric")
    places = [(entry["criterion_id"], place) for entry in sources for place in entry["source"]]
    assert {place["file"] for _, place in places} <= texts.keys()
    lost = [(name, place) for name, place in places if squeeze(place["line"]) not in texts[place["file"]]]
    assert lost == []
    assert [entry["source"] for entry in rubric(task_id)] == [
        "; ".join(f"{place['file']}: “{place['line']}”" for place in entry["source"]) for entry in sources
    ]


@every_task
def test_instruction_is_the_same_in_both_places_and_lists_every_attachment(task_id):
    instruction = (tree(task_id) / "instruction.md").read_text(encoding="utf-8")
    assert (tree(task_id) / "steps/answer/instruction.md").read_text(encoding="utf-8") == instruction
    assert re.findall(r"^- `(.+)`$", instruction, re.MULTILINE) == sorted(
        path.name for path in attachments(task_id).iterdir()
    )
    assert config(task_id)["prompt"] in instruction
    assert "/app/outputs/report.docx" in instruction
    # The agent sees the instruction: nothing of the rubric may stand in it.
    assert config(task_id)["grading_guidance"][:60] not in instruction


@every_task
def test_report_fills_the_template(task_id):
    report = docx.Document(str(golden(task_id)))
    template = docx.Document(str(min(attachments(task_id).iterdir())))
    headings = [p.text for p in report.paragraphs if p.style.name in ("Title", "Heading 1")]
    form = [p.text for p in template.paragraphs if p.style.name in ("Title", "Heading 1")]
    assert headings == [name for name in form if not name.startswith("Notes for the entry")]
    assert len(headings) == {TRIP: 5, GUNNERY: 4, EXERCISE: 6}[task_id]  # two have a letterhead, not a title
    first_rows = [[cell.text for cell in table.rows[0].cells] for table in report.tables]
    assert first_rows == [[cell.text for cell in t.rows[0].cells] for t in template.tables][: len(first_rows)]
    controls = list(report.element.body.iter(f"{W}sdt"))
    assert len(controls) >= {TRIP: 13, GUNNERY: 19, EXERCISE: 46}[task_id]
    assert not list(report.element.body.iter(f"{W}showingPlcHdr", f"{W}ins", f"{W}del"))
    numbers = [control.find(f"{W}sdtPr/{W}id").get(f"{W}val") for control in controls]
    assert len(set(numbers)) == len(numbers)
    assert list(report.comments) == []


@every_task
def test_report_keeps_its_limit_of_words(task_id):
    limits = source(task_id, "task")["limits"]
    words = check_report(golden(task_id)).words.counted
    assert words == {TRIP: 186, GUNNERY: 138, EXERCISE: 453}[task_id]
    assert words <= limits.get("words", 500)


@pytest.mark.skipif(shutil.which("soffice") is None, reason="pages are counted by LibreOffice")
def test_exercise_report_is_one_full_page(tmp_path):
    profile = (tmp_path / "profile").as_uri()
    command = ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", "pdf"]
    subprocess.run([*command, "--outdir", tmp_path, golden(EXERCISE)], check=True, capture_output=True)
    with pdfplumber.open(tmp_path / "report.pdf") as pdf:
        assert len(pdf.pages) == 1
        page = pdf.pages[0]
        above_footer = [word["bottom"] for word in page.extract_words() if word["bottom"] < page.height - 60]
        assert max(above_footer) > 0.85 * page.height


@every_task
def test_oracle_carries_the_report(task_id):
    script = (tree(task_id) / "solution/solve.sh").read_text(encoding="utf-8")
    carried = re.search(r"<< 'REPORT'\n(.+)\nREPORT\n", script, re.DOTALL)[1]
    assert base64.b64decode(carried) == golden(task_id).read_bytes()
    assert "> /app/outputs/report.docx" in script


def test_verifier_calls_staffbench_where_it_is_there_and_else_the_script_beside_it(tmp_path):
    script = tree(TRIP) / "tests" / "test.sh"
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "dirname"):
        (tools / name).symlink_to(shutil.which(name))
    (tools / "python3").write_text('#!/bin/bash\necho "python $@"\n', encoding="utf-8")
    (tools / "python3").chmod(0o755)
    run = {"env": {"PATH": str(tools)}, "capture_output": True, "text": True}
    done = subprocess.run([str(tools / "bash"), script], **run, check=False)
    assert done.stdout == f"python -B -E -s {script.parent}/agent_judge.py /app/outputs/report.docx\n"
    (tools / "staffbench").write_text('#!/bin/bash\necho "$@"\n', encoding="utf-8")
    (tools / "staffbench").chmod(0o755)
    done = subprocess.run([str(tools / "bash"), script], **run, check=False)
    assert done.stdout == f"harbor verify /app/outputs/report.docx --task {script.parent}\n"
