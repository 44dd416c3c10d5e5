"""What a stage does and what it leaves: free of Prefect, which commands without a run need not import."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flows.common.digests import canonical_json, sha256_text

STAGES = ("packet", "generate", "truncate", "judge", "score", "aggregate")


@dataclass(frozen=True)
class Work:
    """Description of one stage run."""

    stage: str
    inputs: Mapping[str, Any]  # everything the value depends on, including the stage's version
    make: Callable[[], Awaitable[Any]]  # computes the value, which must be JSON-serialisable
    is_final: Callable[[Any], bool] = lambda _: True  # False to compute it again, such as after failed calls

    @cached_property
    def key(self) -> str:
        """SHA-256 of the stage and its inputs: the key in Prefect's cache and in the object store."""
        return sha256_text(canonical_json({"stage": self.stage, "inputs": self.inputs}))


@dataclass(frozen=True)
class StageResult:
    """Result of a stage."""

    value: Any  # as JSON
    address: str  # its digest, an input of later stages
    skipped: bool  # True if an earlier run computed it
