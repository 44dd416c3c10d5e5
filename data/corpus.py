"""Print the corpus's tables: what each scenario holds, and what its control briefs score.

    python data/corpus.py

`ma_bench/README.md` holds what this prints; a test compares them.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # run as a script, from a clone

from flows.adapters.scenario_files import load_scenario, scenario_ids  # noqa: E402 -- after the path
from flows.readers import read_document  # noqa: E402 -- the same
from flows.schema.scenario import Control, Scenario, Severity, Tier  # noqa: E402 -- the same
from flows.schema.settings import ScoringSettings  # noqa: E402 -- the same
from flows.schema.verdict import Verdict, VerdictStatus  # noqa: E402 -- the same
from flows.stages.offline import grade_offline  # noqa: E402 -- the same
from flows.stages.score import score_brief  # noqa: E402 -- the same

CORPUS = ROOT / "data" / "ma_bench"
SEVERITY = ScoringSettings(**yaml.safe_load((ROOT / "conf" / "scoring" / "severity.yaml").read_text("utf-8")))


def corpus_table(scenarios: list[Scenario]) -> list[list[str]]:
    """Size, and items by tier and severity, of each scenario and of all (as the paper's Table 3)."""
    head = ["scenario", "documents", "characters", "items", *(f"tier {tier.value}" for tier in Tier)]
    rows: list[list[str]] = []
    counts: list[list[int]] = []
    for scenario in scenarios:
        files = [CORPUS / scenario.scenario_id / "documents" / name for name in scenario.documents]
        characters = sum(len(read_document(file).text) for file in files)
        tiers = Counter(item.tier for item in scenario.items)
        kinds = Counter(item.severity for item in scenario.items)
        numbers = [len(files), characters, len(scenario.items)]
        numbers += [*(tiers[tier] for tier in Tier), *(kinds[kind] for kind in Severity)]
        counts.append(numbers)
        rows.append([scenario.scenario_id, *(f"{number:,}" for number in numbers)])
    total = [f"{sum(column):,}" for column in zip(*counts, strict=True)]
    return [[*head, *(kind.value.replace("_", " ") for kind in Severity)], *rows, ["all", *total]]


def control_table(scenarios: list[Scenario]) -> list[list[str]]:
    """Score of each control brief by its labels and by the offline judge, severity weights."""
    rows = [["scenario", "strong", "middle", "weak", "strong, judge", "middle, judge", "weak, judge"]]
    for scenario in scenarios:
        controls = [scenario.controls.get(name) for name in ("strong", "middle", "weak")]
        by_label = [_score(scenario, control and control.labels) for control in controls]
        by_judge = [_score(scenario, control and _graded(scenario, control)) for control in controls]
        rows.append([scenario.scenario_id, *by_label, *by_judge])
    return rows


def markdown(rows: list[list[str]]) -> str:
    """Rows as a Markdown table, head first; all columns but the first hold numbers."""
    head, *body = rows
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


def _graded(scenario: Scenario, control: Control) -> dict[str, bool | None]:
    return {grade.item_id: grade.passed for grade in grade_offline(scenario.items, control.text)}


def _score(scenario: Scenario, passed: object) -> str:
    if not isinstance(passed, dict):
        return "-"
    verdicts = [
        Verdict(
            scenario.scenario_id,
            1,
            item.item_id,
            VerdictStatus.abstained if passed[item.item_id] is None else VerdictStatus.graded,
            passed[item.item_id],
        )
        for item in scenario.items
    ]
    score = score_brief(scenario.items, verdicts, SEVERITY).score
    return "-" if score is None else f"{score:.3f}"


def main() -> None:
    """Print both tables."""
    scenarios = [load_scenario(CORPUS / name) for name in scenario_ids(CORPUS, None)]
    print(markdown(corpus_table(scenarios)), markdown(control_table(scenarios)), sep="\n\n")


if __name__ == "__main__":
    main()
