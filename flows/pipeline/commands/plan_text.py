"""A plan's calls as text: the table's rows, what stands under it, what is worth a second look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flows.pipeline.work.run_context import Evaluation
from flows.schema.call import CHARACTERS_PER_TOKEN
from flows.schema.settings import JudgeKind, JudgeMode, ModelSettings, ProtocolName, Writer
from flows.stages.judge import N_CANARIES, output_room
from flows.stages.plan import (
    CHARACTERS_PER_WORD,
    REFERENCE_HALF_WIDTH,
    REFERENCE_SCENARIOS,
    Load,
    PlannedCall,
    cap_mismatch,
    combined,
    cost_text,
    detectable_difference,
    misfit,
    room_shortfall,
    summed,
)

_TOLD = (Writer.remote, Writer.extractive)  # writers that keep to prompt.words


@dataclass
class Calls:
    """Calls of one model of one evaluation: how many there are, and those that are left.

    Attempts of the native harness are counted apart: how many calls one makes is its model's choice.
    """

    total: int = 0
    attempts: int = 0
    left: list[PlannedCall] = field(default_factory=list[PlannedCall])


@dataclass
class Planned:
    """One evaluation's calls."""

    evaluation: Evaluation
    write: Calls = field(default_factory=Calls)
    judge: Calls = field(default_factory=Calls)

    @property
    def loads(self) -> tuple[Load, Load]:
        """Writing and judging, each at its model's price."""
        settings = self.evaluation.settings
        return summed(self.write.left, settings.model.price), summed(self.judge.left, settings.judge.price)


def plan_row(name: str, found: Sequence[Planned]) -> tuple[str, ...]:
    """A row of the table: one evaluation, or several summed."""
    write, judge = (combined(loads) for loads in zip(*(one.loads for one in found), strict=True))
    both = combined([write, judge])
    briefs = sum(len(one.evaluation.scenarios) * one.evaluation.settings.seeds for one in found)
    totals = (f"{both.input_tokens:,}", f"{both.output_tokens:,}", cost_text(both.cost), cost_text(both.most))
    if any(one.write.attempts for one in found):
        totals = ("unknown",) * len(totals)  # what else is known of them would pass for the whole
    judged = _left(judge, sum(one.judge.total for one in found))
    return (name, f"{briefs:,}", _written(write, found), judged, *totals)


def _written(write: Load, found: Sequence[Planned]) -> str:
    attempts = sum(one.write.attempts for one in found)
    if attempts:
        return f"{attempts:,} attempt{'s' if attempts > 1 else ''}"
    return _left(write, sum(one.write.total for one in found))


def _left(load: Load, total: int) -> str:
    if not total:
        return "none"
    return f"{load.calls:,} of {total:,}" + (f" ({load.assumed:,} assumed)" if load.assumed else "")


def plan_notes(found: Sequence[Planned]) -> list[str]:
    """What stands under the table, a sentence or two each."""
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
    if any(one.write.attempts for one in found):
        notes.append(
            "An attempt calls its model as often as that asks for tools, at most harness.max_steps times: "
            "its calls, tokens and price are not known beforehand, and so no sum is. Its calls that are "
            "stored are not paid for again. budget.max_usd and budget.max_tokens bound a run."
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
    return [*notes, *sorted({_expected(one.evaluation) for one in found})]


def _expected(evaluation: Evaluation) -> str:
    """What interval to expect. The paper's is of briefs, and says nothing of reports."""
    if evaluation.settings.benchmark.protocol is ProtocolName.mission_report:
        return (
            "No interval of MissionReport's scores is published that we know of: the width to expect and the "
            "difference that can be told apart are not known beforehand."
        )
    return _detectable(len(evaluation.scenarios))


def _detectable(n_scenarios: int) -> str:
    return (
        f"With {n_scenarios} scenario{'s' if n_scenarios > 1 else ''} expect an interval of about "
        f"±{detectable_difference(n_scenarios):.2f} on a score, and no difference below that to be told "
        f"apart: the paper's ±{REFERENCE_HALF_WIDTH:.2f} at {REFERENCE_SCENARIOS} scenarios, times "
        f"sqrt({REFERENCE_SCENARIOS} / n), if scenarios differ as much here as there."
    )


def plan_warnings(found: Sequence[Planned]) -> list[str]:
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


def _calls(found: Sequence[Planned]) -> list[tuple[ModelSettings, PlannedCall]]:
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
