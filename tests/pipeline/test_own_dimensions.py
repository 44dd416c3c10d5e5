"""A benchmark with steps, tiers and severities of its own, from the rubric to the pages."""

import json
import shutil

import pyarrow.parquet as pq
import pytest
import yaml

from flows.adapters.screen import Screen
from flows.common.errors import StaffbenchError
from flows.pipeline.commands.report import report
from tests.support.bench import Project
from tests.support.plain_flow import run_here, without_prefect

BENCHMARK = """# @package _global_
defaults:
  - override /scoring: handover

benchmark:
  name: handover
  protocol: ma_bench
  data: data/handover
  controls: null
  scenarios: null
  dimensions:
    steps: [situation, open_tasks]
    tiers: [stated, inferred]
    severities: [vital, useful]
    wrong_moves: [harmful]
    optional: [tier, rationale]
"""
SCORING = """name: handover
weights: {vital: 4, useful: 1, harmful: -2}
clamped: false
assumed: []
interval_level: 0.95
resamples: 1000
"""
"""Half of the points of the requirements are of the vital one."""


def row(item_id, severity, step, requirement):
    return {
        "item_id": item_id,
        "step": step,
        "severity": severity,
        "requirement": requirement,
        "ground_truth": requirement,
        "pass_condition": "It is said.",
        "fail_condition": "It is not said.",
        "source": [{"document": "01-notes.txt", "quote": "Bed 4 has a fever of 39.2 degrees."}],
    }


ROWS = [
    row("h1", "vital", "situation", "Bed 4 has a fever of 39.2 degrees."),
    row("h2", "useful", "open_tasks", "A blood culture from bed 4 is still to be taken."),
    row("h3", "harmful", "open_tasks", "Says that bed 4 may go home."),
]


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    without_prefect(monkeypatch)
    bench = Project(tmp_path, project / "conf", {})
    (tmp_path / "conf").unlink()
    shutil.copytree(project / "conf", tmp_path / "conf")
    folder = bench.folder / "data" / "handover" / "ward_3"
    (folder / "documents").mkdir(parents=True)
    notes = "Bed 4 has a fever of 39.2 degrees. A blood culture from bed 4 is still to be taken.\n"
    (folder / "documents" / "01-notes.txt").write_text(notes)
    head = {
        "scenario_id": "ward_3",
        "title": "A ward at night",
        "synthetic": True,
        "licence": "CC BY 4.0",
        "notice": "Invented.",
        "assignment": "Write the handover.",
        "documents": ["01-notes.txt"],
    }
    (folder / "scenario.yaml").write_text(yaml.safe_dump(head))
    (folder / "rubric.yaml").write_text(yaml.safe_dump(ROWS))
    (bench.folder / "conf" / "benchmark" / "handover.yaml").write_text(BENCHMARK)
    (bench.folder / "conf" / "scoring" / "handover.yaml").write_text(SCORING)
    return bench


def test_its_classes_reach_the_tables_and_the_pages(here):
    assert run_here(here.folder, "benchmark=handover", "model=extractive", "seeds=1", "tracking=none") == 0
    folder = here.results / "handover"
    (verdicts,) = (folder / "verdicts").rglob("*.parquet")
    rows = pq.read_table(verdicts).to_pylist()
    assert {one["item_id"]: (one["step"], one["tier"], one["severity"]) for one in rows} == {
        "h1": ("situation", None, "vital"),
        "h2": ("open_tasks", None, "useful"),
        "h3": ("open_tasks", None, "harmful"),
    }
    (brief,) = (folder / "briefs").rglob("*.parquet")
    (text,) = pq.read_table(brief)["text"].to_pylist()
    assert "## Situation" in text
    assert "## Open tasks" in text
    passed = {one["item_id"]: one["passed"] for one in rows}
    points = 4 * passed["h1"] + 1 * passed["h2"] - 2 * (passed["h3"] is False)
    (board_row,) = json.loads((folder / "leaderboard.json").read_text())["rows"]
    assert board_row["score"] == pytest.approx(points / 5)
    assert report(here.folder, ["benchmark=handover"], Screen()) == 0
    pages = "".join(page.read_text() for page in (folder / "site").rglob("*.html"))
    assert "open tasks" in pages
    assert "higher guidance" not in pages


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("~scoring.weights.vital", "scoring.weights.vital: not set"),
        ("scoring=severity", "critically_important: no such severity"),
        ("scoring.assumed=[important]", "scoring.assumed: important has no weight"),
    ],
)
def test_weights_of_other_classes_are_refused(here, override, said):
    with pytest.raises(StaffbenchError, match=said):
        run_here(here.folder, "benchmark=handover", override, "tracking=none")
