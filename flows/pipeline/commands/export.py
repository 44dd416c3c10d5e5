"""`staffbench export`: a benchmark, or its results in a format of others, as a folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from flows.common.errors import ConfigError

if TYPE_CHECKING:
    from flows.adapters.screen import Screen

FORMATS = {
    "parquet": "flows.pipeline.publish.export:export",
    "every-eval-ever": "flows.pipeline.publish.eee:export",
    "inspect": "flows.pipeline.inspect:export_logs",
    "model-card": "flows.pipeline.publish.model_card:export",
}
"""Format to its function, which has the signature of `flows.pipeline.publish.export.export`."""


def exporter(name: str) -> Callable[..., int]:
    """Return the function of a format."""
    return resolve_name(FORMATS[name])


def export(
    project: Path,
    overrides: Sequence[str],
    screen: Screen,
    *,
    target: Sequence[str],
    output: Path | None,
    to: str,
    allow: bool,
    creator: str | None,
    url: str | None,
) -> int:
    """Write the export.

    Raises:
        ConfigError: no folder, or a word too many.
    """
    from flows.pipeline.publish.export import Publication

    names = [word for word in target if "=" not in word]
    overrides = [*(word for word in target if "=" in word), *overrides]
    if not any(word.startswith("benchmark=") for word in overrides) and names:
        overrides = [f"benchmark={names.pop(0)}", *overrides]
    folder = output or (Path(names.pop(0)) if names else None)
    if folder is None or names:
        found = f"{names[0]!r} is one word too many" if names else "no folder"
        raise ConfigError("export", found, "staffbench export BENCHMARK FOLDER, or -o FOLDER")
    publication = Publication(creator, url)
    return exporter(to)(project, overrides, folder, screen, allow=allow, publication=publication)
