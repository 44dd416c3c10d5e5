"""Helpers that every layer may use: errors, digests, atomic file writes, asyncio."""
