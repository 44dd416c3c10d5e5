"""Inspect's tasks `staffbench/ma_bench` and `staffbench/mission_report`, found by an entry point.

What is slow is imported in the functions: `inspect` loads this module with any task of ours.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

NAME = KEY = "staffbench"
_F = TypeVar("_F", bound=Callable[..., Any])
_REPORTS = ("outputs/report.docx", "report.docx", "/app/outputs/report.docx")
"""Places of the report in a sandbox, in the order in which they are looked at."""
_HERE = (
    "The working directory stands for /app: the files are below attachments/, and the report is saved as "
    "outputs/report.docx."
)


def _ours(decorator: Callable[..., Callable[[_F], _F]], **options: Any) -> Callable[[_F], _F]:
    """Register a function as staffbench/NAME.

    Inspect would put the name of the top-level module before it, which is not the distribution's. It leaves
    a function as it is named whose module is not loaded.
    """

    def register(function: _F) -> _F:
        function.__module__ = NAME
        return decorator(name=f"{NAME}/{function.__name__}", **options)(function)

    return register


@_ours(task)
def ma_bench(benchmark: str = "ma_bench", **arguments: Any) -> Task:
    """One prompt with the whole packet, one brief, graded item by item.

    Args:
        benchmark: an option of conf/benchmark.
        **arguments: of `open_bench`: judge, word_cap, scenarios, effort, prompt, scoring, seeds, overrides,
            project.
    """
    bench = _open(benchmark, **arguments)
    from flows.pipeline.inspect.models import config_of
    from flows.pipeline.work.stages import take_packet
    from flows.schema.call import build_call

    settings = bench.evaluation.settings
    samples: list[Sample] = []
    parameters: dict[str, Any] = {}
    for scenario in bench.evaluation.scenarios:
        packet = take_packet(bench.context, bench.evaluation, scenario)
        system, user = messages = bench.context.messages(scenario, packet, settings.prompt)
        parameters = dict(build_call(settings.model, settings.effort.level, messages, 1).parameters)
        chat: list[ChatMessage] = [
            ChatMessageSystem(content=system.content),
            ChatMessageUser(content=user.content),
        ]
        samples.append(Sample(id=scenario.scenario_id, input=chat, metadata=_about(scenario)))
    parameters.pop("seed", None)  # the solver sends the epoch
    given = {"benchmark": benchmark, **arguments}
    return _task(bench, samples, write_brief(), given, config=config_of(parameters))


@_ours(task)
def mission_report(benchmark: str = "mission_report", deliverable: str = "tools", **arguments: Any) -> Task:
    """A model reads an assignment's files and writes a report as a Word file, judged by weighted criteria.

    Args:
        benchmark: an option of conf/benchmark.
        deliverable: `tools` to write with our tools; `sandbox` for any --solver that leaves report.docx in
            the sandbox, where the task's files are.
        **arguments: as of `ma_bench`.
    """
    bench = _open(benchmark, **arguments)
    from inspect_ai.agent import react
    from inspect_ai.tool import bash

    from flows.pipeline.inputs.scenarios import task_of
    from flows.pipeline.work.stages import take_packet

    if deliverable not in ("tools", "sandbox"):
        _refuse(f"deliverable={deliverable}: expected tools or sandbox")
    samples: list[Sample] = []
    in_sandbox = deliverable == "sandbox"
    for scenario in bench.evaluation.scenarios:
        found = task_of(scenario)
        if in_sandbox and len(found.steps) > 1:
            _refuse(f"{scenario.scenario_id} has {len(found.steps)} steps: only deliverable=tools takes them")
        folder = bench.context.folder(bench.evaluation, scenario)
        take_packet(bench.context, bench.evaluation, scenario)  # for the record of what was read
        files = {each.name: str(folder / each.path) for each in found.attachments}
        text = "\n\n".join(step.instruction.strip() for step in found.steps)
        asked, placed = (f"{text}\n\n{_HERE}", files) if in_sandbox else (text, None)
        samples.append(Sample(id=scenario.scenario_id, input=asked, files=placed, metadata=_about(scenario)))
    given = {"benchmark": benchmark, **arguments}
    writes = react(tools=[bash(timeout=180)]) if in_sandbox else write_report(**given)
    return _task(bench, samples, writes, given, sandbox="local" if in_sandbox else None)


def _task(bench: Any, samples: list[Sample], writes: Any, given: dict[str, Any], **more: Any) -> Task:
    from flows.pipeline.inspect.record import dumped

    settings = bench.evaluation.settings
    return Task(
        dataset=MemoryDataset(samples, name=settings.benchmark.name),
        solver=writes,
        scorer=staffbench_judge(**given),
        epochs=Epochs(settings.seeds, "mean"),
        metadata={KEY: {"conditions": [dumped(bench.record)]}},
        version=bench.evaluation.condition.digest[:8],
        **more,
    )


def _open(benchmark: str, **arguments: Any) -> Any:
    from flows.pipeline.inspect.bench import open_bench

    return open_bench(benchmark, **arguments)


def _refuse(why: str) -> None:
    from inspect_ai._util.error import PrerequisiteError

    raise PrerequisiteError(why)


def _about(scenario: Any) -> dict[str, Any]:
    return {"scenario": scenario.scenario_id, "title": scenario.title, "licence": scenario.licence}


@_ours(solver)
def write_brief() -> Solver:
    """Ask for one brief; the epoch is the seed."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return await generate(state, seed=state.epoch)

    return solve


