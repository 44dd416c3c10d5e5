"""`staffbench harbor verify`: one report graded in Harbor's sandbox, with nothing around but this package.

What it leaves in the verifier's folder is for Harbor (`reward.json`, with `reward` and nothing else) and for
`harbor import` (`judgment.json`). Where judging fails there is no `reward.json`: an attempt without a reward
is not an attempt that scored 0.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from flows import __version__
from flows.adapters.config.compose import Point, compose_points
from flows.adapters.scenario_files import load_scenario
from flows.adapters.screen import Screen
from flows.adapters.task_trees.tests_folder import read_grading, read_tests
from flows.adapters.task_trees.write_text import json_text
from flows.common.errors import ConfigError, StaffbenchError, StoreError
from flows.common.files import write_whole
from flows.pipeline.harbor.overrides import axis_of, layered
from flows.pipeline.harbor.submitted import HandedIn, open_brief, open_report
from flows.pipeline.harbor.tasks import JUDGE
from flows.pipeline.inputs.scenarios import report_scenario
from flows.schema.brief import Brief
from flows.schema.condition import judge_of
from flows.schema.scenario import Item, Scenario
from flows.schema.settings import JudgeKind, JudgeSettings, ScoringSettings
from flows.schema.settings import ProtocolName as Benchmark
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.score import score_brief

_REPLIES = "staffbench"
"""Folder in the verifier's for the judge's replies: Harbor collects it with the rest."""

UNGRADED = 4
"""Exit code where the judge left items without a verdict; there is no reward then."""

_SEED = 1  # Harbor numbers the attempts; a verifier sees one

_NAMELESS = "report"
"""Id of a task that says none, while it is graded: an import goes by Harbor's name of it."""

_UNTOLD = ("benchmark=mission_report",)
"""Of a task that says nothing of its grading: those of the release, and ours, are of this protocol."""


class GradeOne(Protocol):
    """What judges one report. `flows.pipeline.harbor.grade.grade_one` does."""

    async def __call__(
        self, project: Path, point: Point, scenario: Scenario, brief: Brief, report: Path
    ) -> Sequence[Verdict]:
        """Verdicts on every item; those that the judge left open say why.

        Args:
            project: folder that holds `conf/`.
            point: judge, prompt and limits; `settings.results` is an absolute path that may be written to.
            scenario: the rubric; for a report with the expert's text.
            brief: the text that is graded.
            report: the file, for its look.
        """
        ...


def verify(
    overrides: Sequence[str],
    report: Path,
    tests: Path,
    logs: Path,
    screen: Screen,
    *,
    grade: GradeOne | None = None,
) -> int:
    """Grade one report and leave reward and judgment.

    The judge is the one that `overrides` choose, else STAFFBENCH_JUDGE, else the one that the task was
    exported with, else the offline stand-in.

    Args:
        overrides: as for every command.
        report: what the agent handed in.
        tests: the task's `tests/` folder.
        logs: where `reward.json`, `judgment.json` and the judge's replies go.
        screen: where the outcome goes.
        grade: what judges; None for our judge stage.

    Returns:
        0 where there is a reward; `UNGRADED` where the judge left none.

    Raises:
        ConfigError: `tests` is not there, or `logs` is a file.
        StaffbenchError: rubric, configuration or report can't be read, or the judge can't be asked. There
            is a judgment that says so, and no reward.
    """
    if logs.exists() and not logs.is_dir():
        raise ConfigError(logs, "a file", "a folder", "name another by --logs")
    _clear(logs)
    verifier = _Verifier(tests, logs, screen, grade)
    try:
        return verifier.verify(overrides, report)
    except StaffbenchError as error:
        verifier.leave("judgment.json", {**verifier.about, "error": str(error), "criteria": []})
        raise


def package_project() -> Path:
    """The folder whose `conf/` belongs to this package: in an installed one itself, in a clone the clone.

    Never one above the current folder: in a sandbox that is the agent's, who could put a `conf/` there.

    Raises:
        ConfigError: the package was installed without its `conf/`.
    """
    package = Path(__file__).resolve().parents[2]
    for folder in (package, package.parent):
        if (folder / "conf" / "config.yaml").is_file():
            return folder
    raise ConfigError(
        package / "conf" / "config.yaml", "not there", remedy="install a staffbench that has its conf/"
    )


