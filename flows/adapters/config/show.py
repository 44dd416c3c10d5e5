"""What Hydra shows of a configuration instead of running it: `--cfg`, `--info` and `--hydra-help`."""

from __future__ import annotations

import argparse
import io
from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from flows.adapters.config.compose import compose_points, opened, overrides_for_hydra
from flows.adapters.config.sources import hydra_of
from flows.common.errors import ConfigError


def show_configuration(project: Path, overrides: Sequence[str], parsed: Any) -> None:
    """Print what the command line asks for: the composed configuration, or how Hydra came to it.

    Args:
        project: folder that holds `conf/`.
        overrides: Hydra overrides of one point.
        parsed: `cfg`, `info`, `hydra_help`, `package`, `resolve`, and the `parser` whose flags are shown.

    Raises:
        ConfigError: invalid settings, or flags that don't fit.
    """
    asked = [flag for flag in ("cfg", "info", "hydra_help", "multirun") if getattr(parsed, flag, None)]
    if len(asked) > 1:
        first, second = (f"--{flag.replace('_', '-')}" for flag in asked[:2])
        raise ConfigError(first, f"can't be combined with {second}", remedy=f"remove {second}")
    if parsed.cfg is None and (parsed.resolve or parsed.package):
        flag = "--resolve" if parsed.resolve else "--package"
        raise ConfigError(flag, "has no effect", "--cfg job beside it")
    points = compose_points(project, overrides, multirun=False)
    with opened(project):
        source, words = overrides_for_hydra(project, overrides)
        hydra, name = hydra_of(project, source), source.config_name
        if parsed.hydra_help:
            hydra.hydra_help(name, parsed.parser, argparse.Namespace(overrides=[]))
        elif parsed.info:
            hydra.show_info(parsed.info, name, words)
        else:
            benchmark = points[0].settings.benchmark.name  # it may be that of a folder of scenarios
            with redirect_stderr(io.StringIO()) as said:
                try:
                    hydra.show_cfg(
                        name,
                        [*words, f"benchmark.name={benchmark}"],
                        str(parsed.cfg),
                        parsed.package,
                        parsed.resolve,
                    )
                except SystemExit:
                    raise ConfigError(f"--package {parsed.package}", said.getvalue().strip()) from None
