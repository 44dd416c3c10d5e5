"""Graded conditions and their scores."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from operator import attrgetter
from typing import Any

from flows.common.digests import canonical_json
from flows.pipeline.results.table_rows import BriefRows
from flows.schema.brief import BriefStatus
from flows.schema.leaderboard import Leaderboard
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import ScoringSettings
from flows.schema.verdict import BriefScore, Estimate, Verdict
from flows.stages.aggregate import AGGREGATE_VERSION, aggregate
from flows.stages.aggregate import scenario_means as means_of
from flows.stages.score import SCORE_VERSION, score_briefs, score_refused

SCORE_VERSIONS = {"score": SCORE_VERSION, "aggregate": AGGREGATE_VERSION}
"""Versions of the rules for stored scores."""


@dataclass(frozen=True)
class Scored:
    """Scores under one set of weights."""

    scores: Sequence[BriefScore]  # of every brief
    estimate: Estimate  # of the condition

    @property
    def by_brief(self) -> dict[tuple[str, int], BriefScore]:
        """The scores, by scenario and seed."""
        return {(score.scenario_id, score.seed): score for score in self.scores}


@dataclass(frozen=True)
class Graded:
    """One condition under one judge, as loaded from its files."""

    about: Mapping[str, Any]  # metadata of the files
    briefs: Sequence[Mapping[str, Any]]  # rows of the briefs table, without texts: see `whole_briefs`
    verdicts: Sequence[Verdict]  # in file order
    # Number of the repeat and a verdict of it; empty for a judge without repeats.
    repeats: Sequence[tuple[int, Verdict]] = ()
    # Facts of the report files, by scenario and seed; empty if briefs are text.
    reports: Mapping[tuple[str, int], ReportFacts] = field(default_factory=dict[tuple[str, int], ReportFacts])
    # From another harness's verifier; None if they follow from the verdicts.
    scores: Sequence[BriefScore] | None = None
    # Cache of scores by weights, including those stored by the run.
    known: dict[str, Scored] = field(default_factory=dict[str, Scored], compare=False)
    settings: Mapping[str, Any] | None = None  # content of its settings file; None if there is none

    @property
    def condition(self) -> str:
        """The condition's label."""
        return str(self.about["condition"]["label"])

    @property
    def judge(self) -> str:
        """The judge's label."""
        return str(self.about["judge"]["label"])

    @property
    def model(self) -> str:
        """Label of the model that wrote the briefs."""
        return str(self.about["condition"]["model"])

    @property
    def is_foreign(self) -> bool:
        """True if another harness ran and graded it, with its own tasks and weights."""
        return self.scores is not None

    @property
    def is_stand_in(self) -> bool:
        """True if the judge is the offline one, or Harbor's stand-in."""
        return bool(self.about["judge"]["is_stand_in"])

    def is_clamped(self, scoring: ScoringSettings) -> bool:
        """True if scores count within [0, 1].

        The protocol decides that of attempts, whatever the weights of other rows. Old imports are reports.
        """
        return bool(self.about["harbor"].get("clamped", True)) if self.is_foreign else scoring.clamped

    @property
    def has_attempts(self) -> bool:
        """True if a model wrote reports in a loop of tool calls."""
        return any(report.n_calls for report in self.reports.values())

    @property
    def refused(self) -> set[tuple[str, int]]:
        """Scenario and seed of the briefs that the writer refused."""
        return {
            (brief["scenario_id"], brief["seed"])
            for brief in self.briefs
            if brief["status"] == BriefStatus.refused.value
        }

    @property
    def whole_briefs(self) -> Sequence[Mapping[str, Any]]:
        """The rows of the briefs table with their texts, which are decoded each time."""
        return self.briefs.whole() if isinstance(self.briefs, BriefRows) else self.briefs

    @cached_property
    def copies(self) -> set[tuple[str, int]]:
        """Scenario and seed of the briefs that no model wrote and that repeat another seed's text.

        Controls and baselines write the same text for each seed: one observation, not several.
        """
        if self.is_foreign or self.has_attempts or all(brief["completion"] for brief in self.briefs):
            return set()
        seen: set[tuple[str, str]] = set()
        found: set[tuple[str, int]] = set()
        for brief in sorted(self.whole_briefs, key=lambda brief: brief["seed"]):
            text = brief["text"]
            if text is None or brief["completion"] is not None:
                continue
            if (brief["scenario_id"], text) in seen:
                found.add((brief["scenario_id"], brief["seed"]))
            seen.add((brief["scenario_id"], text))
        return found

    @property
    def verdicts_once(self) -> list[Verdict]:
        """The verdicts, without those on copies."""
        copies = self.copies
        return [v for v in self.verdicts if (v.scenario_id, v.seed) not in copies]

    @property
    def texts(self) -> dict[tuple[str, int], str | None]:
        """Graded texts, by scenario and seed."""
        return {(brief["scenario_id"], brief["seed"]): brief["text"] for brief in self.whole_briefs}

    @property
    def by_brief(self) -> dict[tuple[str, int], list[Verdict]]:
        """The verdicts, by scenario and seed."""
        found: defaultdict[tuple[str, int], list[Verdict]] = defaultdict(list)
        for verdict in self.verdicts:
            found[verdict.scenario_id, verdict.seed].append(verdict)
        return dict(found)

    @property
    def passed(self) -> dict[tuple[str, int, str], bool | None]:
        """`Verdict.passed` by scenario, seed and item."""
        return {(v.scenario_id, v.seed, v.item_id): v.passed for v in self.verdicts}

    @property
    def passed_at_each_repeat(self) -> dict[tuple[str, int, str], list[bool | None]]:
        """`passed` at each repeat, in order."""
        found: defaultdict[tuple[str, int, str], list[bool | None]] = defaultdict(list)
        for _, v in sorted(self.repeats, key=lambda repeat: repeat[0]):
            found[v.scenario_id, v.seed, v.item_id].append(v.passed)
        return dict(found)


