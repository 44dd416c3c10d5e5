"""Document readers: convert a source file to text without losing anything a person would see.

`read_document(path)` is the public interface; `guarded.read_guarded` does the same in a child process with
limits on time and memory. README.md in this folder says what each format keeps, how it is written as text,
and how other converters compare.
"""

from flows.readers.read import READER_VERSIONS, SUFFIXES, read_document

__all__ = ["READER_VERSIONS", "SUFFIXES", "read_document"]
