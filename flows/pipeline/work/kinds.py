"""The registry of protocols, by their name in `benchmark.protocol`."""

from __future__ import annotations

from collections.abc import Mapping

from flows.pipeline.work.briefs import Briefs
from flows.pipeline.work.reports import Reports
from flows.pipeline.work.run_context import BenchmarkKind
from flows.schema.settings import BenchmarkSettings, ProtocolName

KINDS: Mapping[ProtocolName, BenchmarkKind] = {kind.name: kind for kind in (Briefs(), Reports())}


def kind_of(benchmark: BenchmarkSettings) -> BenchmarkKind:
    """Return the implementation of the benchmark's protocol."""
    return KINDS[benchmark.protocol]
