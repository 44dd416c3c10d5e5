"""What one run works on: its evaluations, what they share, and what a protocol does its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from flows.adapters.completions.threaded_client import ThreadedClient
from flows.adapters.objects import ObjectStore
from flows.adapters.reports import ReportStore
from flows.pipeline.native.renders import Renders
from flows.pipeline.orchestration.cached_tasks import StageResult, Work
from flows.schema.brief import Brief
from flows.schema.completion import Image, Message
from flows.schema.condition import Condition, Judge
from flows.schema.document import Packet
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import Scenario
from flows.schema.settings import BenchmarkSettings, JudgeSettings, PromptSettings, ProtocolName, Settings
from flows.stages.generate import build_messages

Pages = Callable[[Brief], Awaitable[Sequence[Image]]]
"""Gives the pictures of a brief's pages, in order; none where nothing was rendered."""


@dataclass(frozen=True)
class Submission:
    """What is kept of one attempt beside its brief.

    Attributes:
        facts: of the file.
        trajectory: what the model said, called and was answered, in order; empty where none was asked.
    """

    facts: ReportFacts
    trajectory: Sequence[Mapping[str, Any]]


class BenchmarkKind(ABC):
    """What one protocol does its own way; everything else is common to all.

    Attributes:
        name: value of `benchmark.protocol`.
        brief: what a system hands in, as messages call it.
        has_tasks: True where scenarios are tasks, which have a table of their own.
        shows_pages: True where judges that take images are shown a brief's pages.
    """

    name: ClassVar[ProtocolName]
    brief: ClassVar[str]
    has_tasks: ClassVar[bool]
    shows_pages: ClassVar[bool]

    @abstractmethod
    def scenario_ids(
        self, project: Path, benchmark: BenchmarkSettings, wanted: Sequence[str] | None
    ) -> list[str]:
        """Ids of the benchmark's scenarios, sorted; only the wanted ones if any.

        Raises:
            ConfigError: the folder or a wanted scenario is not there.
            ScenarioError: the folder holds none.
        """

    @abstractmethod
    def load(self, project: Path, benchmark: BenchmarkSettings, name: str) -> Scenario:
        """One scenario, whole.

        Raises:
            StaffbenchError: every fault found in it.
        """

    @abstractmethod
    def write(self, context: RunContext, evaluation: Evaluation, scenario: Scenario, packet: Packet) -> Work:
        """The generate stage: what a system hands in for each seed."""

    @abstractmethod
    def read(
        self, context: RunContext, evaluation: Evaluation, scenario: Scenario, wrote: StageResult
    ) -> Work:
        """The truncate stage: what was handed in as it is graded."""

    @abstractmethod
    def briefs(self, read: Sequence[Any]) -> list[Brief]:
        """The briefs among what `read` made."""

    @abstractmethod
    def submissions(self, wrote: Sequence[Any], read: Sequence[Any]) -> list[Submission]:
        """What is kept beside the briefs; empty where they are text alone."""

    @abstractmethod
    def pages(self, context: RunContext) -> Pages:
        """Gives the pictures of a brief's pages."""

    @abstractmethod
    def graded_unasked(self, brief: Brief, judge: JudgeSettings) -> str | None:
        """Why no judge is asked about a brief, on which no requirement is met; None where one is."""

    @abstractmethod
    def rule_inputs(self, judge: JudgeSettings) -> dict[str, Any]:
        """What verdicts rest on through `graded_unasked`, for the key of the judge stage."""


@dataclass(frozen=True)
class Evaluation:
    """One condition under one judge, on its scenarios.

    Attributes:
        settings: the point.
        condition, judge: its names.
        scenarios: in the order of their ids.
        self_judged: True where the judge, or a member of the panel, is the writer.
        kind: what the benchmark's protocol does its own way.
        voters: the same condition under each member of a panel; empty for any other judge.
    """

    settings: Settings
    condition: Condition
    judge: Judge
    scenarios: tuple[Scenario, ...]
    self_judged: bool
    kind: BenchmarkKind
    voters: tuple[Evaluation, ...] = ()

    @property
    def name(self) -> str:
        """As shown on screens."""
        return f"{self.condition.label} · {self.judge.label}"


@dataclass
class RunContext:
    """The evaluations of one run and what they share.

    Attributes:
        project: folder of the project.
        results: folder that everything is written to.
        evaluations: in the order given.
        client: pays for completions; None where every model and judge is local.
        objects: what the stages made.
        reports: files of reports; nothing lies there where briefs are text alone.
        renders: their pages.
        packets: by scenario folder; filled in by the packet stage.
    """

    project: Path
    results: Path
    evaluations: Sequence[Evaluation]
    client: ThreadedClient | None
    objects: ObjectStore
    reports: ReportStore
    renders: Renders
    packets: dict[Path, Packet] = field(default_factory=dict[Path, Packet])
    stopping: bool = False
    _messages: dict[tuple[str, PromptSettings], tuple[Message, ...]] = field(
        default_factory=dict[tuple[str, PromptSettings], tuple[Message, ...]]
    )

    def messages(self, scenario: Scenario, packet: Packet, prompt: PromptSettings) -> tuple[Message, ...]:
        """The prompt of a scenario: rendered once, since every model and seed is sent the same one."""
        key = (packet.digest, prompt)
        if key not in self._messages:
            self._messages[key] = build_messages(scenario.assignment, packet, prompt)
        return self._messages[key]

    def stop(self) -> None:
        """Send nothing more; what is under way ends and is stored."""
        self.stopping = True
        if self.client is not None:
            self.client.stop()

    def folder(self, evaluation: Evaluation, scenario: Scenario) -> Path:
        """The scenario's folder."""
        return self.project / evaluation.settings.benchmark.data / scenario.scenario_id
