"""DVC: versions of what runs made outside it. The only module that imports it."""

# dvc ships no types:
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from flows.common.errors import StoreError


def version_results(project: Path, extra: Sequence[Path]) -> list[Path]:
    """Take the results on disk into DVC, as `dvc repro` would have made them.

    Stages whose outputs are all there are recorded as they are; files that no stage makes are added
    one by one, each with a `.dvc` file beside it for git.

    Args:
        project: folder that holds `dvc.yaml`.
        extra: files and folders that may belong to no stage.

    Returns:
        Files for git to add.

    Raises:
        StoreError: DVC can't take them.
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
    """Files and folders that DVC lists: outputs of the stages as they are now, and what was added one by one.

    Nothing is locked, so that a stage may ask.

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
    """True for one of `folders`, and for what lies in one."""
    return not folders.isdisjoint({path, *path.parents})
