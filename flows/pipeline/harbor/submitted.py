"""Open an agent's submission, for grading in Harbor's sandbox and for the import of a job."""

from dataclasses import dataclass, replace
from pathlib import Path

from flows.common.errors import ReadError
from flows.pipeline.inputs.submission_check import WORD_RULE, check_report
from flows.pipeline.work.writers import format_notices, read_brief
from flows.schema.brief import Brief, BriefStatus
from flows.schema.report_task import ReportStatus
from flows.stages.truncate import truncate

_SMALL = 1_000_000  # bytes; larger files are not checked for being blank


@dataclass(frozen=True, slots=True)
class OpenedSubmission:
    """An agent's submission."""

    status: ReportStatus  # `missing`, `corrupt` and `empty` score 0 without a judge
    detail: str  # why it is not readable; else empty
    brief: Brief | None  # the text to grade; None unless readable


def open_report(scenario_id: str, seed: int, path: Path) -> OpenedSubmission:
    """Check and read a report.docx.

    Raises:
        ReadError: our reader failed; no report is scored 0 for that.
    """
    file = check_report(path)
    if file.text is None or file.words is None:
        return OpenedSubmission(file.status, file.reason, None)
    counted = file.words.counted
    brief = Brief(
        scenario_id=scenario_id,
        seed=seed,
        status=BriefStatus.written,
        text=file.text,
        words_raw=counted,
        words_kept=counted,
        word_counter=WORD_RULE,
        detail=format_notices(file.notices),
    )
    return OpenedSubmission(ReportStatus.readable, "", brief)


def open_brief(scenario_id: str, seed: int, path: Path, cap: int | None) -> OpenedSubmission:
    """Check and read an MA-Bench brief, and cut it at the word cap.

    Raises:
        ReadError: the file exists but can't be opened.
    """
    if path.is_symlink() or not path.is_file():
        what = "is a link, which is not followed" if path.is_symlink() else "is not there"
        return OpenedSubmission(ReportStatus.missing, f"{path.name} {what}", None)
    try:
        if path.stat().st_size < _SMALL and not path.read_bytes().strip():
            return OpenedSubmission(ReportStatus.empty, "nothing in it", None)
        text, notices = read_brief(path)
    except OSError as error:
        # The verifier runs as root, so the machine is at fault; no brief is scored 0 for that.
        raise ReadError(path, f"it can't be opened ({error.strerror})", "a readable file") from error
    except ReadError as error:
        return OpenedSubmission(ReportStatus.corrupt, error.found, None)
    brief = truncate(scenario_id, seed, text, cap)
    if not brief.words_raw:
        return OpenedSubmission(ReportStatus.empty, "no word in it", None)
    return OpenedSubmission(ReportStatus.readable, "", replace(brief, detail=notices))
