"""The protocols that there are, each by its name in `benchmark.protocol`."""

from __future__ import annotations

from collections.abc import Mapping

from flows.pipeline.work.briefs import Briefs
from flows.pipeline.work.reports import Reports
from flows.pipeline.work.run_context import BenchmarkKind
from flows.schema.settings import BenchmarkSettings, ProtocolName

KINDS: Mapping[ProtocolName, BenchmarkKind] = {kind.name: kind for kind in (Briefs(), Reports())}


def kind_of(benchmark: BenchmarkSettings) -> BenchmarkKind:
    """What the benchmark's protocol does its own way."""
    return KINDS[benchmark.protocol]
