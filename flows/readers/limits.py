"""Bounds that all readers share."""

from __future__ import annotations

MAX_TEXT = 10_000_000
"""Characters of text that a document may give: some three thousand full pages."""
