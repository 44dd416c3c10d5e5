"""Readers of plain text, Markdown, CSV and mail."""
