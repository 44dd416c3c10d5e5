"""Graded conditions made by a seeded generator, with known effects of tier, model, judge and cap."""

import numpy as np

from flows.pipeline.results.graded import Graded
from flows.schema.scenario import Evidence, Item, Scenario, Severity, Step
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import ExpertLabel, FailureMode, Verdict, VerdictStatus

SEVERITY = ScoringSettings(
    name="severity",
    weights={
        "critically_important": 9,
        "important": 5.5,
        "slightly_important": 2,
        "detrimental": -5.5,
        "critically_detrimental": -9,
    },
    clamped=False,
    assumed=["important", "slightly_important", "detrimental"],
    interval_level=0.95,
    resamples=1000,
)
TIER_EFFECT = {1: 0.8, 2: 0.3, 3: -0.6}  # logits
MODES = {"omission": 0.6, "partial": 0.384, "incorrect": 0.01, "unsupported": 0.006}
CAP_EFFECT = 0.5  # logits
JUDGE, LENIENT = "gpt-6-1-sol-medium-failed_only-v1", "gemini-4-argon-medium-failed_only-v1"
FAMILIES = ("claude", "gpt", "gemini", "grok", "qwen", "mistral", "muse")
SHARES = {
    Severity.critically_important: 0.385,
    Severity.important: 0.425,
    Severity.slightly_important: 0.065,
    Severity.detrimental: 0.065,
    Severity.critically_detrimental: 0.06,
}


def make_scenarios(n_scenarios=10, n_items=126):
    """Return scenarios whose items cycle through steps and tiers, with the paper's mix of severities."""
    steps = [step.value for step in Step]
    severities = [name for name, share in SHARES.items() for _ in range(max(1, round(share * n_items)))]
    texts = dict.fromkeys(("ground_truth", "pass_condition", "fail_condition"), "x")
    return {
        name: Scenario(
            scenario_id=name,
            title=name,
            assignment="Plan.",
            items=tuple(
                Item(
                    f"I-{at:03}",
                    steps[at % 12],
                    1 + at % 3,
                    severities[at % len(severities)].value,
                    f"Determination {at} of {name}",
                    source=(Evidence("a", "b"),),
                    rationale="r",
                    **texts,
                )
                for at in range(n_items)
            ),
            documents=(),
            controls={},
            synthetic=True,
            licence="CC-BY-4.0",
        )
        for name in (f"scenario_{number:02}" for number in range(1, n_scenarios + 1))
    }


def conditions(n_models=14):
    """Return label, model, effort, cap and ability of each condition: the benchmark's, then ablations."""
    models = [f"{FAMILIES[at % len(FAMILIES)]}-{1 + at // len(FAMILIES)}" for at in range(n_models)]
    ability = np.linspace(0.9, -0.9, n_models)
    found = [(model, "medium", 3000, own) for model, own in zip(models, ability, strict=True)]
    found += [(models[at], level, 3000, ability[at]) for at in (0, 1) for level in ("low", "high")]
    found += [(models[at], "medium", None, ability[at] + CAP_EFFECT) for at in (0, 1)]
    return [(f"{m}-{e}-{c or 'none'}-v0", m, e, c, own) for m, e, c, own in found]


def make_graded(scenarios, *, n_models=14, n_seeds=3, second=True, repeats=True, seed=7):
    """Return conditions graded by a judge and by a more lenient one.

    The last model refused one brief; the first condition has two repeats of the judge.
    """
    rng = np.random.default_rng(seed)
    hard = {name: rng.normal(0, 0.8, len(one.items)) for name, one in scenarios.items()}
    easy = {name: rng.normal(0, 0.4) for name in scenarios}
    made = conditions(n_models)
    graded = []
    for at, (label, model, effort, cap, ability) in enumerate(made):
        briefs, verdicts, others, twice = [], [], [], []
        for name, scenario in scenarios.items():
            for brief in range(1, n_seeds + 1):
                refused = at == n_models - 1 and name == min(scenarios) and brief == 1
                words = None if refused else int(2500 + 400 * ability + rng.normal(0, 300))
                briefs.append(_brief(name, brief, words, cap))
                logits = ability + easy[name] - hard[name] + rng.normal(0, 0.15)
                draws = rng.random((4, len(scenario.items)))
                for item, logit, own in zip(scenario.items, logits, draws.T, strict=True):
                    if item.is_error:
                        passes = own[0] < 0.73
                    else:
                        passes = own[0] < 1 / (1 + np.exp(-(logit + TIER_EFFECT[item.tier])))
                    lenient = passes if own[1] > 0.15 else True
                    verdicts.append(_verdict(name, brief, item, None if refused else bool(passes), own[2]))
                    others.append(_verdict(name, brief, item, None if refused else bool(lenient), own[2]))
                    twice += [(1, verdicts[-1])]
                    twice += [(2, _verdict(name, brief, item, bool(passes) ^ bool(own[3] < 0.04), own[2]))]
        about = {
            "condition": {
                "label": label, "model": model, "effort": effort, "word_cap": cap, "prompt": "v0",
                "harness": "single_prompt", "benchmark": "ma_bench",
            },
            "scenarios": list(scenarios),
            "seeds": n_seeds,
        }  # fmt: skip
        judges = [(JUDGE, verdicts, twice if repeats and at == 0 else [])]
        judges += [(LENIENT, others, [])] if second else []
        graded += [
            Graded({**about, "judge": {"label": judge, "is_stand_in": False}}, briefs, own, again)
            for judge, own, again in judges
        ]
    return graded


def make_labels(graded, scenarios, *, n_raters=4, n_items=190, wrong=0.15, seed=3):
    """Return labels of raters who each differ from the first judge's verdict at a known rate."""
    rng = np.random.default_rng(seed)
    entry = graded[0]
    chosen = rng.choice(len(entry.verdicts), n_items, replace=False)
    return [
        ExpertLabel(
            f"rater{rater}",
            entry.condition,
            v.scenario_id,
            v.seed,
            v.item_id,
            bool(v.passed) ^ (rng.random() < wrong),
        )
        for rater in range(1, n_raters + 1)
        for v in (entry.verdicts[at] for at in chosen)
    ]


def _brief(name, seed, words, cap):
    cut = words is not None and cap is not None and words > cap
    return {
        "scenario_id": name,
        "seed": seed,
        "status": "refused" if words is None else "written",
        "text": None if words is None else f"{name} {seed} {words}",
        "words_raw": words,
        "words_kept": min(words, cap) if cut else words,
        "cut": cut,
        "cut_by_provider": False,
        "completion": "key",
    }


def _verdict(name, seed, item, passed, draw):
    if passed is None:
        return Verdict(name, seed, item.item_id, VerdictStatus.refused, None)
    mode = None
    if not passed:
        shares = np.cumsum(list(MODES.values()))
        kind = FailureMode(list(MODES)[min(int(np.searchsorted(shares, draw)), 3)])
        mode = FailureMode.committed if item.is_error else kind
    return Verdict(
        name, seed, item.item_id, VerdictStatus.graded, passed, mode, "" if passed else "It isn't there."
    )
