"""`staffbench remove`: delete the results of a condition."""

import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.adapters.tables import BRIEFS, read_table
from flows.common.errors import ConfigError, StoreError
from flows.pipeline.commands.report import report, retract
from flows.pipeline.evaluate.showing import display_path
from flows.pipeline.results.condition_files import condition_files, judges_of
from flows.pipeline.results.leaderboard import delete_leaderboard, leaderboard_files
from flows.pipeline.results.stored import results_lock
from flows.schema.condition import file_name

_PAGES = ("site", "figures", "compare")  # folders of a leaderboard by other weights


def remove(
    project: Path, overrides: Sequence[str], screen: Screen, *, condition: str, is_confirmed: bool
) -> int:
    """Delete the tables of a condition, or of one judge on it, and write the leaderboard again.

    Raises:
        ConfigError: there is no such condition, or nobody can be asked.
        StoreError: a file can't be deleted.
    """
    settings = compose_points(project, overrides, multirun=False)[0].settings
    results = project / settings.results
    folder = results / settings.benchmark.name
    paths = _paths(folder, condition)
    screen.note(f"This removes from {display_path(folder)}:")
    boards = _other_boards(folder)
    others = [path for board in boards for path in _files_of(folder, board)]
    for path in [*paths, *sorted(folder.glob("compare/")), *others]:
        screen.verbatim(f"  {display_path(path)}")
    screen.note(
        "The leaderboard is written again without them. Stored replies stay, so that the same run makes the "
        "tables again without paying. So do MLflow's runs, and what DVC has in its cache or remote."
    )
    if not is_confirmed and not _agreed():
        screen.say("Nothing was removed.")
        return 0
    with results_lock(results):
        for path in paths:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(
                    path, f"can't be deleted ({error.strerror})", remedy="fix the permissions"
                ) from error
            left = (other for kind in ("*.parquet", "*.yaml") for other in path.parent.glob(kind))
            if path.parent != folder and not any(left):
                shutil.rmtree(path.parent, ignore_errors=True)
    shutil.rmtree(folder / "compare", ignore_errors=True)  # its pages would still have the row
    for board in boards:
        _delete_board(folder, board, screen)
    if judges_of(folder):
        return report(project, overrides, screen)
    retract(folder, settings.scoring, [])
    screen.note(f"No row of {settings.benchmark.name} is left.")
    return 0


def _paths(folder: Path, name: str) -> list[Path]:
    """Return the files to delete, with DVC's file of a condition that goes as a whole."""
    graded, files_of = judges_of(folder), condition_files(folder)
    begins, _, judge = name.partition("/")
    labels = [label for label in files_of if label == begins]
    # A model's name may hold a slash, and characters that its label lacks.
    if not labels and (named := [label for label in files_of if label.startswith(f"{file_name([name])}-")]):
        labels, judge = named, ""
    labels = labels or [label for label in files_of if label.startswith(f"{file_name([begins])}-")]
    if judge:
        labels = [label for label in labels if judge in graded.get(label, [])]
    if len(labels) > 1:  # labels have only letters of ASCII: those of several models may begin alike
        labels = [label for label in labels if _model_of(folder, label) == begins] or labels
    if len(labels) != 1:
        known = [
            f"{one}/{other}{_of_model(folder, one)}"
            for one in labels or files_of
            for other in graded.get(one, [])
        ]
        raise ConfigError(
            name,
            "several conditions" if labels else f"no such condition in {folder.name}",
            "one of " + ", ".join(known) if known else "",
        )
    (label,) = labels
    files = files_of[label]
    if judge and graded[label] != [judge]:
        files = [path for path in files if path.parent.name == label and _is_of(path, judge, graded[label])]
    else:
        files = [*files, *(path for path in [folder / f"{label}.dvc"] if path.is_file())]
    return files


def _model_of(folder: Path, label: str) -> str | None:
    """Return the model of a condition; None without a readable table of its briefs."""
    with suppress(StoreError):
        return read_table(folder / "briefs" / f"{label}.parquet", BRIEFS)[1]["condition"]["model"]
    return None


def _of_model(folder: Path, label: str) -> str:
    """Return the model as a remark where its label does not begin with its name."""
    model = _model_of(folder, label)
    return "" if model is None or label.startswith(f"{model}-") else f" ({model})"


def _is_of(path: Path, judge: str, judges: Sequence[str]) -> bool:
    """Whether a table is of this judge: `judge.parquet`, or `judge.<scoring>.parquet` for other weights."""
    owner = max(
        (one for one in judges if path.stem == one or path.stem.startswith(f"{one}.")), key=len, default=""
    )
    return owner == judge


def _agreed() -> bool:
    if not sys.stdin.isatty():
        raise ConfigError("remove", "nobody to ask", remedy="add --yes")
    return input("Remove them? [y/N] ").strip().lower() in ("y", "yes")


def _other_boards(folder: Path) -> list[str]:
    """Return the scorings of leaderboards by other weights, which would still have the row."""
    boards = sorted(folder.glob("leaderboard.*.json"))
    return [board.name.removeprefix("leaderboard.").removesuffix(".json") for board in boards]


def _files_of(folder: Path, scoring: str) -> list[Path]:
    """Return the files and folders of a leaderboard by other weights."""
    pages = [folder / f"{name}.{scoring}" for name in _PAGES]
    return [*leaderboard_files(folder, scoring), *filter(Path.is_dir, pages)]


def _delete_board(folder: Path, scoring: str, screen: Screen) -> None:
    delete_leaderboard(folder, scoring)
    for other in _PAGES:
        shutil.rmtree(folder / f"{other}.{scoring}", ignore_errors=True)
    screen.note(f"Deleted the leaderboard by {scoring}: staffbench report scoring={scoring} writes it again.")
