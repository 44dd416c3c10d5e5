"""Show a configuration, and how Hydra came to it."""

import argparse
import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path

from flows.adapters.config.compose import compose_points, opened
from flows.adapters.config.sources import folders_beside, hydra_of, split_hydra
from flows.adapters.config.steps import as_hydra_takes_it, known_options
from flows.common.errors import ConfigError


def beside_of(project: Path, overrides: Sequence[str]) -> tuple[tuple[Path, ...], list[str]]:
    """Return the folders with options outside the project, and the overrides that name none."""
    with opened(project):
        source, mode, own = split_hydra(overrides)
        return folders_beside(project, source), [*mode, *own]


def show_configuration(
    project: Path,
    overrides: Sequence[str],
    *,
    parser: argparse.ArgumentParser,
    multirun: bool,
    cfg: str | None,
    resolve: bool,
    package: str | None,
    info: str | None,
    hydra_help: bool,
) -> None:
    """Print what the command line asks for: the composed configuration, or how Hydra came to it.

    The other arguments are Hydra's flags; `parser` has those that its help shows.

    Raises:
        ConfigError: invalid settings, or flags that don't fit.
    """
    flags = {"--cfg": cfg, "--info": info, "--hydra-help": hydra_help, "--multirun": multirun}
    asked = [flag for flag, value in flags.items() if value]
    if len(asked) > 1:
        raise ConfigError(asked[0], f"can't be combined with {asked[1]}", remedy=f"remove {asked[1]}")
    if cfg is None and (resolve or package):
        raise ConfigError("--resolve" if resolve else "--package", "has no effect", "--cfg job beside it")
    points = compose_points(project, overrides, multirun=False)
    with opened(project):
        source, mode, own = split_hydra(overrides)
        known = known_options(project, source)
        words = [*mode, *(as_hydra_takes_it(override, known) for override in own)]
        hydra, name = hydra_of(project, source), source.config_name
        if hydra_help:
            hydra.hydra_help(name, parser, argparse.Namespace(overrides=[]))
        elif info:
            hydra.show_info(info, name, words)
        else:
            benchmark = points[0].settings.benchmark.name  # it may be that of a folder of scenarios
            with redirect_stderr(io.StringIO()) as said:
                try:
                    hydra.show_cfg(
                        name,
                        [*words, f"benchmark.name={benchmark}"],
                        str(cfg),
                        package,
                        resolve,
                    )
                except SystemExit:
                    raise ConfigError(f"--package {package}", said.getvalue().strip()) from None
