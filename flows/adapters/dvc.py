"""DVC versions of results made outside DVC. The only module that imports it."""

# dvc ships no types:
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from flows.common.errors import StoreError


def version_results(project: Path, extra: Sequence[Path]) -> list[Path]:
    """Record the results on disk in DVC, as `dvc repro` would have.

    Stages with all outputs present are committed; other files are added one by one, each with a `.dvc` file
    for git.

    Args:
        project: folder that holds `dvc.yaml`.
        extra: files and folders that may not belong to a stage.

    Returns:
        Files for git to add.

    Raises:
        StoreError: DVC can't record them.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(project)) as repo:
            stages: list[Any] = [stage for stage in repo.index.stages if stage.cmd]
            whole = [stage for stage in stages if all(out.exists for out in stage.outs)]
            for stage in whole:
                repo.commit(stage.addressing, force=True)
            made = {Path(out.fs_path) for stage in stages for out in stage.outs}
            rest = [path for path in extra if path.exists() and not is_below(path.resolve(), made)]
            add: Any = repo.add
            added: list[Any] = add([str(path) for path in rest]) if rest else []
            files = [Path(stage.path) for stage in added]
    except DvcException as error:
        raise StoreError(project / "dvc.yaml", f"DVC could not take the results ({error})") from error
    return [project / "dvc.lock", *files]


def versioned_outputs(project: Path) -> frozenset[Path]:
    """Return files and folders in DVC: outputs of the current stages, and added files.

    Takes no lock, so it can be called from a stage.

    Raises:
        StoreError: DVC can't read its files.
    """
    from dvc.exceptions import DvcException
    from dvc.repo import Repo

    try:
        with Repo(str(project)) as repo:
            return frozenset(Path(out.fs_path) for out in repo.index.outs)
    except DvcException as error:
        raise StoreError(project / "dvc.yaml", f"DVC can't read what it lists ({error})") from error


def is_below(path: Path, folders: AbstractSet[Path]) -> bool:
    """True for one of `folders` or a path in one."""
    return not folders.isdisjoint({path, *path.parents})
