"""The tables that every table and figure of a paper is made from."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from flows.common.text import in_task_terms, plural
from flows.schema.verdict import Interval
from flows.stages.paper.coverage import comparable, covered

BRIEF = ["scenario_id", "seed"]
POOLED = "all"
"""Name of what is pooled over conditions, in the place of one."""
ROW = ["condition", "judge"]

CONDITION_COLUMNS = ["condition", "model", "effort", "word_cap", "prompt", "harness"]
VERDICT_COLUMNS = [
    *CONDITION_COLUMNS, "judge", *BRIEF, "item_id", "step", "tier", "severity", "is_error", "points",
    "status", "passed", "mode", "reason", "requirement", "is_copy",
]  # fmt: skip
BRIEF_COLUMNS = [
    *CONDITION_COLUMNS, "judge", *BRIEF, "status", "words_raw", "words_kept", "cut", "cut_by_provider",
    "counted", "score", "score_clamped", "score_low", "score_high", "correct", "passed", "wrong", "n_items",
    "n_graded", "n_missing", "is_copy",
]  # fmt: skip
LABEL_COLUMNS = ["rater", "condition", *BRIEF, "item_id", "passed"]
REPEAT_COLUMNS = [*ROW, *BRIEF, "item_id", "repeat", "passed"]
SOURCE_COLUMNS = ["scenario_id", "n_documents", "n_characters"]
TASK_COLUMNS = ["scenario_id", "title", "report_family", "setting", "published"]

_FAMILY = re.compile(r"[a-z]+")
_BENCHMARK_EFFORTS = ("medium", "default")


class NotEnoughError(Exception):
    """The results can't support a table or figure; the message says what is missing."""


