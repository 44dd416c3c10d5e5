"""The shipped report tasks: their folders, sources and texts."""

import csv
import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import docx
import openpyxl
import yaml

from flows.pipeline.inputs.submission_check import check_report
from flows.readers import read_document

FOLDER = Path(__file__).parents[2] / "data" / "mission_report"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def tree(task_id):
    return FOLDER / "tasks" / task_id


def attachment(task_id, name):
    return tree(task_id) / "steps" / "answer" / "workdir" / "attachments" / name


def rows(task_id, name, sheet, first, last=None):
    """The values of a workbook's rows, from the first wanted on."""
    book = openpyxl.load_workbook(attachment(task_id, name), data_only=True)
    return list(book[sheet].iter_rows(first, last, values_only=True))


def golden(task_id):
    return tree(task_id) / "tests" / "golden" / "report.docx"


def source(task_id, name):
    return yaml.safe_load((FOLDER / "sources" / task_id / f"{name}.yaml").read_text(encoding="utf-8"))


def squeeze(text):
    return re.sub(r"\s+", " ", text)


@cache
def whole(path):
    """The text of a file, read once: a manual takes many seconds."""
    return read_document(path).text


@cache
def text(path):
    return squeeze(whole(path))


def lines(task_id, name):
    """Rows of a CSV file whose first line is a banner."""
    content = attachment(task_id, name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(content[1:]))


def sheet_rows(task_id, name, sheet):
    """Rows of a sheet below its banner and its head, without those whose second cell is empty."""
    book = openpyxl.load_workbook(attachment(task_id, name), data_only=True)
    return [row for row in book[sheet].iter_rows(3, values_only=True) if row[1] is not None]


def build_check(task_id):
    """Exit code and output of the builder that compares the tree with its sources."""
    command = [sys.executable, str(FOLDER / "build_tasks.py"), "--check", task_id]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def rubric(task_id):
    """The criteria that the verifier reads."""
    return json.loads((tree(task_id) / "tests/fixtures/rubric.json").read_text(encoding="utf-8"))["criteria"]


def criterion_points(task_id):
    criteria = rubric(task_id)
    assert len({entry["criterion"] for entry in criteria}) == len(criteria)
    return [entry["points"] for entry in criteria]


def ordered(task_id):
    """Family, setting, length limit; source files, criteria, penalties, points, penalty points."""
    facts = tomllib.loads((tree(task_id) / "task.toml").read_text(encoding="utf-8"))["metadata"]
    points = criterion_points(task_id)
    required, penalties = [p for p in points if p > 0], [p for p in points if p < 0]
    files = len(list(attachment(task_id, "").iterdir()))
    counts = (files, len(points), len(penalties), sum(required), sum(penalties))
    return (*(facts[key] for key in ("report_family", "setting", "length_limit")), counts)


def unsupported(task_id):
    """Criteria whose line is not in the file that they name, and criteria that name none."""
    prompt = source(task_id, "task")["prompt"]

    def place_text(name):
        return squeeze(prompt) if name == "prompt" else text(attachment(task_id, name))

    criteria = source(task_id, "rubric")
    return [entry["criterion_id"] for entry in criteria if not entry["source"]] + [
        (entry["criterion_id"], place)
        for entry in criteria
        for place in entry["source"]
        if squeeze(place["line"]) not in place_text(place["file"])
    ]


def unmarked(task_id):
    """Names of the files that do not say that they are synthetic."""
    return [path.name for path in attachment(task_id, "").iterdir() if "SYNTHETIC" not in text(path)]


def assert_form_filled(task_id, form):
    """Headings of the report, which fills every field, keeps the form's tables and its limit of words."""
    report = check_report(golden(task_id))
    assert report.notices == ()
    limit = source(task_id, "task")["limits"]["words"]
    assert 0.7 * limit < report.words.counted <= limit
    blank, filled = (docx.Document(str(path)) for path in (attachment(task_id, form), golden(task_id)))
    fixed, headings = (
        [p.text for p in document.paragraphs if p.style.name == "Heading 1"] for document in (blank, filled)
    )
    assert headings == fixed
    assert [len(t.columns) for t in filled.tables] == [len(t.columns) for t in blank.tables]
    assert not list(filled.element.body.iter(f"{W}showingPlcHdr"))
    return headings
