"""Print how far the offline judge agrees with every labelled set, tuned and held out apart.

Not a test: run it by hand after a change of the judge, from the root of the project.

    python -m tests.benchmarks.offline_judge
"""

import csv
import json
import random
import statistics
import sys
import time
from pathlib import Path

import yaml

from flows.schema.scenario import Item, Severity, Step, Tier
from flows.stages.agreement import LabelledVerdict, measure_agreement
from flows.stages.offline import OFFLINE_VERSION, grade_offline

DATA = Path(__file__).resolve().parents[2] / "data"
POINTS = {  # the default scoring weights
    Severity.critically_important: 9.0,
    Severity.important: 5.5,
    Severity.slightly_important: 2.0,
    Severity.detrimental: -5.5,
    Severity.critically_detrimental: -9.0,
}
TUNED_BRIEFS, HELD_OUT_BRIEFS = ("A", "B"), ("C",)
SCENARIOS = {"karsa_relief": "tuned", "varn_corridor": "held out"}


def say(line=""):
    sys.stdout.write(f"{line}\n")


def rubric(scenario):
    rows = yaml.safe_load((DATA / "ma_bench" / scenario / "rubric.yaml").read_text("utf-8"))
    return [
        Item(
            item_id=row["item_id"],
            step=Step(row["step"]),
            tier=Tier(row["tier"]),
            severity=Severity(row["severity"]),
            requirement=row["requirement"],
            ground_truth=row["ground_truth"],
            pass_condition=row["pass_condition"],
            fail_condition=row["fail_condition"],
            source=(),
            rationale=row["rationale"],
        )
        for row in (rows if isinstance(rows, list) else rows["items"])
    ]


def pair_verdicts(briefs):
    lines = (DATA / "judge_pairs" / "pairs.jsonl").read_text("utf-8").splitlines()
    for pair in map(json.loads, lines):
        if pair["brief_id"] in briefs:
            # A pair has no tier, severity or fail condition of its own.
            item = Item(
                item_id=pair["id"],
                step=Step.facts,
                tier=Tier.stated,
                severity=Severity.important,
                requirement=pair["criterion"],
                ground_truth=pair["ground_truth"],
                pass_condition=pair["pass_condition"],
                fail_condition="",
                source=(),
                rationale="",
            )
            (grade,) = grade_offline([item], pair["brief"])
            yield LabelledVerdict(item, label=pair["label"] == "pass", verdict=grade.passed)


def control_verdicts(scenario, names=("strong", "weak")):
    folder = DATA / "ma_bench" / scenario / "controls"
    items = {item.item_id: item for item in rubric(scenario)}
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        labels = list(csv.DictReader(file))
    for name in names:
        grades = grade_offline(list(items.values()), (folder / f"{name}.md").read_text("utf-8"))
        passed = {grade.item_id: grade.passed for grade in grades}
        for row in labels:
            of = items[row["item_id"]]
            yield LabelledVerdict(of, label=row[name] == "pass", verdict=passed[row["item_id"]])


def score(items, text):
    passed = {grade.item_id: grade.passed for grade in grade_offline(items, text)}
    points = sum(POINTS[item.severity] for item in items if passed[item.item_id] != item.severity.is_error)
    return points / sum(points for item in items if (points := POINTS[item.severity]) > 0)


def show(name, pairs):
    result = measure_agreement(name, list(pairs))
    kappa = "null" if result.kappa is None else f"{result.kappa:.2f}"
    say(f"{name}: n={result.n} accuracy={result.accuracy:.3f} kappa={kappa}")
    for group, n, accuracy, group_kappa in result.groups:
        shown = "null" if group_kappa is None else f"{group_kappa:.2f}"
        say(f"    {group}: n={n} accuracy={accuracy:.3f} kappa={shown}")


def thinned(text, kept, seed):
    """The text with that share of its non-blank lines that are no headings, chosen by seed."""
    lines = text.splitlines()
    facts = [n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")]
    removed = set(random.Random(seed).sample(facts, round(len(facts) * (1 - kept))))
    return "\n".join(line for n, line in enumerate(lines) if n not in removed)


def ranking(scenario):
    items = rubric(scenario)
    folder = DATA / "ma_bench" / scenario / "controls"
    strong, weak = ((folder / f"{name}.md").read_text("utf-8") for name in ("strong", "weak"))
    begun = time.perf_counter()
    scores = [score(items, text) for text in (strong, weak, "")]
    seconds = time.perf_counter() - begun
    strong_score, weak_score, empty_score = scores
    say(f"{scenario}: strong {strong_score:.3f}, weak {weak_score:.3f}, empty {empty_score:.3f}")
    say(f"    {len(items)} items, {seconds:.2f} s for three briefs")
    for kept in (0.75, 0.5, 0.25):
        mean = statistics.mean(score(items, thinned(strong, kept, seed)) for seed in range(5))
        say(f"    strong with {kept:.0%} of its lines: {mean:.3f} (mean of 5)")


def main():
    say(f"offline judge, version {OFFLINE_VERSION}")
    show("judge pairs A, B (tuned)", pair_verdicts(TUNED_BRIEFS))
    show("judge pairs C (held out)", pair_verdicts(HELD_OUT_BRIEFS))
    for scenario, part in SCENARIOS.items():
        show(f"controls of {scenario} ({part})", control_verdicts(scenario))
    for scenario, part in SCENARIOS.items():
        # Strong passes most and weak fails most: knowing which is which already agrees with this share.
        told = [pair.label for pair in control_verdicts(scenario, ["strong"])]
        told += [not pair.label for pair in control_verdicts(scenario, ["weak"])]
        say(f"{scenario} ({part}): {statistics.mean(told):.3f} by the brief's name alone")
        for name in ("strong", "weak"):
            result = measure_agreement(name, list(control_verdicts(scenario, [name])))
            say(f"    {name} alone: n={result.n} accuracy={result.accuracy:.3f} kappa={result.kappa:.2f}")
        ranking(scenario)


if __name__ == "__main__":
    main()
