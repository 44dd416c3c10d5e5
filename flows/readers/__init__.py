"""Document readers: a source file as text that loses nothing a person would see in it.

`read_document(path)` is the whole public interface; `guarded.read_guarded` is the same in a process that
is ended over its limits. See README.md beside this file for what each format keeps, how it is written into
the text, and how other converters compare.
"""

from flows.readers.read import READER_VERSIONS, SUFFIXES, read_document

__all__ = ["READER_VERSIONS", "SUFFIXES", "read_document"]
