"""Report writers: attempts of a model with the native harness, the baseline, controls, and report files."""

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from flows.common.digests import sha256_file
from flows.common.errors import ScenarioError
from flows.pipeline.inputs.brief_table import REPORT_SUFFIXES, find_table, read_brief_table
from flows.pipeline.inputs.packets import source_digests
from flows.pipeline.inputs.scenarios import task_of
from flows.pipeline.inputs.submission_check import WORD_RULE
from flows.pipeline.native.contract import NATIVE_VERSION, TOOL_SECONDS, Limits, Prompt
from flows.pipeline.native.writing import plain_report
from flows.pipeline.work.run_context import Evaluation, RunContext
from flows.readers import READER_VERSIONS
from flows.schema.call import build_call
from flows.schema.completion import Completion, Message
from flows.schema.condition import sent_fields
from flows.schema.document import Packet
from flows.schema.report_task import Submitted
from flows.schema.scenario import Scenario
from flows.schema.settings import Clock, Settings, Writer
from flows.stages.extractive import EXTRACTIVE_VERSION, extract_report
from flows.stages.length import parse_length_limit

DEFAULT_WORDS = 400
"""Target length of the baseline for a task without a measurable word limit."""

_LIMIT_SHARE = 0.9  # leaves room for the title
_NO_WORD_FILE = b"This is no Word file.\n"
LOCAL_VERSION = "1"  # raise when the file of the baseline or a control changes


def native_inputs(context: RunContext, evaluation: Evaluation, scenario: Scenario) -> dict[str, Any]:
    """Return everything that the attempts at a task depend on, except replies."""
    settings = evaluation.settings
    task = task_of(scenario)
    return {
        "versions": [NATIVE_VERSION, dict(READER_VERSIONS), WORD_RULE],
        "scenario": scenario.scenario_id,
        "instructions": [[step.name, step.instruction, step.agent_seconds] for step in task.steps],
        "length_limit": task.length_limit,
        "files": source_digests(context.folder(evaluation, scenario), scenario),
        "prompt": asdict(settings.prompt),
        "model": sent_fields(settings.model),
        "takes_images": settings.model.takes_images,
        "effort": settings.effort.level.value,
        "harness": asdict(settings.harness),
        "seeds": settings.seeds,
    }


async def native_attempt(
    context: RunContext, evaluation: Evaluation, scenario: Scenario, seed: int
) -> tuple[Submitted, list[dict[str, Any]]]:
    """Run one attempt; return its submission and its trajectory.

    Raises:
        StaffbenchError: the run was stopped, a budget was reached, or a file can't be read or written.
    """
    from flows.pipeline.native.loop import attempt  # slow import

    assert context.client is not None
    client, settings = context.client, evaluation.settings
    model, effort, harness = settings.model, settings.effort.level, settings.harness
    asked = {"effort": effort.value, "harness": harness.name.value, "seed_sent": model.send_seed}

    async def ask(
        messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], waited: float
    ) -> Completion:
        context.check_stopping()
        plain = build_call(model, effort, messages, seed)
        request = replace(plain, parameters={**plain.parameters, "tools": [dict(tool) for tool in tools]})
        timed = {**asked, TOOL_SECONDS: round(waited, 3)}
        return (await client.complete(request, model, timed)).completion

    made = await attempt(
        ask,
        task_of(scenario),
        context.folder(evaluation, scenario),
        prompt=Prompt(settings.prompt.system, settings.prompt.user),
        limits=Limits(
            max_steps=harness.max_steps,
            max_tokens=harness.max_tokens,
            max_minutes=harness.max_minutes,
            count_tools=harness.clock is not Clock.calls,
            nudges=harness.nudges or 0,
            page_chars=harness.page_chars or Limits().page_chars,
            images=model.takes_images,
        ),
        renders=context.renders,
        scratch_root=Path(tempfile.gettempdir()),  # the system deletes what a killed run leaves
    )
    # Stored before anything uses it.
    report = None if made.report is None else await asyncio.to_thread(context.reports.put, made.report)
    submitted = Submitted(
        seed=seed,
        status=made.status,
        report=report,
        ended=made.ended,
        n_calls=len(made.completions),
        completion=made.completions[-1] if made.completions else None,
        detail=made.detail,
    )
    return submitted, made.trajectory


def local_report_inputs(
    project: Path, settings: Settings, scenario: Scenario, packet: Packet
) -> dict[str, Any]:
    """Return everything that the reports of a local writer depend on."""
    seeds = list(range(1, settings.seeds + 1))
    match settings.model.writer:
        case Writer.extractive:
            about = [scenario.title, scenario.assignment, expected_words(scenario)]
            made_of: Any = [EXTRACTIVE_VERSION, packet.digest, *about]
        case Writer.control:
            made_of = sha256_file(_control(settings, scenario))
        case Writer.files:
            files = [_file(project, settings, scenario, seed) for seed in seeds]
            made_of = [None if file is None else sha256_file(file) for file in files]
        case Writer.empty | Writer.absent | Writer.corrupt | Writer.remote:
            made_of = None
    return {"writer": [settings.model.writer.value, LOCAL_VERSION], "made_of": made_of, "seeds": seeds}


def local_report(
    project: Path, settings: Settings, scenario: Scenario, packet: Packet, seed: int
) -> bytes | None:
    """Write the report of a local writer for one attempt; None if it submits none.

    Raises:
        ScenarioError: the task has no such control.
    """
    match settings.model.writer:
        case Writer.extractive:
            words = int(expected_words(scenario) * _LIMIT_SHARE)
            return plain_report(scenario.title, extract_report(packet, scenario.assignment, words, seed))
        case Writer.control:
            return _control(settings, scenario).read_bytes()
        case Writer.files:
            file = _file(project, settings, scenario, seed)
            return None if file is None else file.read_bytes()
        case Writer.empty:
            return plain_report("", ())
        case Writer.corrupt:
            return _NO_WORD_FILE
        case Writer.absent:
            return None
        case Writer.remote:
            raise ValueError("a remote model does not write here")


def expected_words(scenario: Scenario) -> int:
    """Return the expected length of a report in words: the task's limit, or `DEFAULT_WORDS`."""
    return parse_length_limit(task_of(scenario).length_limit or "").words or DEFAULT_WORDS


def _control(settings: Settings, scenario: Scenario) -> Path:
    control = scenario.controls.get(settings.model.label)
    if control is None or control.file is None:
        raise ScenarioError(
            scenario.scenario_id, f"no control report {settings.model.label}", "one of its controls"
        )
    return Path(control.file)


def _file(project: Path, settings: Settings, scenario: Scenario, seed: int) -> Path | None:
    """Return the path of an external report; None if the task's folder has none with that number."""
    given = project / (settings.model.folder or "")
    if table := find_table(given):
        listed = read_brief_table(table, only=scenario.scenario_id, suffixes=REPORT_SUFFIXES)
        found = listed.get((scenario.scenario_id, seed))
        return None if found is None else found.file
    if given.is_file():
        if given.suffix.lower() != ".docx":
            raise ScenarioError(given, "not a Word file", "a .docx file")
        return given
    folder = given / scenario.scenario_id  # it is there: build_evaluations has looked
    file = folder / f"{seed}.docx"
    if file.is_file():
        return file
    others = sorted(path.name for path in folder.glob(f"{seed}.*"))
    if others:
        # A report in another format must not silently score 0.
        raise ScenarioError(folder / others[0], "not a Word file", f"{seed}.docx")
    return None
