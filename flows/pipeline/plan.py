"""`staffbench plan`: what a run would do and cost. Looks into the store of completions; calls nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from flows.adapters.completions.store import CompletionStore
from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.pipeline.batch import Evaluation, build_evaluations
from flows.pipeline.packets import load_packet, packet_path
from flows.pipeline.run import check_shared
from flows.pipeline.writers import write_local
from flows.schema.completion import Completion, Request
from flows.schema.document import Packet
from flows.schema.scenario import Scenario
from flows.schema.settings import JudgeKind, JudgeMode, ModelSettings, Retry, Writer
from flows.stages.generate import Written, build_messages, build_request, read_written
from flows.stages.judge import N_CANARIES, JudgeCall, build_requests, judge_outcome, output_room
from flows.stages.plan import (
    CHARACTERS_PER_TOKEN,
    CHARACTERS_PER_WORD,
    REFERENCE_HALF_WIDTH,
    REFERENCE_SCENARIOS,
    Load,
    PlannedCall,
    brief_characters,
    cap_mismatch,
    combined,
    cost_text,
    detectable_difference,
    is_answered,
    misfit,
    planned,
    room_shortfall,
    summed,
    tokens_of,
    verdict_tokens,
)
from flows.stages.truncate import truncate

_HEAD = ("condition · judge", "briefs", "to write", "to judge", "tokens in", "tokens out", "price", "at most")
_TOLD = (Writer.remote, Writer.extractive)  # writers that keep to prompt.words


@dataclass
class _Calls:
    """Calls of one model of one evaluation: how many there are, and those that are left."""

    total: int = 0
    left: list[PlannedCall] = field(default_factory=list[PlannedCall])


@dataclass
class _Planned:
    """One evaluation's calls."""

    evaluation: Evaluation
    write: _Calls = field(default_factory=_Calls)
    judge: _Calls = field(default_factory=_Calls)

    @property
    def loads(self) -> tuple[Load, Load]:
        """Writing and judging, each at its model's price."""
        settings = self.evaluation.settings
        return summed(self.write.left, settings.model.price), summed(self.judge.left, settings.judge.price)


def plan(project: Path, overrides: Sequence[str], *, multirun: bool, screen: Screen) -> int:
    """Show what the points that `overrides` name would still call, and what that would cost.

    Needs no key. Reads packets, and builds those that are not there.

    Returns:
        Exit code: 0.

    Raises:
        StaffbenchError: nothing could be run as asked, or a document can't be read.
    """
    points = compose_points(project, overrides, multirun=multirun)
    settings = points[0].settings
    check_shared(points)
    evaluations = build_evaluations(project, points)
    folder = project / settings.results / "completions"
    # Opening a store creates its folder: a plan leaves nothing behind.
    planner = _Planner(project, CompletionStore(folder) if folder.is_dir() else None)
    found = [planner.plan(evaluation) for evaluation in evaluations]
    rows = [_row(one.evaluation.name, [one]) for one in found]
    if len(found) > 1:
        rows.append(_row("all", found))
    screen.table(f"{settings.benchmark.name}: what a run would still call", [_HEAD, *rows])
    for note in [*_notes(found), *(f"Warning: {warning}." for warning in _warnings(found))]:
        screen.note(f"- {note}")
    return 0


