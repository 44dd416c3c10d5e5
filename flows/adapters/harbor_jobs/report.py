"""Where an attempt's report lies, and whether anybody looked for it in vain."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from flows.adapters.harbor_jobs.tree import Tree, as_dict, as_list, as_text
from flows.schema.harbor import ReportState

_NAME = "report.docx"
_USUAL = "artifacts/app/outputs/report.docx"
_STATES = {state.value: state for state in (ReportState.missing, ReportState.corrupt, ReportState.empty)}


def find_report(
    tree: Tree, folders: list[Path], format_error: str | None
) -> tuple[str | None, ReportState, str]:
    """The report that was collected from the last step that has one.

    Args:
        tree: the job.
        folders: the trial's, or its steps', in order.
        format_error: the verifier's word on a report that it could not grade.

    Returns:
        Path below the job; what is known of it; why it is not readable. A report that lies there is
        `readable` until somebody opens it.
    """
    said = _said(format_error)
    failed = ""
    for folder in reversed(folders):
        path, status = _collected(tree, folder)
        if path is not None:
            shown = path.relative_to(tree.root).as_posix()
            return (shown, *said) if said else (shown, ReportState.readable, "")
        failed = failed or status
    if said:
        return None, *said
    if failed:
        return None, ReportState.missing, f"Harbor could not collect {_NAME} ({failed})"
    return None, ReportState.unknown, f"no {_NAME} among the artifacts, and nothing says why"


def _said(format_error: str | None) -> tuple[ReportState, str] | None:
    """The verifier's word, where it is one of ours: `missing`, `empty`, `corrupt: ...`."""
    if format_error is None:
        return None
    word, _, more = (part.strip() for part in format_error.partition(":"))
    state = _STATES.get(word.lower())
    return (state, ", ".join(part for part in (more, "by the verifier's check") if part)) if state else None


def _collected(tree: Tree, folder: Path) -> tuple[Path | None, str]:
    """The report in a folder's artifacts, and the manifest's word where there is none."""
    failed = ""
    for entry in as_list(tree.json(tree.file(folder, "artifacts/manifest.json"))):
        fields = as_dict(entry)
        source, destination = as_text(fields.get("source")), as_text(fields.get("destination"))
        if source is None or PurePosixPath(source.replace("\\", "/")).name.lower() != _NAME:
            continue
        path = tree.file(folder, destination) if destination else None
        if path is not None:
            return path, ""
        status = as_text(fields.get("status")) or "no status"
        # "ok" with nothing there is a damaged tree, not a report that was never written.
        if status == "ok":
            tree.note(folder, f"the manifest says that {destination} was collected; it can't be opened")
        else:
            failed = failed or status
    return tree.file(folder, _USUAL), failed
