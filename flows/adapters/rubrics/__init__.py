"""Rubrics as files that people edit and as others publish them."""

from flows.adapters.rubrics.files import FileRow, read_rows, to_yaml, write_rows
from flows.adapters.rubrics.published import read_published

__all__ = ["FileRow", "read_published", "read_rows", "to_yaml", "write_rows"]
