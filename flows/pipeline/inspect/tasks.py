"""The tasks that Inspect finds by this package's entry point: `staffbench/ma_bench`, `staffbench/mission_report`.

What is slow is imported in the functions: `inspect` loads this module with any task of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, mean, metric, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import sandbox

NAME = "staffbench"
_F = TypeVar("_F", bound=Callable[..., Any])
_REPORTS = ("outputs/report.docx", "report.docx", "/app/outputs/report.docx")
"""Places of the report in a sandbox, in the order in which they are looked at."""
_HERE = (
    "The working directory stands for /app: the files are below attachments/, and the report is saved as "
    "outputs/report.docx."
)


def _ours(decorator: Callable[..., Callable[[_F], _F]], **options: Any) -> Callable[[_F], _F]:
    """Register a function as staffbench/NAME.

    Inspect would take the name of the top-level module, which is not that of the distribution, and only where
    it is not installed for editing. A function of a module that is not loaded keeps the name that it is given.
    """

    def register(function: _F) -> _F:
        name = function.__name__
        function.__module__ = NAME
        return decorator(name=f"{NAME}/{name}", **options)(function)

    return register


@_ours(task)
def ma_bench(
    judge: str = "role",
    word_cap: str | int | None = None,
    scenarios: str | list[str] | None = None,
    effort: str | None = None,
    prompt: str | None = None,
    scoring: str | None = None,
    benchmark: str = "ma_bench",
    overrides: str | list[str] = "",
    project: str | None = None,
) -> Task:
    """One prompt with the whole packet, one brief, graded item by item.

    Args:
        judge: `role` (the model of --model-role judge=...), a model, `offline`, or an option of conf/judge.
        word_cap: words that are graded, or `none`.
        scenarios: ids; all if not given.
        effort, prompt, scoring, benchmark: options of conf/.
        overrides: any other settings, such as judge.repeat=3.
        project: folder with conf/ and data/; the current one or one above it if not given.
    """
    given = dict(locals())
    bench = _open(**given)
    from flows.pipeline.inspect.models import chat_of, config_of
    from flows.pipeline.work.stages import take_packet
    from flows.stages.generate import build_request

    settings = bench.evaluation.settings
    samples: list[Sample] = []
    parameters: dict[str, Any] = {}
    for scenario in bench.evaluation.scenarios:
        packet = take_packet(bench.context, bench.evaluation, scenario)
        messages = bench.context.messages(scenario, packet, settings.prompt)
        request = build_request(messages, settings.model, settings.effort.level, 1)
        parameters = {name: value for name, value in request.parameters.items() if name != "seed"}
        samples.append(Sample(id=scenario.scenario_id, input=chat_of(messages), metadata=_about(scenario)))
    return _task(bench, samples, write_brief(), given, config=config_of(parameters))


@_ours(task)
def mission_report(
    judge: str = "role",
    scenarios: str | list[str] | None = None,
    deliverable: str = "tools",
    effort: str | None = None,
    scoring: str | None = None,
    benchmark: str = "mission_report",
    overrides: str | list[str] = "",
    project: str | None = None,
) -> Task:
    """A model reads an assignment's files and writes a report as a Word file, judged by weighted criteria.

    Args:
        judge, scenarios, effort, scoring, benchmark, overrides, project: as of `ma_bench`.
        deliverable: `tools` to write with our tools; `sandbox` for any --solver that leaves report.docx in
            the sandbox, where the task's files are.
    """
    given = {key: value for key, value in locals().items() if key != "deliverable"}
    bench = _open(**given)
    from flows.pipeline.inputs.scenarios import task_of

    samples: list[Sample] = []
    in_sandbox = deliverable == "sandbox"
    for scenario in bench.evaluation.scenarios:
        found = task_of(scenario)
        folder = bench.context.folder(bench.evaluation, scenario)
        if in_sandbox and len(found.steps) > 1:
            _refuse(f"{scenario.scenario_id} has {len(found.steps)} steps: only deliverable=tools takes them")
        files = {each.name: str(folder / each.path) for each in found.attachments}
        text = "\n\n".join(step.instruction.strip() for step in found.steps)
        samples.append(
            Sample(
                id=scenario.scenario_id,
                input=f"{text}\n\n{_HERE}" if in_sandbox else text,
                files=files if in_sandbox else None,
                metadata=_about(scenario),
            )
        )
    if deliverable not in ("tools", "sandbox"):
        _refuse(f"deliverable={deliverable}: expected tools or sandbox")
    from inspect_ai.agent import react
    from inspect_ai.tool import bash

    solving = react(tools=[bash(timeout=180)]) if in_sandbox else write_report(**given)
    return _task(bench, samples, solving, given, sandbox="local" if in_sandbox else None)


def _task(bench: Any, samples: list[Sample], solving: Any, given: dict[str, Any], **more: Any) -> Task:
    from flows.pipeline.inspect.record import KEY, dumped

    settings = bench.evaluation.settings
    return Task(
        dataset=MemoryDataset(samples, name=settings.benchmark.name),
        solver=solving,
        scorer=staffbench_judge(**given),
        epochs=Epochs(settings.seeds, "mean"),
        metadata={KEY: {"conditions": [dumped(bench.record)]}},
        version=bench.evaluation.condition.digest[:8],
        **more,
    )


def _open(benchmark: str, **given: Any) -> Any:
    from flows.pipeline.inspect.bench import open_bench

    return open_bench(benchmark, **given)


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
def write_report(**given: Any) -> Solver:
    """Write a report with our tools, by the loop of a run; `given` are arguments of the task."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 -- the loop asks itself
        from flows.pipeline.work.attempts import native_attempt
        from flows.pipeline.inspect.record import KEY, dumped
        from flows.schema.rows import as_row

        bench = _open(**{"benchmark": "mission_report", **given})
        context, client = bench.writing()
        scenario = bench.scenario(state.sample_id)
        submitted, trajectory = await native_attempt(context, bench.evaluation, scenario, state.epoch)
        state.messages = client.messages or state.messages
        state.output = client.output or state.output
        calls = [dumped(call) for call in client.replies]
        state.store.set(KEY, {"submitted": as_row(submitted), "trajectory": trajectory, "calls": calls})
        return state

    return solve


