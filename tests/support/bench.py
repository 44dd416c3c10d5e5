"""A small project, `staffbench` as a process, and a writer and a judge behind an endpoint."""

import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import yaml

from tests.support.scripted_server import Call, Say, ScriptedServer

ITEM = re.compile(r'<item id="([^"]+)" kind="(\w+)">')
STRENGTHS = {"alder": 412, "birch": 730}


def item(item_id, severity, requirement, truth, quote, **changes):
    return {
        "item_id": item_id,
        "step": "facts",
        "tier": 1,
        "severity": severity,
        "requirement": requirement,
        "ground_truth": truth,
        "pass_condition": "Pass only if the brief says so.",
        "fail_condition": "Fail otherwise.",
        "source": [{"document": "01-order.txt", "quote": quote}],
        "rationale": "It matters.",
        **changes,
    }


def write_scenario(folder: Path, name: str, strength: int) -> None:
    (folder / name / "documents").mkdir(parents=True)
    (folder / name / "controls").mkdir()
    order = f"""The relief column has {strength} soldiers and leaves the depot on 14 March.

The bridge at Kerrin carries vehicles of at most 30 tonnes.

A shopkeeper reported cholera in the camp; the report is from a single source and is unconfirmed.
"""
    (folder / name / "documents" / "01-order.txt").write_text(order, encoding="utf-8")
    head = {
        "scenario_id": name,
        "title": name,
        "synthetic": True,
        "licence": "CC-BY-4.0",
        "notice": "Invented.",
        "assignment": "Write the mission analysis of the relief column.",
        "documents": ["01-order.txt"],
    }
    items = [
        item(
            "strength",
            "critically_important",
            "States the strength of the relief column",
            f"The relief column has {strength} soldiers.",
            f"has {strength} soldiers",
        ),
        item(
            "bridge",
            "important",
            "States what the bridge at Kerrin carries",
            "The bridge at Kerrin carries vehicles of at most 30 tonnes.",
            "at most 30 tonnes",
            step="environment",
            tier=2,
        ),
        item(
            "cholera",
            "critically_detrimental",
            "States that cholera in the camp is confirmed",
            "The report of cholera is from a single source and unconfirmed.",
            "single source",
            step="environment",
            tier=3,
        ),
    ]
    (folder / name / "scenario.yaml").write_text(yaml.safe_dump(head), encoding="utf-8")
    (folder / name / "rubric.yaml").write_text(yaml.safe_dump(items), encoding="utf-8")
    strong = f"The relief column has {strength} soldiers. The bridge at Kerrin carries at most 30 tonnes."
    (folder / name / "controls" / "strong.md").write_text(strong, encoding="utf-8")
    weak = "The relief column has 99 soldiers. Cholera in the camp is confirmed."
    (folder / name / "controls" / "weak.md").write_text(weak, encoding="utf-8")
    labels = "item_id,strong,weak\nstrength,pass,fail\nbridge,pass,fail\ncholera,pass,fail\n"
    (folder / name / "controls" / "labels.csv").write_text(labels, encoding="utf-8")


@dataclass
class Done:
    """What a process left: its exit code and what it printed."""

    code: int
    out: str
    err: str

    @property
    def paid(self) -> int:
        return int(re.findall(r"(\d+) new", self.out)[-1])

    @property
    def replayed(self) -> int:
        return int(re.findall(r"(\d+) replayed", self.out)[-1])

    @property
    def stages(self) -> tuple[int, int]:
        """Stage runs that were done, and how many of them an earlier run had done."""
        done = sum(int(number) for number in re.findall(r"(\d+)/\d+", self.err))
        skipped = re.findall(r"(\d+) of \d+ done before", self.err)
        return done, int(skipped[-1]) if skipped else 0


class Project:
    """A folder with `conf/`, two scenarios and results of its own."""

    def __init__(self, folder: Path, conf: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.results = folder / "results"
        self.environment = environment
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "conf").symlink_to(conf)
        for name, strength in STRENGTHS.items():
            write_scenario(folder / "data" / "ma_bench", name, strength)

    def start(self, *words: str, **environment: str) -> subprocess.Popen:
        return self._start("-m", "flows", *words, **environment)

    def python(self, *words: str) -> Done:
        """Run Python in the folder; it has to succeed."""
        process = self._start(*words)
        out, err = process.communicate(timeout=400)
        assert process.returncode == 0, out + err
        return Done(process.returncode, out, err)

    def _start(self, *words: str, **environment: str) -> subprocess.Popen:
        return subprocess.Popen(
            [sys.executable, *words],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *words: str, **environment: str) -> Done:
        process = self.start(*words, **environment)
        out, err = process.communicate(timeout=400)
        return Done(process.returncode, out, err)

    def tables(self) -> dict[str, bytes]:
        """The bytes of every table, by path."""
        folder = self.results / "ma_bench"
        found = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file() and path.suffix in (".parquet", ".csv", ".json", ".yaml", ".md")
        }
        assert any("verdicts" in name for name in found)
        return found

    def rows(self) -> dict[str, list[dict]]:
        """The rows of briefs, verdicts and scores, by file: what runs share that paid for their replies each.

        Files also say who answered and when, and the leaderboard what that cost.
        """
        folder = self.results / "ma_bench"
        found = {
            path.relative_to(folder).as_posix(): pq.ParquetFile(path).read().to_pylist()
            for name in ("briefs", "verdicts", "scores")
            for path in (folder / name).rglob("*.parquet")
        }
        assert any("verdicts" in name for name in found)
        return found

    def board(self, name: str = "leaderboard") -> list[dict]:
        return json.loads((self.results / "ma_bench" / f"{name}.json").read_text())["rows"]


def wait_for_calls(server: ScriptedServer, number: int, process: subprocess.Popen) -> None:
    """Wait until so many calls of a run have been paid for; the run must not end before."""
    deadline = time.monotonic() + 300
    while len(server.billed) < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, f"{len(server.billed)} calls of {number}"
        time.sleep(0.02)


def answer(call: Call) -> Say:
    """A writer that repeats the packet's first document, and a judge that passes every requirement."""
    if call.body["model"].startswith("judge"):
        items = ITEM.findall(call.prompt)
        return Say(json.dumps({"items": len(items), "failed": []}))
    strength = re.search(r"has (\d+) soldiers", call.prompt)
    return Say(f"The relief column has {strength[1]} soldiers. Seed {call.body['seed']}.")


def remote(server: ScriptedServer, *more: str) -> list[str]:
    """Overrides for a writer and a judge behind `server`."""
    return [
        "model=openai_compatible",
        "model.name=writer-1",
        f"model.api_base={server.base}",
        "judge=openai_compatible",
        "judge.name=judge-1",
        f"judge.api_base={server.base}",
        "runner.backoff_s=0.05",
        "runner.backoff_max_s=0.1",
        "tracking=none",
        *more,
    ]
