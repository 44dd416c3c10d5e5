"""Rubrics as files that people edit and as others publish them."""

from flows.adapters.rubrics.files import SUFFIXES, FileRow, read_rows, to_yaml, write_rows
from flows.adapters.rubrics.published import Published, read_published

__all__ = [
    "SUFFIXES",
    "FileRow",
    "Published",
    "read_published",
    "read_rows",
    "to_yaml",
    "write_rows",
]
