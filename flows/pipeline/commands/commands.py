"""The commands packets, validate, report and agreement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from flows.adapters.config.compose import compose_points, options
from flows.adapters.config.every_option import check_options
from flows.adapters.labels import read_labels
from flows.adapters.objects import ObjectStore
from flows.adapters.scenario_files import check_scenario
from flows.adapters.screen import Progress, Screen
from flows.common.errors import ConfigError, NotOfBenchmark, Problems, StaffbenchError
from flows.common.text import number
from flows.pipeline.commands.pairs import remote_pairs_agreement
from flows.pipeline.commands.paper import Wanted, write
from flows.pipeline.evaluate.showing import display_path, show_board, show_tasks
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.inputs.task_validation import validate_tasks
from flows.pipeline.results.agreement_text import HEAD, agreement_rows, figure, remarks
from flows.pipeline.results.expert_labels import labels_agreement, mlflow_labels
from flows.pipeline.results.judge_agreement import judges_agreement, offline_agreements, pairs_agreement
from flows.pipeline.results.leaderboard import (
    board_file,
    build_leaderboard,
    delete_leaderboard,
    write_leaderboard,
    write_task_table,
)
from flows.pipeline.results.site import write_site
from flows.pipeline.results.stored import left_out, load_graded, load_scenarios, results_lock
from flows.pipeline.work.evaluations import no_items
from flows.pipeline.work.kinds import kind_of
from flows.schema.document import Packet
from flows.schema.leaderboard import JudgeNote, Leaderboard
from flows.schema.scenario import MA_BENCH, Scenario, classes
from flows.schema.settings import ProtocolName, ScoringSettings, Settings, scoring_suffix
from flows.schema.verdict import Agreement
from flows.stages.packet import missing_evidence, placed_text
from flows.stages.rubric import absent_notes, rubric_notes


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
    settings = _settings(project, overrides)
    built, problems = _packets(project, settings, screen)
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
        return _fail(problems, screen)
    screen.table(f"{settings.benchmark.name}: packets", rows)
    for _, packet in built:
        for document in packet.documents:
            for notice in document.notices:
                screen.note(
                    f"{packet.scenario_id}/{document.name}, {notice.place}: {notice.kind}: {notice.detail}"
                )
    return _fail(problems, screen)


def validate(
    project: Path,
    overrides: Sequence[str],
    screen: Screen,
    *,
    index: bool = False,
    strict: bool = False,
    again: bool = False,
) -> int:
    """Check scenarios, rubrics, evidence, controls, and that every option of `conf/` composes.

    Args:
        project: folder of the project.
        overrides: Hydra overrides, such as the benchmark.
        screen: output.
        index: True to write the Parquet index of a folder of tasks.
        strict: True if fields of a task that nothing uses are errors.
        again: True after a saved file: the options, which take seconds, are not composed again.
    """
    settings = _settings(project, overrides)
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
    if not again:
        progress = Progress({"options": sum(map(len, options(project).values()))}, None)
        with screen.progress(progress):
            checked, invalid = check_options(project, lambda: progress.step("options", skipped=False))
        problems += invalid
        screen.note(f"Options of conf/ that compose: {checked}")
    if not problems:
        screen.note("No problems found.")
    return _fail(problems, screen)


def _validate_scenarios(project: Path, settings: Settings, screen: Screen) -> list[StaffbenchError]:
    built, problems = _packets(project, settings, screen)
    problems += _further_faults(project, settings, {scenario.scenario_id for scenario, _ in built}, screen)
    rows = [("scenario", "items", "positive", "errors", "steps", "by tier", "controls")]
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
                str(count - errors),
                str(errors),
                str(steps),
                tiers,
                ", ".join(scenario.controls) or "none",
            )
        )
    screen.table(f"{settings.benchmark.name}: scenarios", rows)
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


def report(
    project: Path,
    overrides: Sequence[str],
    screen: Screen,
    *,
    versioned: bool = False,
    wanted: Wanted = Wanted(),  # noqa: B008 -- immutable
) -> int:
    """Write leaderboard, task table and site from stored verdicts, by any weights.

    Args:
        project: folder of the project.
        overrides: Hydra overrides, such as benchmark and scoring.
        screen: output.
        versioned: True to use only verdicts that DVC tracks, so that the tables of a DVC stage follow from
            its dependencies.
        wanted: tables and figures of a paper, which are then made instead.
    """
    point = compose_points(project, overrides, multirun=False)[0]
    settings = point.settings
    results = project / settings.results
    folder = results / settings.benchmark.name
    scenarios, broken = load_scenarios(project, settings)
    is_wanted = _versioned(project, screen) if versioned else None
    if not folder.is_dir():
        raise _nothing_graded(folder)
    with results_lock(results):
        graded, problems = load_graded(folder, scenarios, is_wanted)
        named = left_out(folder, problems)
        problems = [*broken, *problems]
        if not graded and not problems:
            raise _nothing_graded(folder)
        if graded and wanted:
            chosen = any(override.split("=")[0] == "judge" for override in overrides)
            write(wanted, graded, scenarios, point, screen, is_judge_chosen=chosen)
        elif graded:
            objects = ObjectStore(results / ".cache" / "objects")
            board = build_leaderboard(graded, scenarios, settings.scoring, objects, named)
            paths = write_leaderboard(folder, board)
            paths += write_task_table(folder, board, graded, scenarios, settings.scoring)
            paths.append(
                write_site(folder, board, graded, scenarios, scoring=settings.scoring, problems=problems)
            )
            show_board(screen, board, frozenset(), display_path(folder / board_file(folder, board.scoring)))
            show_tasks(screen, board, graded, scenarios, settings.scoring)
            screen.note("Written: " + ", ".join(display_path(path) for path in paths))
        elif not wanted and (removed := retract(folder, settings.scoring, problems)):
            screen.note(
                "No row is left. Deleted or emptied: " + ", ".join(display_path(path) for path in removed)
            )
    return _fail(problems, screen)


def _versioned(project: Path, screen: Screen) -> Callable[[Path], bool]:
    """Return a predicate for files that DVC tracks; it names other files on the screen."""
    from flows.adapters.dvc import is_below, versioned_outputs

    listed = versioned_outputs(project)

    def is_listed(path: Path) -> bool:
        found = is_below(path.resolve(), listed)
        if not found:
            screen.note(f"Left out, not tracked by DVC: {display_path(path)} (staffbench track adds it)")
        return found

    return is_listed


def _nothing_graded(folder: Path) -> StaffbenchError:
    return StaffbenchError(folder, "nothing graded here", remedy="staffbench run first, or dvc pull")


def retract(folder: Path, scoring: ScoringSettings, problems: Sequence[StaffbenchError]) -> list[Path]:
    """Delete a leaderboard without rows; its site, if it exists, becomes a page that says why."""
    removed = delete_leaderboard(folder, scoring.name)
    site = folder / f"site{scoring_suffix(folder.name, scoring.name)}"
    if site.is_dir():
        board = Leaderboard(folder.name, scoring.name, (), (), ())
        removed.append(write_site(folder, board, (), {}, scoring=scoring, problems=problems))
    return removed


def agreement(project: Path, overrides: Sequence[str], screen: Screen, *, from_mlflow: bool = False) -> int:
    """Measure how far judges agree with labels, with one another, and each with itself.

    Args:
        project: folder of the project.
        overrides: Hydra overrides; an argument without `=` is a file of expert labels.
        from_mlflow: True to read labels that people gave on MLflow's pages, too.
        screen: output.
    """
    files = [Path(argument) for argument in overrides if "=" not in argument]
    labels = [label for file in files for label in read_labels(file)]
    settings = _settings(project, [argument for argument in overrides if "=" in argument])
    results = project / settings.results
    if from_mlflow:
        given, notes = mlflow_labels(results, settings)
        labels += given
        for note in notes:
            screen.note(note)
    scenarios, broken = load_scenarios(project, settings)
    objects = ObjectStore(results / ".cache" / "objects")
    measured: list[tuple[str, Agreement]] = [
        ("offline", found) for found in offline_agreements(scenarios, objects)
    ]
    if settings.benchmark.protocol is ProtocolName.ma_bench:  # pairs exist for its items only
        measured += [("offline", found) for found in pairs_agreement(project / "data" / "judge_pairs")]
        measured += remote_pairs_agreement(project, settings)
    graded, problems = load_graded(results / settings.benchmark.name, scenarios)
    problems = [*broken, *problems]
    judges: Sequence[JudgeNote] = ()
    if graded:
        board = build_leaderboard(graded, scenarios, settings.scoring, objects)
        judges = board.judges
        measured += [(n.judge_id, found) for n in board.judges if not n.is_stand_in for found in n.agreements]
    measured += labels_agreement(labels, graded, scenarios) if labels else []
    for judge, found in measured:
        screen.table(f"{judge} against {found.labels}", [HEAD, *agreement_rows(found)])
        for remark in remarks(found):
            screen.note(remark)
    if measured:
        screen.note("±: half of a 95% interval over scenarios. within: kappa within each brief.")
        screen.note("by brief, BM25: kappa of raters that know only which brief it is, or match words.")
    _show_judges(judges_agreement(graded, scenarios), judges, screen)
    return _fail(problems, screen)


def _show_judges(
    against: Sequence[tuple[str, Agreement]], judges: Sequence[JudgeNote], screen: Screen
) -> None:
    """Show the agreement of judges with one another and with their own repeats, if any."""
    rows = [("judge", "other judge", "n", "ungraded", "same verdict", "kappa", "within")]
    rows += [(judge, found.labels, *_agreed(found)) for judge, found in against]
    if against:
        screen.table("judges against each other, on the same briefs", rows)
    rows = [("judge", "repeats", "n", "ungraded", "same verdict", "kappa", "within")]
    for note in judges:
        repeats = note.self_agreement
        if repeats is not None:
            counts = (str(repeats.n), str(repeats.n_ungraded), number(repeats.unanimous, 2), "-", "-")
            rows.append((note.judge_id, f"all {repeats.n_repeats}", *counts))
            rows += [(note.judge_id, pair.labels, *_agreed(pair)) for pair in repeats.pairs]
    if len(rows) > 1:
        screen.table("repeats of the same judge", rows)


def _agreed(found: Agreement) -> tuple[str, ...]:
    return (
        str(found.n),
        str(found.n_ungraded),
        figure(found.accuracy, found.accuracy_margin),
        figure(found.kappa, found.kappa_margin),
        figure(found.within, found.within_margin),
    )


def _settings(project: Path, overrides: Sequence[str]) -> Settings:
    return compose_points(project, overrides, multirun=False)[0].settings


def _packets(
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


def _fail(problems: list[StaffbenchError], screen: Screen) -> int:
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
