"""Frozen types that every layer shares. No I/O and no clock."""
