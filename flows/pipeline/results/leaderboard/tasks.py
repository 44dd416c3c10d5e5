"""The specification's table of tasks, with the score of each condition."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from flows.adapters.task_trees.check import FACTS, HEAD, WORDS
from flows.common.text import number
from flows.pipeline.results.graded import Graded, scenario_means
from flows.schema.report_task import ReportTask
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings


def task_table(
    graded: Sequence[Graded], scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> list[tuple[str, ...]]:
    """Build the table, header first: for each task its facts, published mean and score per condition.

    A score is the mean over scored attempts, or a dash. The last row is the mean over tasks, as on the
    leaderboard, with their number if some task has none.

    The columns are in the order of `graded`.
    """
    tasks = {name: scenario.task for name, scenario in scenarios.items() if scenario.task is not None}
    means = [scenario_means(entry, scenarios, scoring) for entry in graded]
    # Tasks of imported jobs that are not in this project.
    foreign = sorted({name for found in means for name in found} - set(tasks))
    head = (*HEAD[: WORDS + 2], "published mean", *_names(graded))
    rows = [(*_facts(task), *(number(found.get(name), 3) for found in means)) for name, task in tasks.items()]
    rows += [
        (name, *("-",) * (WORDS + 2), *(number(found.get(name), 3) for found in means)) for name in foreign
    ]
    overall = [number(math.fsum(found.values()) / len(found), 3) if found else "-" for found in means]
    overall = [
        cell if len(found) in (0, len(rows)) else f"{cell} ({len(found)} of {len(rows)})"
        for cell, found in zip(overall, means, strict=True)
    ]
    return [head, *rows, ("all", *("",) * (WORDS + 2), *overall)]


def published_note(graded: Sequence[Graded], scenarios: Mapping[str, Scenario]) -> list[str]:
    """Say how rows differ from the run of the published means; nothing if no task has one.

    The published run is described in MissionReport, Scoring and Running.
    """
    if all(one.task is None or one.task.mean_score_pct is None for one in scenarios.values()):
        return []
    abouts = [entry.about for entry in graded]
    harnesses = sorted({str(about["condition"]["harness"]) for about in abouts})
    judges = sorted({_judge_words(about["judge"]) for about in abouts})
    note = (
        "Published means are of nine models in the harness OpenCode, judged by Claude Opus 5.5 at medium "
        f"effort, judge call agent. Scores beside them are of harness {', '.join(harnesses)}, judged by "
        f"{'; '.join(judges)}: compare them with that in mind."
    )
    return [note]


def _judge_words(judge: Mapping[str, Any]) -> str:
    words = [str(judge["name"])]
    if judge["is_stand_in"]:
        return f"{words[0]}, a stand-in"
    words += [f"{judge['effort']} effort"] if judge.get("effort") else []
    return ", ".join([*words, f"judge call {judge.get('harness') or 'not stated'}"])


def transposed(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Transpose the table, so that each task is a column."""
    return list(zip(*rows, strict=True))


def narrow(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return names and scores alone for a terminal: the longer of tasks and conditions goes down the page."""
    published, *scores = list(zip(*rows, strict=True))[WORDS + 2 :]
    is_published = any(cell not in ("-", "") for cell in published[1:])
    columns = [tuple(row[0] for row in rows), *([published] if is_published else []), *scores]
    return columns if len(columns) > len(rows) else list(zip(*columns, strict=True))


def _facts(task: ReportTask) -> tuple[str, ...]:
    texts = [getattr(task, name) for name in FACTS]
    totals = task.totals
    published = "-" if task.mean_score_pct is None else f"{task.mean_score_pct / 100:.3f}"
    return (
        task.task_id,
        *(text or "-" for text in texts),
        str(len(task.attachments)),
        f"{totals.criteria} ({totals.penalties})",
        published,
    )


def _names(graded: Sequence[Graded]) -> list[str]:
    """Return a short, unique name for each condition: its model, else its label, else with its judge."""
    models = [entry.model for entry in graded]
    names = [entry.model if models.count(entry.model) == 1 else entry.condition for entry in graded]
    return [
        name if names.count(name) == 1 else f"{name} · {entry.judge}"
        for name, entry in zip(names, graded, strict=True)
    ]
