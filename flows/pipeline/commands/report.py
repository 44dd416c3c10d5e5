"""`staffbench report`: leaderboard, task table and pages from stored verdicts; or a paper's tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flows.adapters.config.compose import Point, compose_points
from flows.adapters.labels import read_labels
from flows.adapters.objects import ObjectStore
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, StaffbenchError
from flows.common.text import plural
from flows.pipeline.evaluate.showing import display_path, show_board, show_tasks
from flows.pipeline.inputs.packets import stored_characters
from flows.pipeline.results.agreement.labels import by_code, label_faults
from flows.pipeline.results.graded import Graded
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
from flows.schema.condition import judge_of
from flows.schema.leaderboard import Leaderboard
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings, scoring_suffix

if TYPE_CHECKING:
    from flows.stages.paper.results import Results

_OF_A_RUN = ("model", "effort", "word_cap", "prompt", "harness", "seeds", "judge", "judge_prompt")


def report(
    project: Path,
    overrides: Sequence[str],
    screen: Screen,
    *,
    versioned: bool = False,
    tables: Path | None = None,
    figures: Path | None = None,
    labels: Sequence[Path] = (),
) -> int:
    """Write leaderboard, task table and site from stored verdicts, by any weights; or a paper's parts."""
    for_paper = tables is not None or figures is not None
    if labels and not for_paper:
        raise ConfigError("--labels", "nothing uses them", "--tables FOLDER or --figures FOLDER beside it")
    for given in (tables, figures):
        if given is not None and given.exists() and not given.is_dir():
            raise ConfigError(given, "a file", "a folder, new or existing")
    point = compose_points(project, overrides, multirun=False)[0]
    used = ("word_cap", "prompt", *(("judge",) if for_paper else ()))
    note_unused(overrides, screen, "A report has every graded condition", used)
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
        if graded and for_paper:
            results_of_paper = _paper_results(project, overrides, point, graded, scenarios, labels=labels)
            _write_paper(results_of_paper, tables, figures, screen)
        elif graded:
            objects = ObjectStore(results / ".cache" / "objects")
            screen.say(f"Writing the pages of {plural(len(graded), 'condition')} ...")
            board = build_leaderboard(graded, scenarios, settings.scoring, objects, named)
            paths = write_leaderboard(folder, board, settings)
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
                    word_cap=settings.word_cap.words,
                    prompt=settings.prompt.version,
                )
            )
            where = display_path(folder / board_file(folder, board.scoring))
            show_board(screen, board, graded, frozenset(), where)
            show_tasks(screen, board, graded, scenarios, settings.scoring)
            screen.note("Written: " + ", ".join(display_path(path) for path in paths))
        elif not for_paper and (removed := retract(folder, settings.scoring, problems)):
            screen.note(
                "No row is left. Deleted or emptied: " + ", ".join(display_path(path) for path in removed)
            )
    return screen.failed(problems)


def note_unused(overrides: Sequence[str], screen: Screen, why: str, used: Sequence[str] = ()) -> None:
    """Name overrides that choose conditions for a run, where they choose none."""
    axes = {override: re.split(r"[=.@]", override.lstrip("+~"))[0] for override in overrides}
    if unused := [override for override, axis in axes.items() if axis in _OF_A_RUN and axis not in used]:
        screen.note(f"{why}; not used: {' '.join(unused)}.")


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


def _paper_results(
    project: Path,
    overrides: Sequence[str],
    point: Point,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    *,
    labels: Sequence[Path],
) -> Results:
    """Return what a paper's tables are made from, of the judge that is chosen, or else of its own choice."""
    from flows.pipeline.results.paper import paper_results  # pandas takes a second to import

    settings = point.settings
    benchmark = settings.benchmark
    read = read_labels(
        labels, lambda sample: by_code(graded, scenarios, sample), lambda given: label_faults(given, graded)
    )
    is_chosen = any(override.split("=")[0] == "judge" for override in overrides)
    return paper_results(
        graded,
        scenarios,
        settings.scoring,
        word_cap=settings.word_cap.words,
        prompt=settings.prompt.version,
        judge=judge_of(settings, point.changed).label if is_chosen else None,
        labels=read,
        characters=stored_characters(project / benchmark.data, benchmark.name, scenarios.values()),
    )


def _write_paper(results: Results, tables: Path | None, figures: Path | None, screen: Screen) -> None:
    from flows.pipeline.results.paper import write_paper  # with altair

    readmes, without = write_paper(results, tables=tables, figures=figures)
    if len(results.judges) > 1:
        screen.note(results.judge_note)
    screen.note("Written: " + ", ".join(display_path(path) for path in readmes) + ", and what they list")
    if without:
        screen.note(f"Not made: {plural(len(without), 'table or figure', 'tables and figures')}. Why:")
        for reason in dict.fromkeys(without.values()):
            names = [name for name, why in without.items() if why == reason]
            screen.note(f"- {reason}: {', '.join(names)}")
