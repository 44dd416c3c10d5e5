"""Benchmarks of one's own: made, given a rubric, put under DVC."""
