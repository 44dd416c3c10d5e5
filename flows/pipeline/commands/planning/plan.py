"""`staffbench plan`: estimate the calls and cost of a run from the completion store, without any call."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from flows.adapters.completions.stores.shared import Store
from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.pipeline.commands.planning.text import Calls, Planned, plan_notes, plan_row, plan_warnings
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.inputs.submission_check import check_report
from flows.pipeline.native.renders import Renders
from flows.pipeline.work.evaluations import build_evaluations
from flows.pipeline.work.remote_judge import all_pages
from flows.pipeline.work.report_writers import expected_words, local_report
from flows.pipeline.work.run_context import Evaluation
from flows.pipeline.work.stages import should_retry
from flows.pipeline.work.stores import Stores
from flows.pipeline.work.writers import write_local
from flows.schema.brief import BriefStatus
from flows.schema.call import build_call, stands
from flows.schema.completion import Completion, Image, Request
from flows.schema.document import Packet
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeHarness, JudgeKind, Retry, Settings, Writer
from flows.schema.verdict import VerdictStatus
from flows.stages.generate import Written, build_messages, read_written
from flows.stages.judge import JudgeCall, build_requests, judge_outcome
from flows.stages.plan import (
    CHARACTERS_PER_WORD,
    PlannedCall,
    brief_characters,
    planned,
    tokens_of,
    verdict_tokens,
)
from flows.stages.truncate import truncate

_HEAD = ("condition · judge", "briefs", "to write", "to judge", "tokens in", "tokens out", "price", "at most")


def plan(project: Path, overrides: Sequence[str], *, multirun: bool, screen: Screen) -> int:
    """Show the remaining calls of a run and their cost.

    Needs no key. Missing packets are built.

    Raises:
        StaffbenchError: the configuration is invalid, or a document can't be read.
    """
    points = compose_points(project, overrides, multirun=multirun)
    settings = points[0].settings
    evaluations = build_evaluations(project, points)
    # Opening a folder's store would create it.
    is_there = settings.store is not None or (project / settings.results / "completions").is_dir()
    planner = _Planner(project, Stores.of(project, settings).completions() if is_there else None)
    plans = [planner.plan(evaluation) for evaluation in evaluations]
    rows = [plan_row(planned.evaluation.name, [planned]) for planned in plans]
    if len(plans) > 1:
        rows.append(plan_row("all", plans))
    title = f"{settings.benchmark.name}: what a run would still call"
    screen.table(title, [_HEAD, *rows], breaks_names=False)  # names are for copying
    for note in [*plan_notes(plans), *(f"Warning: {warning}." for warning in plan_warnings(plans))]:
        screen.bullet(note)
    return 0


class _Planner:
    """Finds the remaining calls; a call that conditions share is counted once."""

    def __init__(self, project: Path, store: Store | None) -> None:
        self._project = project
        self._store = store
        self._packets: dict[Path, Packet] = {}
        self._counted: set[str] = set()

    def plan(self, evaluation: Evaluation) -> Planned:
        """Find the calls of one evaluation that no earlier evaluation makes."""
        found = Planned(evaluation)
        for scenario in evaluation.scenarios:
            for seed in range(1, evaluation.settings.seeds + 1):
                self._plan_brief(found, scenario, seed)
        return found

    def _plan_brief(self, found: Planned, scenario: Scenario, seed: int) -> None:
        settings = found.evaluation.settings
        judged = settings.judge.kind is JudgeKind.remote
        if scenario.task is not None:
            if settings.model.writer is Writer.remote:
                found.write.attempts += 1
                if judged:
                    self._plan_judge(found, scenario, None)
            elif judged:
                packet = self._packet(found.evaluation, scenario)
                written, *pages = _planned_report(self._project, settings, scenario, packet, seed)
                self._plan_judge(found, scenario, written, *pages)
            return
        if settings.model.writer is not Writer.remote:
            if judged:
                packet = self._packet(found.evaluation, scenario)
                self._plan_judge(
                    found, scenario, write_local(self._project, settings, scenario, packet, seed)
                )
            return
        packet = self._packet(found.evaluation, scenario)
        messages = build_messages(scenario.assignment, packet, settings.prompt)
        request = build_call(settings.model, settings.effort.level, messages, seed)
        found.write.total += 1
        stored = self._answer(request, settings.retry)
        if stored is None:
            reply = tokens_of(brief_characters(settings.prompt.words))
            self._add(found.write, request, planned(request, settings.model, reply))
        if judged:
            self._plan_judge(found, scenario, None if stored is None else read_written(stored, seed))

    def _plan_judge(
        self,
        found: Planned,
        scenario: Scenario,
        written: Written | None,
        pages: Sequence[Image] = (),
        reference_pages: Sequence[Image] = (),
    ) -> None:
        """Add the judge's calls on a brief; an unwritten one is assumed to have its maximum length."""
        settings = found.evaluation.settings
        judge, cap = settings.judge, settings.word_cap.words
        if judge.harness is JudgeHarness.agent:
            found.judge.attempts += judge.repeat * (written is None or written.text is not None)
            return
        if written is None:
            unit = "x" * (CHARACTERS_PER_WORD - 1) + " "
            words = settings.prompt.words if scenario.task is None else expected_words(scenario)
            text = unit * (brief_characters(words, cap) // CHARACTERS_PER_WORD)
        elif written.text is None:
            return  # refused or failed: there is nothing to grade
        else:
            brief = truncate(
                scenario.scenario_id,
                written.seed,
                written.text,
                cap,
                completion=written.completion,
                cut_by_provider=written.cut_by_provider,
            )
            text = brief.text or ""
            if found.evaluation.kind.unjudged_reason(brief, judge):
                return  # graded without a call
        calls = [
            call
            for number in range(1, judge.repeat + 1)
            for call in build_requests(
                scenario.items,
                text,
                judge,
                settings.judge_prompt,
                number,
                reference=scenario.reference,
                pages=pages,
                reference_pages=reference_pages,
            )
        ]
        for call in calls:
            found.judge.total += 1
            reply = verdict_tokens(len(call.items), judge)
            if written is None:
                found.judge.left.append(planned(call.request, judge, reply, is_assumed=True))
            elif (request := self._unanswered(call, judge.max_attempts, settings.retry)) is not None:
                self._add(found.judge, request, planned(request, judge, reply))

    def _unanswered(self, call: JudgeCall, max_attempts: int, retry: Retry) -> Request | None:
        """Return the first attempt at a question without a stored reply; None if its verdicts are known."""
        step, again = call, should_retry(retry, [VerdictStatus.unparsed.value])
        while (stored := self._answer(step.request, retry)) is not None:
            outcome = judge_outcome(step, stored, step.attempt + 1)
            if not isinstance(outcome, JudgeCall):
                return None
            used_up = step.attempt % max_attempts == 0
            if used_up and not again and self._answer(outcome.request, Retry.none) is None:
                return None
            step = outcome
        return step.request

    def _answer(self, request: Request, retry: Retry) -> Completion | None:
        """Return the stored reply to `request`, unless `retry` would replace it."""
        stored = None if self._store is None else self._store.get(request.key)
        return stored if stored is not None and stands(stored, retry) else None

    def _add(self, calls: Calls, request: Request, call: PlannedCall) -> None:
        if request.key not in self._counted:
            self._counted.add(request.key)
            calls.left.append(call)

    def _packet(self, evaluation: Evaluation, scenario: Scenario) -> Packet:
        data = self._project / evaluation.settings.benchmark.data
        folder = data / scenario.scenario_id
        if folder not in self._packets:
            path = packet_path(data, evaluation.condition.benchmark, scenario.scenario_id)
            self._packets[folder] = load_packet(folder, scenario, path)
        return self._packets[folder]


def _planned_report(
    project: Path, settings: Settings, scenario: Scenario, packet: Packet, seed: int
) -> tuple[Written, Sequence[Image], Sequence[Image]]:
    """Build the report as its judge would see it: text, and pages if the judge takes images."""
    data = local_report(project, settings, scenario, packet, seed)
    if data is None:
        return Written(seed, BriefStatus.missing, None), (), ()
    with tempfile.TemporaryDirectory(prefix="plan-") as folder:
        path = Path(folder) / "report.docx"
        path.write_bytes(data)
        text = check_report(path).text
    if text is None:
        return Written(seed, BriefStatus.missing, None), (), ()
    pages: Sequence[Image] = ()
    expert: Sequence[Image] = ()
    if settings.judge.takes_images and settings.judge.harness is JudgeHarness.single_call:
        renders = Renders(project / settings.results / settings.benchmark.name / "renders")
        pages, expert = asyncio.run(all_pages(renders, scenario, f"{scenario.scenario_id}/{seed}", data))
    return Written(seed, BriefStatus.written, text), pages, expert
