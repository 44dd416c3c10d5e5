"""Parse XML of Office files safely (no entities, bounded size), and choose the alternatives that are shown.

The namespaces of a strict file (ISO/IEC 29500-1) are rewritten to the transitional ones before parsing.
"""

import importlib
import re
from collections.abc import Iterator
from typing import IO, Any

from flows.common.errors import ReadError
from flows.common.word_xml import Element

MAX_TAGS = 1_500_000  # of XML held at once; an element takes up to 350 bytes in memory
MAX_STREAMED = 1_000_000  # the same of one row or text of a part that is streamed

SAFE: dict[str, Any] = {"resolve_entities": False, "no_network": True, "load_dtd": False}
"""Options of lxml's parsers."""

REPAIR = "open it in the program that made it, repair it and save it again"

_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
_DOCTYPES = tuple("<!DOCTYPE".encode(code) for code in ("ascii", "utf-16-le", "utf-16-be"))
_ALTERNATES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_EQUATION = "{http://schemas.microsoft.com/office/drawing/2010/main}m"
_OFFICE = ("http://schemas.microsoft.com/", "http://schemas.openxmlformats.org/")


def lxml_etree() -> Any:
    """Return the module `lxml.etree`, which has no types; imported late for a fast `import flows.readers`."""
    return importlib.import_module("lxml.etree")


def parse_xml(data: bytes, where: str, *, recover: bool = False) -> Element:
    """Parse one part; entities and document types are refused, as the standard forbids them.

    `where` names it in errors. With `recover` it goes on after errors; the result may be None.

    Raises:
        ReadError: not well-formed, more than MAX_TAGS tags, nested deeper than 256 elements, or with a
            document type.
    """
    etree = lxml_etree()
    if any(mark in data for mark in _DOCTYPES):
        raise ReadError(
            where,
            "an XML part declares a document type, which can hide entities that expand without end "
            "or read other files",
            "XML without <!DOCTYPE>",
            "get the document from a source that you trust and save it again",
        )
    if data.count(b"<") > MAX_TAGS:
        raise _too_many(where)
    try:
        return etree.fromstring(_STRICT.sub(_TRANSITIONAL, data), etree.XMLParser(recover=recover, **SAFE))
    except etree.XMLSyntaxError as error:
        raise ReadError(where, f"XML that is not well-formed ({error})", "", REPAIR) from error


def _too_many(where: str, bound: int = MAX_TAGS) -> ReadError:
    return ReadError(
        where, f"more than {bound:,} XML tags at once", "fewer, as in real documents", "split it"
    )


def walked(element: Element) -> Iterator[Element]:
    """Yield an element and its descendants in order; of `mc:AlternateContent` only the branch shown.

    Office takes the first choice whose namespaces it knows, else the fallback. Fallbacks hold texts
    such as 'this shape represents a slicer', which no current version shows.
    """
    if element.tag == f"{_ALTERNATES}AlternateContent":
        # Of an equation the fallback has the text.
        shown = (branch for branch in branches(element) if next(branch.iter(_EQUATION), None) is None)
        for part in next(shown, ()):
            yield from walked(part)
        return
    yield element
    for part in element:
        yield from walked(part)


def branches(alternative: Element) -> Iterator[Element]:
    """Yield the branches of `mc:AlternateContent` that Office considers, preferred ones first.

    A choice that requires an extension of another maker is not shown, its fallback is.
    """
    for branch in alternative:
        spaces = [branch.nsmap.get(prefix) or "" for prefix in str(branch.get("Requires") or "").split()]
        if all(space.startswith(_OFFICE) for space in spaces):
            yield branch


class Counted:
    """A stream that counts the tags that pass; whoever frees the elements sets `tags` back."""

    def __init__(self, stream: IO[bytes], where: str) -> None:
        self.stream = stream
        self.where = where
        self.tags = 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size`."""
        # The namespaces stand in the first stretch, so none is cut in two by the end of one.
        data = _STRICT.sub(_TRANSITIONAL, self.stream.read(size))
        self.tags += data.count(b"<")
        if self.tags > MAX_STREAMED:
            raise _too_many(self.where, MAX_STREAMED)
        return data
