"""Inspect: our benchmarks as its tasks, our results as its logs, and its logs as our results."""

from importlib.util import find_spec

from flows.common.errors import ConfigError


def require_inspect() -> None:
    """Check that the extra is installed, before anything of it is imported.

    Raises:
        ConfigError: it is not.
    """
    if find_spec("inspect_ai") is None:
        remedy = "pip install 'staffbench[inspect]'"
        raise ConfigError("inspect_ai", "not installed, and Inspect's logs need it", remedy=remedy)
