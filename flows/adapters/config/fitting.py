"""Settings that don't go together: with the benchmark's protocol, its classes, the judge."""

from collections.abc import Iterator, Mapping
from dataclasses import fields

from flows.adapters.config.messages import nearest
from flows.schema.report_task import Polarity
from flows.schema.scenario import MA_BENCH, Dimensions
from flows.schema.settings import (
    Harness,
    JudgeHarness,
    JudgeKind,
    JudgeMode,
    JudgeSettings,
    ProtocolName,
    Settings,
    Writer,
)

Unfit = tuple[str, str, str]  # key, found and expected of a value that does not fit


def unfit_protocol(s: Settings) -> Iterator[Unfit]:
    """Find settings that don't fit the benchmark's protocol."""
    reports, name = s.benchmark.protocol is ProtocolName.mission_report, s.benchmark.name
    yield from _unfit_harness(s, reports=reports)
    if reports and s.word_cap.words is not None:
        yield f"word_cap={s.word_cap.words}", "reports are judged whole", "none"
    yield from _unfit_scoring(s, reports=reports)
    if ("{{files}}" in s.prompt.user) != reports:
        fit = "report_v1" if reports else "v0, v0_no_limit, coached or coached_no_limit"
        yield f"prompt={s.prompt.version}", f"says nothing of what {name} asks for", fit
    yield from _unfit_judge_prompt(s, reports=reports)
    if s.model.writer is not Writer.remote and s.model.parameters:
        key = next(iter(s.model.parameters))
        yield f"model.parameters.{key}", f"has no effect: {s.model.label} asks no model", "no parameters"
    if not reports and s.model.writer in (Writer.absent, Writer.corrupt):
        yield f"model={s.model.label}", "hands in a file, or none", "benchmark=mission_report"
    if reports and s.model.writer is Writer.remote and s.runner.batch:
        fit = "false: an attempt is a chain of calls, each waiting for the last"
        yield "runner.batch", "true", fit
    if reports and s.model.writer is Writer.remote and not s.model.takes_tools:
        fit = "model.takes_tools=true, if it does"
        yield f"model={s.model.label}", "takes no tools, by which a report is written", fit


def _unfit_harness(s: Settings, *, reports: bool) -> Iterator[Unfit]:
    harness = Harness.native if reports else Harness.single_prompt
    if s.harness.name is not harness:
        yield f"harness={s.harness.name.value}", f"{s.benchmark.name} can't be run by it", harness.value
    for key in ("max_steps", "nudges", "page_chars", "clock") if reports else ():
        if getattr(s.harness, key) is None:
            yield f"harness.{key}", "null", "wall or calls" if key == "clock" else "a number"
    limits = [field.name for field in fields(s.harness) if field.name not in ("name", "assumed")]
    for key in s.harness.assumed:
        if key not in limits:
            yield "harness.assumed", key, nearest(key, limits)


def _unfit_scoring(s: Settings, *, reports: bool) -> Iterator[Unfit]:
    weights, dimensions = s.scoring.weights, s.benchmark.dimensions or MA_BENCH
    by_criterion = not weights or weights.keys() == {one.value for one in Polarity}
    if reports != by_criterion and not (by_criterion and "severity" in dimensions.optional):
        fit = "points or equal_points" if reports else "weights by severity, such as scoring=severity"
        yield f"scoring={s.scoring.name}", f"{s.benchmark.name} can't be scored by it", fit
    elif not by_criterion:
        yield from _unfit_weights(weights, dimensions)
    for key in s.scoring.assumed:
        if key not in weights:
            yield "scoring.assumed", f"{key} has no weight", "names among scoring.weights"


def _unfit_weights(weights: Mapping[str, float], dimensions: Dimensions) -> Iterator[Unfit]:
    severities = [*dimensions.severities, *dimensions.wrong_moves]
    for name in weights:
        if name not in severities:
            yield f"scoring.weights.{name}", "no such severity", nearest(name, severities)
    for name in severities:
        if name not in weights:
            yield f"scoring.weights.{name}", "not set", "a number of points"


def _unfit_judge_prompt(s: Settings, *, reports: bool) -> Iterator[Unfit]:
    """Find a judge prompt of the other protocol, with or without the expert's report."""
    prompt = s.judge_prompt
    shows = ["{{reference}}" in text for text in (prompt.failed_only, prompt.all_items, prompt.per_item)]
    if s.judge.kind is not JudgeKind.offline and not (all(shows) if reports else not any(shows)):
        what, fit = ("no expert's report", "report_v1") if reports else ("an expert's report", "v1")
        yield f"judge_prompt={prompt.version}", f"shows {what}", f"a prompt for {s.benchmark.name}: {fit}"


def unfit_judge(where: str, judge: JudgeSettings) -> Iterator[Unfit]:
    """Find conflicting settings of a judge, panel, member or the offline judge."""
    if judge.kind is JudgeKind.offline and judge.repeat != 1:
        yield f"{where}.repeat", str(judge.repeat), "1: the offline judge never differs from itself"
    if judge.kind is JudgeKind.offline and judge.canaries:
        yield f"{where}.canaries", "true", "false: the offline judge is asked nothing"
    if judge.quotes and judge.mode is JudgeMode.failed_only and judge.kind is JudgeKind.remote:
        fit = "all_items or per_item, for quotes=true: failed_only lists no item that passes"
        yield f"{where}.mode", judge.mode.value, fit
    if judge.kind is not JudgeKind.panel:
        return
    number = len(judge.members)
    if where != "judge":
        yield where, "a panel", "a judge of another kind: panels have no panels as members"
    elif number < 2:  # noqa: PLR2004 -- one voice is no panel
        yield f"{where}.members", str(number), "two or more"
    elif judge.quorum is not None and not 1 <= judge.quorum <= number:
        yield f"{where}.quorum", str(judge.quorum), f"1 to {number}, or null for more than half"


def unfit_agent(where: str, judge: JudgeSettings, s: Settings) -> Iterator[Unfit]:
    """Find settings that don't fit a judge that opens the reports by tools."""
    if judge.kind is not JudgeKind.remote or judge.harness is not JudgeHarness.agent:
        return
    key = f"{where}.harness"
    if s.benchmark.protocol is not ProtocolName.mission_report:
        yield key, "agent, and a brief is no file to open", "single_call"
        return
    if not judge.takes_tools:
        fit = f"{where}.harness=single_call, or {where}.takes_tools=true if it does"
        yield key, f"agent, and {judge.label} takes no tools", fit
    if judge.mode is not JudgeMode.all_items:
        fit = f"all_items, or {where}.harness=single_call"
        yield f"{where}.mode={judge.mode.value}", "an agent decides every criterion at once", fit
    if s.runner.batch:
        fit = f"false, or {where}.harness=single_call: an agent is a chain of calls"
        yield "runner.batch", "true", fit
    if not s.judge_prompt.agent:
        yield f"judge_prompt={s.judge_prompt.version}", "has no text for an agent", "report_v1"
