"""Build Harbor task trees from our scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from flows.adapters.config.compose import Point
from flows.adapters.task_trees.edit_toml import with_artifact, with_variables
from flows.adapters.task_trees.safe_files import read_text, read_toml
from flows.adapters.task_trees.tests_folder import GRADING, Grading
from flows.adapters.task_trees.write import TreeFile, copied, tree_files
from flows.adapters.task_trees.write_text import (
    STEP,
    Install,
    dockerfile,
    json_text,
    oracle_script,
    task_toml,
    test_script,
    with_staffbench,
)
from flows.common.errors import ConfigError
from flows.common.untrusted import is_file
from flows.pipeline.harbor.judge_file import JUDGE_FILE, SCRIPTS, judge_files
from flows.pipeline.inputs.scenarios import task_of
from flows.schema.call import render
from flows.schema.scenario import Control, Scenario
from flows.schema.settings import JudgeSettings, ScoringSettings, Settings
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.score import score_brief

BRIEF = "/app/outputs/brief.md"
REPORT = "/app/outputs/report.docx"
"""The agent's submission by protocol: a path in the sandbox, and the only file that is graded."""

JUDGE = "STAFFBENCH_JUDGE"
"""Environment variable that chooses the verifier's judge: an option of `judge`, then overrides."""

ORACLE = "strong"
"""The control brief used as oracle, since MA-Bench has no expert's brief."""

# From the published run of MissionReport; assumed for MA-Bench, which has no agents.
_AGENT_SECONDS, _VERIFIER_SECONDS = 3600.0, 5100.0
_PUBLISHED_KEY = "ANTHROPIC_API_KEY"
_DOCKERFILE = "environment/Dockerfile"

_INSTRUCTION = """\
{system}

Nobody can answer questions while you work: the files are all there is, and what they don't settle you have to
judge.

The packet lies as files in `/app/attachments/`. Open every one before you write. `pandoc -t plain
--track-changes=all` shows a Word file with its tracked changes, `pdftotext -layout` the text of a PDF;
`python3` has python-docx, openpyxl and pdfplumber.

Save the brief as one Markdown file, `{output}`, in UTF-8. Nothing else is read.

{user}
"""

_README = """\
# {title}

The scenario `{scenario_id}` of `{benchmark}` as a Harbor task, written by `staffbench harbor export`.

- The agent has the packet in `/app/attachments/` and writes `{output}`. It sees nothing else of this folder.
- `tests/test.sh` grades that file by `staffbench harbor verify`, against {items} items of which {errors}
  are wrong moves. It writes `reward` alone into `reward.json`, and each verdict with its reason into
  `judgment.json`. A judge that fails leaves no reward. A brief that is missing, can't be read or has no word
  scores 0, and no judge is asked.
- The reward is the score by the weights `{scoring}`{clamped}. {assumed}{cap}
- {oracle}
- 60 minutes for an attempt and 85 for the verifier are those that MissionReport was published with;
  assumed here, where nothing is published.
- Licence: {licence}. {notice}
"""


@dataclass(frozen=True)
class ExportedTask:
    """A scenario as the files of a task tree.

    Attributes:
        scenario_id: names its folder.
        files: by path in the tree.
        oracle: description of the oracle's submission; empty without an oracle.
        notes: remarks for the user, one sentence each.
        judge: label of the judge in its verifier; empty if the task's own verifier is kept.
        keys: environment variables that the judge needs.
    """

    scenario_id: str
    files: dict[str, TreeFile]
    oracle: str
    notes: tuple[str, ...]
    judge: str = ""
    keys: tuple[str, ...] = ()


def brief_task(
    folder: Path, scenario: Scenario, settings: Settings, grading: Grading, install: Install
) -> ExportedTask:
    """Export an MA-Bench scenario: the packet for the agent, the rubric for the verifier.

    Args:
        folder: of the scenario.
        scenario: loaded from `folder`.
        settings: prompt, judge, scoring and word cap.
        grading: the verifier's configuration.
        install: staffbench in the sandbox.

    Raises:
        ScenarioError: a file of the scenario is a link.
        ConfigError: the prompt names an unknown placeholder, or a weight is invalid.
    """
    name = scenario.scenario_id
    instruction = _text(_instruction(scenario, settings))
    documents = {each: copied(folder, f"documents/{each}") for each in scenario.documents}
    fixtures = {each: copied(folder, each) for each in ("scenario.yaml", "rubric.yaml")}
    fixtures |= {f"documents/{each}": file for each, file in documents.items()}
    notice = str(yaml.safe_load(read_text(folder, "scenario.yaml"))["notice"])
    files = {
        "README.md": _text(_readme(scenario, settings, notice)),
        "instruction.md": instruction,
        "task.toml": _text(_task_toml(scenario, settings, notice)),
        _DOCKERFILE: _text(dockerfile(install)),
        f"steps/{STEP}/instruction.md": instruction,
        "tests/test.sh": _text(test_script(BRIEF, with_script=False), executable=True),
        f"tests/fixtures/{GRADING}": _text(json_text(grading.as_json())),
        # The verifier loads the complete scenario with the same checks, but without controls.
        **{f"tests/fixtures/{name}/{each}": file for each, file in fixtures.items()},
        **{f"steps/{STEP}/workdir/attachments/{each}": file for each, file in documents.items()},
        **_wheel(install),
    }
    control = scenario.controls.get(ORACLE)
    judge = settings.judge.label, judge_keys(settings.judge)
    if control is None:
        return ExportedTask(name, files, "", (f"no control `{ORACLE}`: it has no oracle.",), *judge)
    what = f"submits the control brief `{ORACLE}`"
    files["solution/solve.sh"] = _text(oracle_script(BRIEF, what, control.text.encode()), executable=True)
    score = _labelled_score(scenario, control, settings.scoring)
    note = f"the oracle submits the control brief `{ORACLE}`, which its author's labels give {_rated(score)}."
    return ExportedTask(name, files, f"{ORACLE} ({score})", (note,), *judge)


