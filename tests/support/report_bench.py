"""A small project of report tasks, and ways to run it within the test's process."""

import asyncio
import io
import json
import shutil
from functools import cache

import docx
import pyarrow.parquet as pq

from flows.adapters.config.compose import compose_points
from flows.adapters.pages import Rendered
from flows.adapters.screen import Screen
from flows.pipeline.evaluate import flow as evaluate
from flows.pipeline.evaluate.flow import run_points
from flows.pipeline.native import renders
from flows.pipeline.orchestration.work import StageResult
from tests.support.bench import Project
from tests.support.plain_flow import without_prefect

CLOSED = {"memo-01": "Route Amber", "memo-02": "Route Birch"}
POINTS = {"C1": 3, "C2": 2, "P1": -2, "P2": -4}
"""Of the criteria of each task: five points can be earned, six can be lost."""
NO_OFFICE = {"PATH": "/nowhere"}
"""Environment of a process that finds no LibreOffice."""

TOML = """\
schema_version = "1.4"

[metadata]
title = "Closure of {route}"
report_family = "Weekly activity reports"
setting = "Army"
reader = "the commander"
length_limit = "20 words"
synthetic = true
licence = "CC-BY-4.0"

[[steps]]
name = "answer"
"""
INSTRUCTION = """\
Read the files in /app/attachments/ and save /app/outputs/report.docx:

- `notes.txt`
- `form.docx`

Say in at most 20 words whether {route} is closed.
"""


@cache
def a_report(*paragraphs):
    """A Word file of these paragraphs."""
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def expert(name):
    """The expert's report: 12 words."""
    return f"{CLOSED[name]} is closed until 21 May. The cause is not known."


def rubric(route):
    """Two required criteria and two penalties; what of it a judge must not see is marked."""

    def criterion(item_id, text):
        polarity = "positive" if POINTS[item_id] > 0 else "negative"
        return {
            "criterion_id": item_id,
            "points": POINTS[item_id],
            "polarity": polarity,
            "criterion": text,
            "source": "notes.txt: SOURCE-MARK",
            "justification": "JUSTIFICATION-MARK",
        }

    return {
        "criteria": [
            criterion("C1", f"Says that {route} is closed until 21 May."),
            criterion("C2", "Says that the cause is not known."),
            criterion("P1", "Names a cause."),
            criterion("P2", "Says that another route is closed."),
        ]
    }


def write_task(folder, name):
    """A task's tree in `folder`."""
    route = CLOSED[name]
    files = {
        "task.toml": TOML.format(route=route),
        "instruction.md": INSTRUCTION.format(route=route),
        "environment/Dockerfile": "FROM scratch\n",
        "steps/answer/instruction.md": INSTRUCTION.format(route=route),
        "steps/answer/workdir/attachments/notes.txt": f"{route} is closed until 21 May. Nobody knows why.\n",
        "steps/answer/workdir/attachments/form.docx": a_report("[Bottom line]", "End of report"),
        "tests/test.sh": "exit 1\n",
        "tests/fixtures/rubric.json": json.dumps(rubric(route)),
        "tests/fixtures/config.json": json.dumps({"grading_guidance": "GUIDANCE-MARK"}),
        "tests/golden/report.docx": a_report(expert(name)),
        "solution/solve.sh": "cp /tests/golden/report.docx /app/outputs/report.docx\n",
    }
    for path, content in files.items():
        target = folder / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def write_controls(folder, name):
    """Labelled reports: a fair one that meets one criterion, a weak one that meets none and names a cause."""
    (folder / name).mkdir(parents=True)
    (folder / name / "fair.docx").write_bytes(a_report(f"{CLOSED[name]} is closed until 21 May."))
    weak = "The bridge is under repair. A landslide is the cause."
    (folder / name / "weak.docx").write_bytes(a_report(weak))
    labels = "criterion_id,weak,fair\nC1,fail,pass\nC2,fail,fail\nP1,fail,pass\nP2,pass,pass\n"
    (folder / name / "labels.csv").write_text(labels, encoding="utf-8")


class ReportProject(Project):
    """A project with two report tasks, beside the two scenarios of MA-Bench."""

    def __init__(self, folder, conf, environment):
        super().__init__(folder, conf, environment)
        self.tasks = folder / "data" / "mission_report" / "tasks"
        self.own = self.results / "mission_report"
        for name in CLOSED:
            write_task(self.tasks, name)
            write_controls(folder / "data" / "mission_report" / "controls", name)

    def board(self, name="leaderboard"):
        return json.loads((self.own / f"{name}.json").read_text())["rows"]

    def rows(self, kind, condition=""):
        """Rows of every table of a kind whose file's path holds `condition`."""
        found = []
        for path in sorted((self.own / kind).rglob("*.parquet")):
            if condition in str(path.relative_to(self.own)):
                found += pq.read_table(path).to_pylist()
        return found

    def tables(self):
        """Bytes of everything that a run writes whole: Parquet tables and boards, by path."""
        return {
            path.relative_to(self.own): path.read_bytes()
            for path in sorted(self.own.rglob("*"))
            if path.suffix in (".parquet", ".json", ".csv", ".md", ".html", ".svg")
            and not path.is_relative_to(self.own / "renders")
        }

    def forget(self):
        """Delete everything that is said to be disposable."""
        shutil.rmtree(self.results / ".cache")


PAGE = b"a picture of the first page"
"""What a page looks like where nothing is drawn."""


def project_here(folder, conf, monkeypatch):
    """A project to run in this process, without Prefect, where every report has one page."""
    without_prefect(monkeypatch)
    monkeypatch.setattr(
        renders, "render", lambda path, *, images=0: Rendered(1, (PAGE,)[:images], None, "Office")
    )
    return ReportProject(folder, conf, {})


def with_memory(monkeypatch):
    """Let a stage that an earlier run made be skipped, as Prefect would; call after `project_here`.

    Returns:
        The names of the stages that were made, in order: to be looked at and cleared between runs.
    """
    memory: dict = {}
    made: list[str] = []

    async def run_cached(objects, name, work, names=()):
        kept = memory.get(work.key)
        if kept is not None and work.is_final(kept):
            return StageResult(kept, objects.put(work.stage, work.key, kept), skipped=True)
        made.append(work.stage)
        memory[work.key] = value = json.loads(json.dumps(await work.make()))
        return StageResult(value, objects.put(work.stage, work.key, value), skipped=False)

    async def show_nothing(name, skipped):
        await asyncio.sleep(0)

    monkeypatch.setattr(evaluate, "run_cached", run_cached)
    monkeypatch.setattr(evaluate, "show_skipped", show_nothing)
    return made


def sweep_here(folder, *overrides):
    """The exit code of `staffbench run -m OVERRIDES`, in this process."""
    points = compose_points(folder, ["tracking=none", *overrides], multirun=True)
    return run_points(folder, points, server=None, screen=Screen())
