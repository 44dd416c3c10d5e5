"""`staffbench harbor verify`: grade one submission in Harbor's sandbox, which has only this package.

It writes `reward.json` for Harbor (`reward` and nothing else) and `judgment.json` for `harbor import`. If
judging fails there is no `reward.json`: an attempt without a reward is not an attempt that scored 0.
"""

import asyncio
import os
import shlex
import shutil
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from flows.adapters.config.compose import Point, compose_points
from flows.adapters.scenario_files import load_scenario
from flows.adapters.screen import Screen
from flows.adapters.task_trees.tests_folder import read_grading, read_tests
from flows.adapters.task_trees.write_text import json_text
from flows.common.errors import ConfigError, StaffbenchError, StoreError
from flows.common.files import write_whole
from flows.common.text import count_of
from flows.common.version import __version__
from flows.pipeline.harbor.judge_file import model_names, named_judge
from flows.pipeline.harbor.overrides import axis_of, layered
from flows.pipeline.harbor.submitted import open_brief, open_report
from flows.pipeline.harbor.tasks import JUDGE
from flows.pipeline.inputs.scenarios import report_scenario
from flows.schema.brief import Brief
from flows.schema.condition import judge_of
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import JudgeKind, ProtocolName, ScoringSettings
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.score import score_brief

_REPLIES = "staffbench"
"""Subfolder of the logs for the judge's replies; Harbor collects it too."""

UNGRADED = 4
"""Exit code if items have no verdict; there is no reward then."""

_SEED = 1  # Harbor numbers the attempts; a verifier sees one

_NAMELESS = "report"
"""Temporary id of a task without one; imports use Harbor's name of it."""

_DEFAULT_OVERRIDES = ("benchmark=mission_report",)
"""For a task without grading settings, such as those of MissionReport's release."""


GradeOne = Callable[[Path, Point, Scenario, Brief, Path], Coroutine[Any, Any, Sequence[Verdict]]]
"""Grades one submission, as `flows.pipeline.work.judging.grade_one` does."""


def verify(
    overrides: Sequence[str],
    report: Path,
    tests: Path,
    logs: Path,
    screen: Screen,
    *,
    grade: GradeOne | None = None,
) -> int:
    """Grade one submission and write reward and judgment.

    The judge is chosen by `overrides`, else by STAFFBENCH_JUDGE, else by the export, else by the task. The
    offline stand-in judges only where one of them names it.

    `grade` is our judge stage if it is None. `logs` also takes the judge's replies.

    Returns:
        0 if there is a reward; `UNGRADED` if items have no verdict.

    Raises:
        ConfigError: `tests` does not exist, or `logs` is a file.
        StaffbenchError: rubric, configuration or report can't be read, or the judge can't be used. The
            judgment holds the error, and there is no reward.
    """
    if logs.exists() and not logs.is_dir():
        raise ConfigError(logs, "a file", "a folder", "set --logs to another folder")
    _clear(logs)
    about: dict[str, Any] = {"staffbench": __version__}  # facts about task and judge, for the judgment
    try:
        judgment, reward, said = _graded(overrides, report, tests, logs, screen, about, grade)
    except StaffbenchError as error:
        _write(logs, "judgment.json", {**about, "error": str(error), "criteria": []})
        raise
    _write(logs, "judgment.json", {**about, **judgment})
    if reward is None:
        screen.fault(said)
        return UNGRADED
    _write(logs, "reward.json", {"reward": reward})
    screen.note(said)
    return 0


def package_project() -> Path:
    """Return the folder with this package's `conf/`: the installed package, or the root of a clone.

    The current folder and its parents are not searched: in a sandbox the agent could put a `conf/` there.

    Raises:
        ConfigError: the package was installed without its `conf/`.
    """
    package = Path(__file__).resolve().parents[2]
    for folder in (package, package.parent):
        if (folder / "conf" / "config.yaml").is_file():
            return folder
    raise ConfigError(
        package / "conf" / "config.yaml", "not there", remedy="reinstall staffbench from its wheel"
    )


