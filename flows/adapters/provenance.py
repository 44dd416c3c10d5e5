"""Provenance of results: clock, git revision and versions."""

import platform
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from flows.common.digests import sha256_file
from flows.common.version import __version__

_LIBRARIES = ("python-docx", "pdfplumber", "openpyxl", "litellm", "pyarrow", "numpy")


def now() -> str:
    """Return the current time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def git_revision(project: Path) -> str | None:
    """Return the commit, with `+` if the work tree is dirty; None outside a repository."""
    try:
        revision = _git(project, "rev-parse", "--short=12", "HEAD")
        return revision + ("+" if _git(project, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def tracked_files(folder: Path) -> frozenset[Path]:
    """Return the files below a folder that git has; empty outside a repository and in an ignored folder."""
    try:
        names = _git(folder, "ls-files", "-z").split("\0")
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(folder / name for name in names if name)


@cache
def environment() -> dict[str, str]:
    """Return versions of software that results may depend on."""
    found = {"staffbench": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "not installed"
    return found


@cache
def lock_digests(project: Path) -> dict[str, str]:
    """Return the first digits of the SHA-256 of the files that pin data and packages, where there are any."""
    files = {"dvc_lock": "dvc.lock", "requirements_lock": "requirements.lock"}
    return {
        name: sha256_file(project / file)[:12] for name, file in files.items() if (project / file).is_file()
    }


def _git(project: Path, *arguments: str) -> str:
    command = ["git", "-C", str(project), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=10)  # noqa: S603 -- fixed words
    return done.stdout.strip()
