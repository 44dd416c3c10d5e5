"""Write task trees atomically and reproducibly, never through links."""

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flows.adapters.task_trees.safe_files import Found, open_file, walk
from flows.common.errors import ConfigError, Problems, ScenarioError, StoreError
from flows.common.untrusted import inside, is_file

_FOLDER_MODE, _FILE_MODE, _SCRIPT_MODE = 0o755, 0o644, 0o755
_EXECUTABLE = 0o111


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of a tree to write."""

    content: bytes | Path  # its bytes, or the file to copy
    executable: bool = False  # True for a script

    @property
    def size(self) -> int:
        """Number of bytes."""
        return len(self.content) if isinstance(self.content, bytes) else self.content.stat().st_size


def text_file(text: str, *, executable: bool = False) -> TreeFile:
    """Return a file of this text, in UTF-8."""
    return TreeFile(text.encode(), executable)


def tree_files(root: Path) -> dict[str, TreeFile]:
    """Return every file of a folder for copying, by relative path.

    Files of file managers are left out.

    Raises:
        Problems: a link, a device, a name with control characters, or a folder that can't be listed.
    """
    found = Found(root)
    if root.is_symlink():
        found.fault("", "a link", "a folder", "name the folder itself")
    names = [] if found.problems else walk(found, "")
    if found.problems:
        raise Problems.of(root, found.problems)
    return {name: copied(root, name) for name in names}


def copied(root: Path, name: str) -> TreeFile:
    """Return a file of `root` for copying.

    Raises:
        ScenarioError: it is missing or has a link in its path.
    """
    path = root / name
    if inside(name) != name or not is_file(root, name):
        raise ScenarioError(path, "not there, or a link", "a file")
    return TreeFile(path, executable=bool(path.stat().st_mode & _EXECUTABLE))


def check_target(target: Path) -> None:
    """Reject a target folder that is not empty.

    Raises:
        ConfigError: it is a link, a file, or not empty.
    """
    if target.is_symlink():
        raise ConfigError(target, "a link", "a folder that is not there yet", "name the folder itself")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        what = "a folder with something in it" if target.is_dir() else "a file"
        raise ConfigError(
            target, what, "a folder that is empty or not there yet", "name another, or empty this one"
        )


def write_folder(target: Path, files: Mapping[str, TreeFile]) -> None:
    """Write a folder, missing or empty, atomically; `files` are by relative path.

    The files are written to a temporary folder, which is then renamed.

    Raises:
        ConfigError: `target` is a link, a file or not empty.
        StoreError: it can't be written.
        ScenarioError: a file to copy is no longer a regular file.
        ValueError: a path leads out of the folder.
    """
    check_target(target)
    target = target.absolute() if target.name else target.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise _unwritable(target, error) from error
    try:
        for name in sorted(files):
            if inside(name) != name:
                raise ValueError(f"{name!r} leads out of the folder")
            _write(scratch, name, files[name])
        scratch.chmod(_FOLDER_MODE)  # mkdtemp denies access to others
        if target.is_dir():
            target.rmdir()  # only ever an empty one
        scratch.rename(target)
    except OSError as error:
        raise _unwritable(target, error) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _unwritable(target: Path, error: OSError) -> StoreError:
    return StoreError(
        target,
        f"can't be written ({error.strerror})",
        remedy="free disk space, fix the permissions, or choose another folder",
    )


def _write(scratch: Path, name: str, file: TreeFile) -> None:
    path = scratch
    for part in name.split("/")[:-1]:
        path /= part
        path.mkdir(exist_ok=True)
        path.chmod(_FOLDER_MODE)  # regardless of the umask
    path = scratch / name
    with path.open("xb") as target:
        if isinstance(file.content, bytes):
            target.write(file.content)
        else:
            _copy(file.content, target.fileno())
    path.chmod(_SCRIPT_MODE if file.executable else _FILE_MODE)


def _copy(source: Path, target: int) -> None:
    # A link or a pipe created since it was listed is not followed.
    with open_file(source.parent, source.name) as file, open(target, "wb", closefd=False) as out:
        shutil.copyfileobj(file, out)
