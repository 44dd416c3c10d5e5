"""Inspect: our benchmarks as its tasks, our results as its logs, and its logs as our results."""
