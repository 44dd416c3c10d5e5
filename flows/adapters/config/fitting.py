"""Settings that don't go together: with the benchmark's protocol, its classes, the judge.

Each function returns key, found and expected of every value that does not fit.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def unfit_protocol(s: Settings) -> list[tuple[str, str, str]]:
    """Find settings that don't fit the benchmark's protocol."""
    found: list[tuple[str, str, str]] = []
    reports = s.benchmark.protocol is ProtocolName.mission_report
    harness = Harness.native if reports else Harness.single_prompt
    if s.harness.name is not harness:
        found.append(
            (f"harness={s.harness.name.value}", f"{s.benchmark.name} can't be run by it", harness.value)
        )
    if harness is Harness.native:
        needed = {
            **dict.fromkeys(("max_steps", "nudges", "page_chars"), "a number"),
            "clock": "wall or calls",
        }
        found += [
            (f"harness.{name}", "null", expected)
            for name, expected in needed.items()
            if getattr(s.harness, name) is None
        ]
    limits = [field.name for field in fields(s.harness) if field.name not in ("name", "assumed")]
    found += [
        ("harness.assumed", name, nearest(name, limits)) for name in s.harness.assumed if name not in limits
    ]
    if reports and s.word_cap.words is not None:
        found.append((f"word_cap={s.word_cap.words}", "reports are judged whole", "none"))
    by_criterion = not s.scoring.weights or s.scoring.weights.keys() == {one.value for one in Polarity}
    own_points = by_criterion and "severity" in (s.benchmark.dimensions or MA_BENCH).optional
    if reports != by_criterion and not own_points:
        fit = "points or equal_points" if reports else "weights by severity, such as scoring=severity"
        found.append((f"scoring={s.scoring.name}", f"{s.benchmark.name} can't be scored by it", fit))
    elif not by_criterion:
        found += _unfit_weights(s.scoring.weights, s.benchmark.dimensions or MA_BENCH)
    unknown = [name for name in s.scoring.assumed if name not in s.scoring.weights]
    found += [("scoring.assumed", f"{name} has no weight", "names among scoring.weights") for name in unknown]
    if ("{{files}}" in s.prompt.user) != reports:
        fit = "report_v1" if reports else "v0, v0_no_limit, coached or coached_no_limit"
        found.append((f"prompt={s.prompt.version}", f"says nothing of what {s.benchmark.name} asks for", fit))
    found += _unfit_judge_prompt(s, reports=reports)
    if not reports and s.model.writer in (Writer.absent, Writer.corrupt):
        found.append((f"model={s.model.label}", "hands in a file, or none", "benchmark=mission_report"))
    if reports and s.model.writer is Writer.remote and s.runner.batch:
        found.append(
            ("runner.batch", "true", "false: an attempt is a chain of calls, each waiting for the last")
        )
    if reports and s.model.writer is Writer.remote and not s.model.takes_tools:
        found.append(
            (
                f"model={s.model.label}",
                "takes no tools, by which a report is written",
                "model.takes_tools=true, if it does",
            )
        )
    return found


def _unfit_weights(weights: Mapping[str, float], dimensions: Dimensions) -> list[tuple[str, str, str]]:
    """Find unknown severities and severities without points."""
    severities = [*dimensions.severities, *dimensions.wrong_moves]
    found = [
        (f"scoring.weights.{name}", "no such severity", nearest(name, severities))
        for name in weights
        if name not in severities
    ]
    missing = [name for name in severities if name not in weights]
    return found + [(f"scoring.weights.{name}", "not set", "a number of points") for name in missing]


def _unfit_judge_prompt(s: Settings, *, reports: bool) -> list[tuple[str, str, str]]:
    """Find a judge prompt of the other protocol, with or without the expert's report."""
    prompt = s.judge_prompt
    shows = ["{{reference}}" in text for text in (prompt.failed_only, prompt.all_items, prompt.per_item)]
    if s.judge.kind is JudgeKind.offline or (all(shows) if reports else not any(shows)):
        return []
    what, fit = ("no expert's report", "report_v1") if reports else ("an expert's report", "v1")
    return [(f"judge_prompt={prompt.version}", f"shows {what}", f"a prompt for {s.benchmark.name}: {fit}")]


def unfit_judge(where: str, judge: JudgeSettings) -> list[tuple[str, str, str]]:
    """Find conflicting settings of a judge, panel, member or the offline judge."""
    found: list[tuple[str, str, str]] = []
    if judge.kind is JudgeKind.offline and judge.repeat != 1:
        found.append((f"{where}.repeat", str(judge.repeat), "1: the offline judge never differs from itself"))
    if judge.kind is JudgeKind.offline and judge.canaries:
        found.append((f"{where}.canaries", "true", "false: the offline judge is asked nothing"))
    if judge.quotes and judge.mode is JudgeMode.failed_only and judge.kind is JudgeKind.remote:
        fit = "all_items or per_item, for quotes=true: failed_only lists no item that passes"
        found.append((f"{where}.mode", judge.mode.value, fit))
    if judge.kind is not JudgeKind.panel:
        return found
    if where != "judge":
        return [(where, "a panel", "a judge of another kind: panels have no panels as members")]
    number = len(judge.members)
    if number < 2:  # noqa: PLR2004 -- one voice is no panel
        found.append((f"{where}.members", str(number), "two or more"))
    elif judge.quorum is not None and not 1 <= judge.quorum <= number:
        found.append((f"{where}.quorum", str(judge.quorum), f"1 to {number}, or null for more than half"))
    return found


def unfit_agent(where: str, judge: JudgeSettings, s: Settings) -> list[tuple[str, str, str]]:
    """Find settings that don't fit a judge that opens the reports by tools."""
    if judge.kind is not JudgeKind.remote or judge.harness is not JudgeHarness.agent:
        return []
    key = f"{where}.harness"
    if s.benchmark.protocol is not ProtocolName.mission_report:
        return [(key, "agent, and a brief is no file to open", "single_call")]
    found: list[tuple[str, str, str]] = []
    if not judge.takes_tools:
        remedy = f"{where}.harness=single_call, or {where}.takes_tools=true if it does"
        found.append((key, f"agent, and {judge.label} takes no tools", remedy))
    if judge.mode is not JudgeMode.all_items:
        fit = f"all_items, or {where}.harness=single_call"
        found.append((f"{where}.mode={judge.mode.value}", "an agent decides every criterion at once", fit))
    if s.runner.batch:
        fit = f"false, or {where}.harness=single_call: an agent is a chain of calls"
        found.append(("runner.batch", "true", fit))
    if not s.judge_prompt.agent:
        found.append((f"judge_prompt={s.judge_prompt.version}", "has no text for an agent", "report_v1"))
    return found
