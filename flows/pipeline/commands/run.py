"""`staffbench run` and `grade`, and `import`, which grades what it has read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flows.adapters.screen import Screen
from flows.pipeline.inspect import require_inspect


def run(
    project: Path,
    overrides: Sequence[str],
    screen: Screen,
    *,
    multirun: bool = False,
    watch: bool = False,
    target: str | None = None,
    scenario: str | None = None,
    **shown: Any,
) -> int:
    """Compose the conditions, and run them or show what was composed."""

    def prepared() -> list[str]:
        if target is None:
            return list(overrides)
        # It may import Prefect, which reads the server's address when it is imported.
        from flows.pipeline.commands.grade import overrides_for

        return overrides_for(project, Path(target), scenario, overrides)

    if any(value for name, value in shown.items() if name != "parser"):
        from flows.adapters.config.show import show_configuration

        show_configuration(project, prepared(), multirun=multirun, **shown)
        return 0
    from flows.pipeline.orchestration.server import Server, configure, home

    configure(project, project / "results")
    # One brief is graded without Prefect.
    is_brief = target is not None and Path(target).suffix.lower() not in (".csv", ".jsonl")
    is_single = is_brief and Path(str(target)).is_file() and not multirun
    server = None if is_single else Server(home() / "server.log")
    if server is not None:
        server.start()  # while the rest is imported
    try:
        from flows.adapters.config.compose import compose_points
        from flows.pipeline.commands.own.stages import first_sweep, stale_stages
        from flows.pipeline.evaluate.run import run_points
        from flows.pipeline.orchestration.cached_tasks import TaskRuns

        TaskRuns.enabled = not is_single
        asked = prepared()
        first = [] if target is not None or multirun else first_sweep(project, asked)
        if first:
            screen.say(f"No model is named and nothing is graded yet: run as with -m {first[0]}")
            asked, multirun = [*asked, *first], True
        points = compose_points(project, asked, multirun=multirun)
        for benchmark in {one.settings.benchmark.name: one.settings.benchmark for one in points}.values():
            if stale := stale_stages(project, benchmark):
                screen.say(stale)
        return run_points(project, points, server=server, screen=screen, watch=watch, asked=(asked, multirun))
    finally:
        if server is not None:
            server.stop()


def import_logs(
    project: Path,
    overrides: Sequence[str],
    screen: Screen,
    *,
    logs: Path,
    pairs: Sequence[str],
    key: str | None,
) -> int:
    """Take in logs of Inspect, and grade the briefs of those that have no verdicts of ours."""
    require_inspect()
    from flows.pipeline.inspect import imports

    mapped = imports.Mapped(dict(pair.rsplit("=", 1) for pair in pairs if "=" in pair), key)
    code = 0
    for table, model in imports.import_logs(project, overrides, logs, mapped, screen):
        label = model.replace("\\", "\\\\").replace("'", "\\'")
        named = [f"model.label='{label}'", *overrides]
        code = max(code, run(project, named, screen, target=str(table)))
    return code
