"""Frozen types that every layer shares. No input, no output, no clock."""
