"""The MissionReport protocol: submissions are Word files."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flows.adapters.pages import find_converter
from flows.adapters.reports import ReportStore
from flows.adapters.task_trees.tree import task_ids
from flows.common.errors import ReadError
from flows.common.gather import gather_then_raise
from flows.pipeline.inputs.brief_table import REPORT_SUFFIXES
from flows.pipeline.inputs.scenarios import load_task, task_of
from flows.pipeline.inputs.submission_check import WORD_RULE, check_report
from flows.pipeline.orchestration.work import StageResult, Work
from flows.pipeline.work.report_writers import (
    local_report,
    local_report_inputs,
    native_attempt,
    native_inputs,
)
from flows.pipeline.work.run_context import BenchmarkKind, Evaluation, Files, RunContext, Submission
from flows.pipeline.work.stages import should_retry
from flows.pipeline.work.writers import format_notices
from flows.readers import READER_VERSIONS
from flows.schema.brief import Brief, BriefStatus
from flows.schema.document import Packet
from flows.schema.report_task import ReportFacts, ReportStatus, Submitted
from flows.schema.rows import as_row, from_row, from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import BenchmarkSettings, JudgeSettings, ProtocolName, Writer
from flows.stages.length import parse_length_limit

SUBMISSION_VERSION = "2"
"""Raise when the outcome of an attempt, or the reading or measuring of a report, changes."""

_NO_REPORT = (BriefStatus.missing, BriefStatus.corrupt, BriefStatus.empty)


class Reports(BenchmarkKind):
    """Task trees, attempts in a loop of tool calls, and reports as Word files.

    The generate stage stores a report file, or the reason why there is none. The truncate stage cuts nothing:
    it checks the format, extracts the text for the judge and measures the file.
    """

    name = ProtocolName.mission_report
    brief = "report"
    suffixes = REPORT_SUFFIXES
    has_tasks = True
    shows_pages = True

    def scenario_ids(
        self, project: Path, benchmark: BenchmarkSettings, wanted: Sequence[str] | None
    ) -> list[str]:
        """Implement the interface."""
        return task_ids(project / benchmark.data, wanted)

    def load(self, project: Path, benchmark: BenchmarkSettings, name: str) -> Scenario:
        """Implement the interface."""
        controls = None if benchmark.controls is None else project / benchmark.controls / name
        return load_task(project / benchmark.data / name, controls)

    def write(self, context: RunContext, evaluation: Evaluation, scenario: Scenario, packet: Packet) -> Work:
        """Write a report for each attempt, as `Submitted` rows with their `trajectory`."""
        settings, store = evaluation.settings, context.reports
        seeds = range(1, settings.seeds + 1)
        if settings.model.writer is Writer.remote:
            inputs = native_inputs(context, evaluation, scenario)

            async def make() -> list[dict[str, Any]]:
                made = await gather_then_raise(
                    [native_attempt(context, evaluation, scenario, seed) for seed in seeds]
                )
                return [{**as_row(row), "trajectory": trajectory} for row, trajectory in made]

            def is_final(rows: Sequence[Mapping[str, Any]]) -> bool:
                statuses = [row[of] for row in rows for of in ("status", "ended")]
                return _is_kept(store, rows) and not should_retry(settings.retry, statuses)
        else:
            inputs = {
                "scenario": scenario.scenario_id,
                **local_report_inputs(context.project, settings, scenario, packet),
            }

            async def make() -> list[dict[str, Any]]:
                reports = [
                    await context.in_turn(local_report, context.project, settings, scenario, packet, seed)
                    for seed in seeds
                ]
                rows = [
                    Submitted(seed, BriefStatus.missing, None, detail="nothing was handed in")
                    if report is None
                    else Submitted(seed, BriefStatus.written, store.put(report))
                    for seed, report in zip(seeds, reports, strict=True)
                ]
                return [{**as_row(row), "trajectory": []} for row in rows]

            def is_final(rows: Sequence[Mapping[str, Any]]) -> bool:
                return _is_kept(store, rows)

        return Work("generate", {"version": SUBMISSION_VERSION, **inputs}, make, is_final)

    def read(
        self,
        context: RunContext,
        evaluation: Evaluation,  # noqa: ARG002 -- interface
        scenario: Scenario,
        wrote: StageResult,
    ) -> Work:
        """Read the reports for the judge: a `brief` and its `facts` for each attempt."""
        submitted = [from_row(Submitted, row) for row in wrote.value]

        async def make() -> list[dict[str, Any]]:
            return await gather_then_raise([read_submitted(context, scenario, each) for each in submitted])

        inputs = {
            "scenario": scenario.scenario_id,
            "version": SUBMISSION_VERSION,
            "word_rule": WORD_RULE,
            "readers": dict(READER_VERSIONS),
            "limit": task_of(scenario).length_limit,
            "submitted": wrote.address,
        }
        return Work("truncate", inputs, make, lambda read: _is_measured(read) and not _failed_to_read(read))

    def briefs(self, read: Sequence[Any]) -> list[Brief]:
        """Implement the interface."""
        return from_rows(Brief, (row["brief"] for row in read))

    def submissions(self, wrote: Sequence[Any], read: Sequence[Any]) -> list[Submission]:
        """Combine the results of the two stages for each attempt."""
        return [
            Submission(from_row(ReportFacts, facts["facts"]), row["trajectory"])
            for row, facts in zip(wrote, read, strict=True)
        ]

    def files(self, context: RunContext) -> Files:
        """Return a function that gives a report's file; None for a report that has no text."""

        async def files(brief: Brief) -> bytes | None:
            if brief.report is None or brief.text is None:
                return None
            return await asyncio.to_thread(context.reports.path(brief.report).read_bytes)

        return files

    def unjudged_reason(self, brief: Brief, judge: JudgeSettings) -> str | None:  # noqa: ARG002 -- interface
        """Return a reason for a missing, corrupt or empty report, which scores 0 by the protocol."""
        return f"{brief.status.value} report: {brief.detail}" if brief.status in _NO_REPORT else None


