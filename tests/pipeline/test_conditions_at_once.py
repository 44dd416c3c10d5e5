"""A sweep holds a bounded number of conditions in memory, also where every stage is stored."""

import asyncio

import pytest

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.pipeline.evaluate import flow
from flows.pipeline.evaluate.chain import conditions_at_once
from flows.pipeline.evaluate.flow import run_points
from tests.support.bench import Project
from tests.support.plain_flow import without_prefect

MOST = 6  # four chains at once, of two scenarios each, three times
CAPS = ",".join(map(str, range(101, 117)))
SWEEP = ("model=empty", f"word_cap={CAPS}", "runner.concurrency=1", "seeds=1", "tracking=none")


@pytest.fixture
def bench(tmp_path, project, monkeypatch):
    without_prefect(monkeypatch)
    return Project(tmp_path, project / "conf", {})


def test_a_condition_is_written_before_many_others_have_begun(bench, monkeypatch):
    begun, written, most = set(), set(), []
    run_chain, write_results = flow.run_chain, flow.write_results

    async def begin(context, evaluation, scenario, on_step):
        assert conditions_at_once(context.evaluations) == MOST
        begun.add(evaluation.name)
        most.append(len(begun - written))
        return await run_chain(context, evaluation, scenario, on_step)

    def write(results, evaluation, *rest):
        written.add(evaluation.name)
        return write_results(results, evaluation, *rest)

    async def show(*_):
        for _ in range(100):  # as a task run of Prefect, which lets others go on meanwhile
            await asyncio.sleep(0)

    monkeypatch.setattr(flow, "show_skipped", show)
    monkeypatch.setattr(flow, "run_chain", begin)
    monkeypatch.setattr(flow, "write_results", write)
    for _ in range(2):  # the second time every stage is stored
        begun.clear()
        written.clear()
        points = compose_points(bench.folder, SWEEP, multirun=True)
        assert run_points(bench.folder, points, server=None, screen=Screen()) == 0
        assert len(written) == len(CAPS.split(","))
    assert 1 < max(most) <= MOST
