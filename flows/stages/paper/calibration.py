"""What labels say about a judge: whether it may stand in for a rater, and scores corrected by its errors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

EPSILON = 0.2
"""By how much a judge may be worse than an expert, as the test's authors propose for experts."""
FEWEST_ITEMS = 30
"""Items that a rater must share with others to be tested; the authors ask for 30 for a t test."""
FEWEST_RATERS = 3
"""Raters that the authors recommend."""
FEWEST_SCENARIOS = 6
"""For the interval of a corrected score."""

_LEVEL = 0.05
_DRAW_SEED = 20_261_019  # fixed, so that equal verdicts give equal intervals
_RESAMPLES = 2_000
_MOST_UNDEFINED = 0.05  # share of draws without a corrected score, above which there is no interval


def alternative_annotator(
    ratings: pd.DataFrame, verdicts: pd.Series, epsilon: float = EPSILON
) -> pd.DataFrame:
    """Test whether a judge represents the other raters as well as each rater does (alt-test).

    Each rater is left out in turn. On an item, the judge wins if it agrees with at least as many of the other
    raters as the one left out does, and that rater wins likewise, so both win a tie. The one-sided t test
    takes that the rater's share of wins exceeds the judge's by `epsilon` or more, and the p-values are
    corrected by Benjamini and Yekutieli at 0.05. The judge may stand in for raters if at least half of these
    hypotheses are rejected.

    Source: N. Calderon, R. Reichart, R. Dror, "The Alternative Annotator Test for LLM-as-a-Judge", ACL 2025,
    pp. 16051-16081, with agreement as the scoring function for classes.

    Args:
        ratings: one row per item, one column per rater; NaN for no label.
        verdicts: the judge's, in the same order; items without one don't count.
        epsilon: how much worse the judge may be.

    Returns:
        One row per rater: `rater`, `n` items, `advantage` (the judge's share of wins), `rater_wins`, `p`, and
        `rejected` as 1 or 0. `p` and `rejected` are NaN for fewer than 30 items.
    """
    from scipy.stats import ttest_1samp
    from statsmodels.stats.multitest import multipletests

    known = verdicts.notna().to_numpy()
    labels, judge = ratings.to_numpy(float)[known], verdicts.to_numpy(float)[known]
    rows: list[dict[str, object]] = []
    for at, rater in enumerate(ratings.columns):
        others = np.delete(labels, at, axis=1)
        shared = ~np.isnan(labels[:, at]) & ~np.isnan(others).all(axis=1)
        own, others, said = labels[shared, at], others[shared], judge[shared]
        by_judge, by_rater = ((others == one[:, None]).sum(axis=1) for one in (said, own))
        judge_wins, rater_wins = by_judge >= by_rater, by_rater >= by_judge
        ahead = rater_wins.astype(float) - judge_wins
        p = np.nan
        if len(ahead) >= FEWEST_ITEMS:
            # Without any spread the t statistic is infinite.
            tested: Any = ttest_1samp(ahead, epsilon, alternative="less") if np.ptp(ahead) else None
            p = float(ahead[0] >= epsilon) if tested is None else float(tested.pvalue)
        wins = (judge_wins.mean(), rater_wins.mean()) if len(ahead) else (np.nan, np.nan)
        rows.append({"rater": rater, "n": len(ahead), "advantage": wins[0], "rater_wins": wins[1], "p": p})
    frame = pd.DataFrame(rows)
    tested = frame["p"].notna()
    frame["rejected"] = np.nan
    if tested.any():
        frame.loc[tested, "rejected"] = multipletests(frame["p"][tested], _LEVEL, "fdr_by")[0].astype(float)
    return frame


def error_rates(labels: pd.Series, verdicts: pd.Series, clusters: pd.Series) -> dict[str, float]:
    """Return a judge's error rates against labels, and the items that each rate is worth.

    Args:
        labels: 1 for passed, 0 for failed, NaN for none.
        verdicts: the judge's, likewise.
        clusters: the brief of each item.

    Returns:
        `sensitivity`: share of the failed items that the judge fails; `specificity`: share of the passed ones
        that it passes; NaN without such items. `n_failed` and `n_passed` by the labels, and the same divided
        by the design effect of briefs (L. Kish, Survey Sampling, 1965), `effective_failed` and
        `effective_passed`.
    """
    known = labels.notna() & verdicts.notna()
    found: dict[str, float] = {}
    for name, rate, label in (("failed", "sensitivity", 0), ("passed", "specificity", 1)):
        chosen = known & (labels == label)
        right = (verdicts[chosen] == label).astype(float)
        n = len(right)
        mean = float(right.mean()) if n else np.nan
        found |= {rate: mean, f"n_{name}": n, f"effective_{name}": float(n)}
        by_brief = (right - mean).groupby(clusters[chosen]).sum()
        m = len(by_brief)
        if m > 1 and 0 < mean < 1:
            clustered = float((by_brief**2).sum()) / n**2 * m / (m - 1)
            found[f"effective_{name}"] = n / max(1.0, clustered / (mean * (1 - mean) / n))
    return found


