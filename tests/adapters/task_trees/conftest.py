"""A small task in the specification's tree, built anew for each test, so that a test can damage it."""

import io
import json
from functools import cache
from pathlib import Path

import docx
import pytest

CRITERIA = [
    {
        "criterion_id": "C1",
        "points": 3,
        "polarity": "positive",
        "criterion": "Leads with the two delayed pallets.",
        "source": "notes.docx, line 2",
        "justification": "The reader acts on it.",
    },
    {
        "criterion_id": "C2",
        "points": 2,
        "polarity": "positive",
        "criterion": "Says that the cause is not known.",
        "source": "prompt",
        "justification": "It is not known.",
    },
    {
        "criterion_id": "P1",
        "points": -2,
        "polarity": "negative",
        "criterion": "Gives a cause.",
        "source": "notes.docx, line 3",
        "justification": "Nobody has said one.",
    },
]
TOML = """\
schema_version = "1.3"

[metadata]
task_id = "memo-01"
title = "Pallet memo"
report_family = "Weekly activity reports"
setting = "Air Force"
reader = "the directorate head"
length_limit = "150 words"

[agent]
timeout_sec = 3600.0

[verifier]
timeout_sec = 5100

[environment]
cpus = 2

[[steps]]
name = "answer"
"""
INSTRUCTION = """\
You write for the directorate. The files:

- `notes.docx`
- `figures v2.xlsx`

Save /app/outputs/report.docx.

Write a memo of at most 150 words.
"""


@cache
def word_file(*paragraphs):
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


class Tree:
    """The task's folder, with short ways to change it."""

    def __init__(self, root: Path):
        self.root = root

    def write(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def edit(self, name, old, new):
        text = (self.root / name).read_text()
        assert old in text
        self.write(name, text.replace(old, new))

    def criteria(self, **changes):
        """The rubric with the first criterion changed; None takes a field out."""
        first = {key: value for key, value in {**CRITERIA[0], **changes}.items() if value is not None}
        return self.write("tests/fixtures/rubric.json", [first, *CRITERIA[1:]])


@pytest.fixture
def tree(tmp_path):
    made = Tree(tmp_path / "tasks" / "memo-01")
    made.write("task.toml", TOML)
    made.write("instruction.md", INSTRUCTION)
    made.write("environment/Dockerfile", "FROM scratch\n")
    made.write("steps/answer/instruction.md", INSTRUCTION)
    made.write("steps/answer/workdir/attachments/notes.docx", word_file("Two pallets are late."))
    made.write("steps/answer/workdir/attachments/figures v2.xlsx", b"not opened here")
    made.write("tests/test.sh", "exit 1\n")
    made.write("tests/fixtures/rubric.json", {"criteria": CRITERIA})
    made.write(
        "tests/fixtures/config.json",
        {
            "prompt": "Write a memo of at most 150 words.",
            "grading_guidance": "Be strict.",
            "judge": {"model": "m", "effort": "medium"},
        },
    )
    made.write("tests/golden/report.docx", word_file("Two pallets are delayed; the cause is not known."))
    made.write("solution/solve.sh", "cp golden /app/outputs/report.docx\n")
    return made
