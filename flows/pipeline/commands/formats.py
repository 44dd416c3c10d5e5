"""The formats of `staffbench export --to`. A further one is a further line; its module loads when used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

FORMATS = {
    "parquet": "flows.pipeline.publish.export:export",
    "every-eval-ever": "flows.pipeline.publish.eee:export",
    "inspect": "flows.pipeline.inspect:export_logs",
    "model-card": "flows.pipeline.publish.model_card:export",
}
"""Format to its function, which has the signature of `flows.pipeline.publish.export.export`."""


def exporter(name: str) -> Callable[..., int]:
    """Return the function of a format."""
    module, _, function = FORMATS[name].partition(":")
    return getattr(import_module(module), function)