@_ours(solver)
def write_report(benchmark: str = "mission_report", **arguments: Any) -> Solver:
    """Write a report with our tools, by the loop of a run; the arguments are the task's."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 -- the loop asks itself
        from flows.pipeline.inspect.record import dumped
        from flows.pipeline.work.report_writers import native_attempt

        bench = _open(benchmark, **arguments)
        context, client = bench.with_client(raises=True)
        scenario = bench.scenario(state.sample_id)
        submitted, trajectory = await native_attempt(context, bench.evaluation, scenario, state.epoch)
        state.messages = client.messages or state.messages
        state.output = client.output or state.output
        calls = [dumped(call) for call in client.replies]
        state.store.set(KEY, {"submitted": dumped(submitted), "trajectory": trajectory, "calls": calls})
        return state

    return solve


@_ours(metric, scores="unreduced")
def shares() -> Metric:
    """Shares of items passed, overall and by tier, step and severity; of briefs with a score."""

    def compute(scores: list[SampleScore]) -> Value:
        from flows.pipeline.inspect.grading import shares_of

        return shares_of([each.score.metadata or {} for each in scores])

    return compute


@_ours(scorer, metrics=[mean(), stderr(cluster="scenario"), shares()])
def staffbench_judge(benchmark: str = "ma_bench", **arguments: Any) -> Scorer:
    """Cut the brief, have it judged item by item, and score it; the arguments are the task's."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- Inspect's signature
        from flows.pipeline.inspect.grading import grade
        from flows.pipeline.inspect.models import completion_of
        from flows.pipeline.inspect.record import loaded
        from flows.schema.brief import BriefStatus
        from flows.schema.completion import Completion
        from flows.schema.report_task import Submitted
        from flows.stages.generate import read_written

        bench = _open(benchmark, **arguments)
        scenario = bench.scenario(state.sample_id)
        if scenario.task is None:
            completion = completion_of(state.output, f"inspect {state.uuid}")
            return await grade(bench, scenario, read_written(completion, state.epoch), [completion])
        if (stored := state.store.get(KEY)) is not None:
            calls = [loaded(Completion, call) for call in stored["calls"]]
            submitted = loaded(Submitted, stored["submitted"])
            return await grade(bench, scenario, submitted, calls, stored["trajectory"])
        data = await _left_in_sandbox()
        if data is None:
            why = "no report.docx in the sandbox"
            return await grade(bench, scenario, Submitted(state.epoch, BriefStatus.missing, None, detail=why))
        report = bench.context.reports.put(data)
        return await grade(bench, scenario, Submitted(state.epoch, BriefStatus.written, report))

    return score


async def _left_in_sandbox() -> bytes | None:
    for path in _REPORTS:
        try:
            return await sandbox().read_file(path, text=False)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            continue
    return None