def report_task(
    folder: Path, scenario: Scenario, point: Point, grading: Grading | None, install: Install
) -> ExportedTask:
    """Export a MissionReport task: its own tree with our verifier.

    Args:
        folder: of the task.
        scenario: loaded from `folder`.
        point: the judge, whose keys are needed in the sandbox.
        grading: the verifier's configuration; None to keep the task's own verifier.
        install: staffbench in the sandbox.

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
    files[f"{tests}fixtures/{GRADING}"] = _text(json_text(grading.as_json()))
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
    files["task.toml"] = _text(text)
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
    if not is_file(folder, _DOCKERFILE):
        return [f"no {_DOCKERFILE}: install staffbench in the image that the task uses."]
    files.update(_wheel(install))
    text = read_text(folder, _DOCKERFILE)
    files[_DOCKERFILE] = _text(with_staffbench(text, install))
    return [f"{_DOCKERFILE}: installs {install.requirement}."]


def _verifier(folder: Path) -> dict[str, Any]:
    """Return the `verifier` section of task.toml."""
    section: Any = read_toml(folder, "task.toml").get("verifier")
    return cast("dict[str, Any]", section) if isinstance(section, dict) else {}


def _wheel(install: Install) -> dict[str, TreeFile]:
    return {} if install.file is None else {f"environment/{install.file.name}": TreeFile(install.file)}


def _instruction(scenario: Scenario, settings: Settings) -> str:
    """Render the writer's prompt, with a list of files instead of the packet's text."""
    prompt = settings.prompt
    limit = "" if prompt.words is None else render(prompt.word_limit, {"words": f"{prompt.words:,}"})
    values = {
        "assignment": scenario.assignment,
        "packet": "\n".join(f"- `/app/attachments/{name}`" for name in scenario.documents),
        "word_limit": limit.rstrip(),
    }
    system, user = render(prompt.system, values).strip(), render(prompt.user, values).strip()
    return _INSTRUCTION.format(system=system, output=BRIEF, user=user)


def _readme(scenario: Scenario, settings: Settings, notice: str) -> str:
    control = scenario.controls.get(ORACLE)
    cap, scoring = settings.word_cap.words, settings.scoring
    assumed = ", ".join(scoring.assumed)
    return _README.format(
        title=scenario.title,
        scenario_id=scenario.scenario_id,
        benchmark=settings.benchmark.name,
        output=BRIEF,
        items=len(scenario.items),
        errors=sum(item.is_error for item in scenario.items),
        scoring=scoring.name,
        clamped=", within [0, 1]" if scoring.clamped else ", unclamped: wrong moves can bring it below 0",
        assumed=f"Weights not published and assumed: {assumed}. " if assumed else "",
        cap="The whole brief is graded." if cap is None else f"Words after the first {cap:,} are not graded.",
        oracle=(
            "There is no oracle: MA-Bench has no golden brief, and this scenario no control brief."
            if control is None
            else f"MA-Bench has no golden brief. The oracle submits the control brief `{ORACLE}`, which the"
            f" labels of its author give {_rated(_labelled_score(scenario, control, scoring))}."
        ),
        licence=scenario.licence,
        notice=notice,
    )


def _task_toml(scenario: Scenario, settings: Settings, notice: str) -> str:
    judge = settings.judge
    keys = judge_keys(judge) or (_PUBLISHED_KEY,)  # for a judge that is chosen later
    return task_toml(
        {"schema_version": "1.4", "multi_step_reward_strategy": "final", "artifacts": [BRIEF]},
        {
            "metadata": {
                "task_id": scenario.scenario_id,
                "title": scenario.title,
                "benchmark": settings.benchmark.name,
                "synthetic": scenario.synthetic,
                "licence": scenario.licence,
                "notice": notice,
            },
            "metadata.judge": {"model": judge.label, "effort": judge.effort.value, "mode": judge.mode.value},
            "agent": {"timeout_sec": _AGENT_SECONDS},
            "verifier": {"timeout_sec": _VERIFIER_SECONDS},
            "verifier.env": {name: f"${{{name}:-}}" for name in (*keys, JUDGE)},
            "environment": {"build_timeout_sec": 1800.0, "cpus": 2, "memory_mb": 4096, "storage_mb": 10240},
        },
    )


def _labelled_score(scenario: Scenario, control: Control, scoring: ScoringSettings) -> str:
    verdicts: Sequence[Verdict] = [
        Verdict(scenario.scenario_id, 1, item.item_id, VerdictStatus.graded, control.labels[item.item_id])
        for item in scenario.items
    ]
    found = score_brief(scenario.items, verdicts, scoring)
    score = found.score_clamped if scoring.clamped else found.score
    assert score is not None  # every item of a control has a label
    return f"{score:.3f}"


def _rated(score: str) -> str:
    return score if float(score) == 1.0 else f"{score}, not 1"


def _text(text: str, *, executable: bool = False) -> TreeFile:
    return TreeFile(text.encode(), executable)
