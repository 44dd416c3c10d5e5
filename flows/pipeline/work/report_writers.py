"""Report writers without a model: the baseline, the controls, and report files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flows.common.digests import sha256_file
from flows.common.errors import ScenarioError
from flows.pipeline.inputs.brief_table import REPORT_SUFFIXES, find_table, read_brief_table
from flows.pipeline.inputs.scenarios import task_of
from flows.pipeline.native.writing import plain_report
from flows.schema.document import Packet
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings, Writer
from flows.stages.extractive import EXTRACTIVE_VERSION, extract_report
from flows.stages.length import parse_length_limit

DEFAULT_WORDS = 400
"""Target length of the baseline for a task without a measurable word limit."""

_LIMIT_SHARE = 0.9  # leaves room for the title
_NO_WORD_FILE = b"This is no Word file.\n"
LOCAL_VERSION = "1"  # raise when the file of the baseline or a control changes


def local_report_inputs(
    project: Path, settings: Settings, scenario: Scenario, packet: Packet
) -> dict[str, Any]:
    """Return everything that the reports of a local writer depend on."""
    seeds = list(range(1, settings.seeds + 1))
    match settings.model.writer:
        case Writer.extractive:
            made_of: Any = [
                EXTRACTIVE_VERSION,
                packet.digest,
                scenario.title,
                scenario.assignment,
                expected_words(scenario),
            ]
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
            return _extracted(scenario, packet, seed)
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


def _extracted(scenario: Scenario, packet: Packet, seed: int) -> bytes:
    words = int(expected_words(scenario) * _LIMIT_SHARE)
    return plain_report(scenario.title, extract_report(packet, scenario.assignment, words, seed))


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
    """Return the path of an external report; None if the task's folder has none with that number.

    The task's folder must exist: a misspelt folder is not a missing report.
    """
    given = project / (settings.model.folder or "")
    if table := find_table(given):
        listed = read_brief_table(table, only=scenario.scenario_id, suffixes=REPORT_SUFFIXES)
        found = listed.get((scenario.scenario_id, seed))
        return None if found is None else found.file
    if given.is_file():
        if given.suffix.lower() != ".docx":
            raise ScenarioError(given, "not a Word file", "a .docx file")
        return given
    folder = given / scenario.scenario_id
    if not folder.is_dir():
        raise ScenarioError(
            folder,
            "no such folder",
            f"a folder for each task, with {seed}.docx",
            "set model.folder=... to the folder of these",
        )
    file = folder / f"{seed}.docx"
    if file.is_file():
        return file
    others = sorted(path.name for path in folder.glob(f"{seed}.*"))
    if others:
        # A report in another format must not silently score 0.
        raise ScenarioError(folder / others[0], "not a Word file", f"{seed}.docx")
    return None
