"""`staffbench packets`: build the packets of a benchmark, and show what a writer reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, NotOfBenchmark, Problems, StaffbenchError
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.work.evaluations import kind_of
from flows.schema.document import Packet
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings
from flows.stages.packet import placed_text


def packets(
    project: Path, overrides: Sequence[str], show: str | None, screen: Screen, *, places: bool = False
) -> int:
    """Build the packet of every scenario; report all unreadable documents together.

    Args:
        project: folder of the project.
        overrides: Hydra overrides, such as the benchmark.
        show: a scenario whose packet is printed; None for a table of all.
        screen: output.
        places: True to print the place of each block in a margin.
    """
    if places and show is None:
        raise ConfigError("--places", "no packet to show", "--show SCENARIO")
    settings = compose_points(project, overrides, multirun=False)[0].settings
    built, problems = load_packets(project, settings, screen)
    rows = [("scenario", "documents", "blocks", "characters", "notices")]
    for _, packet in built:
        blocks = sum(len(document.blocks) for document in packet.documents)
        notices = sum(len(document.notices) for document in packet.documents)
        count = str(len(packet.documents))
        rows.append((packet.scenario_id, count, f"{blocks:,}", f"{len(packet.text):,}", str(notices)))
    if show is not None:
        texts = {packet.scenario_id: placed_text(packet) if places else packet.text for _, packet in built}
        if show not in texts:
            raise ConfigError("--show", f"no packet of {show!r}", "one of " + ", ".join(texts))
        screen.note(texts[show])
        return fail(problems, screen)
    screen.table(f"{settings.benchmark.name}: packets", rows)
    for _, packet in built:
        for document in packet.documents:
            for notice in document.notices:
                screen.note(
                    f"{packet.scenario_id}/{document.name}, {notice.place}: {notice.kind}: {notice.detail}"
                )
    return fail(problems, screen)


def load_packets(
    project: Path, settings: Settings, screen: Screen
) -> tuple[list[tuple[Scenario, Packet]], list[StaffbenchError]]:
    """Load every scenario with its packet; return them with all errors."""
    data, kind = project / settings.benchmark.data, kind_of(settings.benchmark)
    built: list[tuple[Scenario, Packet]] = []
    problems: list[StaffbenchError] = []
    for scenario_id in kind.scenario_ids(project, settings.benchmark, settings.benchmark.scenarios):
        try:
            scenario = kind.load(project, settings.benchmark, scenario_id)
            path = packet_path(data, settings.benchmark.name, scenario_id)
            built.append((scenario, load_packet(data / scenario_id, scenario, path, screen.say)))
        except StaffbenchError as error:
            problems.append(error)
    return built, problems


def fail(problems: Sequence[StaffbenchError], screen: Screen) -> int:
    """Show problems; return 1 for faults, and 0 if there are only results to leave out."""
    faults: list[StaffbenchError] = []
    for problem in problems:
        if isinstance(problem, NotOfBenchmark):
            screen.note(f"Left out: {problem}")
        else:
            faults.append(problem)
    if not faults:
        return 0
    screen.fault(str(Problems.of("staffbench", faults)))
    return 1
