"""Find the report or brief that an attempt submitted, or why there is none."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from flows.adapters.harbor_jobs.tree import Tree, as_dict, as_list, as_text
from flows.schema.harbor import ReportState

REPORT, BRIEF = "report.docx", "brief.md"  # file that an agent submits for MissionReport and for MA-Bench

_USUAL = "artifacts/app/outputs"
_STATES = {state.value: state for state in (ReportState.missing, ReportState.corrupt, ReportState.empty)}


def named_file(tree: Tree, folders: Sequence[Path]) -> str:
    """Return the name of the file to submit, by the artifacts that Harbor was to collect."""
    asked = {_source(entry) for folder in folders for entry in _manifest(tree, folder)}
    return BRIEF if BRIEF in asked and REPORT not in asked else REPORT


def find_report(
    tree: Tree, folders: list[Path], format_error: str | None, name: str
) -> tuple[str | None, ReportState, str]:
    """Find the file collected from the last step that has one, in the folders of a trial or of its steps.

    `format_error` is the verifier's, for a file that it could not grade.

    Returns:
        Path within the job; its state; why it is not readable. An existing file counts as `readable`
        until it is opened.
    """
    said = _said(format_error)
    failed = ""
    for folder in reversed(folders):
        path, status = _collected(tree, folder, name)
        if path is not None:
            shown = path.relative_to(tree.root).as_posix()
            return (shown, *said) if said else (shown, ReportState.readable, "")
        failed = failed or status
    if said:
        return None, *said
    if failed:
        return None, ReportState.missing, f"Harbor could not collect {name} ({failed})"
    return None, ReportState.unknown, f"no {name} among the artifacts, and nothing says why"


def _said(format_error: str | None) -> tuple[ReportState, str] | None:
    """Parse our verifier's format error: `missing`, `empty`, `corrupt: ...`."""
    if format_error is None:
        return None
    word, _, more = (part.strip() for part in format_error.partition(":"))
    state = _STATES.get(word.lower())
    return (state, ", ".join(part for part in (more, "by the verifier's check") if part)) if state else None


def _collected(tree: Tree, folder: Path, name: str) -> tuple[Path | None, str]:
    """Return the file in a folder's artifacts, or the manifest's status."""
    failed = ""
    for fields in _manifest(tree, folder):
        if _source(fields) != name:
            continue
        destination = as_text(fields.get("destination"))
        path = tree.file(folder, destination) if destination else None
        if path is not None:
            return path, ""
        status = as_text(fields.get("status")) or "no status"
        # "ok" without a file means that the tree was not kept whole, not that the report is missing.
        if status == "ok":
            said = f"the manifest says that {destination} was collected; it can't be opened"
            tree.note(folder, said, is_fault=False)
        else:
            failed = failed or status
    return tree.file(folder, f"{_USUAL}/{name}"), failed


def _manifest(tree: Tree, folder: Path) -> list[dict[str, Any]]:
    return [as_dict(entry) for entry in as_list(tree.json(tree.file(folder, "artifacts/manifest.json")))]


def _source(fields: dict[str, Any]) -> str:
    source = as_text(fields.get("source")) or ""
    return PurePosixPath(source.replace("\\", "/")).name.lower()
