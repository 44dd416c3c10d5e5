"""Inspect: our benchmarks as its tasks, our results as its logs, and its logs as our results."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from flows.common.errors import ConfigError

if TYPE_CHECKING:
    from flows.adapters.screen import Screen
    from flows.pipeline.publish.export import Publication


def require_inspect() -> None:
    """Check that the extra is installed, before anything of it is imported.

    Raises:
        ConfigError: it is not.
    """
    if find_spec("inspect_ai") is None:
        remedy = "pip install 'staffbench[inspect]'"
        raise ConfigError("inspect_ai", "not installed, and Inspect's logs need it", remedy=remedy)


def export_logs(
    project: Path,
    overrides: Sequence[str],
    folder: Path,
    screen: Screen,
    *,
    allow: bool,
    publication: Publication,
) -> int:
    """Write logs as `export_inspect` does; called as the other formats of `staffbench export --to` are.

    Raises:
        ConfigError: an option that logs have no use for.
    """
    given = {"--allow": allow, "--creator": publication.creator, "--url": publication.url}
    for option in (option for option, value in given.items() if value):
        raise ConfigError(option, "has no effect on logs", "another format, such as --to model-card")
    require_inspect()
    from flows.pipeline.inspect.export import export_inspect

    return export_inspect(project, overrides, folder, screen)