def usable(rates: dict[str, float]) -> str | None:
    """Say why error rates can't correct a score; None if they can."""
    for name in ("failed", "passed"):
        if not rates[f"n_{name}"]:
            return f"none {name} by experts"
    if rates["sensitivity"] + rates["specificity"] <= 1:
        return "sensitivity + specificity at most 1"
    return None


@dataclass(frozen=True)
class Parts:
    """What each class of items adds to a condition's unclamped score.

    The score is the sum of `gained` minus that of `possible` over wrong moves.
    """

    # By scenario (row) and class: points of items passed, as a share of all positive points; mean over seeds.
    gained: pd.DataFrame
    possible: pd.DataFrame  # the same of all items
    is_error: pd.Series  # by class

    @property
    def score(self) -> float:
        """The mean over scenarios."""
        possible = self.possible.mean()
        return float(self.gained.mean().sum() - possible[self.is_error].sum())


def parts(verdicts: pd.DataFrame, briefs: np.ndarray) -> dict[str, Parts]:
    """Return the parts of the score of each condition.

    `verdicts` are the graded items of scored briefs by one judge, with `class`; `briefs` has the number of
    each one's brief.
    """
    points = verdicts["points"].abs()
    total = np.bincount(briefs, weights=points.where(~verdicts["is_error"], 0.0))
    place = ["condition", "scenario_id"]
    own = verdicts[[*place, "class", "is_error"]].assign(possible=points / total[briefs])
    own["gained"] = own["possible"] * verdicts["passed"]
    sums = own.groupby([*place, "class"], observed=True)[["gained", "possible"]].sum()
    first = np.unique(briefs, return_index=True)[1]
    n_briefs = verdicts[place].iloc[first].groupby(place, observed=True).size()
    wide = sums.unstack("class").fillna(0.0).div(n_briefs, axis=0)
    is_error = own.groupby("class", observed=True)["is_error"].first()
    found: dict[str, Parts] = {}
    for condition, part in wide.groupby("condition", observed=True):
        by_scenario: Any = part.droplevel(0)
        found[str(condition)] = Parts(by_scenario["gained"], by_scenario["possible"], is_error)
    return found


def corrected(own: Parts, rates: dict[str, dict[str, float]]) -> tuple[float, float, float]:
    """Correct a score by a judge's error rates, as Rogan and Gladen correct a prevalence.

    In each class the share passed, weighted by points, becomes (share + sensitivity - 1) / (sensitivity +
    specificity - 1), within [0, 1]. The interval adds two variances, each of 2,000 seeded draws: of resampled
    scenarios, and of error rates drawn from their beta distributions with Jeffreys' prior. It is t with
    Satterthwaite's degrees of freedom, of which scenarios have their number less one.

    Sources: W. Rogan, B. Gladen, American Journal of Epidemiology 107(1), 1978, pp. 71-76; Z. Lang, J.
    Reiczigel, Preventive Veterinary Medicine 113(1), 2014, pp. 13-22, for the errors' share of the interval.

    `rates` are `error_rates` by class, all of them `usable`.

    Returns:
        The score and the ends of its interval. The ends are NaN below six scenarios, or if more than 5% of
        the draws have no corrected score.
    """
    from scipy.special import stdtrit

    classes = list(own.possible.columns)
    errors = own.is_error[classes].to_numpy()
    gained, possible = own.gained[classes].to_numpy(float), own.possible[classes].to_numpy(float)
    found = {name: np.array([rates[one][name] for one in classes]) for name in rates[classes[0]]}

    def score(
        got: np.ndarray, of: np.ndarray, sensitivity: np.ndarray, specificity: np.ndarray
    ) -> np.ndarray:
        share = np.divide(got, of, out=np.zeros(got.shape), where=of > 0)
        informed = sensitivity + specificity - 1
        informed = np.where(informed > 0, informed, np.nan)
        true = (share + sensitivity - 1) / informed
        return (of * np.clip(true, 0, 1)).sum(axis=-1) - of[..., errors].sum(axis=-1)

    value = float(score(gained.mean(0), possible.mean(0), found["sensitivity"], found["specificity"]))
    n = len(gained)
    if n < FEWEST_SCENARIOS:
        return value, np.nan, np.nan
    rng = np.random.default_rng(_DRAW_SEED)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=_RESAMPLES) / n
    drawn: list[np.ndarray] = []
    for name, rate in (("failed", "sensitivity"), ("passed", "specificity")):
        size, mean = found[f"effective_{name}"], found[rate]
        drawn.append(rng.beta(size * mean + 0.5, size * (1 - mean) + 0.5, size=(_RESAMPLES, len(classes))))
    by_label = score(gained.mean(0), possible.mean(0), *drawn)
    if np.isnan(by_label).mean() > _MOST_UNDEFINED:
        return value, np.nan, np.nan
    by_scenario = score(weights @ gained, weights @ possible, found["sensitivity"], found["specificity"])
    sampled, labelled = float(np.var(by_scenario)) * n / (n - 1), float(np.nanvar(by_label))
    freedom = (n - 1) * ((sampled + labelled) / sampled) ** 2 if sampled else np.inf
    half = float(stdtrit(freedom, 1 - _LEVEL / 2)) * (sampled + labelled) ** 0.5
    return value, value - half, value + half
