"""Garbage collection for a process that imports much and makes many small objects."""

import gc

# Imports leave 300,000 live objects. With default thresholds, garbage collection scans them again and again:
# a fifth of a command's start, and a tenth of a run.
_COLLECT_AFTER = (50_000, 20, 50)


def collect_rarely() -> None:
    """Let this process collect garbage less often."""
    gc.set_threshold(*_COLLECT_AFTER)
