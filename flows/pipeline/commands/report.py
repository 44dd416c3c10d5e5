"""`staffbench report`: leaderboard, task table and pages from stored verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.objects import ObjectStore
from flows.adapters.screen import Screen
from flows.common.errors import StaffbenchError
from flows.pipeline.commands.packets import fail
from flows.pipeline.commands.paper import Wanted, write
from flows.pipeline.evaluate.showing import display_path, show_board, show_tasks
from flows.pipeline.results.leaderboard import (
    board_file,
    build_leaderboard,
    delete_leaderboard,
    write_leaderboard,
    write_task_table,
)
from flows.pipeline.results.pages.site import write_site
from flows.pipeline.results.pages.tables import load_documents
from flows.pipeline.results.stored import left_out, load_graded, load_scenarios, results_lock
from flows.schema.leaderboard import Leaderboard
from flows.schema.settings import ScoringSettings, scoring_suffix


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
            write(wanted, graded, scenarios, point, screen, project=project, is_judge_chosen=chosen)
        elif graded:
            objects = ObjectStore(results / ".cache" / "objects")
            board = build_leaderboard(graded, scenarios, settings.scoring, objects, named)
            paths = write_leaderboard(folder, board)
            paths += write_task_table(folder, board, graded, scenarios, settings.scoring)
            documents = load_documents(project, settings, graded, scenarios)
            paths.append(
                write_site(
                    folder,
                    board,
                    graded,
                    scenarios,
                    scoring=settings.scoring,
                    problems=problems,
                    documents=documents,
                )
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
