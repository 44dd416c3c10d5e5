"""The commands report and agreement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.labels import read_labels
from flows.adapters.objects import ObjectStore
from flows.adapters.screen import Screen
from flows.common.errors import StaffbenchError
from flows.common.text import number
from flows.pipeline.commands.packets import fail
from flows.pipeline.commands.pairs import remote_pairs_agreement
from flows.pipeline.commands.paper import Wanted, write
from flows.pipeline.evaluate.showing import display_path, show_board, show_tasks
from flows.pipeline.results.agreement_text import HEAD, agreement_rows, figure, remarks
from flows.pipeline.results.expert_labels import labels_agreement
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
from flows.schema.leaderboard import JudgeNote, Leaderboard
from flows.schema.settings import ProtocolName, ScoringSettings, Settings, scoring_suffix
from flows.schema.verdict import Agreement


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
    return fail(problems, screen)


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


def agreement(project: Path, overrides: Sequence[str], screen: Screen) -> int:
    """Measure how far judges agree with labels, with one another, and each with itself.

    Args:
        project: folder of the project.
        overrides: Hydra overrides; an argument without `=` is a file of expert labels.
        screen: output.
    """
    files = [Path(argument) for argument in overrides if "=" not in argument]
    labels = [label for file in files for label in read_labels(file)]
    settings = _settings(project, [argument for argument in overrides if "=" in argument])
    results = project / settings.results
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
    return fail(problems, screen)


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
