"""`staffbench packets` and `validate`: documents to packets; scenarios and the options of `conf/`."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.config.described import options
from flows.adapters.config.every_option import check_options, options_digest
from flows.adapters.scenario_files import check_scenario
from flows.adapters.screen import Progress, Screen
from flows.common.errors import ConfigError, StaffbenchError, StoreError
from flows.common.files import write_whole
from flows.pipeline.commands.own.stages import stale_stages
from flows.pipeline.commands.own.unwritten import unwritten_notes
from flows.pipeline.commands.own.watch import watch_files
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.inputs.task_validation import validate_tasks
from flows.pipeline.work.evaluations import kind_of, no_items
from flows.schema.document import Packet
from flows.schema.scenario import MA_BENCH, Scenario, classes
from flows.schema.settings import Settings
from flows.stages.packet import MARGIN, missing_evidence, placed_text
from flows.stages.rubric import absent_notes, rubric_notes


def packets(
    project: Path, overrides: Sequence[str], screen: Screen, *, show: str | None = None, places: bool = False
) -> int:
    """Build the packet of every scenario; report all unreadable documents together."""
    if places and show is None:
        raise ConfigError("--places", "no packet to show", "--show SCENARIO")
    settings = compose_points(project, overrides, multirun=False)[0].settings
    benchmark = settings.benchmark
    known = kind_of(benchmark).scenario_ids(project, benchmark, benchmark.scenarios)
    if show is not None and show not in known:  # before documents are read, which takes a while
        raise ConfigError("--show", f"no packet of {show!r}", "one of " + ", ".join(known))
    built, problems = load_packets(project, settings, screen)
    rows = [("scenario", "documents", "blocks", "characters", "notices")]
    for _, packet in built:
        blocks = sum(len(document.blocks) for document in packet.documents)
        notices = sum(len(document.notices) for document in packet.documents)
        count = str(len(packet.documents))
        rows.append((packet.scenario_id, count, f"{blocks:,}", f"{len(packet.text):,}", str(notices)))
    if show is not None:
        for packet in (packet for _, packet in built if packet.scenario_id == show):
            if places:
                screen.with_margin(placed_text(packet), MARGIN)
            else:
                screen.verbatim(packet.text)
        return screen.failed(problems)
    screen.table(f"{settings.benchmark.name}: packets", rows)
    for _, packet in built:
        for document in packet.documents:
            for notice in document.notices:
                screen.note(
                    f"{packet.scenario_id}/{document.name}, {notice.place}: {notice.kind}: {notice.detail}"
                )
    return screen.failed(problems)


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


def validate(
    project: Path,
    overrides: Sequence[str],
    screen: Screen,
    *,
    index: bool = False,
    strict: bool = False,
    watch: bool = False,
) -> int:
    """Check scenarios, rubrics, evidence and controls; then that every option of `conf/` composes.

    What is wrong with the benchmark is shown before the options, which take longer.
    """
    if watch:

        def check() -> int:
            return validate(project, overrides, screen, index=index, strict=strict)

        return watch_files(project, overrides, check, screen)
    settings = compose_points(project, overrides, multirun=False)[0].settings
    if kind_of(settings.benchmark).has_tasks:
        problems = validate_tasks(project, settings.benchmark, screen, write=index, strict=strict)
    elif index or strict:
        raise ConfigError(
            "--index" if index else "--strict",
            f"{settings.benchmark.name} has no tasks",
            "benchmark=mission_report",
        )
    else:
        problems = _validate_scenarios(project, settings, screen)
    benchmark = settings.benchmark
    for note in unwritten_notes(project, benchmark):
        screen.note(note)
    if stale := stale_stages(project, settings.benchmark):
        screen.note(stale)
    code = screen.failed(problems)
    faulty = _check_options(project, settings, screen)
    if not problems and not faulty:
        screen.note("No problems found.")
    return screen.failed(faulty) or code


def _check_options(project: Path, settings: Settings, screen: Screen) -> list[StaffbenchError]:
    """Compose the options of `conf/`, unless the same files were found to compose before."""
    record, digest = project / settings.results / ".cache" / "options", options_digest(project)
    number = sum(map(len, options(project).values()))
    if record.is_file() and record.read_text(encoding="utf-8", errors="replace") == digest:
        screen.note(f"Options of conf/ that compose: {number}, unchanged since the last time")
        return []
    screen.say(f"Composing each of {number} options of conf/, once until they change ...")
    progress = Progress({"options": number}, None)
    with screen.progress(progress):
        checked, faulty = check_options(project, lambda: progress.step("options", skipped=False))
    screen.note(f"Options of conf/ that compose: {checked}")
    if not faulty:
        with suppress(StoreError):  # where nothing can be written they are composed each time
            write_whole(record, digest)
    return faulty


def _validate_scenarios(project: Path, settings: Settings, screen: Screen) -> list[StaffbenchError]:
    built, problems = load_packets(project, settings, screen)
    problems += _further_faults(project, settings, {scenario.scenario_id for scenario, _ in built}, screen)
    rows = [("scenario", "items", "wrong moves", "steps", "by tier", "controls")]
    for scenario, packet in built:
        folder = project / settings.benchmark.data / scenario.scenario_id
        problems += no_items(folder, scenario, settings.benchmark.name)
        problems += missing_evidence(scenario.items, packet)
        errors = sum(item.is_error for item in scenario.items)
        numbers = range(1, len(scenario.dimensions.tiers) + 1)
        tiers = "/".join(str(sum(item.tier == tier for item in scenario.items)) for tier in numbers)
        steps = len(classes(scenario.items, "step"))
        count = len(scenario.items)
        rows.append(
            (
                scenario.scenario_id,
                str(count),
                str(errors),
                str(steps),
                tiers,
                ", ".join(scenario.controls) or "none",
            )
        )
    screen.table(f"{settings.benchmark.name}: scenarios", rows, words={0, 5})
    for scenario, _ in built:
        for note in rubric_notes(scenario.items, scenario.dimensions):
            screen.note(f"{scenario.scenario_id}: worth another look: {note}.")
    items = [item for scenario, _ in built for item in scenario.items]
    for note in absent_notes(items, settings.benchmark.dimensions or MA_BENCH):
        screen.note(f"{settings.benchmark.name}: {note}.")
    return problems


def _further_faults(
    project: Path, settings: Settings, sound: AbstractSet[str], screen: Screen
) -> list[StaffbenchError]:
    """Check documents and quotes of the scenarios whose files have faults, so that all are named at once."""
    benchmark = settings.benchmark
    problems: list[StaffbenchError] = []
    for name in kind_of(benchmark).scenario_ids(project, benchmark, benchmark.scenarios):
        folder = project / benchmark.data / name
        found = None if name in sound else check_scenario(folder, benchmark.dimensions or MA_BENCH)[0]
        if found is None:
            continue
        try:
            path = packet_path(project / benchmark.data, benchmark.name, name)
            problems += missing_evidence(found.items, load_packet(folder, found, path, screen.say))
        except StaffbenchError as error:
            problems.append(error)
    return problems
