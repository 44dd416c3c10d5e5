"""Read a task from `tests/` alone, the only folder in a verifier's sandbox."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flows.adapters.task_trees.fixtures import Config, find_golden, read_rubric
from flows.adapters.task_trees.safe_files import Found, read_json
from flows.common.errors import Problems, ScenarioError
from flows.common.untrusted import is_file, plain_name
from flows.schema.report_task import Criterion

GRADING = "staffbench.json"  # file in `tests/fixtures/` with the grading settings of an exported task

_FORMAT = "1"


@dataclass(frozen=True, slots=True)
class Grading:
    """The grading settings of an exported task."""

    scenario_id: str  # the scenario's id, also its folder in `fixtures/` for MA-Bench
    overrides: tuple[str, ...]  # overrides of protocol, judge, scoring and word cap

    def as_json(self) -> dict[str, Any]:
        """Return the content of GRADING."""
        return {"format": _FORMAT, "scenario_id": self.scenario_id, "overrides": list(self.overrides)}


@dataclass(frozen=True, slots=True)
class VerifierTask:
    """The parts of a MissionReport task that a verifier has.

    Attributes:
        task_id, title: None if not in `config.json`.
        criteria: the rubric, in file order.
        golden: the expert's report.
        judge: the task's judge settings, as found in `config.json`.
    """

    task_id: str | None
    title: str | None
    criteria: tuple[Criterion, ...]
    golden: Path
    judge: Mapping[str, Any]


def read_grading(tests: Path) -> Grading | None:
    """Read the grading settings in a `tests/` folder; None if it was not exported.

    Raises:
        ScenarioError: the file can't be read or is invalid.
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
    """Read rubric and expert's report of a MissionReport task from its folder, named `tests` as in Harbor.

    Raises:
        Problems: all errors.
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
    return VerifierTask(
        config.text("task_id"), config.text("title"), criteria, found.root / golden, config.judge
    )
