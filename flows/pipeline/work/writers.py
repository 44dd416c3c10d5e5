"""Brief writers without a model: the baseline, the controls, and brief files."""

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from flows.common.digests import sha256_file, sha256_text
from flows.common.errors import ReadError, ScenarioError
from flows.pipeline.inputs.brief_table import BRIEF_SUFFIXES, ListedBrief, find_table, read_brief_table
from flows.readers import READER_VERSIONS
from flows.readers.guarded import read_guarded_bytes
from flows.readers.read import source
from flows.readers.text.decode import decoded
from flows.schema.brief import BriefStatus
from flows.schema.document import Notice, Packet
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings, Writer
from flows.stages.extractive import EXTRACTIVE_VERSION, write_extractive
from flows.stages.generate import Written, written

_PLAIN = (".md", ".txt")
_NOTICE_CHARS = 200
_MAX_NOTICES = 20
_BLANK = b" \t\r\n\f\v\xef\xbb\xbf"  # white space, and the mark that an editor may put before it
_IF_EMPTY = 'get the file again; if its writer wrote nothing, grade a table with "" as that text'


def local_inputs(project: Path, settings: Settings, scenario: Scenario, packet: Packet) -> dict[str, Any]:
    """Return everything that the briefs of a local writer depend on."""
    seeds = list(range(1, settings.seeds + 1))
    match settings.model.writer:
        case Writer.extractive:
            steps = list(scenario.dimensions.steps)
            made_of: Any = [EXTRACTIVE_VERSION, packet.digest, settings.prompt.words, steps]
        case Writer.control:
            made_of = sha256_text(scenario.controls[settings.model.label].text)
        case Writer.files:
            made_of = [_source(brief) for brief in _external(project, settings, scenario, seeds)]
        case Writer.empty | Writer.absent | Writer.corrupt | Writer.remote:
            made_of = None
    return {"writer": settings.model.writer.value, "made_of": made_of, "seeds": seeds}


def write_local(project: Path, settings: Settings, scenario: Scenario, packet: Packet, seed: int) -> Written:
    """Write the brief of a local writer for one seed.

    A brief file that is not there has the status `error`, so that the others are graded.

    Raises:
        ScenarioError: several files are the brief of this scenario and seed.
        ReadError: the brief can't be read.
    """
    match settings.model.writer:
        case Writer.extractive:
            steps = scenario.dimensions.steps
            return written(write_extractive(packet, settings.prompt.words, seed, steps), seed)
        case Writer.control:
            return written(scenario.controls[settings.model.label].text, seed)
        case Writer.files:
            return _write_external(project, settings, scenario, seed)
        case Writer.empty:
            return written("", seed)
        case Writer.absent | Writer.corrupt:
            raise ValueError(f"{settings.model.label} is a writer of reports, not of briefs")
        case Writer.remote:
            raise ValueError("a remote model does not write here")


def read_brief(path: Path) -> tuple[str, str]:
    """Read a brief file: Markdown and plain text verbatim, other formats as text.

    Returns:
        The text, and what the reader left out or repaired, such as hidden text, with its place; may be empty.

    Raises:
        ReadError: it can't be read.
    """
    data, media = source(path)
    if path.suffix.lower() in _PLAIN and not data.strip(_BLANK):
        # Not taken for an empty brief, which scores 0: a copy that failed looks the same.
        raise ReadError(path, "the file is empty", "a brief", _IF_EMPTY)
    document = read_guarded_bytes(data, path, media)
    if path.suffix.lower() in _PLAIN:
        # The text is graded as it is: of the reader's own changes, what nobody sees is of interest.
        text, changes = decoded(data, path)
        changes += [notice for notice in document.notices if notice.kind == "hidden_text"]
        return text.replace("\r\n", "\n").replace("\r", "\n"), format_notices(changes)
    return document.text, format_notices(document.notices)


def format_notices(notices: Sequence[Notice]) -> str:
    """Format what a reader left out of a file or repaired, with its place; may be empty."""
    lines = [
        textwrap.shorten(f"{notice.kind}, {notice.place}: {notice.detail}", _NOTICE_CHARS, placeholder=" ...")
        for notice in notices
    ]
    more = len(lines) - _MAX_NOTICES
    return "; ".join(lines[:_MAX_NOTICES] + ([f"and {more} more"] if more > 0 else []))


def _write_external(project: Path, settings: Settings, scenario: Scenario, seed: int) -> Written:
    (brief,) = _external(project, settings, scenario, [seed])
    if brief is None:
        names = ", ".join(f"{seed}{suffix}" for suffix in BRIEF_SUFFIXES)
        expected = "a row of the table" if find_table(_given(project, settings)) else f"one of {names}"
        return Written(seed, BriefStatus.error, None, detail=f"no file; expected {expected}")
    if brief.file is None:
        return written(brief.text or "", seed)
    text, notices = read_brief(brief.file)
    return replace(written(text, seed), detail=notices)


def _source(brief: ListedBrief | None) -> Any:
    """Return what an external brief depends on; None if there is none."""
    if brief is None:
        return None
    if brief.file is None:
        return ["text", sha256_text(brief.text or "")]
    return [brief.file.name, sha256_file(brief.file), READER_VERSIONS]


def _given(project: Path, settings: Settings) -> Path:
    return project / (settings.model.folder or "")


def _external(
    project: Path, settings: Settings, scenario: Scenario, seeds: Sequence[int]
) -> list[ListedBrief | None]:
    """Return the external brief of each seed; None where there is none."""
    given = _given(project, settings)
    if table := find_table(given):
        listed = read_brief_table(table, only=scenario.scenario_id)
        return [listed.get((scenario.scenario_id, seed)) for seed in seeds]
    files = [given if given.is_file() else _in_folder(given / scenario.scenario_id, seed) for seed in seeds]
    return [file and ListedBrief(file, None) for file in files]


def _in_folder(folder: Path, seed: int) -> Path | None:
    found = [path for suffix in BRIEF_SUFFIXES if (path := folder / f"{seed}{suffix}").is_file()]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ScenarioError(folder / str(seed), f"more than one brief: {names}", "one")
    return found[0] if found else None