@dataclass
class _Verifier:
    """One report under way.

    Attributes:
        tests, logs, screen, grade: as for `verify`.
        about: what is known so far of task and judge; part of the judgment, however it ends.
    """

    tests: Path
    logs: Path
    screen: Screen
    grade: GradeOne | None
    about: dict[str, Any] = field(default_factory=lambda: {"staffbench": __version__})

    def verify(self, overrides: Sequence[str], report: Path) -> int:
        if not self.tests.is_dir():
            raise ConfigError(self.tests, "no such folder", "the task's tests/ folder", "name it by --task")
        project = package_project()
        grading = read_grading(self.tests)
        words = _overrides(_UNTOLD if grading is None else grading.overrides, overrides)
        point = compose_points(project, words, multirun=False)[0]
        own = str(self.logs.absolute() / _REPLIES)
        point = replace(point, settings=replace(point.settings, results=own))
        settings = point.settings
        stand_in = settings.judge.kind is JudgeKind.offline
        cap = settings.word_cap.words
        self.about |= {
            "benchmark": settings.benchmark.name,
            "protocol": settings.benchmark.protocol.value,
            "judge_model": judge_of(settings, point.changed).label,
            "judge_names": _models(settings.judge),
            "stand_in": stand_in,
            "scoring": settings.scoring.name,
        }
        if settings.benchmark.protocol is Benchmark.mission_report:
            task = read_tests(self.tests)
            name = task.task_id if grading is None else grading.scenario_id
            scenario = report_scenario(name or _NAMELESS, task.title, task.criteria, task.golden)
            handed = open_report(scenario.scenario_id, _SEED, report)
        else:
            assert grading is not None  # no other task leads to another protocol, see _overrides
            self.about["word_cap"] = cap
            scenario = load_scenario(self.tests / "fixtures" / grading.scenario_id)
            handed = open_brief(scenario.scenario_id, _SEED, report, cap)
        if scenario.scenario_id != _NAMELESS:
            self.about["scenario_id"] = scenario.scenario_id
        if stand_in:
            self.screen.say(f"Judged by {settings.judge.label}, a stand-in; {JUDGE} chooses a judge.")
        if handed.brief is None:
            return self._no_report(handed)
        judged = (self.grade or _default())(project, point, scenario, handed.brief, report)
        return self._graded(scenario, asyncio.run(judged), settings.scoring)

    def leave(self, name: str, value: object) -> None:
        """Whole or not at all: half a reward would be one that Harbor can't read."""
        path = self.logs / name
        write_whole(path, json_text(value))  # a link that the agent left there is replaced, not followed

    def _no_report(self, handed: HandedIn) -> int:
        fault = f"{handed.status.value}: {handed.detail}"
        self.leave("judgment.json", {**self.about, "format_error": fault, "score": 0.0, "criteria": []})
        self.leave("reward.json", {"reward": 0.0})
        self.screen.note(f"reward 0.000: {fault}")
        return 0

    def _graded(self, scenario: Scenario, verdicts: Sequence[Verdict], scoring: ScoringSettings) -> int:
        found = score_brief(scenario.items, verdicts, scoring)
        by_id = {verdict.item_id: verdict for verdict in verdicts}
        criteria = [_criterion(item, by_id[item.item_id], scoring) for item in scenario.items]
        self.leave("judgment.json", {**self.about, "score": found.score, "criteria": criteria})
        reward = found.score_clamped if scoring.clamped else found.score
        if reward is None:
            left = len(criteria) - found.n_graded
            self.screen.fault(f"no reward: the judge left {left} of {len(criteria)} items without a verdict")
            return UNGRADED
        self.leave("reward.json", {"reward": reward})
        self.screen.note(f"reward {reward:.3f}: {self.about['judge_model']} on {len(criteria)} items")
        return 0


def _models(judge: JudgeSettings) -> list[str]:
    """What providers call the models that grade; none for the stand-in."""
    asked = [one for one in (judge, *judge.members.values()) if one.kind is JudgeKind.remote]
    return sorted({one.name for one in asked if one.name})


def _default() -> GradeOne:
    from flows.pipeline.harbor.grade import grade_one  # it brings the whole stack along

    return grade_one


def _overrides(told: Sequence[str], overrides: Sequence[str]) -> list[str]:
    """What the export said, below what the environment says, below what the command says.

    Raises:
        ConfigError: the protocol would be another one than the task's.
    """
    try:
        words = shlex.split(os.environ.get(JUDGE, ""))
    except ValueError as error:
        raise ConfigError(JUDGE, str(error), "an option of judge, and overrides after it") from error
    chosen = [word if "=" in word else f"judge={word}" for word in words]
    benchmark = next((word for word in (*chosen, *overrides) if axis_of(word) == "benchmark"), None)
    if benchmark is not None:
        raise ConfigError(benchmark, "the task says which benchmark it is of", remedy="leave it out")
    return layered(layered(told, chosen), overrides)


def _criterion(item: Item, verdict: Verdict, scoring: ScoringSettings) -> dict[str, Any]:
    """A verdict in the form that verifiers leave: `met` says of an error that it was made."""
    points = item.points if item.severity is None else scoring.weights[item.severity.value]
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
    """Take away what lies there: it may be an earlier run's, or the agent's, who could forge replies."""
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
            logs, f"can't be written ({error.strerror})", remedy="mend its rights, or name another by --logs"
        ) from error
