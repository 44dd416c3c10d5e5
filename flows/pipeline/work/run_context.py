"""A run's evaluations, their shared state, and the interface of a protocol."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, TypeVar

from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.objects import ObjectStore
from flows.adapters.reports import ReportStore
from flows.common.errors import Stopped
from flows.pipeline.native.renders import Renders
from flows.pipeline.orchestration.work import StageResult, Work
from flows.schema.brief import Brief
from flows.schema.completion import Message
from flows.schema.condition import Condition, Judge, judge_fields
from flows.schema.document import Packet
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import Scenario
from flows.schema.settings import BenchmarkSettings, JudgeSettings, PromptSettings, ProtocolName, Settings
from flows.stages.generate import build_messages

P = ParamSpec("P")
T = TypeVar("T")

Files = Callable[[Brief], Awaitable[bytes | None]]
"""Returns the file of a brief; None if it is text."""


@dataclass(frozen=True)
class Submission:
    """Data of one attempt besides its brief."""

    facts: ReportFacts
    trajectory: Sequence[Mapping[str, Any]]  # turns, tool calls and answers, in order; empty without a model


class BenchmarkKind(ABC):
    """The parts of a run that depend on the benchmark's protocol."""

    name: ClassVar[ProtocolName]
    brief: ClassVar[str]  # what messages call a submission
    suffixes: ClassVar[tuple[str, ...]]  # endings of the files that are submissions
    has_tasks: ClassVar[bool]  # scenarios are tasks, which have a table of their own
    shows_pages: ClassVar[bool]  # judges that take images are shown a brief's pages

    @abstractmethod
    def scenario_ids(
        self, project: Path, benchmark: BenchmarkSettings, wanted: Sequence[str] | None
    ) -> list[str]:
        """List the ids of the benchmark's scenarios, or the `wanted` ones, sorted.

        Raises:
            ConfigError: the folder or a wanted scenario does not exist.
            ScenarioError: the folder holds no scenario.
        """

    @abstractmethod
    def load(self, project: Path, benchmark: BenchmarkSettings, name: str) -> Scenario:
        """Load one scenario.

        Raises:
            StaffbenchError: lists every error found in it.
        """

    @abstractmethod
    def write(self, context: RunContext, evaluation: Evaluation, scenario: Scenario, packet: Packet) -> Work:
        """The generate stage: a submission for each seed."""

    @abstractmethod
    def read(
        self, context: RunContext, evaluation: Evaluation, scenario: Scenario, wrote: StageResult
    ) -> Work:
        """The truncate stage: the submissions as they are graded."""

    @abstractmethod
    def briefs(self, read: Sequence[Any]) -> list[Brief]:
        """Decode the briefs from the value of `read`."""

    def submissions(self, wrote: Sequence[Any], read: Sequence[Any]) -> list[Submission]:  # noqa: ARG002
        """Decode the data besides the briefs; empty if briefs are text."""
        return []

    def files(self, context: RunContext) -> Files:  # noqa: ARG002
        """Return a function that gives a brief's file."""
        return _no_file

    @abstractmethod
    def unjudged_reason(self, brief: Brief, judge: JudgeSettings) -> str | None:
        """Reason why a brief fails every requirement without being judged; None if it is judged."""

    def rule_inputs(self, judge: JudgeSettings) -> dict[str, Any]:  # noqa: ARG002
        """Return the inputs of `unjudged_reason` besides the brief, for the key of the judge stage."""
        return {}


async def _no_file(_: Brief) -> bytes | None:
    return None


@dataclass(frozen=True)
class Evaluation:
    """One condition under one judge, on its scenarios."""

    settings: Settings
    condition: Condition
    judge: Judge
    scenarios: tuple[Scenario, ...]  # sorted by id
    self_judged: bool  # the judge or a panel member is the writer
    kind: BenchmarkKind
    voters: tuple[Evaluation, ...] = ()  # the condition under each panel member; empty for other judges
    changed: frozenset[str] = frozenset()  # sections and keys unlike their named options, as in `Point`

    @cached_property
    def judge_fields(self) -> dict[str, Any]:
        """The settings of the judge that can change a verdict."""
        return judge_fields(self.settings.judge, self.settings.judge_prompt)

    @property
    def name(self) -> str:
        """Display name."""
        return f"{self.condition.label} · {self.judge.label}"


@dataclass
class RunContext:
    """The evaluations of one run and the state they share."""

    project: Path
    results: Path  # folder of all output
    evaluations: Sequence[Evaluation]
    client: ThreadedClient | None  # None if every model and judge is local
    objects: ObjectStore  # values of stages
    reports: ReportStore  # unused if briefs are text
    renders: Renders  # page counts and images
    packets: dict[Path, Packet] = field(default_factory=dict[Path, Packet])  # by scenario folder
    stopping: bool = False  # True once the run was asked to stop
    _messages: dict[tuple[str, PromptSettings], tuple[Message, ...]] = field(
        default_factory=dict[tuple[str, PromptSettings], tuple[Message, ...]]
    )

    def messages(self, scenario: Scenario, packet: Packet, prompt: PromptSettings) -> tuple[Message, ...]:
        """Render the prompt of a scenario, once for all models and seeds."""
        key = (packet.digest, prompt)
        if key not in self._messages:
            self._messages[key] = build_messages(scenario.assignment, packet, prompt)
        return self._messages[key]

    def check_stopping(self) -> None:
        """Raise `Stopped` if the run is to stop."""
        if self.stopping:
            raise Stopped("run", "stopped before everything was done", remedy="the same command resumes")

    async def in_turn(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run blocking work in a thread of the pool, unless the run is stopped before its turn comes.

        Raises:
            Stopped: the run is to stop.
        """

        def begin() -> T:
            self.check_stopping()
            return work(*args, **kwargs)

        return await asyncio.to_thread(begin)

    def stop(self) -> None:
        """Start no more calls and no more reading and grading; calls in flight finish and are stored."""
        self.stopping = self.renders.stopping = True
        if self.client is not None:
            self.client.stop()

    def folder(self, evaluation: Evaluation, scenario: Scenario) -> Path:
        """Return the scenario's folder."""
        return self.project / evaluation.settings.benchmark.data / scenario.scenario_id
