"""Millions of generated verdicts with known effects, read from Parquet and made into every table.

`python -m tests.support.paper_scale MODELS SCENARIOS SEEDS` prints as JSON what it took and what it found.
"""

import json
import re
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from flows.adapters.tables import SCHEMA_VERSION, VERDICTS
from flows.common.digests import canonical_json
from flows.pipeline.results.graded import Graded, Scored
from flows.pipeline.results.paper import paper_results
from flows.pipeline.results.table_rows import VerdictRows
from flows.schema.verdict import BriefScore
from flows.stages.aggregate import aggregate
from flows.stages.paper import TABLES, NotEnoughError, render
from tests.support.paper_results import JUDGE, LENIENT, SEVERITY, make_scenarios

TIER_RATES = {1: 0.6, 2: 0.5, 3: 0.35}
OVERLOOKED = 0.2  # of the fails, by the lenient judge


def peak_memory():
    """Return the peak of this process in bytes; `ru_maxrss` would count what its parent held at the fork."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024


def main(n_models, n_scenarios, n_seeds):
    scenarios = make_scenarios(n_scenarios)
    with tempfile.TemporaryDirectory() as folder:
        entries = list(_written(Path(folder), scenarios, n_models, n_seeds))
        before = time.process_time()
        graded = [
            Graded(about, briefs, VerdictRows.read(path)[0], known=known)
            for path, about, briefs, known in entries
        ]
        results = paper_results(graded, scenarios, SEVERITY, word_cap=3000, prompt="v0", judge=JUDGE)
        made = {}
        for name, make in TABLES.items():
            try:
                made[name] = make(results)
                render(made[name])
            except NotEnoughError:
                continue
        took = time.process_time() - before
    tiers = made["figure-03-tiers"].frame.query("condition == 'all'").set_index("tier")["rate"]
    agreement = made["table-01-judge-agreement"].frame.iloc[0]
    report = {
        "rows": len(results.verdicts),
        "seconds": took,
        "peak": peak_memory(),
        "tables": sorted(made),
        "tiers": {int(tier): rate for tier, rate in tiers.items()},
        "agreement": agreement["agreement"],
        "first": made["table-04-main-results"].frame["condition"].iloc[0],
        "lost": float(made["missing-credit"].frame.query("by == 'tier'")["lost"].sum()),
        "score": float(results.board["score"].mean()),
    }
    sys.stdout.write(json.dumps(report))


def _written(folder, scenarios, n_models, n_seeds):
    """Write verdicts and yield path, metadata, briefs and scores of each condition and judge."""
    rng = np.random.default_rng(3)
    items = next(iter(scenarios.values())).items
    weights = np.array([SEVERITY.weights[item.severity] for item in items])
    rates = np.array([TIER_RATES[item.tier] for item in items])
    ids, names = pa.array([item.item_id for item in items]), list(scenarios)
    n_briefs = len(names) * n_seeds
    for model in range(n_models):
        label = f"model-{model:02}-medium-3000-v0"
        ability = 0.2 * (0.5 - model / max(1, n_models - 1))
        passed = rng.random((n_briefs, len(items))) < rates + ability
        for judge, seen in ((JUDGE, passed), (LENIENT, passed | (rng.random(passed.shape) < OVERLOOKED))):
            about = {
                "condition": {
                    "label": label, "model": f"model-{model:02}", "effort": "medium", "word_cap": 3000,
                    "prompt": "v0", "harness": "single_prompt",
                },
                "judge": {"label": judge, "is_stand_in": False}, "scenarios": names, "seeds": n_seeds,
            }  # fmt: skip
            places = [(name, seed) for name in names for seed in range(1, n_seeds + 1)]
            path = folder / f"{label}-{judge}.parquet"
            _write(path, about, places, ids, seen)
            scores = [_score(place, own, weights) for place, own in zip(places, seen, strict=True)]
            briefs = [
                {
                    "scenario_id": name, "seed": seed, "status": "written", "text": "x", "words_raw": 2500,
                    "words_kept": 2500, "cut": False, "cut_by_provider": False, "completion": "key",
                }
                for name, seed in places
            ]  # fmt: skip
            known = {
                canonical_json(asdict(SEVERITY)): Scored(scores, aggregate(scores, names, n_seeds, SEVERITY))
            }
            yield path, about, briefs, known


def _score(place, passed, weights):
    score = float((weights * np.where(weights > 0, passed, ~passed)).sum() / weights[weights > 0].sum())
    right = float(passed[weights > 0].mean())
    wrong = int((~passed[weights < 0]).sum())
    n = len(weights)
    return BriefScore(
        *place, score, max(0.0, score), score, score, float(passed.mean()), right, wrong, n, n, 0, 0, 0
    )


def _write(path, about, places, ids, passed):
    n = len(ids)
    rows = passed.size
    repeated = {
        "condition": about["condition"]["label"], "judge": about["judge"]["label"], "status": "graded",
        "reason": "It isn't there.",
    }  # fmt: skip
    columns = {name: pa.repeat(pa.scalar(value), rows) for name, value in repeated.items()}
    columns |= {
        "scenario_id": pa.array(np.repeat([name for name, _ in places], n)),
        "seed": pa.array(np.repeat([seed for _, seed in places], n)),
        "item_id": pa.concat_arrays([ids] * len(places)),
        "passed": pa.array(passed.ravel()),
    }
    whole = [columns.get(name, pa.nulls(rows, VERDICTS.field(name).type)) for name in VERDICTS.names]
    metadata = {"staffbench": canonical_json(about), "schema_version": SCHEMA_VERSION}
    pq.write_table(pa.table(whole, VERDICTS.with_metadata(metadata)), path)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
