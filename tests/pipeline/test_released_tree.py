"""A release written from the specification's text: trees, and an index that alone has the labels."""

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.common.errors import StaffbenchError
from flows.pipeline.commands.report import report as write_report
from flows.pipeline.commands.validate import validate
from tests.support.plain_flow import run_here
from tests.support.report_bench import (
    CLOSED,
    INSTRUCTION,
    POINTS,
    a_report,
    expert,
    project_here,
    rubric,
)

MEANS = {"memo-01": 60.9, "memo-02": 40.5}
TOML = """\
version = "1.0"

[metadata]
difficulty = "hard"

[agent]
timeout_sec = 3600.0

[verifier]
timeout_sec = 5100.0

[[steps]]
name = "answer"
"""


def release(root):
    """`tasks/` and `data/` as a release has them; every label and mean is in the index only."""
    (root / "data").mkdir(parents=True)
    for number, (name, route) in enumerate(CLOSED.items()):
        criteria = rubric(route)["criteria"]
        task = f"tasks/{name}"
        attachments = [
            f"{task}/steps/answer/workdir/attachments/{each}" for each in ("form.docx", "notes.txt")
        ]
        prompt = f"Say in at most 20 words whether {route} is closed."
        files = {
            "task.toml": TOML,
            "instruction.md": INSTRUCTION.format(route=route),
            "environment/Dockerfile": "FROM python:3.12\nWORKDIR /app\n",
            "steps/answer/instruction.md": INSTRUCTION.format(route=route),
            "steps/answer/workdir/attachments/notes.txt": f"{route} is closed until 21 May.\n",
            "steps/answer/workdir/attachments/form.docx": a_report("[Bottom line]"),
            "tests/test.sh": "#!/bin/bash\nexit 1\n",
            "tests/agent_judge.py": "raise SystemExit(1)\n",
            "tests/fixtures/rubric.json": json.dumps([{**each, "hint": "new"} for each in criteria]),
            "tests/fixtures/config.json": json.dumps(
                {
                    "prompt": prompt,
                    "rubric": json.dumps(criteria),
                    "grading_guidance": "GUIDANCE-MARK",
                    "judge": {"model": "claude-opus-5.5", "effort": "medium"},
                }
            ),
            "tests/golden/report.docx": a_report(expert(name)),
            "solution/solve.sh": "#!/bin/bash\n",
        }
        for path, content in files.items():
            target = root / task / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
        row = {
            "task_id": name.upper(),
            "title": f"Closure of {route}",
            "report_family": "Weekly activity reports",
            "setting": "Army",
            "reader": "the commander",
            "length_limit": "20 words",
            "prompt": prompt,
            "attachments": attachments,
            "num_attachments": 2,
            "rubric_count": 4,
            "penalty_count": 2,
            "positive_points": sum(points for points in POINTS.values() if points > 0),
            "penalty_points": -sum(points for points in POINTS.values() if points < 0),
            "rubric": json.dumps(criteria),
            "grading_guidance": "GUIDANCE-MARK",
            "mean_score_pct": MEANS[name],
            "golden_report_path": f"{task}/tests/golden/report.docx",
            "instruction_path": f"{task}/instruction.md",
            "rubric_path": f"{task}/tests/fixtures/rubric.json",
            "task_path": task,
        }
        pq.write_table(pa.Table.from_pylist([row]), root / "data" / f"test-0000{number}-of-00002.parquet")
    return root


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    made = project_here(tmp_path, project / "conf", monkeypatch)
    monkeypatch.setattr("flows.pipeline.commands.validate.check_options", lambda *_: (0, []))
    release(made.folder / "release")
    return made


@pytest.mark.parametrize("data", ["release", "release/tasks"])
def test_it_validates_runs_and_shows_what_only_its_index_says(here, data, capsys):
    overrides = ["benchmark=mission_report", f"benchmark.data={data}"]
    assert validate(here.folder, overrides, Screen()) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("criterion.hint") == 2  # once for each task
    assert "60.9%" in said
    assert "test-00001-of-00002.parquet" in said
    assert run_here(here.folder, *overrides, "model=oracle", "seeds=1") == 0
    facts = "Closure of Route Amber | Weekly activity reports | Army | the commander | 20 words | 2 | 4 (2)"
    assert f"{facts} | 0.609 | 1.000 |" in next(here.results.glob("*/tasks.md")).read_text()
    (own,) = here.results.glob("*/tasks.md")
    here.own = own.parent  # named after the folder of the data
    assert {row["word_limit"] for row in here.rows("reports")} == {20}
    assert write_report(here.folder, overrides, Screen()) == 0
    pages = "".join(path.read_text() for path in (here.own / "site").rglob("*.html"))
    assert "0.609" in pages
    assert "Weekly activity reports" in pages


def test_unknown_fields_are_refused_where_strict(here, capsys):
    overrides = ["benchmark=mission_report", "benchmark.data=release"]
    assert validate(here.folder, overrides, Screen(), strict=True) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "metadata.difficulty" in said
    assert "criterion.hint" in said
    with pytest.raises(StaffbenchError, match="--strict"):
        validate(here.folder, [], Screen(), strict=True)


def test_an_index_and_a_tree_that_disagree_are_both_named(here, capsys):
    tasks = here.folder / "release" / "tasks"
    toml = tasks / "memo-01" / "task.toml"
    toml.write_text(toml.read_text().replace("[metadata]", '[metadata]\nlength_limit = "30 words"'))
    shutil.rmtree(tasks / "memo-02")
    assert validate(here.folder, ["benchmark=mission_report", "benchmark.data=release"], Screen()) == 1
    caught = capsys.readouterr()
    said = " ".join(caught.err.split())
    assert "tasks/memo-01: length_limit is '30 words'" in said
    assert "'20 words', as" in said
    assert "test-00000-of-00002.parquet says" in said
    assert "MEMO-02 is in the index" in " ".join(caught.out.split())


def test_the_root_of_a_release_stands_for_its_tasks(here):
    (point,) = compose_points(
        here.folder, ["benchmark=mission_report", "benchmark.data=release"], multirun=False
    )
    assert point.settings.benchmark.data == "release/tasks"
