"""What an agent handed in, opened: in Harbor's sandbox to be graded, and out of a job's tree to be shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from flows.common.errors import ReadError
from flows.pipeline.inputs.submission_check import WORD_RULE, check_report
from flows.pipeline.work.writers import format_notices, read_brief
from flows.schema.brief import Brief, BriefStatus
from flows.schema.report_task import ReportStatus
from flows.stages.truncate import truncate

_SMALL = 1_000_000  # bytes; a larger file is not read only to see whether it is blank


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What an agent handed in.

    Attributes:
        status: `missing`, `corrupt` and `empty` score 0, and no judge is asked.
        detail: why it is not readable; empty where it is.
        brief: what is graded; None unless readable.
    """

    status: ReportStatus
    detail: str
    brief: Brief | None


def open_report(scenario_id: str, seed: int, path: Path) -> HandedIn:
    """The format check of a report.docx.

    Raises:
        ReadError: a fault of the reader, for which no report is scored 0.
    """
    file = check_report(path)
    if file.text is None or file.words is None:
        return HandedIn(file.status, file.reason, None)
    counted = file.words.counted
    brief = Brief(
        scenario_id=scenario_id,
        seed=seed,
        status=BriefStatus.written,
        text=file.text,
        words_raw=counted,
        words_kept=counted,
        cut=False,
        cut_by_provider=False,
        word_counter=WORD_RULE,
        completion=None,
        detail=format_notices(file.notices),
    )
    return HandedIn(ReportStatus.readable, "", brief)


def open_brief(scenario_id: str, seed: int, path: Path, cap: int | None) -> HandedIn:
    """The same check for a brief of MA-Bench, and the cut at the word cap.

    Raises:
        ReadError: the file is there and can't be opened.
    """
    if path.is_symlink() or not path.is_file():
        what = "is a link, which is not followed" if path.is_symlink() else "is not there"
        return HandedIn(ReportStatus.missing, f"{path.name} {what}", None)
    try:
        if path.stat().st_size < _SMALL and not path.read_bytes().strip():
            return HandedIn(ReportStatus.empty, "nothing in it", None)
        text, left_out = read_brief(path)
    except OSError as error:
        # Harbor's verifier is root: that is a fault of the machine, and no brief is scored 0 for it.
        raise ReadError(path, f"it can't be opened ({error.strerror})", "a readable file") from error
    except ReadError as error:
        return HandedIn(ReportStatus.corrupt, error.found, None)
    brief = truncate(scenario_id, seed, text, cap, completion=None, cut_by_provider=False)
    if not brief.words_raw:
        return HandedIn(ReportStatus.empty, "no word in it", None)
    return HandedIn(ReportStatus.readable, "", replace(brief, detail=left_out))
