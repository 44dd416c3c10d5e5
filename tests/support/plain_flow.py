"""`staffbench run` within the test's process and without Prefect: the same stages, files and screen.

Prefect gives a run its states and skips what is done; a fault matrix asks for neither, and one run of
it takes as long as fifty of these.
"""

import asyncio
from pathlib import Path
from types import SimpleNamespace

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.pipeline.evaluate import flow as flow_module
from flows.pipeline.evaluate import reporting
from flows.pipeline.evaluate.flow import run_points
from flows.pipeline.orchestration.cached_tasks import TaskRuns
from flows.pipeline.orchestration.work import StageResult


def without_prefect(monkeypatch) -> None:
    """Let each stage run where it stands."""
    original = flow_module.evaluate

    async def run_cached(objects, name, work, names=()):
        value = await work.make()
        return StageResult(value, objects.put(work.stage, work.key, value), skipped=False)

    async def evaluate(overrides, sweep, *, return_state):
        assert return_state
        await original.fn(overrides, sweep)
        return SimpleNamespace(aresult=_nothing)

    async def no_artifact(*_, **__):
        await asyncio.sleep(0)

    monkeypatch.setattr(flow_module, "run_cached", run_cached)
    monkeypatch.setattr(flow_module, "evaluate", evaluate)
    monkeypatch.setattr(TaskRuns, "enabled", True)  # a brief that was graded alone leaves it off
    monkeypatch.setattr(reporting, "acreate_markdown_artifact", no_artifact)
    monkeypatch.setattr(reporting, "acreate_link_artifact", no_artifact)


async def _nothing(*, raise_on_failure):
    assert not raise_on_failure


def run_here(folder: Path, *overrides: str) -> int:
    """The exit code of `staffbench run OVERRIDES` in a project's folder; it prints as usual."""
    points = compose_points(folder, ["tracking=none", *overrides], multirun=False)
    return run_points(folder, points, server=None, screen=Screen())
