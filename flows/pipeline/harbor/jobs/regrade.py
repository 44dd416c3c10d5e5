"""Grade the submissions that a job kept with a judge of ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flows.adapters.config.compose import Point
from flows.common.errors import ConfigError
from flows.pipeline.harbor.jobs.kept import KeptAttempt
from flows.pipeline.harbor.jobs.verdicts import score_row
from flows.pipeline.harbor.judge_file import model_names
from flows.pipeline.work.judging import grade_all
from flows.schema.condition import Judge, judge_of
from flows.schema.harbor import Outcome
from flows.schema.scenario import Scenario
from flows.schema.verdict import BriefScore, Verdict, VerdictStatus
from flows.stages.score import score_brief


@dataclass(frozen=True)
class Regraded:
    """Verdicts and scores of one judge on the attempts of a system."""

    judge: Judge
    scoring: str  # name of the weights
    verdicts: Sequence[Verdict]  # on every item of the attempts that it graded
    scores: Sequence[BriefScore]  # in the order of the attempts
    points: Mapping[tuple[str, str], float | None]  # of each item, by task and id; None if unknown
    judge_names: frozenset[str]  # the providers' names of the models that grade


async def regrade(
    project: Path, results: Path, point: Point, kept: Sequence[KeptAttempt], scenarios: Mapping[str, Scenario]
) -> Regraded:
    """Grade every kept submission; what scores 0 without a judge scores 0 here, too.

    An attempt without a submission and without that reason has no score, whatever its verifier said.

    The replies are stored in `results`, an absolute path.

    Raises:
        ConfigError: a task is not in this project.
        StaffbenchError: the judge can't be used.
    """
    missing = sorted({each.brief.scenario_id for each in kept} - scenarios.keys())
    if missing:
        raise ConfigError(
            f"judge={point.settings.judge.label}",
            f"{', '.join(missing)} can't be graded here",
            "the tasks of the job, unchanged",
            "set benchmark.data to their folder, or leave judge out",
        )
    settings = replace(point.settings, results=str(results))
    asked = {
        each.brief.brief_id: (scenarios[each.brief.scenario_id], each.brief, each.file)
        for each in kept
        if each.brief.text and each.file is not None
    }
    found = await grade_all(project, replace(point, settings=settings), [*asked.values()])
    by_brief = dict(zip(asked, found, strict=True))
    verdicts: list[Verdict] = []
    scores: list[BriefScore] = []
    for each in kept:
        items = scenarios[each.brief.scenario_id].items
        own = by_brief.get(each.brief.brief_id)
        if own is None and each.attempt.outcome is Outcome.no_report:
            scores.append(score_row(each.attempt, [], 0.0))
            continue
        if own is None:
            reason = f"nothing to grade: {each.brief.detail}"
            where = each.brief.scenario_id, each.brief.seed
            own = [Verdict(*where, item.item_id, VerdictStatus.error, None, reason=reason) for item in items]
        verdicts += own
        scores.append(score_brief(items, own, settings.scoring))
    return Regraded(
        judge_of(point.settings, point.changed),
        settings.scoring.name,
        verdicts,
        scores,
        {(name, item.item_id): item.points for name, each in scenarios.items() for item in each.items},
        frozenset(model_names(settings.judge)),
    )