def _graded(  # noqa: PLR0917 -- what `verify` is given
    overrides: Sequence[str],
    report: Path,
    tests: Path,
    logs: Path,
    screen: Screen,
    about: dict[str, Any],
    grade: GradeOne | None,
) -> tuple[dict[str, Any], float | None, str]:
    """Grade as `verify` does; return judgment, reward and what is said of it. Facts are added to `about`."""
    if not tests.is_dir():
        raise ConfigError(tests, "no such folder", "the task's tests/ folder", "set --task to it")
    project = package_project()
    grading = read_grading(tests)
    exported = _DEFAULT_OVERRIDES if grading is None else grading.overrides
    if grading is None and not any(axis_of(word) == "judge" for word in (*_from_environment(), *overrides)):
        exported += tuple(named_judge(project, read_tests(tests).judge))
    point = compose_points(project, _overrides(exported, overrides), multirun=False)[0]
    point = replace(point, settings=replace(point.settings, results=str(logs.absolute() / _REPLIES)))
    settings = point.settings
    stand_in = settings.judge.kind is JudgeKind.offline
    label = judge_of(settings, point.changed).label
    about |= {
        "benchmark": settings.benchmark.name,
        "protocol": settings.benchmark.protocol.value,
        "judge_model": label,
        "judge_names": model_names(settings.judge),
        "stand_in": stand_in,
        "scoring": settings.scoring.name,
    }
    if settings.benchmark.protocol is ProtocolName.mission_report:
        task = read_tests(tests)
        name = task.task_id if grading is None else grading.scenario_id
        scenario = report_scenario(name or _NAMELESS, task.title, task.criteria, task.golden)
        submission = open_report(scenario.scenario_id, _SEED, report)
    else:
        assert grading is not None  # _overrides fixes the protocol of other tasks
        about["word_cap"] = cap = settings.word_cap.words
        scenario = load_scenario(tests / "fixtures" / grading.scenario_id)
        submission = open_brief(scenario.scenario_id, _SEED, report, cap)
    if scenario.scenario_id != _NAMELESS:
        about["scenario_id"] = scenario.scenario_id
    if stand_in:
        screen.say(f"Judged by {settings.judge.label}, a stand-in; {JUDGE} chooses a judge.")
    if submission.brief is None:
        fault = f"{submission.status.value}: {submission.detail}"
        return {"format_error": fault, "score": 0.0, "criteria": []}, 0.0, f"reward 0.000: {fault}"
    if grade is None:
        from flows.pipeline.work.judging import grade_one as grade  # slow import

    verdicts = asyncio.run(grade(project, point, scenario, submission.brief, report))
    # A reward has no bounds beside it, so every item must be graded.
    scoring = replace(settings.scoring, min_graded=1.0)
    found = score_brief(scenario.items, verdicts, scoring)
    by_id = {verdict.item_id: verdict for verdict in verdicts}
    criteria = [_criterion(item, by_id[item.item_id], scoring) for item in scenario.items]
    reward = found.score_clamped if scoring.clamped else found.score
    said = f"no reward: {found.n_missing} of {len(criteria)} items have no verdict"
    if reward is not None:
        said = f"reward {reward:.3f}: {label} on {count_of(found.n_graded, found.n_items)} items"
    return {"score": found.score, "criteria": criteria}, reward, said


def _write(logs: Path, name: str, value: object) -> None:
    """Write a JSON file atomically; a link that the agent put there is replaced, not followed."""
    write_whole(logs / name, json_text(value))


def _overrides(exported: Sequence[str], overrides: Sequence[str]) -> list[str]:
    """Merge overrides; the command takes precedence over the environment, and that over the export.

    Raises:
        ConfigError: an override of the benchmark, which the task fixes.
    """
    chosen = _from_environment()
    benchmark = next((word for word in (*chosen, *overrides) if axis_of(word) == "benchmark"), None)
    if benchmark is not None:
        raise ConfigError(benchmark, "the task fixes the benchmark", remedy="remove it")
    return layered(layered(exported, chosen), overrides)


def _from_environment() -> list[str]:
    """Return the overrides in STAFFBENCH_JUDGE."""
    try:
        words = shlex.split(os.environ.get(JUDGE, ""))
    except ValueError as error:
        raise ConfigError(JUDGE, str(error), "an option of judge, then overrides") from error
    return [word if "=" in word else f"judge={word}" for word in words]


def _criterion(item: Item, verdict: Verdict, scoring: ScoringSettings) -> dict[str, Any]:
    """Format a verdict as verifiers do: for an error, `met` means that it was committed."""
    points = item.points if item.severity is None else scoring.weights[item.severity]
    met = None if verdict.passed is None else verdict.passed != item.is_error
    found: dict[str, Any] = {
        "criterion_id": item.item_id,
        "points": points,
        "polarity": "negative" if item.is_error else "positive",
        "criterion": item.requirement,
        "met": met,
        "reason": verdict.reason,
    }
    if verdict.status is not VerdictStatus.graded:
        found["error"] = f"{verdict.status.value}: {verdict.reason or 'no verdict'}"
    return found


def _clear(logs: Path) -> None:
    """Delete files of an earlier run or the agent, which could have forged replies."""
    replies = logs / _REPLIES
    try:
        logs.mkdir(parents=True, exist_ok=True)
        for name in ("reward.json", "reward.txt", "judgment.json"):
            (logs / name).unlink(missing_ok=True)
        if replies.is_dir() and not replies.is_symlink():
            shutil.rmtree(replies)
        else:
            replies.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            logs,
            f"can't be written ({error.strerror})",
            remedy="fix the permissions, or set --logs to another folder",
        ) from error
