"""`staffbench track`: put results of runs made outside DVC under its control."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.dvc import track_results
from flows.adapters.screen import Screen
from flows.pipeline.commands.own.stages import stages_folder, write_stages
from flows.pipeline.evaluate.showing import display_path
from flows.pipeline.inputs.packets import packet_path
from flows.pipeline.results.condition_files import BY_CONDITION, BY_JUDGE, condition_files


def track(project: Path, overrides: Sequence[str], screen: Screen) -> int:
    """Record in DVC the tables of one benchmark, and the stored replies, which all benchmarks share."""
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
    changed = track_results(project, [folder, packets], groups, locks)
    if files := [*renewed, *changed, *replaced]:
        screen.note("git add " + shlex.join(display_path(path) for path in files))
        screen.say("Then dvc push sends the data to the remote.")
    else:
        screen.say(f"Nothing to do: DVC has every result of {name}.")
    return 0


def _delete_inner(folder: Path) -> list[Path]:
    """Delete `.dvc` files of older versions, which were among the tables; return their paths."""
    found = sorted(file for kind in (*BY_CONDITION, *BY_JUDGE) for file in (folder / kind).rglob("*.dvc"))
    for file in found:
        file.unlink()
    return found
