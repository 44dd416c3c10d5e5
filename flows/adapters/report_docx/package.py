"""Open Word files within the readers' limits, and write them reproducibly."""

import io
import re
import zipfile
from pathlib import Path
from typing import Any

from flows.common.errors import ReadError
from flows.common.word_xml import Element
from flows.readers.ooxml import Package, refuse_ole

_NAME = Path("the document")
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_TEMPLATE = _MAIN.replace(".document.main", ".template.main")
_STRICT = b"http://purl.oclc.org/ooxml/"
_PROPERTIES = "/extended-properties"
_THUMBNAIL = "/thumbnail"
_CORE = "/core-properties"
# Of docProps/core.xml. The rest (title, subject, creator, keywords, ...) is kept from the template.
_DROPPED = frozenset({"lastModifiedBy", "created", "modified", "lastPrinted", "revision"})
_PROGRAM = re.compile(r"python-docx", re.IGNORECASE)
_STAMP = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip file can hold
_UNIX = 3


def open_package(data: bytes) -> Any:
    """Open a file as a python-docx document.

    Every part is checked against the readers' limits before python-docx opens the file.

    Raises:
        ReadError: the file is damaged, protected, no Word document, a zip bomb, holds macros, document
            types or paths out of the package, or python-docx can't open it.
    """
    import docx

    _check(data)
    try:
        document = docx.Document(io.BytesIO(_as_document(data)))
        root: Element = document.element
        body = root.body
    except Exception as error:
        # python-docx raises any exception for a damaged package.
        raise ReadError(
            _NAME,
            f"python-docx can't open it ({type(error).__name__}: {error})",
            "a sound .docx file",
            "open it in Word or LibreOffice and save it again",
        ) from error
    if body is None:
        raise ReadError(
            _NAME, "a document without a body", "w:body in its main part", "save it again in Word"
        )
    return document


def _check(data: bytes) -> None:
    refuse_ole(data, _NAME, ".docx")
    package = Package(data, _NAME)
    if package.has_macro:
        raise ReadError(
            _NAME, "a macro (VBA code)", "a document without macros", "save it as .docx without macros"
        )
    if package.main_type not in {_MAIN, _TEMPLATE}:
        raise ReadError(
            _NAME,
            f"an Office file of another kind ({package.main_type or 'unknown type'})",
            "a Word document",
            "name a .docx file",
        )
    package.xml(package.main)
    for name in package.names():
        if name.endswith("/"):
            continue
        if name.endswith((".xml", ".rels")):
            package.xml(name)
            package.relationships(name)
            if name == package.main.lower() and _STRICT in package.read(name):
                raise ReadError(
                    _NAME,
                    "a file in the strict variant of the standard, which can be read and not edited",
                    "an ordinary .docx file",
                    "save it in Word as a Word document, not as a strict one",
                )
        else:
            package.read(name)


def _as_document(data: bytes) -> bytes:
    """The file with its main part named a document, if it is a .dotx: python-docx opens no template."""
    with zipfile.ZipFile(io.BytesIO(data)) as old:
        types = old.read("[Content_Types].xml")
        if _TEMPLATE.encode() not in types:
            return data
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as new:
            for info in old.infolist():
                blob = old.read(info)
                if info.filename == "[Content_Types].xml":
                    blob = blob.replace(_TEMPLATE.encode(), _MAIN.encode())
                new.writestr(info.filename, blob)
    return buffer.getvalue()


def related_root(document: Any, kind: str) -> Element | None:
    """Root of the part to which a document has a link of a kind such as `/comments`; None without one."""
    links = [link for link in document.part.rels.values() if link.reltype.endswith(kind)]
    parts = (link.target_part for link in links if not link.is_external)
    return next((part.element for part in parts if hasattr(part, "element")), None)  # else not parsed


def write_package(document: Any) -> bytes:
    """Return the document as a .docx file without timestamps or generator.

    The parts are not compressed: builds of zlib differ in their output.
    """
    package = document.part.package
    for key, link in list(package.rels.items()):
        if link.reltype.endswith((_PROPERTIES, _THUMBNAIL)):
            # Pages, words, program and picture of the file that the template was.
            del package.rels[key]
        elif link.reltype.endswith(_CORE) and not link.is_external and hasattr(link.target_part, "element"):
            _strip_core(link.target_part)
    saved = io.BytesIO()
    document.save(saved)
    buffer = io.BytesIO()
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as new:
        for name in old.namelist():
            member = zipfile.ZipInfo(name, _STAMP)
            member.create_system = _UNIX  # else it differs on Windows
            new.writestr(member, old.read(name))
    return buffer.getvalue()


def _strip_core(part: Any) -> None:
    root: Element = part.element
    for each in list(root):
        name = str(each.tag).rpartition("}")[2]
        if name in _DROPPED or _PROGRAM.search(str(each.text or "")):
            root.remove(each)
