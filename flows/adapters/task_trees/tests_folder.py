"""The one folder of a task that a verifier has in its sandbox: `tests/`, without the rest of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flows.adapters.task_trees.fixtures import Config, Found, find_golden, read_rubric
from flows.adapters.task_trees.safe_files import is_file, plain_name, read_json
from flows.common.errors import Problems, ScenarioError
from flows.schema.report_task import Criterion

GRADING = "staffbench.json"
"""File in `tests/fixtures/` that says how an exported task is graded."""

_FORMAT = "1"


@dataclass(frozen=True, slots=True)
class Grading:
    """How an exported task is graded: what its export was told.

    Attributes:
        scenario_id: of the scenario; names the folder of an MA-Bench one in `fixtures/`.
        overrides: what composes to the settings of protocol, judge, scoring and word cap.
    """

    scenario_id: str
    overrides: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """What GRADING holds."""
        return {"format": _FORMAT, "scenario_id": self.scenario_id, "overrides": list(self.overrides)}


@dataclass(frozen=True, slots=True)
class VerifierTask:
    """What a verifier knows of a MissionReport task.

    Attributes:
        task_id, title: None where `config.json` doesn't say.
        criteria: the rubric, in file order.
        golden: the expert's report.
    """

    task_id: str | None
    title: str | None
    criteria: tuple[Criterion, ...]
    golden: Path


def read_grading(tests: Path) -> Grading | None:
    """How the task of a `tests/` folder is graded; None where no export said so.

    Raises:
        ScenarioError: the file can't be read, or says something else.
    """
    if not is_file(tests, f"fixtures/{GRADING}"):
        return None
    where = tests / "fixtures" / GRADING
    value: Any = read_json(tests, f"fixtures/{GRADING}")
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    if fields.get("format") != _FORMAT:
        raise ScenarioError(
            where,
            f"format {fields.get('format')!r}",
            repr(_FORMAT),
            "export the task again with the staffbench that grades it",
        )
    name, overrides = fields.get("scenario_id"), fields.get("overrides")
    if not isinstance(name, str) or not plain_name(name):
        raise ScenarioError(where, f"scenario_id {name!a}", "the name of a folder")
    words = cast("list[Any]", overrides) if isinstance(overrides, list) else None
    if words is None or not all(isinstance(word, str) for word in words):
        raise ScenarioError(where, f"overrides {overrides!r:.80}", "a list of overrides")
    return Grading(name, tuple(words))


def read_tests(tests: Path) -> VerifierTask:
    """Rubric and expert's report of a MissionReport task from its `tests/` folder alone.

    Args:
        tests: the folder, by that name, as Harbor lays it into the sandbox.

    Raises:
        Problems: every fault found.
    """
    folder = tests.absolute()
    found = Found(folder.parent)
    if folder.name != "tests" or not folder.is_dir() or folder.is_symlink():
        found.problems.append(ScenarioError(tests, "no folder named tests", "a task's tests/ folder"))
        raise Problems.of(tests, found.problems)
    config = Config(found)
    _, criteria = read_rubric(found, config)
    golden = find_golden(found, config)
    if found.problems:
        raise Problems.of(tests, found.problems)
    return VerifierTask(config.text("task_id"), config.text("title"), criteria, found.root / golden)