@dataclass(frozen=True)
class Results:
    """Stored verdicts and what was computed from each brief's; not changed by any table.

    In the frames an unknown number is NaN. It becomes null when a table is written.
    """

    # One row per verdict, `VERDICT_COLUMNS`. `points` is the weight (negative for a wrong move), `passed` is
    # 1, 0 or NaN, and for a wrong move 1 means that the brief did not make it. `is_copy` marks a control's
    # repeats of the same text.
    verdicts: pd.DataFrame
    # One row per brief and judge, `BRIEF_COLUMNS`; `counted` is the score as it enters the mean, clamped or
    # not.
    briefs: pd.DataFrame
    estimates: pd.DataFrame  # one row per condition and judge: the leaderboard's numbers
    judge: str  # label of the judge whose verdicts the tables use where they don't compare judges
    word_cap: int | None  # the benchmark's; None for no cap
    prompt: str  # version of the benchmark's prompt
    weights: Mapping[str, float]  # points by severity; empty if items have points of their own
    assumed: Sequence[str]  # severities whose weight is not published
    interval: Callable[[Sequence[float]], Interval | None]  # returns the interval of a mean over scenarios
    # Experts' labels, `LABEL_COLUMNS`; may be empty.
    labels: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=LABEL_COLUMNS))
    # Verdicts of each repeat of a judge, `REPEAT_COLUMNS`; may be empty.
    repeats: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=REPEAT_COLUMNS))
    # One row per report task, `TASK_COLUMNS`; empty for briefs.
    tasks: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=TASK_COLUMNS))
    # One row per scenario, `SOURCE_COLUMNS`; characters are those of the packet, NaN if it is not stored. May
    # be empty.
    sources: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=SOURCE_COLUMNS))
    stand_ins: frozenset[str] = frozenset()  # labels of judges that are stand-ins

    def said(self, text: str) -> str:
        """Return a text of ours in the words of report tasks, if the results are of those."""
        return in_task_terms(text) if len(self.tasks) else text

    @cached_property
    def judges(self) -> list[str]:
        """The judge of the tables first, then the others by name."""
        others = sorted(set(self.estimates["judge"]) - {self.judge})
        return [self.judge, *others]

    @property
    def judge_note(self) -> str:
        """Which judge the tables are of, and how many conditions only others graded."""
        n = self.estimates["condition"].nunique() - len(self.order)
        rest = (
            f" Without {plural(n, 'condition')} that it did not grade; judge=NAME chooses another."
            if n
            else ""
        )
        return f"Judge: {self.judge}, where a table doesn't compare judges.{rest}"

    @cached_property
    def board(self) -> pd.DataFrame:
        """The estimates by the judge of the tables, with `at_benchmark`.

        The benchmark's conditions come first, of these the ones that are ranked, then the others; in each
        part the best first and those without a score last.
        """
        own = self.estimates[self.estimates["judge"] == self.judge]
        capped = own["word_cap"].isna() if self.word_cap is None else own["word_cap"] == self.word_cap
        own = own.assign(
            at_benchmark=capped & own["effort"].isin(_BENCHMARK_EFFORTS) & (own["prompt"] == self.prompt)
        )
        if not own["at_benchmark"].any():
            own["at_benchmark"] = True
        names = own.loc[own["at_benchmark"], "condition"]
        is_ranked = own["condition"].isin(comparable(covered(self._counted(names))))
        return own.assign(is_ranked=is_ranked).sort_values(
            ["at_benchmark", "is_ranked", "score", "condition"],
            ascending=[False, False, False, True],
            na_position="last",
            ignore_index=True,
        )

    @cached_property
    def order(self) -> list[str]:
        """Conditions in the order of the board."""
        return list(self.board["condition"])

    @cached_property
    def names(self) -> dict[str, str]:
        """A short name for each condition: the model, and what differs from the benchmark's condition."""
        rows = self.estimates.drop_duplicates("condition")
        plain = set(self.at_benchmark)
        short = [
            model if condition in plain else f"{model} ({effort}, {_cap_text(cap)})"
            for condition, model, effort, cap in zip(
                rows["condition"], rows["model"], rows["effort"], rows["word_cap"], strict=True
            )
        ]
        unique = not pd.Series(short).duplicated().any()
        return dict(zip(rows["condition"], short if unique else rows["condition"], strict=True))

    def named(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with the `name` of each `condition`."""
        conditions = frame["condition"].astype(object)
        return frame.assign(name=conditions.map({POOLED: POOLED, **self.names}))

    def in_order(self, frame: pd.DataFrame, by: list[str]) -> pd.DataFrame:
        """Return the rows named and sorted, conditions in the order of the board; what is pooled is first."""
        place = {name: number for number, name in enumerate([POOLED, *self.order])}

        def key(column: pd.Series) -> pd.Series:
            return column.astype(object).map(place) if column.name == "condition" else column

        return self.named(frame).sort_values(by, key=key, ignore_index=True)

    @property
    def own_verdicts(self) -> pd.DataFrame:
        """Verdicts of the judge of the tables; not kept, as there may be millions."""
        return self.verdicts[self.verdicts["judge"] == self.judge]

    @cached_property
    def own_briefs(self) -> pd.DataFrame:
        """Briefs as the judge of the tables graded them."""
        return self.briefs[self.briefs["judge"] == self.judge]

    @cached_property
    def brief_scores(self) -> pd.DataFrame:
        """One row per brief, by condition, scenario and seed, one column of scores per judge."""
        wide = self.briefs.pivot_table(
            index=["condition", *BRIEF], columns="judge", values="counted", aggfunc="first", observed=True
        )
        return wide.reindex(columns=self.judges)

    @cached_property
    def verdicts_once(self) -> pd.DataFrame:
        """Verdicts of the judge of the tables, without copies of the same text."""
        return self.verdicts[(self.verdicts["judge"] == self.judge) & ~self.verdicts["is_copy"]]

    @cached_property
    def at_benchmark(self) -> list[str]:
        """Conditions with the benchmark's prompt and cap at medium effort, or the provider's default.

        All conditions if there is none. Best first.
        """
        return list(self.board.loc[self.board["at_benchmark"], "condition"])

    def ranked(
        self, frame: pd.DataFrame, column: str, conditions: Collection[str] | None = None
    ) -> pd.Series:
        """Rank rows by a column, the highest first; NaN for others than `rankable` or given conditions."""
        chosen = self.rankable if conditions is None else conditions
        values = frame[column].where(frame["condition"].astype(object).isin(chosen))
        return values.rank(ascending=False, method="min")

    @cached_property
    def rankable(self) -> list[str]:
        """The benchmark's conditions with a score on every brief of the same scenarios. Best first."""
        return list(self.board.loc[self.board["is_ranked"], "condition"])

    @cached_property
    def on_same_scenarios(self) -> list[str]:
        """The benchmark's conditions with a score on the same scenarios, not on every brief. Best first."""
        chosen = comparable(covered(self._counted(self.at_benchmark).dropna()))
        return [name for name in self.at_benchmark if name in chosen]

    def _counted(self, conditions: Collection[str]) -> pd.Series:
        """Return the scores of the briefs of some conditions, by condition and scenario."""
        own = self.own_briefs[self.own_briefs["condition"].isin(conditions)]
        return own.set_index(["condition", "scenario_id"])["counted"]

    def brief_codes(self, rows: pd.DataFrame) -> np.ndarray:
        """Return a number for each row, equal for rows of one brief; -1 where there is no verdict on it."""
        codes = np.zeros(len(rows), dtype=np.int64)
        unknown = np.zeros(len(rows), dtype=bool)
        for name in ("condition", "scenario_id"):
            known = self.verdicts[name].cat.categories
            own = _codes(rows[name], known)
            unknown |= own < 0
            codes = codes * len(known) + own
        seeds = np.sort(self.verdicts["seed"].unique())
        own = np.searchsorted(seeds, rows["seed"]).clip(max=max(0, len(seeds) - 1))
        codes = codes * len(seeds) + own
        return np.where(unknown | (seeds[own] != rows["seed"].to_numpy()) if len(seeds) else True, -1, codes)

    def on_scored_briefs(self, rows: pd.DataFrame) -> np.ndarray:
        """Mark verdicts on briefs with a score by the judge of the tables."""
        scored = self.own_briefs[self.own_briefs["score"].notna()]
        return _contained(self.brief_codes(rows), self.brief_codes(scored))

    @cached_property
    def by_judge(self) -> pd.DataFrame:
        """One row per item of a brief, with one column of `passed` per judge; without copies of a text.

        The others are `condition`, `scenario_id`, `seed`, `item_id`, `tier`, `severity` and `is_error`.
        """
        own = self.verdicts[~self.verdicts["is_copy"]] if self.verdicts["is_copy"].any() else self.verdicts
        items = own["item_id"].cat
        code = self.brief_codes(own) * len(items.categories) + items.codes.to_numpy()
        row, places = pd.factorize(code)
        first = np.full(len(places), len(own))
        np.minimum.at(first, row, np.arange(len(own)))
        facts = ["condition", *BRIEF, "item_id", "tier", "severity", "is_error"]
        wide = own[facts].iloc[first].reset_index(drop=True)
        passed = np.full((len(self.judges), len(places)), np.nan)
        passed[_codes(own["judge"], pd.Index(self.judges)), row] = own["passed"]
        return wide.assign(**dict(zip(self.judges, passed, strict=True)))

    def scenario_means(self) -> pd.DataFrame:
        """Return means over seeds: one row per condition, one column per scenario, NaN where unscored."""
        return self.own_briefs.pivot_table(
            index="condition", columns="scenario_id", values="counted", aggfunc="mean", observed=True
        )

    def limits(self, values: Sequence[float] | np.ndarray | pd.Series) -> tuple[float, float]:
        """Return the ends of the interval of the mean of values; NaN for none. NaN values are left out."""
        known = [float(value) for value in values if not np.isnan(value)]
        found = self.interval(known)
        return (np.nan, np.nan) if found is None else (found.low, found.high)

    @cached_property
    def interval_note(self) -> str:
        """Name the interval of the board's rows."""
        methods = sorted(set(self.board["method"].dropna()))
        return self.said(f"Interval: {'; '.join(methods)}." if methods else "No interval: too few scenarios.")


def family(label: str) -> str:
    """Return the family of a model or judge: the first letters of its label (`gpt`, `claude`)."""
    found = _FAMILY.match(label.lower())
    return found.group() if found else label


def _codes(column: pd.Series, known: pd.Index) -> np.ndarray:
    """Return the place of each value among the known ones, -1 for others."""
    values = column.astype("category").cat
    return known.get_indexer(values.categories)[values.codes.to_numpy()].astype(np.int64)


def _contained(codes: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Mark the codes from 0 that are among the chosen."""
    table = np.zeros(max(codes.max(initial=0), chosen.max(initial=0)) + 2, dtype=bool)
    table[chosen] = True
    table[-1] = False  # of rows and briefs without a code
    return table[codes]


def _cap_text(cap: float) -> str:
    return "no cap" if pd.isna(cap) else f"{int(cap):,} words"