@_ours(metric, scores="unreduced")
def shares() -> Metric:
    """Shares of items passed: overall, by tier, step and severity; pooled over briefs with a score."""

    def compute(scores: list[SampleScore]) -> Value:
        from flows.pipeline.inspect.grading import shares_of

        return shares_of([each.score.metadata or {} for each in scores])

    return compute


@_ours(scorer, metrics=[mean(), stderr(cluster="scenario"), shares()])
def staffbench_judge(benchmark: str = "ma_bench", **given: Any) -> Scorer:
    """Cut the brief, have it judged item by item, and score it; arguments as of the tasks."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 -- Inspect's signature
        from flows.pipeline.inspect.grading import grade
        from flows.pipeline.inspect.models import completion_of
        from flows.pipeline.inspect.record import KEY, loaded
        from flows.schema.brief import BriefStatus
        from flows.schema.completion import Completion
        from flows.schema.report_task import Submitted
        from flows.stages.generate import read_written

        bench = _open(benchmark, **given)
        scenario = bench.scenario(state.sample_id)
        if scenario.task is None:
            completion = completion_of(state.output, f"inspect {state.uuid}")
            return await grade(bench, scenario, read_written(completion, state.epoch), calls=[completion])
        stored: dict[str, Any] | None = state.store.get(KEY)
        if stored is not None:
            calls = [loaded(Completion, call) for call in stored["calls"]]
            submitted = loaded(Submitted, stored["submitted"])
            return await grade(bench, scenario, submitted, calls=calls, trajectory=stored["trajectory"])
        data = await _left_in_sandbox()
        if data is None:
            submitted = Submitted(
                state.epoch, BriefStatus.missing, None, detail="no report.docx in the sandbox"
            )
        else:
            submitted = Submitted(state.epoch, BriefStatus.written, bench.context.reports.put(data))
        return await grade(bench, scenario, submitted)

    return score


async def _left_in_sandbox() -> bytes | None:
    for path in _REPORTS:
        try:
            return await sandbox().read_file(path, text=False)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            continue
    return None


__all__: Sequence[str] = [
    "ma_bench",
    "mission_report",
    "shares",
    "staffbench_judge",
    "write_brief",
    "write_report",
]
