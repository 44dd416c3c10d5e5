"""The shipped report tasks: their folders, sources and texts."""

import csv
import re
from functools import cache
from pathlib import Path

import yaml

from flows.readers import read_document

FOLDER = Path(__file__).parents[2] / "data" / "mission_report"


def tree(task_id):
    return FOLDER / "tasks" / task_id


def attachment(task_id, name):
    return tree(task_id) / "steps" / "answer" / "workdir" / "attachments" / name


def golden(task_id):
    return tree(task_id) / "tests" / "golden" / "report.docx"


def source(task_id, name):
    return yaml.safe_load((FOLDER / "sources" / task_id / f"{name}.yaml").read_text(encoding="utf-8"))


def squeeze(text):
    return re.sub(r"\s+", " ", text)


@cache
def text(path):
    return squeeze(read_document(path).text)


def lines(task_id, name):
    """Rows of a CSV file whose first line is a banner."""
    content = attachment(task_id, name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(content[1:]))
