"""A site of many briefs: time, memory, size, and how fast its pages open. No test: figures for the docs.

    python tests/benchmarks/site.py FOLDER [--models 50] [--scenarios 20] [--seeds 10] [--items 110]

Briefs have 800 to 3,000 words, and every failed item has a reason; a third of those quote the brief.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # `tests` is no installed package

import numpy as np
import pyarrow as pa

from flows.adapters.objects import ObjectStore
from flows.adapters.tables import VERDICTS
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.leaderboard import build_leaderboard
from flows.pipeline.results.pages.site import write_site
from flows.pipeline.results.table_rows import TEXTS, VerdictRows
from tests.support.browser import Browser
from tests.support.paper_results import JUDGE, SEVERITY, make_scenarios
from tests.support.paper_scale import peak_memory

JUDGED = {
    "label": JUDGE, "is_stand_in": False, "name": "judge", "digest": "j", "members": [], "effort": "medium",
    "mode": "failed_only", "prompt": "v1",
}  # fmt: skip
WORDS = (Path(__file__).parents[2] / "README.md").read_text("utf-8").replace("`", "").split()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    for name, default in {"models": 50, "scenarios": 20, "seeds": 10, "items": 110}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    scenarios = make_scenarios(given.scenarios, given.items)
    rng = np.random.default_rng(3)
    graded = [_graded(rng, at, scenarios, given.seeds) for at in range(given.models)]
    print(f"{sum(len(one.briefs) for one in graded):,} briefs, {peak_memory() / 1e9:.2f} GB before")
    began = time.perf_counter()
    board = build_leaderboard(graded, scenarios, SEVERITY, ObjectStore(given.folder / "objects"))
    print(f"leaderboard: {time.perf_counter() - began:.0f} s, {peak_memory() / 1e9:.2f} GB", flush=True)
    site = write_site(given.folder, board, graded, scenarios, scoring=SEVERITY).parent
    files = [path for path in site.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    print(f"site: {time.perf_counter() - began:.0f} s, {peak_memory() / 1e9:.2f} GB at most, ", end="")
    print(f"{len(files):,} files, {size / 1e6:,.0f} MB", flush=True)
    _look(site, f"{graded[0].condition}/{JUDGE}")


def _look(site: Path, condition: str) -> None:
    with Browser() as browser:
        pages = ["index.html", "briefs.html", "compare.html", "scenario/scenario_01.html"]
        for page in [*pages, f"{condition}/index.html", f"{condition}/scenario_01-1.html"]:
            began = time.perf_counter()
            browser.open(site / page)
            took, size = time.perf_counter() - began, (site / page).stat().st_size
            rows = browser.run("document.querySelectorAll('tbody tr').length")
            print(
                f"{page}: {took:.1f} s, {size / 1e3:,.0f} kB, {rows} rows, console {browser.console}",
                flush=True,
            )


def _graded(rng: np.random.Generator, at: int, scenarios, n_seeds: int) -> Graded:
    label = f"model-{at:02}-medium-3000-v0"
    condition = {
        "label": label, "digest": label, "model": f"model-{at:02}", "effort": "medium", "word_cap": 3000,
        "prompt": "v0", "harness": "single_prompt", "benchmark": "ma_bench",
    }  # fmt: skip
    about = {
        "condition": condition, "judge": JUDGED, "scenarios": list(scenarios), "seeds": n_seeds,
        "self_judged": False, "model_note": "",
    }  # fmt: skip
    briefs, columns = [], {name: [] for name in (*TEXTS, "seed", "passed")}
    for name, scenario in scenarios.items():
        for seed in range(1, n_seeds + 1):
            n_words = int(rng.integers(800, 3000))
            text = _text(rng, n_words)
            briefs.append({
                "scenario_id": name, "seed": seed, "status": "written", "text": text, "words_raw": n_words,
                "words_kept": n_words, "cut": False, "cut_by_provider": False, "completion": "key",
                "detail": "", "report": None, "word_counter": "w1",
            })  # fmt: skip
            passed = rng.random(len(scenario.items)) < 0.55 - 0.2 * at / 100
            lines = text.splitlines()
            reasons = ["" if one else _reason(rng, lines) for one in passed]
            own = {
                "scenario_id": name, "seed": seed, "status": "graded", "reason": reasons,
                "item_id": [item.item_id for item in scenario.items], "passed": passed.tolist(),
                "mode": [None if one else "omission" for one in passed],
            }  # fmt: skip
            for key, value in own.items():
                columns[key] += value if isinstance(value, list) else [value] * len(passed)
    table = pa.table(columns, pa.schema([VERDICTS.field(name) for name in columns]))
    for place, name in enumerate(TEXTS):
        table = table.set_column(place, name, table.column(name).dictionary_encode())
    return Graded(about, briefs, VerdictRows(table))


def _text(rng: np.random.Generator, n_words: int) -> str:
    drawn = [WORDS[at] for at in rng.integers(0, len(WORDS), n_words)]
    lines = [" ".join(drawn[start : start + 25]) for start in range(0, n_words, 25)]
    return "# Brief\n\n" + "\n".join(
        f"\n## Part {at}\n" if at % 12 == 0 else f"- {line}" for at, line in enumerate(lines)
    )


def _reason(rng: np.random.Generator, lines: list[str]) -> str:
    said = " ".join(WORDS[at] for at in rng.integers(0, len(WORDS), 25))
    quote = str(rng.choice(lines))[:90] if rng.random() < 1 / 3 else ""
    return f'{said} "{quote}"' if quote else said


if __name__ == "__main__":
    main()