def _is_kept(store: ReportStore, rows: Sequence[Mapping[str, Any]]) -> bool:
    """False if a report's file is missing or damaged: the stage then runs again."""
    return all(row["report"] is None or store.has(row["report"]) for row in rows)


def _is_measured(rows: Sequence[Mapping[str, Any]]) -> bool:
    """False if pages were not counted but LibreOffice is available now: the stage then runs again."""
    uncounted = [
        row for row in rows if row["facts"]["renderer"] is not None and row["facts"]["pages"] is None
    ]
    return not uncounted or find_converter() is None


def _failed_to_read(rows: Sequence[Mapping[str, Any]]) -> bool:
    """True if our reader failed on a report: the stage then runs again."""
    return any(
        row["brief"]["report"] is not None and row["brief"]["status"] == BriefStatus.error.value
        for row in rows
    )


async def read_submitted(context: RunContext, scenario: Scenario, submitted: Submitted) -> dict[str, Any]:
    """Read, check and measure one report, as rows `brief` and `facts`; of no task, there are no limits."""
    limit = parse_length_limit((scenario.task and scenario.task.length_limit) or "")
    file = layout = None
    status, why = submitted.status, submitted.detail
    if submitted.report is not None:
        path = context.reports.path(submitted.report)
        try:
            file = await context.in_turn(check_report, path)
        except ReadError as error:
            # Our reader failed: the report does not score 0, and other attempts are still scored.
            status, why = BriefStatus.error, f"the report can't be read here: {error.found}"
        else:
            is_readable = file.status is ReportStatus.readable
            status = BriefStatus.written if is_readable else BriefStatus(file.status.value)
            why = file.reason or format_notices(file.notices)
            if file.text is not None:
                # The same call as in the tools of an attempt, so that the layout is reused.
                layout = await context.renders.layout(path.read_bytes(), path.suffix)
    words = file.words if file is not None else None
    brief = Brief(
        scenario_id=scenario.scenario_id,
        seed=submitted.seed,
        status=status,
        # Empty for an empty report, None for a missing or corrupt one.
        text=None if file is None or file.status is ReportStatus.corrupt else file.text or "",
        words_raw=0 if status is BriefStatus.empty else words and words.counted,
        words_kept=0 if status is BriefStatus.empty else words and words.counted,
        word_counter=WORD_RULE,
        completion=submitted.completion,
        detail=why,
        report=submitted.report,
    )
    facts = ReportFacts(
        scenario_id=scenario.scenario_id,
        seed=submitted.seed,
        status=status.value,
        report=submitted.report,
        ended=submitted.ended,
        n_calls=submitted.n_calls,
        word_rule=WORD_RULE,
        words=words and words.counted,
        words_body=words and words.body,
        words_tables=words and words.tables,
        words_notes=words and words.notes,
        words_text_boxes=words and words.text_boxes,
        words_outside=words and words.outside,
        word_limit=limit.words,
        pages=layout and layout.pages,
        page_limit=limit.pages,
        renderer=layout and layout.said,
        detail="; ".join(dict.fromkeys(part for part in (why, submitted.detail) if part)),
    )
    return {"brief": as_row(brief), "facts": as_row(facts)}
