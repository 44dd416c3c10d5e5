"""The result files of each condition."""

from pathlib import Path

from flows.adapters.tables import table_files

BY_CONDITION = ("briefs", "reports", "trajectories")
"""Folders with one table for each condition."""
BY_JUDGE = ("verdicts", "scores", "repeats", "judge_chats")
"""Folders with a folder for each condition, and in it one table for each judge."""


def condition_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each condition below `results/<benchmark>/`, by its label.

    `scores/<condition>/` also holds tables of other weights: `<judge>.<scoring>.parquet`. The settings of
    each row are among them.
    """
    found: dict[str, list[Path]] = {}
    for kind in (*BY_CONDITION, *BY_JUDGE):
        for path in table_files(folder / kind):
            label = path.stem if kind in BY_CONDITION else path.parent.name
            found.setdefault(label, []).append(path)
    for path in sorted((folder / "settings").glob("*/*.yaml")):
        found.setdefault(path.parent.name, []).append(path)
    return dict(sorted(found.items()))


def judges_of(folder: Path) -> dict[str, list[str]]:
    """Return the judges of each graded condition, by its label."""
    found: dict[str, list[str]] = {}
    for path in table_files(folder / "verdicts"):
        found.setdefault(path.parent.name, []).append(path.stem)
    return dict(sorted(found.items()))
