"""The MA-Bench protocol: a brief is text, written in one reply and cut at the word cap."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flows.adapters.scenario_files import load_scenario, scenario_ids
from flows.common.gather import gather_then_raise
from flows.pipeline.inputs.brief_table import BRIEF_SUFFIXES
from flows.pipeline.orchestration.work import StageResult, Work
from flows.pipeline.work.run_context import BenchmarkKind, Evaluation, RunContext
from flows.pipeline.work.stages import should_retry
from flows.pipeline.work.writers import local_inputs, write_local
from flows.schema.brief import Brief
from flows.schema.call import build_call
from flows.schema.document import Packet
from flows.schema.rows import as_row, from_rows
from flows.schema.scenario import MA_BENCH, Scenario
from flows.schema.settings import BenchmarkSettings, JudgeKind, JudgeSettings, ProtocolName, Writer
from flows.stages.generate import GENERATE_VERSION, Written, read_written
from flows.stages.judge import shield
from flows.stages.truncate import WORD_COUNTER, has_words, truncate, without_text

_NO_WORD_VERSION = "1"  # of the rule for briefs without a word, which are graded without a judge


class Briefs(BenchmarkKind):
    """Scenario folders, one prompt, briefs as text."""

    name = ProtocolName.ma_bench
    brief = "brief"
    suffixes = BRIEF_SUFFIXES
    has_tasks = False
    shows_pages = False

    def scenario_ids(
        self, project: Path, benchmark: BenchmarkSettings, wanted: Sequence[str] | None
    ) -> list[str]:
        """Implement the interface."""
        return scenario_ids(project / benchmark.data, wanted)

    def load(self, project: Path, benchmark: BenchmarkSettings, name: str) -> Scenario:
        """Implement the interface."""
        return load_scenario(project / benchmark.data / name, benchmark.dimensions or MA_BENCH)

    def write(self, context: RunContext, evaluation: Evaluation, scenario: Scenario, packet: Packet) -> Work:
        """Write a brief for each seed, as `Written` rows."""
        settings, project = evaluation.settings, context.project
        seeds = range(1, settings.seeds + 1)
        if settings.model.writer is Writer.remote:
            messages = context.messages(scenario, packet, settings.prompt)
            level = settings.effort.level
            requests = [build_call(settings.model, level, messages, seed) for seed in seeds]
            asked = {"effort": level.value, "seed_sent": settings.model.send_seed}

            async def make() -> list[dict[str, Any]]:
                assert context.client is not None
                calls = [context.client.complete(request, settings.model, asked) for request in requests]
                outcomes = await gather_then_raise(calls)
                pairs = zip(outcomes, seeds, strict=True)
                return [as_row(read_written(outcome.completion, seed)) for outcome, seed in pairs]

            inputs: dict[str, Any] = {"requests": [request.key for request in requests]}
        else:
            inputs = {
                "scenario": scenario.scenario_id,
                **local_inputs(project, settings, scenario, packet),
            }

            async def make() -> list[dict[str, Any]]:
                return [
                    as_row(await context.in_turn(write_local, project, settings, scenario, packet, seed))
                    for seed in seeds
                ]

        return Work(
            "generate",
            {"version": GENERATE_VERSION, **inputs},
            make,
            lambda rows: not should_retry(settings.retry, [row["status"] for row in rows]),
        )

    def read(
        self,
        context: RunContext,  # noqa: ARG002 -- interface
        evaluation: Evaluation,
        scenario: Scenario,
        wrote: StageResult,
    ) -> Work:
        """Cut the briefs at the word cap."""
        name, cap = scenario.scenario_id, evaluation.settings.word_cap.words

        def cut(row: Written) -> Brief:
            if row.text is None:
                return without_text(name, row.seed, row.status, row.detail, completion=row.completion)
            return truncate(
                name,
                row.seed,
                row.text,
                cap,
                completion=row.completion,
                cut_by_provider=row.cut_by_provider,
                detail=row.detail,
            )

        async def make() -> list[dict[str, Any]]:
            return [as_row(cut(row)) for row in from_rows(Written, wrote.value)]

        inputs = {
            "scenario": name,
            "word_counter": WORD_COUNTER,
            "cap": cap,
            "written": wrote.address,
        }
        return Work("truncate", inputs, make)

    def briefs(self, read: Sequence[Any]) -> list[Brief]:
        """Implement the interface."""
        return from_rows(Brief, read)

    def unjudged_reason(self, brief: Brief, judge: JudgeSettings) -> str | None:
        """Return a reason for a brief without a word, in which no wrong move can be found either."""
        # The offline judge's rules give the same verdicts.
        if judge.kind is JudgeKind.offline or brief.text is None or has_words(shield(brief.text)[0]):
            return None
        if brief.cut_by_provider:
            return "empty brief: it was stopped at the output limit before a word was written"
        return "empty brief: it has no word"

    def rule_inputs(self, judge: JudgeSettings) -> dict[str, Any]:
        """Implement the interface."""
        return {} if judge.kind is JudgeKind.offline else {"no_word": [_NO_WORD_VERSION, WORD_COUNTER]}
