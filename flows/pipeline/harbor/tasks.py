"""Build the Harbor tree of a report task, and what it shares with the tree of a brief."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flows.adapters.config.compose import Point
from flows.adapters.task_trees.safe_files import read_text, read_toml
from flows.adapters.task_trees.tests_folder import GRADING, Grading
from flows.adapters.task_trees.write import TreeFile, text_file, tree_files
from flows.adapters.task_trees.write_text import (
    Install,
    json_text,
    test_script,
    with_artifact,
    with_staffbench,
    with_variables,
)
from flows.common.errors import ConfigError
from flows.common.untrusted import is_file
from flows.pipeline.harbor.judge_file import JUDGE_FILE, SCRIPTS, judge_files
from flows.pipeline.inputs.scenarios import task_of
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeSettings

BRIEF = "/app/outputs/brief.md"
REPORT = "/app/outputs/report.docx"
"""The agent's submission by protocol: a path in the sandbox, and the only file that is graded."""

JUDGE = "STAFFBENCH_JUDGE"
"""Environment variable that chooses the verifier's judge: an option of `judge`, then overrides."""

ORACLE = "strong"
"""The control brief used as oracle, since MA-Bench has no expert's brief."""

DOCKERFILE = "environment/Dockerfile"


@dataclass(frozen=True)
class ExportedTask:
    """A scenario as the files of a task tree."""

    scenario_id: str  # names its folder
    files: dict[str, TreeFile]  # by path in the tree
    oracle: str  # description of the oracle's submission; empty without an oracle
    notes: tuple[str, ...]  # remarks for the user, one sentence each
    judge: str = ""  # label of the judge in its verifier; empty if the task's own verifier is kept
    keys: tuple[str, ...] = ()  # environment variables that the judge needs


def report_task(
    folder: Path, scenario: Scenario, point: Point, grading: Grading | None, install: Install
) -> ExportedTask:
    """Export a MissionReport task: its own tree with our verifier.

    Without `grading` the task's own verifier is kept.

    Raises:
        Problems: a link or a device in the tree.
        ScenarioError: a file of the tree can't be read.
    """
    task = task_of(scenario)
    files = tree_files(folder)
    keys = judge_keys(point.settings.judge)
    notes = _settings(folder, files, () if grading is None else (*keys, JUDGE))
    oracle = "" if task.oracle_path is None else "the expert's report"
    if grading is None:
        notes.append("its own verifier is kept.")
        return ExportedTask(scenario.scenario_id, files, oracle, tuple(notes))
    step = task.steps[-1].name
    # A step's test.sh takes precedence over the one at the root, which other steps may share.
    of_step = f"steps/{step}/tests/test.sh"
    place = of_step if step is not None and (of_step in files or len(task.steps) > 1) else "tests/test.sh"
    tests = place.removesuffix("test.sh")
    try:
        rubric = read_text(folder, task.rubric_path).encode()
        places = [_below(tests, path) for path in (task.rubric_path, task.golden_path)]
        judge = judge_files(point, scenario, rubric, *places)
    except ConfigError as error:
        judge = {}
        for name in (JUDGE_FILE, *SCRIPTS):
            files.pop(f"{tests}{name}", None)
        if not install.requirement:
            notes.append(f"its verifier needs staffbench in the sandbox: {error}")
    script = test_script(REPORT, with_script=bool(judge)).encode()
    if place not in files:
        notes.append(f"{place}: ours; the task had none there.")
    elif read_text(folder, place).encode() != script:
        notes.append(f"{place}: ours takes the place of the task's own.")
    files[place] = TreeFile(script, executable=True)
    for name, file in judge.items():
        own = f"{tests}{name}"
        if own in files and name in SCRIPTS and read_text(folder, own).encode() != file.content:
            notes.append(f"{own}: ours takes the place of the task's own.")
        files[own] = file
    files[f"{tests}fixtures/{GRADING}"] = text_file(json_text(grading.as_json()))
    verifier = _verifier(folder)
    if verifier.get("environment_mode") == "separate":
        notes.append("task.toml: the verifier has an image of its own; install staffbench there.")
    notes += _installed(folder, files, install)
    return ExportedTask(scenario.scenario_id, files, oracle, tuple(notes), point.settings.judge.label, keys)


def judge_keys(judge: JudgeSettings) -> tuple[str, ...]:
    """Return the environment variables with keys and headers of a judge or a panel's members, sorted."""
    judges = [judge, *(judge.members or {}).values()]
    found = {name for each in judges for name in (each.api_key_env, *(each.headers or {}).values())}
    return tuple(sorted(name for name in found if name))


def _settings(folder: Path, files: dict[str, TreeFile], names: Sequence[str]) -> list[str]:
    """Let Harbor keep the report and pass variables to the verifier; return notes on what it does not."""
    text, is_kept = with_artifact(read_text(folder, "task.toml"), REPORT)
    text, missing = with_variables(text, names)
    files["task.toml"] = text_file(text)
    notes = [] if is_kept else [f"task.toml: its artifacts hold no {REPORT}, so an import has no text."]
    notes += [f"task.toml passes no {name}, which the judge needs: --verifier-env." for name in missing]
    return notes


def _below(tests: str, path: str) -> str:
    """Return a path of the task as seen from the verifier's folder."""
    return path.removeprefix(tests) if path.startswith(tests) else path.removeprefix("tests/")


def _installed(folder: Path, files: dict[str, TreeFile], install: Install) -> list[str]:
    """Let the task's sandbox install staffbench; return notes."""
    if not install.requirement:
        return []
    if not is_file(folder, DOCKERFILE):
        return [f"no {DOCKERFILE}: install staffbench in the image that the task uses."]
    files.update(wheel_files(install))
    text = read_text(folder, DOCKERFILE)
    files[DOCKERFILE] = text_file(with_staffbench(text, install))
    return [f"{DOCKERFILE}: installs {install.requirement}."]


def _verifier(folder: Path) -> dict[str, Any]:
    """Return the `verifier` section of task.toml."""
    section: Any = read_toml(folder, "task.toml").get("verifier")
    return cast("dict[str, Any]", section) if isinstance(section, dict) else {}


def wheel_files(install: Install) -> dict[str, TreeFile]:
    """Return the wheel that the sandbox installs, by its path in the tree; empty without a local wheel."""
    return {} if install.file is None else {f"environment/{install.file.name}": TreeFile(install.file)}
