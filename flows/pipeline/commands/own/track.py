"""`staffbench track`: bring a benchmark's DVC stages up to date, and put results under DVC."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from flows.adapters.config.compose import Point, compose_points
from flows.adapters.dvc import track_results
from flows.adapters.screen import Screen
from flows.common.text import plural
from flows.pipeline.commands.own.stages import stages_folder, write_stages
from flows.pipeline.evaluate.showing import command_hint, display_path
from flows.pipeline.inputs.packets import packet_path
from flows.pipeline.results.condition_files import BY_CONDITION, BY_JUDGE, condition_files


def track(project: Path, overrides: Sequence[str], screen: Screen, *, is_former: bool = False) -> int:
    """Write a benchmark's DVC stages again, and record its tables and the stored replies in DVC.

    The replies are those of all benchmarks, which share them.
    """
    if is_former:
        screen.say(
            "staffbench version is now called staffbench track; staffbench --version prints the version."
        )
    point = compose_points(project, overrides, multirun=False)[0]
    settings = point.settings
    results, name = project / settings.results, settings.benchmark.name
    renewed = write_stages(project, point.choices["benchmark"])
    folder = results / name
    replaced = _delete_inner(folder)
    groups = {folder / f"{label}.dvc": files for label, files in condition_files(folder).items()}
    groups[folder / "reports.files.dvc"] = [folder / "reports" / "files"]
    groups[folder / "renders.dvc"] = [folder / "renders"]
    groups[results / "completions.dvc"] = [results / "completions"]
    packets = packet_path(project / settings.benchmark.data, name, "any").parent
    locks = [project / "dvc.lock", stages_folder(project, settings.benchmark) / "dvc.lock"]
    n_conditions = len(condition_files(folder))
    if renewed:
        names = ", ".join(display_path(path) for path in renewed)
        screen.say(f"Written again for the scenarios and models of {name}: {names}")
    if not n_conditions and not (project / ".dvc").is_dir():
        screen.say("The project is not under DVC yet: git init, then dvc init, in its folder.")
        return 0
    screen.say("Comparing the files with what DVC has ...")  # takes as long as all of them take to read
    changed, left = track_results(project, [folder, packets], groups, locks)
    if files := [*renewed, *changed, *replaced]:
        screen.verbatim("git add " + shlex.join(display_path(path) for path in files))
    if left:
        again = f"dvc repro {shlex.join(left)} makes them"
        screen.say(f"DVC did not take stages that need files which are not there: {again}.")
    if not n_conditions:
        screen.say(f"{name} has no results yet: {_first(project, point)} makes them.")
    elif changed or replaced:
        screen.say(f"DVC has the results of {plural(n_conditions, 'condition')}; dvc push sends them on.")
    else:
        screen.say(f"Nothing new: DVC had the results of {plural(n_conditions, 'condition')} of {name}.")
    return 0


def _first(project: Path, point: Point) -> str:
    stages = stages_folder(project, point.settings.benchmark) / "dvc.yaml"
    run = command_hint("run", project, point.settings)
    return f"dvc repro {display_path(stages)}" if stages.is_file() else run


def _delete_inner(folder: Path) -> list[Path]:
    """Delete `.dvc` files of older versions, which were among the tables; return their paths."""
    found = sorted(file for kind in (*BY_CONDITION, *BY_JUDGE) for file in (folder / kind).rglob("*.dvc"))
    for file in found:
        file.unlink()
    return found
