"""Writers of reports that need no model: the baseline, the controls, and reports that lie in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flows.adapters.report_docx import Block, ReportDocument
from flows.common.digests import sha256_file
from flows.common.errors import ScenarioError
from flows.pipeline.inputs.scenarios import task_of
from flows.schema.document import Packet
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings, Writer
from flows.stages.extractive import EXTRACTIVE_VERSION, extract_report
from flows.stages.length import parse_length_limit

DEFAULT_WORDS = 400
"""Length that the baseline aims at where a task names no limit of words that can be measured."""

_ROOM = 0.9  # of the limit: the title takes some
_NO_WORD_FILE = b"This is no Word file.\n"
LOCAL_VERSION = "1"  # raised when the baseline or a control would hand in another file


def local_report_inputs(
    project: Path, settings: Settings, scenario: Scenario, packet: Packet
) -> dict[str, Any]:
    """Everything that the reports of a local writer depend on."""
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
    """The report of a local writer for one attempt; None where it hands in none.

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
            return ReportDocument.blank().to_bytes()
        case Writer.corrupt:
            return _NO_WORD_FILE
        case Writer.absent:
            return None
        case Writer.remote:
            raise ValueError("a remote model does not write here")


def _extracted(scenario: Scenario, packet: Packet, seed: int) -> bytes:
    document = ReportDocument.blank()
    sentences = extract_report(packet, scenario.assignment, int(expected_words(scenario) * _ROOM), seed)
    blocks = [Block("heading", scenario.title, level=1), *(_sentence(text) for text in sentences)]
    document.insert(None, blocks)
    return document.to_bytes()


def _sentence(text: str) -> Block:
    # A star in a packet is one, not a mark of emphasis.
    return Block("paragraph", text.replace("*", "\\*"))


def expected_words(scenario: Scenario) -> int:
    """How long a report on the task is expected to be: its limit, or `DEFAULT_WORDS`."""
    return parse_length_limit(task_of(scenario).length_limit or "").words or DEFAULT_WORDS


def _control(settings: Settings, scenario: Scenario) -> Path:
    control = scenario.controls.get(settings.model.label)
    if control is None or control.file is None:
        raise ScenarioError(
            scenario.scenario_id, f"no control report {settings.model.label}", "one of its controls"
        )
    return Path(control.file)


def _file(project: Path, settings: Settings, scenario: Scenario, seed: int) -> Path | None:
    """The report that somebody wrote; None where the task's folder has none of that number.

    A folder for the task must be there: a misspelt name is no missing report.
    """
    folder = project / (settings.model.folder or "") / scenario.scenario_id
    if not folder.is_dir():
        raise ScenarioError(
            folder,
            "no such folder",
            f"a folder with {seed}.docx, of each task",
            "set model.folder=... to where they lie",
        )
    file = folder / f"{seed}.docx"
    if file.is_file():
        return file
    others = sorted(path.name for path in folder.glob(f"{seed}.*"))
    if others:
        # Nor is a report in another format: it would score 0 without a word.
        raise ScenarioError(folder / others[0], "no report that is read", f"{seed}.docx, a Word file")
    return None