class _Planner:
    """Finds the calls that are left, each counted once however many conditions share it."""

    def __init__(self, project: Path, store: CompletionStore | None) -> None:
        self._project = project
        self._store = store
        self._packets: dict[Path, Packet] = {}
        self._counted: set[str] = set()

    def plan(self, evaluation: Evaluation) -> _Planned:
        """The calls of one evaluation that no evaluation before it makes."""
        found = _Planned(evaluation)
        for scenario in evaluation.scenarios:
            for seed in range(1, evaluation.settings.seeds + 1):
                self._plan_brief(found, scenario, seed)
        return found

    def _plan_brief(self, found: _Planned, scenario: Scenario, seed: int) -> None:
        settings = found.evaluation.settings
        judged = settings.judge.kind is JudgeKind.remote
        if settings.model.writer is not Writer.remote:
            if judged:
                packet = self._packet(found.evaluation, scenario)
                self._plan_judge(
                    found, scenario, write_local(self._project, settings, scenario, packet, seed)
                )
            return
        packet = self._packet(found.evaluation, scenario)
        messages = build_messages(scenario.assignment, packet, settings.prompt)
        request = build_request(messages, settings.model, settings.effort.level, seed)
        found.write.total += 1
        stored = self._answer(request, settings.retry)
        if stored is None:
            reply = tokens_of(brief_characters(settings.prompt.words))
            self._add(found.write, request, planned(request, settings.model, reply))
        if judged:
            self._plan_judge(found, scenario, None if stored is None else read_written(stored, seed))

    def _plan_judge(self, found: _Planned, scenario: Scenario, written: Written | None) -> None:
        """The calls on a brief; on one as long as it may be where nobody has written it yet."""
        settings = found.evaluation.settings
        judge, cap = settings.judge, settings.word_cap.words
        if written is None:
            unit = "x" * (CHARACTERS_PER_WORD - 1) + " "
            text = unit * (brief_characters(settings.prompt.words, cap) // CHARACTERS_PER_WORD)
        elif written.text is None:
            return  # refused or failed for good: there is nothing to grade
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
        calls = [
            call
            for number in range(1, judge.repeat + 1)
            for call in build_requests(scenario.items, text, judge, settings.judge_prompt, number)
        ]
        for call in calls:
            found.judge.total += 1
            reply = verdict_tokens(len(call.items), judge)
            if written is None:
                found.judge.left.append(planned(call.request, judge, reply, is_assumed=True))
            elif (left := self._unanswered(call, judge.max_attempts, settings.retry)) is not None:
                self._add(found.judge, left, planned(left, judge, reply))

    def _unanswered(self, call: JudgeCall, max_attempts: int, retry: Retry) -> Request | None:
        """The first of a question's attempts that has no answer; None where its verdicts are known."""
        step = call
        while (stored := self._answer(step.request, retry)) is not None:
            outcome = judge_outcome(step, stored, max_attempts)
            if not isinstance(outcome, JudgeCall):
                return None
            step = outcome
        return step.request

    def _answer(self, request: Request, retry: Retry) -> Completion | None:
        """What is stored for `request`, where it stands."""
        stored = None if self._store is None else self._store.get(request.key)
        return stored if is_answered(stored, retry) else None

    def _add(self, calls: _Calls, request: Request, call: PlannedCall) -> None:
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


def _row(name: str, found: Sequence[_Planned]) -> tuple[str, ...]:
    """One evaluation, or several summed."""
    write, judge = (combined(loads) for loads in zip(*(one.loads for one in found), strict=True))
    both = combined([write, judge])
    briefs = sum(len(one.evaluation.scenarios) * one.evaluation.settings.seeds for one in found)
    return (
        name,
        f"{briefs:,}",
        _left(write, sum(one.write.total for one in found)),
        _left(judge, sum(one.judge.total for one in found)),
        f"{both.input_tokens:,}",
        f"{both.output_tokens:,}",
        cost_text(both.cost),
        cost_text(both.most),
    )


def _left(load: Load, total: int) -> str:
    if not total:
        return "none"
    return f"{load.calls:,} of {total:,}" + (f" ({load.assumed:,} assumed)" if load.assumed else "")


def _notes(found: Sequence[_Planned]) -> list[str]:
    about = (
        f"Nobody is called. Tokens are estimates, characters / {CHARACTERS_PER_TOKEN}; replies are expected "
        "as long as the prompt allows, without reasoning. At most: every reply as long as the limit that is "
        "sent, reasoning included. A judge's reply that is rejected is asked for again, and is in neither."
    )
    notes = [about]
    if any(call.is_assumed for one in found for call in one.judge.left):
        notes.append(
            "Assumed: calls on briefs that nobody has written yet, taken to be as long as the prompt and the "
            f"cap allow at {CHARACTERS_PER_WORD} characters a word."
        )
    if len(found) > 1:
        notes.append("A call that several conditions share is counted with the first of them.")
    models = {model.label: model for model, _ in _calls(found)}
    dates: dict[str, list[str]] = {}
    for label, model in models.items():
        if model.price.taken is not None:
            dates.setdefault(model.price.taken, []).append(label)
    notes += [f"List prices of {date}: {', '.join(labels)}." for date, labels in sorted(dates.items())]
    unchecked = [label for label, model in models.items() if model.context_tokens is None]
    if unchecked:
        notes.append(f"Context length not known, so not checked: {', '.join(unchecked)}.")
    notes += [_detectable(number) for number in sorted({len(one.evaluation.scenarios) for one in found})]
    return notes


def _detectable(n_scenarios: int) -> str:
    return (
        f"With {n_scenarios} scenario{'s' if n_scenarios > 1 else ''} expect an interval of about "
        f"±{detectable_difference(n_scenarios):.2f} on a score, and no difference below that to be told "
        f"apart: the paper's ±{REFERENCE_HALF_WIDTH:.2f} at {REFERENCE_SCENARIOS} scenarios, times "
        f"sqrt({REFERENCE_SCENARIOS} / n), if scenarios differ as much here as there."
    )


def _warnings(found: Sequence[_Planned]) -> list[str]:
    """What is worth a second look, each once."""
    warnings: list[str] = []
    for one in found:
        settings = one.evaluation.settings
        judge = settings.judge
        if settings.model.writer in _TOLD:
            mismatch = cap_mismatch(settings.prompt.words, settings.word_cap.words)
            warnings += [f"prompt.words and word_cap: {mismatch}"] if mismatch else []
        if judge.kind is JudgeKind.remote:
            longest = max(len(scenario.items) for scenario in one.evaluation.scenarios)
            whole = longest + (N_CANARIES if judge.canaries else 0)
            per_call = 1 if judge.mode is JudgeMode.per_item else whole
            shortfall = room_shortfall(output_room(per_call, judge), judge)
            warnings += [f"judge.output_tokens: {shortfall}"] if shortfall else []
    misfits: dict[str, list[tuple[int, str]]] = {}
    for model, call in _calls(found):
        if (text := misfit(model, call)) is not None:
            misfits.setdefault(model.label, []).append((call.input_tokens, text))
    for texts in misfits.values():
        others = f" (the longest of {len(texts)} such calls)" if len(texts) > 1 else ""
        warnings.append(f"context: {max(texts)[1]}{others}")
    return list(dict.fromkeys(warnings))


def _calls(found: Sequence[_Planned]) -> list[tuple[ModelSettings, PlannedCall]]:
    """Every call that is left, with whom it would go to."""
    return [
        (model, call)
        for one in found
        for model, calls in (
            (one.evaluation.settings.model, one.write),
            (one.evaluation.settings.judge, one.judge),
        )
        for call in calls.left
    ]
