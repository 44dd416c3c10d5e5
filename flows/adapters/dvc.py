"""DVC versions of results made outside DVC. The only module that imports it."""

# dvc ships no types:
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

import logging
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from flows.common.errors import StoreError


def track_results(
    project: Path, folders: Sequence[Path], groups: Mapping[Path, Sequence[Path]], locks: Sequence[Path]
) -> tuple[list[Path], list[str]]:
    """Record the results on disk in DVC, as `dvc repro` would have.

    Stages with all dependencies and outputs present are committed; other files are added in groups, each with
    a `.dvc` file for git. `dvc add` would put that file into the folder of the tables, which then can't be
    read as one.

    Args:
        project: folder that holds `dvc.yaml`.
        folders: only stages with an output below one of these are committed.
        groups: by `.dvc` file, the files and folders below its own folder; those of a stage are left out.
        locks: the `dvc.lock` files of those stages.

    Returns:
        Files for git to add, which this call changed; and stages, as `dvc repro` names them, whose outputs
        are all there while a dependency is not.

    Raises:
        StoreError: DVC can't record them.
    """
    from dvc.exceptions import DvcException, NotDvcRepoError
    from dvc.repo import Repo, lock_repo

    logging.getLogger("dvc").setLevel(logging.WARNING)  # each lock file that it writes is news to it
    wanted = frozenset(folder.resolve() for folder in folders)
    beside = [file.parent / ".gitignore" for file in groups]  # where DVC names what it was given
    shown = [*locks, *groups, *beside, *_ignored(folders)]
    before = {path: _content(path) for path in shown}
    try:
        with Repo(str(project)) as repo:
            stages: list[Any] = [stage for stage in repo.index.stages if stage.cmd]
            made = {Path(out.fs_path) for stage in stages for out in stage.outs}
            left: list[str] = []
            for stage in stages:
                if any(is_below(Path(out.fs_path), wanted) for out in stage.outs) and all(
                    out.exists for out in stage.outs
                ):
                    if all(dependency.exists for dependency in stage.deps):
                        repo.commit(stage.addressing, force=True)
                    else:
                        left.append(stage.addressing)
            created: list[Any] = []
            with lock_repo(repo), repo.scm_context(quiet=True):
                for file, paths in groups.items():
                    rest = [path for path in paths if path.exists() and not is_below(path.resolve(), made)]
                    if rest:
                        outs = [str(path.relative_to(file.parent)) for path in rest]
                        given: dict[str, Any] = {"fname": str(file), "wdir": str(file.parent), "outs": outs}
                        created.append(
                            repo.stage.create(single_stage=True, validate=False, force=True, **given)
                        )
                repo.check_graph(stages=created)
                for stage in created:
                    stage.add_outs()
                    stage.dump()
    except NotDvcRepoError as error:
        raise StoreError(project, "not under DVC", remedy="run git init and dvc init here first") from error
    except DvcException as error:
        raise StoreError(project / "dvc.yaml", f"DVC could not take the results ({error})") from error
    after = dict.fromkeys([*shown, *_ignored(folders)])
    return [path for path in after if _content(path) != before.get(path)], left


def _ignored(folders: Sequence[Path]) -> list[Path]:
    return sorted(file for folder in folders for file in folder.rglob(".gitignore"))


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


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
