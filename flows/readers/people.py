"""Names of people in a document's properties, comments and tracked changes, each with its place."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from flows.common.errors import ReadError
from flows.readers.guarded import guarded
from flows.readers.ooxml import Package

_PROPERTIES = {
    "docprops/core.xml": ("creator", "lastModifiedBy"),
    "docprops/app.xml": ("Manager", "Company"),
}
_AUTHOR_ATTRIBUTES = ("author", "displayName")
_MOST_PAGES = 2000


@dataclass(frozen=True, slots=True)
class People:
    """People of one document."""

    # Pairs of name and place, such as `docProps/core.xml, creator`, each once.
    names: tuple[tuple[str, str], ...]


def people_of(data: bytes, path: Path) -> People:
    """Find the people in a Word, Excel or PDF file, in the child process of `guarded`; others have none.

    Raises:
        ReadError: it can't be read.
    """
    if not data.startswith((b"PK\x03\x04", b"%PDF-")):
        return People(())
    return People(tuple((name, place) for name, place in guarded(find_people, data, path)["names"]))


def find_people(data: bytes, path: Path) -> People:
    """`people_of` within this process."""
    try:
        named = _of_pdf(data) if data.startswith(b"%PDF-") else _of_package(Package(data, path))
        found = {(" ".join(name.split()), place): None for name, place in named}
    except ReadError:
        raise
    except Exception as error:  # a damaged file can raise anything in a library
        raise ReadError(path, f"its properties can't be read ({type(error).__name__}: {error})") from error
    # Excel numbers the threads of comments in the place of an author.
    return People(tuple(pair for pair in found if pair[0] and not pair[0].startswith("tc={")))


def _of_package(package: Package) -> Iterator[tuple[str, str]]:
    for part in package.names():
        if not part.endswith(".xml"):
            continue
        root = package.xml(part)
        for element in root.iter():
            if not isinstance(element.tag, str):  # a comment or an instruction of XML
                continue
            name = element.tag.rpartition("}")[2]
            if name in _PROPERTIES.get(part, ()) or (name == "author" and part.startswith("xl/")):
                yield element.text or "", f"{part}, {name}"
            if not part.startswith("word/") and name != "person":
                continue  # tables of a sheet have display names too
            for attribute, value in element.attrib.items():
                if attribute.rpartition("}")[2] in _AUTHOR_ATTRIBUTES:
                    yield value, f"{part}, {name}"


def _of_pdf(data: bytes) -> Iterator[tuple[str, str]]:
    from pdfminer.pdfdocument import PDFDocument
    from pdfminer.pdfpage import PDFPage
    from pdfminer.pdfparser import PDFParser

    from flows.readers.pdf.objects import entries, keys, string

    document: Any = PDFDocument(PDFParser(io.BytesIO(data)))
    for info in document.info:
        yield string(keys(info).get("Author")), "PDF properties, Author"
    for number, page in enumerate(islice(PDFPage.create_pages(document), _MOST_PAGES), 1):
        for entry in entries(page.annots):
            annotation = keys(entry)
            if string(annotation.get("Subtype")) != "Widget":  # of a form field it is the field's name
                yield string(annotation.get("T")), f"p. {number}, author of a comment"
