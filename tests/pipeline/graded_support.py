"""Extreme sets of graded conditions, and the leaderboard of each."""

from dataclasses import dataclass, replace
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.objects import ObjectStore
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.leaderboard import build_leaderboard
from flows.schema.scenario import Evidence, Item, Scenario, Severity, Step, Tier
from flows.schema.verdict import Verdict, VerdictStatus

SCORING = compose_points(Path(__file__).parents[2], [], multirun=False)[0].settings.scoring
N_REQUIREMENTS, N_ERRORS = 35, 5


def item(name, severity):
    texts = dict.fromkeys(("requirement", "ground_truth", "pass_condition", "fail_condition"), "x")
    return Item(name, Step.facts, Tier.stated, severity, source=(Evidence("a", "b"),), rationale="r", **texts)


ITEMS = (
    *(item(f"R{number}", Severity.important) for number in range(N_REQUIREMENTS)),
    *(item(f"W{number}", Severity.detrimental) for number in range(N_ERRORS)),
)


def scenarios(n):
    return {
        f"s{number}": Scenario(
            scenario_id=f"s{number}", title="t", assignment="a", documents=(), items=ITEMS, controls={},
            synthetic=True, licence="CC-BY-4.0",
        )
        for number in range(n)
    }  # fmt: skip


@dataclass
class Brief:
    """A brief: how many requirements pass, how many wrong moves are made, how many items are ungraded."""

    passed: int = N_REQUIREMENTS
    made: int = 0
    ungraded: int = 0
    status: str = "written"
    text: str | None = None


PERFECT, EMPTY, RECKLESS = Brief(), Brief(0), Brief(0, N_ERRORS)
REFUSED = Brief(ungraded=len(ITEMS), status="refused")


def graded(name, briefs, *, asked_of_a_model=True, judge="j", seeds=None):
    """One condition: its briefs by scenario."""
    rows, verdicts = [], []
    for scenario_id, own in briefs.items():
        for seed, brief in enumerate(own, 1):
            words = None if brief.status == "refused" else 100
            rows.append(
                {
                    "scenario_id": scenario_id, "seed": seed, "status": brief.status, "cut": False,
                    "text": None if words is None else brief.text or f"{name} {scenario_id} {seed}",
                    "cut_by_provider": False, "detail": "", "words_raw": words, "words_kept": words,
                    "completion": "c" if asked_of_a_model else None, "report": None,
                }
            )  # fmt: skip
            for number, one in enumerate(ITEMS):
                passed = number < brief.passed if not one.is_error else number - N_REQUIREMENTS >= brief.made
                status = VerdictStatus.graded
                if number < brief.ungraded:
                    passed, status = None, VerdictStatus.refused
                verdicts.append(Verdict(scenario_id, seed, one.item_id, status, passed))
    condition = {
        "label": name, "model": name, "effort": "default", "word_cap": 3000, "prompt": "v1",
        "harness": "single_prompt", "benchmark": "ma_bench", "digest": name,
    }  # fmt: skip
    about = {
        "condition": condition,
        "judge": {
            "label": judge, "name": judge, "digest": judge, "is_stand_in": False, "members": [],
            "effort": None, "mode": None, "prompt": None,
        },
        "scenarios": list(briefs), "seeds": seeds or len(next(iter(briefs.values()))), "model_note": "",
        "self_judged": False, "n_canary_missed": None,
        "written_from": {"prompt": "p", "documents": {}, "assignments": {}},
    }  # fmt: skip
    return Graded(about, rows, verdicts)


def everywhere(brief, n, seeds=1):
    return {f"s{number}": [brief] * seeds for number in range(n)}


def mixed(n, seeds=1):
    return {f"s{number}": [Brief(10 + 2 * number)] * seeds for number in range(n)}


SETS = {
    "all passed": (8, [graded("a", everywhere(PERFECT, 8)), graded("b", mixed(8))]),
    "all failed": (8, [graded("a", everywhere(EMPTY, 8)), graded("b", mixed(8))]),
    "all wrong moves": (8, [graded("a", everywhere(RECKLESS, 8)), graded("b", mixed(8))]),
    "one scenario": (1, [graded("a", everywhere(PERFECT, 1)), graded("b", mixed(1))]),
    "two scenarios": (2, [graded("a", everywhere(PERFECT, 2)), graded("b", mixed(2))]),
    "seeds missing": (6, [graded("a", mixed(6, seeds=3)), graded("b", mixed(6, seeds=2))]),
    "one item ungraded": (
        6,
        [graded("a", {**mixed(6), "s0": [Brief(20, ungraded=1)]}), graded("b", mixed(6))],
    ),
    "many items ungraded": (
        6,
        [graded("a", {**mixed(6), "s0": [Brief(20, ungraded=10)]}), graded("b", mixed(6))],
    ),
    "one seed refused": (
        6,
        [
            graded("a", {**everywhere(PERFECT, 6, 2), "s3": [PERFECT, REFUSED]}),
            graded("b", mixed(6, seeds=2)),
            graded("c", everywhere(Brief(34), 6, 2)),
        ],
    ),
    "a scenario refused": (2, [graded("a", {"s0": [PERFECT], "s1": [REFUSED]}), graded("b", mixed(2))]),
    "all but one refused": (
        6,
        [graded("a", {**everywhere(REFUSED, 6), "s0": [PERFECT]}), graded("b", mixed(6))],
    ),
    "all refused": (6, [graded("a", everywhere(REFUSED, 6))]),
    "other scenarios": (8, [graded("a", mixed(8)), graded("b", mixed(7)), graded("c", everywhere(EMPTY, 8))]),
    "copies": (6, [graded("a", everywhere(Brief(9, text="x"), 6, 3), asked_of_a_model=False)]),
    "two judges": (
        2,
        [
            graded("a", mixed(2)),
            graded("b", everywhere(PERFECT, 2)),
            graded("a", {"s0": [PERFECT], "s1": [Brief(ungraded=len(ITEMS))]}, judge="k"),
        ],
    ),
}


def board_of(tmp_path, name, **changes):
    n, entries = SETS[name]
    rules = replace(SCORING, **changes)
    fresh = [replace(entry, known={}) for entry in entries]
    return build_leaderboard(fresh, scenarios(n), rules, ObjectStore(tmp_path))
