"""Table rows, notes and warnings of a plan."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from flows.adapters.completions.budget import batch_price
from flows.common.text import plural
from flows.pipeline.work.run_context import Evaluation
from flows.schema.call import CHARACTERS_PER_TOKEN
from flows.schema.settings import JudgeKind, JudgeMode, ModelSettings, ProtocolName, Writer
from flows.stages.aggregate import FEWEST_SCENARIOS
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
    half_width,
    misfit,
    room_shortfall,
    summed,
)

_LIMITED = (Writer.remote, Writer.extractive)  # writers that follow prompt.words


@dataclass
class Calls:
    """Calls of one model in one evaluation: their number, and those that remain.

    Attempts of the native harness, and judgments by an agent, are counted separately: their number of calls
    depends on the model.
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
        """Writing and judging calls, each at its model's price, in batches at that for them."""
        settings = self.evaluation.settings
        prices = settings.model.price, settings.judge.price
        write, judge = map(batch_price, prices) if settings.runner.batch else prices
        return summed(self.write.left, write), summed(self.judge.left, judge)


def plan_row(name: str, plans: Sequence[Planned]) -> tuple[str, ...]:
    """Format a row of the table: one evaluation, or a sum of several."""
    write, judge = (combined(loads) for loads in zip(*(planned.loads for planned in plans), strict=True))
    both = combined([write, judge])
    briefs: dict[str, int] = {}  # of each condition, which several judges may grade
    for planned in plans:
        number = len(planned.evaluation.scenarios) * planned.evaluation.settings.seeds
        digest = planned.evaluation.condition.digest
        briefs[digest] = max(number, briefs.get(digest, 0))
    totals = (f"{both.input_tokens:,}", f"{both.output_tokens:,}", cost_text(both.cost), cost_text(both.most))
    if any(planned.write.attempts or planned.judge.attempts for planned in plans):
        totals = ("unknown",) * len(totals)  # a partial sum could be taken for the total
    written = _left(write, [planned.write for planned in plans], "attempt")
    judged = _left(judge, [planned.judge for planned in plans], "judgment")
    return (name, f"{sum(briefs.values()):,}", written, judged, *totals)


def _left(load: Load, calls: Sequence[Calls], chat: str) -> str:
    chats, total = sum(one.attempts for one in calls), sum(one.total for one in calls)
    if chats:
        return f"{chats:,} {chat}{'s' * (chats > 1)}"
    if not total:
        return "none"
    return f"{load.calls:,} of {total:,}" + (f" ({load.assumed:,} assumed)" if load.assumed else "")


def plan_notes(plans: Sequence[Planned]) -> list[str]:
    """Return the notes under the table."""
    about = (
        f"No model is called. Tokens are estimated as characters / {CHARACTERS_PER_TOKEN}, replies as long "
        "as the prompt allows, without reasoning. At most: every reply reaches the limit that is sent, "
        "including reasoning. Retries of rejected judge replies are not included."
    )
    notes = [about]
    if any(call.is_assumed for planned in plans for call in planned.judge.left):
        notes.append(
            "Assumed: calls on unwritten briefs, taken to be as long as the prompt and the cap allow, at "
            f"{CHARACTERS_PER_WORD} characters per word."
        )
    if any(planned.write.attempts for planned in plans):
        notes.append(
            "The number of calls in an attempt depends on the model, up to harness.max_steps: its tokens and "
            "price, and all sums, are unknown. Stored calls are not paid for again. budget.max_usd and "
            "budget.max_tokens limit a run."
        )
    if any(planned.judge.attempts for planned in plans):
        notes.append(
            "The number of calls in a judgment by an agent depends on the judge, up to judge.max_steps: its "
            "tokens and price are unknown, and stored calls are counted too."
        )
    if len(plans) > 1:
        notes.append("A call that several conditions share is counted with the first.")
    models = {model.label: model for model, _ in _calls(plans)}
    dates: dict[str, list[str]] = {}
    for label, model in models.items():
        if model.price.taken is not None:
            dates.setdefault(model.price.taken, []).append(label)
    notes += [f"List prices of {date}: {', '.join(labels)}." for date, labels in sorted(dates.items())]
    unchecked = [label for label, model in models.items() if model.context_tokens is None]
    if unchecked:
        notes.append(f"Context length unknown and not checked: {', '.join(unchecked)}.")
    return [*notes, *sorted({_expected(planned.evaluation) for planned in plans})]


def _expected(evaluation: Evaluation) -> str:
    """Describe the expected interval; the paper gives one for briefs only."""
    if evaluation.settings.benchmark.protocol is ProtocolName.mission_report:
        return (
            "We know of no published interval for MissionReport scores: the expected width and detectable "
            "difference are unknown."
        )
    return _detectable(len(evaluation.scenarios))


def _detectable(n_scenarios: int) -> str:
    n = plural(str(n_scenarios), "scenario")
    if n_scenarios < FEWEST_SCENARIOS:
        return (
            f"With {n} the table shows no interval, and no difference can be told from chance: both take "
            f"{FEWEST_SCENARIOS} scenarios."
        )
    paired, unpaired = (detectable_difference(n_scenarios, paired=same) for same in (True, False))
    return (
        f"With {n} expect an interval of about ±{half_width(n_scenarios):.2f} on a score. The smallest "
        f"detectable difference is about {paired:.2f} for a paired difference, of two conditions on the same "
        f"scenarios whose scores correlate at 0.5, and {unpaired:.2f} for an unpaired one, sqrt(2) times as "
        f"large. From the paper's ±{REFERENCE_HALF_WIDTH:.2f} at {REFERENCE_SCENARIOS} scenarios, times "
        f"sqrt({REFERENCE_SCENARIOS} / n), if scenarios vary as much here as there."
    )


def plan_warnings(plans: Sequence[Planned]) -> list[str]:
    """Return the warnings, without repetition."""
    warnings: list[str] = []
    for planned in plans:
        settings = planned.evaluation.settings
        judge = settings.judge
        if settings.model.writer in _LIMITED:
            mismatch = cap_mismatch(settings.prompt.words, settings.word_cap.words)
            warnings += [f"prompt.words and word_cap: {mismatch}"] if mismatch else []
        if judge.kind is JudgeKind.remote:
            longest = max(len(scenario.items) for scenario in planned.evaluation.scenarios)
            n_items = longest + (N_CANARIES if judge.canaries else 0)
            per_call = 1 if judge.mode is JudgeMode.per_item else n_items
            shortfall = room_shortfall(output_room(per_call, judge), judge)
            warnings += [f"judge.output_tokens: {shortfall}"] if shortfall else []
    misfits: dict[str, list[tuple[int, str]]] = {}
    for model, call in _calls(plans):
        if (text := misfit(model, call)) is not None:
            misfits.setdefault(model.label, []).append((call.input_tokens, text))
    for texts in misfits.values():
        others = f" (the longest of {len(texts)} such calls)" if len(texts) > 1 else ""
        warnings.append(f"context: {max(texts)[1]}{others}")
    return list(dict.fromkeys(warnings))


def _calls(plans: Sequence[Planned]) -> list[tuple[ModelSettings, PlannedCall]]:
    return [
        (model, call)
        for planned in plans
        for model, calls in (
            (planned.evaluation.settings.model, planned.write),
            (planned.evaluation.settings.judge, planned.judge),
        )
        for call in calls.left
    ]
