"""Build the Harbor tree of a MA-Bench scenario."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from flows.adapters.task_trees.safe_files import read_text
from flows.adapters.task_trees.tests_folder import GRADING, Grading
from flows.adapters.task_trees.write import copied, text_file
from flows.adapters.task_trees.write_text import (
    STEP,
    Install,
    dockerfile,
    json_text,
    oracle_script,
    task_toml,
    test_script,
)
from flows.pipeline.harbor.tasks import (
    BRIEF,
    DOCKERFILE,
    JUDGE,
    ORACLE,
    ExportedTask,
    judge_keys,
    wheel_files,
)
from flows.schema.call import render
from flows.schema.scenario import Control, Scenario
from flows.schema.settings import ScoringSettings, Settings
from flows.schema.verdict import Verdict, VerdictStatus
from flows.stages.score import score_brief

_PUBLISHED_KEY = "ANTHROPIC_API_KEY"
_TEMPLATES = Path(__file__).parent / "templates"


def brief_task(
    folder: Path, scenario: Scenario, settings: Settings, grading: Grading, install: Install
) -> ExportedTask:
    """Export an MA-Bench scenario: the packet for the agent, the rubric for the verifier.

    Raises:
        ScenarioError: a file of the scenario is a link.
        ConfigError: the prompt names an unknown placeholder, or a weight is invalid.
    """
    name = scenario.scenario_id
    instruction = text_file(_instruction(scenario, settings))
    documents = {each: copied(folder, f"documents/{each}") for each in scenario.documents}
    fixtures = {each: copied(folder, each) for each in ("scenario.yaml", "rubric.yaml")}
    fixtures |= {f"documents/{each}": file for each, file in documents.items()}
    notice = str(yaml.safe_load(read_text(folder, "scenario.yaml"))["notice"])
    files = {
        "README.md": text_file(_readme(scenario, settings, notice)),
        "instruction.md": instruction,
        "task.toml": text_file(_task_toml(scenario, settings, notice)),
        DOCKERFILE: text_file(dockerfile(install)),
        f"steps/{STEP}/instruction.md": instruction,
        "tests/test.sh": text_file(test_script(BRIEF, with_script=False), executable=True),
        f"tests/fixtures/{GRADING}": text_file(json_text(grading.as_json())),
        # The verifier loads the complete scenario with the same checks, but without controls.
        **{f"tests/fixtures/{name}/{each}": file for each, file in fixtures.items()},
        **{f"steps/{STEP}/workdir/attachments/{each}": file for each, file in documents.items()},
        **wheel_files(install),
    }
    control = scenario.controls.get(ORACLE)
    judge = settings.judge.label, judge_keys(settings.judge)
    if control is None:
        return ExportedTask(name, files, "", (f"no control `{ORACLE}`: it has no oracle.",), *judge)
    what = f"submits the control brief `{ORACLE}`"
    files["solution/solve.sh"] = text_file(oracle_script(BRIEF, what, control.text.encode()), executable=True)
    score = _labelled_score(scenario, control, settings.scoring)
    note = f"the oracle submits the control brief `{ORACLE}`, which its author's labels give {_rated(score)}."
    return ExportedTask(name, files, f"{ORACLE} ({score})", (note,), *judge)


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
    template = (_TEMPLATES / "brief_instruction.md").read_text(encoding="utf-8")
    return template.format(system=system, output=BRIEF, user=user)


def _readme(scenario: Scenario, settings: Settings, notice: str) -> str:
    control = scenario.controls.get(ORACLE)
    cap, scoring = settings.word_cap.words, settings.scoring
    assumed = ", ".join(scoring.assumed)
    template = (_TEMPLATES / "brief_README.md").read_text(encoding="utf-8")
    return template.format(
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
    metadata = {
        "task_id": scenario.scenario_id,
        "title": scenario.title,
        "benchmark": settings.benchmark.name,
        "synthetic": scenario.synthetic,
        "licence": scenario.licence,
        "notice": notice,
    }
    asked = {"model": judge.label, "effort": judge.effort.value, "mode": judge.mode.value}
    return task_toml(metadata, asked, (*keys, JUDGE), [BRIEF])


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