def in_order(graded: Sequence[Graded], board: Leaderboard) -> list[Graded]:
    """Return the conditions in the order of a board's rows."""
    by_name = {(entry.condition, entry.judge): entry for entry in graded}
    return [by_name[row.condition, row.judge_id] for row in board.rows]


def items_of(scenarios: Iterable[Scenario]) -> dict[tuple[str, str], Item]:
    """Return the items of all rubrics, by scenario and item."""
    return {(one.scenario_id, item.item_id): item for one in scenarios for item in one.items}


def scenario_means(
    entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> dict[str, float]:
    """Return the mean score of each scenario over its scored briefs, as it is averaged; without any, none."""
    value = attrgetter("score_clamped" if entry.is_clamped(scoring) else "score")
    return means_of(scored(entry, scenarios, scoring).scores, value)


def scored(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> Scored:
    """Score a graded condition by some weights; the only place that does.

    Scores that the run stored under the same weights are reused; others are computed once.

    Raises:
        StaffbenchError: verdicts do not match their rubric.
    """
    key = canonical_json(asdict(scoring))
    if key not in entry.known:
        entry.known[key] = _score(entry, scenarios, scoring)
    return entry.known[key]


def _score(entry: Graded, scenarios: Mapping[str, Scenario], scoring: ScoringSettings) -> Scored:
    names = list(entry.about["scenarios"])
    if entry.scores is None:
        items = {name: scenarios[name].items for name in names}
        scores = score_briefs(items, entry.verdicts, scoring, entry.refused)
        return Scored(scores, aggregate(scores, names, int(entry.about["seeds"]), scoring))
    seeds = dict(Counter(score.scenario_id for score in entry.scores))
    scoring = replace(scoring, clamped=entry.is_clamped(scoring))
    points = {
        name: [row[1] for row in rows] for name, rows in entry.about["harbor"].get("criteria", {}).items()
    }
    scores = [
        score_refused(score, scoring, points.get(score.scenario_id, ()))
        if (score.scenario_id, score.seed) in entry.refused
        else score
        for score in entry.scores
    ]
    return Scored(scores, aggregate(scores, names, seeds, scoring))
