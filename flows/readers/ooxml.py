"""Open an Office Open XML package safely: bounded sizes, no paths out of the package.

Both variants of the standard are read: see `markup`. python-docx and openpyxl can't be asked to do this:
both refuse strict packages, and python-docx refuses `.docm` and `.dotx` as well.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO

from flows.common.errors import ReadError
from flows.readers.markup import REPAIR, SAFE, Counted, Element, lxml_etree, parse_xml

MAX_PARTS = 10_000
MAX_UNPACKED = 512 * 1024 * 1024  # all parts together, as declared; zipfile stops a part at that size
MAX_PART = 256 * 1024 * 1024
MAX_RATIO = 300  # deflate reaches 1032; text of real documents and sheets stays under 100
RATIO_FROM = 4 * 1024 * 1024  # a small part can't hurt, whatever its ratio
_BOMB = "don't open it; get the document from a source that you trust"
_OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"


@dataclass(frozen=True, slots=True)
class Relationship:
    """A link from one part to another part, or to an address outside (`external`)."""

    kind: str
    target: str
    external: bool


@dataclass(frozen=True, slots=True)
class Program:
    """An Office program: its name, its documents, their suffix, and parts of their content types."""

    name: str
    makes: str
    suffix: str
    types: tuple[str, ...]


def opened(data: bytes, path: Path, program: Program) -> tuple[Package, bool]:
    """A document of `program`, and whether it carries code.

    Raises:
        ReadError: it is damaged, protected, of another kind, or carries code that its name does not say.
    """
    refuse_ole(data, path, program.suffix)
    package = Package(data, path)
    if not any(kind in package.main_type for kind in program.types):
        raise ReadError(
            path,
            f"an Office file of another kind ({package.main_type or 'unknown type'})",
            program.makes,
            "give the file the suffix of what it is",
        )
    suffix = path.suffix.lower()
    if package.has_macro and suffix.endswith("x"):
        raise ReadError(
            path,
            f"a macro (VBA code) in a file named {path.suffix}, which may not have one; "
            f"{program.name} refuses it too",
            f"{program.makes} without macros",
            f"save it without macros, or name it {suffix[:-1]}m if the macro is meant",
        )
    return package, package.has_macro


def refuse_ole(data: bytes, path: Path, modern: str) -> None:
    """Reject a compound file: a protected package, or the format of Office 97 to 2003.

    Raises:
        ReadError: `data` is a compound file.
    """
    if not data.startswith(_OLE_MAGIC):
        return
    if _ENCRYPTED in data:
        raise ReadError(
            path,
            "the file is protected with a password",
            "a file that opens without one",
            f"open it, remove the password and save it as {modern}",
        )
    raise ReadError(
        path,
        "a file of Office 97 to 2003 (a compound file)",
        f"a {modern} file",
        f"open it in Word, Excel or LibreOffice and save it as {modern}",
    )


class Package:
    """The parts of one .docx or .xlsx file.

    Raises:
        ReadError: from the constructor and from every method, for anything that makes the file
            unreadable as a whole.
    """

    def __init__(self, data: bytes, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            infos = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            found = "damaged or cut short" if data.startswith(b"PK") else "no Office file inside"
            raise ReadError(
                path, f"{found} ({error})", "a complete file", "get the file again, or " + REPAIR
            ) from error
        self._check(infos)
        self._names = {info.filename.replace("\\", "/").lower().lstrip("/"): info for info in infos}

    def _check(self, infos: list[zipfile.ZipInfo]) -> None:
        if len(infos) > MAX_PARTS:
            raise ReadError(self.path, f"{len(infos)} parts", f"at most {MAX_PARTS}")
        seen: set[str] = set()
        for info in infos:
            name = info.filename.replace("\\", "/")
            if ".." in name.split("/") or re.match(r"[a-zA-Z]:|//", name):
                raise ReadError(
                    self.path,
                    f"the package holds the path {info.filename!r}, which leads out of it",
                    "paths inside the package",
                    _BOMB,
                )
            if name.lower() in seen:
                raise ReadError(self.path, f"two parts are named {info.filename!r}", "one", REPAIR)
            seen.add(name.lower())
            if info.flag_bits & 1:
                raise ReadError(
                    self.path, "the file is protected with a password", "", "remove the password and save it"
                )
        unpacked = sum(info.file_size for info in infos)
        if unpacked > MAX_UNPACKED:
            raise ReadError(
                self.path,
                f"it unpacks to {unpacked:,} bytes (a zip bomb?)",
                f"at most {MAX_UNPACKED:,}",
                "split the document",
            )

    def names(self) -> list[str]:
        """Names of all parts, in lower case, sorted."""
        return sorted(self._names)

    def has(self, name: str) -> bool:
        """Whether the part is there; part names ignore case."""
        return name.lower().lstrip("/") in self._names

    def _info(self, name: str) -> zipfile.ZipInfo:
        info = self._names.get(name.lower().lstrip("/"))
        if info is None:
            raise ReadError(self.path, f"the part {name!r} is missing", "a complete package", REPAIR)
        if info.file_size > MAX_PART or (
            info.file_size > RATIO_FROM and info.file_size > MAX_RATIO * max(info.compress_size, 1)
        ):
            raise ReadError(
                self.path,
                f"the part {name!r} unpacks from {info.compress_size:,} to {info.file_size:,} bytes, "
                "as a zip bomb does",
                f"at most {MAX_RATIO} times its size and {MAX_PART:,} bytes",
                _BOMB,
            )
        return info

    def open(self, name: str) -> IO[bytes]:
        """Return the decompressed bytes of a part as a stream."""
        try:
            return self._zip.open(self._info(name))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            raise self._damaged(name, error) from error

    def read(self, name: str) -> bytes:
        """Return the decompressed bytes of a part; their checksum is verified."""
        try:
            with self.open(name) as stream:
                return stream.read()
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            raise self._damaged(name, error) from error

    def _damaged(self, name: str, error: Exception) -> ReadError:
        return ReadError(
            self.path, f"the part {name!r} is damaged ({error})", "a complete file", "get the file again"
        )

    def xml(self, name: str) -> Element:
        """The root element of a part."""
        return parse_xml(self.read(name), f"{self.path}!{name}")

    def streamed(self, name: str, tags: Sequence[str]) -> Iterator[Element]:
        """Yield elements with these local names in the order of their end tags; each is freed after use.

        Raises:
            ReadError: damaged, not well-formed, with a document type, or too many elements at once.
        """
        etree = lxml_etree()
        where = f"{self.path}!{name}"
        try:
            with self.open(name) as stream:
                counted = Counted(stream, where)
                wanted = [f"{{*}}{tag}" for tag in tags]
                for _, element in etree.iterparse(counted, tag=wanted, **SAFE):
                    if element.getroottree().docinfo.doctype:
                        found = "an XML part declares a document type"
                        raise ReadError(where, found, "XML without <!DOCTYPE>")
                    yield element
                    counted.tags = 0
                    element.clear()
                    while element.getprevious() is not None:
                        del element.getparent()[0]
        except etree.XMLSyntaxError as error:
            raise ReadError(where, f"XML that is not well-formed ({error})", "", REPAIR) from error
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            raise self._damaged(name, error) from error

    def relationships(self, part: str) -> dict[str, Relationship]:
        """The links of a part by id, targets resolved to part names; of the package itself for `''`."""
        folder, base = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", base + ".rels")
        if not self.has(rels):
            return {}
        found: dict[str, Relationship] = {}
        for link in self.xml(rels).iter(_RELATIONSHIP):
            target = str(link.get("Target", ""))
            external = link.get("TargetMode") == "External"
            target = target if external or target.startswith("#") else self._inside(folder, target)
            kind = str(link.get("Type", "")).rsplit("/", 1)[-1]
            found[str(link.get("Id"))] = Relationship(kind, target, external)
        return found

    def targets(self, links: Mapping[str, Relationship], kind: str) -> list[str]:
        """Return the parts that links of one kind point to, if they are in the package."""
        inside = (link.target for link in links.values() if link.kind == kind and not link.external)
        return [target for target in inside if self.has(target)]

    def root(self, links: Mapping[str, Relationship], kind: str) -> Element | None:
        """Return the root element of the last part that links of one kind point to; None without one."""
        found = self.targets(links, kind)
        return self.xml(found[-1]) if found else None

    def _inside(self, folder: str, target: str) -> str:
        joined = posixpath.join("/", folder, target.replace("\\", "/")).lstrip("/")
        joined = posixpath.normpath(joined) if joined else ""
        if joined.startswith(".."):
            raise ReadError(
                self.path,
                f"a part refers to {target!r}, which leads out of the package",
                "paths inside the package",
                _BOMB,
            )
        return joined

    @cached_property
    def main(self) -> str:
        """Name of the main part: the document, or the workbook."""
        for link in self.relationships("").values():
            if link.kind == "officeDocument" and not link.external:
                return link.target
        raise ReadError(self.path, "a zip file that is no Office document", "a package with a main part")

    @property
    def main_type(self) -> str:
        """Content type of the main part, such as `application/vnd...document.main+xml`."""
        part = "/" + self.main.lower()
        default = ""
        for entry in self.xml("[Content_Types].xml"):
            if str(entry.get("PartName", "")).lower() == part:
                return str(entry.get("ContentType"))
            if entry.get("Extension") and part.endswith("." + str(entry.get("Extension")).lower()):
                default = str(entry.get("ContentType"))
        return default

    @property
    def has_macro(self) -> bool:
        """Whether the package contains VBA code, whatever its suffix."""
        return (
            any(name.endswith("vbaproject.bin") for name in self._names) or "macroEnabled" in self.main_type
        )
