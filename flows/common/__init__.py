"""Helpers for every layer: errors, digests, atomic files, text, concurrency."""
