"""Every scenario of MA-Bench keeps the corpus's rules: sources, sizes, classes, evidence, labels."""

import csv
import importlib.util
import re
import subprocess
import sys
from collections import Counter
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
import yaml

from flows.readers import read_document
from flows.schema.scenario import Severity, Step, Tier
from flows.stages.truncate import count_words

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "data" / "ma_bench"
SCENARIOS = sorted(path.name for path in CORPUS.iterdir() if path.is_dir())
POINTS = yaml.safe_load((ROOT / "conf" / "scoring" / "severity.yaml").read_text(encoding="utf-8"))["weights"]
each = pytest.mark.parametrize("name", SCENARIOS)


def load(name, file):
    return yaml.safe_load((CORPUS / name / file).read_text(encoding="utf-8"))


def labels(name):
    with (CORPUS / name / "controls" / "labels.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


read_once = cache(read_document)  # two tests read all documents, which takes a quarter of a minute


def squeeze(text):
    return re.sub(r"[\s|\\*~]+|<br>", " ", text)


def label_score(items, rows, brief):
    passed = {row["item_id"]: row[brief] == "pass" for row in rows}
    earned = sum(
        POINTS[item["severity"]]
        for item in items
        if passed[item["item_id"]] != (POINTS[item["severity"]] < 0)
    )
    return earned / sum(weight for item in items if (weight := POINTS[item["severity"]]) > 0)


@each
def test_documents_are_what_their_sources_make(name):
    command = [sys.executable, ROOT / "data" / "build_documents.py", "--check", CORPUS / name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{name}: documents match their sources\n")


@each
def test_a_packet_has_the_size_and_the_documents_of_the_papers(name):
    scenario = load(name, "scenario.yaml")
    texts = {one: read_once(CORPUS / name / "documents" / one).text for one in scenario["documents"]}
    assert scenario["scenario_id"] == name
    assert scenario["synthetic"] is True
    assert scenario["licence"] == "CC-BY-4.0"
    assert 10 <= len(texts) <= 12
    assert 36_000 <= sum(map(len, texts.values())) <= 243_000
    assert {Path(one).suffix for one in texts} == {".docx", ".pdf", ".xlsx"}
    plain = {one: squeeze(text) for one, text in texts.items()}
    for item in load(name, "rubric.yaml"):
        for source in item["source"]:
            assert squeeze(source["quote"]).strip() in plain[source["document"]], item["item_id"]


@each
def test_a_rubric_covers_all_steps_tiers_and_severities(name):
    items = load(name, "rubric.yaml")
    assert 74 <= len(items) <= 170
    assert len({item["item_id"] for item in items}) == len(items)
    steps = Counter(Step(item["step"]) for item in items)
    assert set(steps) == set(Step)
    assert min(steps.values()) >= 5
    tiers = Counter(Tier(item["tier"]) for item in items)
    assert all(0.28 < tiers[tier] / len(items) < 0.40 for tier in Tier)
    severities = Counter(Severity(item["severity"]) for item in items)
    assert all(severities[severity] / len(items) > 0.02 for severity in Severity)


@each
def test_no_two_items_ask_the_same(name):
    texts = {
        item["item_id"]: item["requirement"] + item["ground_truth"] for item in load(name, "rubric.yaml")
    }
    for (one, left), (other, right) in combinations(texts.items(), 2):
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        if matcher.real_quick_ratio() > 0.9 and matcher.quick_ratio() > 0.9:
            assert matcher.ratio() < 0.9, (one, other)


@each
def test_a_synthesis_rests_on_two_documents(name):
    for item in load(name, "rubric.yaml"):
        if item["tier"] == Tier.synthesis.value:
            assert len({source["document"] for source in item["source"]}) >= 2, item["item_id"]


@each
def test_a_canary_stands_in_the_readme_and_in_the_first_document(name):
    canary = re.search(r"canary GUID ([0-9a-f-]{36})", (CORPUS / name / "README.md").read_text("utf-8"))
    first = load(name, "scenario.yaml")["documents"][0]
    assert canary is not None
    assert canary[1] in read_document(CORPUS / name / "documents" / first).text


@each
def test_every_item_is_labelled_on_every_control(name):
    items, rows = load(name, "rubric.yaml"), labels(name)
    briefs = [
        one for one in ("strong", "middle", "weak") if (CORPUS / name / "controls" / f"{one}.md").is_file()
    ]
    assert briefs == ["strong", "middle", "weak"]
    assert sorted(row["item_id"] for row in rows) == sorted(item["item_id"] for item in items)
    assert {row[brief] for row in rows for brief in briefs} == {"pass", "fail"}
    scores = [label_score(items, rows, brief) for brief in briefs]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.7
    assert scores[-1] < 0.3
    for brief in briefs:
        text = (CORPUS / name / "controls" / f"{brief}.md").read_text(encoding="utf-8")
        assert 500 < count_words(text) <= 3000


@each
def test_a_middle_brief_says_what_was_changed(name):
    with (CORPUS / name / "controls" / "middle_edits.csv").open(encoding="utf-8", newline="") as file:
        edits = list(csv.DictReader(file))
    assert 25 <= len(edits) <= 45
    assert {edit["kind"] for edit in edits} <= {
        "changed", "dropped", "hedged", "denied", "swapped", "overclaimed"
    }  # fmt: skip


def test_dvc_versions_every_scenario():
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    named = {f"data/ma_bench/{name}/{part}" for name in SCENARIOS for part in ("rubric.yaml", "controls")}
    assert named <= set(stages["evaluate"]["deps"])
    assert named <= set(stages["report"]["deps"])
    read = {f"data/ma_bench/{name}/{part}" for name in SCENARIOS for part in ("scenario.yaml", "documents")}
    assert read <= set(stages["packets"]["deps"])


def test_the_readme_s_tables_are_those_of_the_corpus(monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("corpus", ROOT / "data" / "corpus.py")
    corpus = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec.loader.exec_module(corpus)
    monkeypatch.setattr(corpus, "read_document", read_once)
    corpus.main()
    text = (CORPUS / "README.md").read_text(encoding="utf-8")
    tables = capsys.readouterr().out.strip().split("\n\n")
    assert len(tables) == 2
    for table in tables:
        assert table in text
