"""Store of page counts and page images of documents.

Both depend on the machine's fonts and LibreOffice version, and what a model is shown is part of its next
request's key. So each is made once and stored by the document's content: later calls, also on another machine
with a copy of this folder, get the same bytes. After a failure, other calls try again; only the call that was
answered with the failure gets it again.
"""

import asyncio
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flows.adapters.pages import find_converter, render
from flows.adapters.pages.convert import MAX_IMAGES
from flows.adapters.pages.draw import DPI, draw_page
from flows.common.blobs import Mirror
from flows.common.digests import canonical_json, sha256_bytes, sha256_text
from flows.common.errors import Stopped, StoreError
from flows.common.files import unwritable, write_whole
from flows.common.text import plural

RENDER_VERSION = 1
"""Raise when stored records would be read differently; part of every record's name."""

_PDF = ".pdf"


@dataclass(frozen=True, slots=True)
class Layout:
    """Pages of a document."""

    pages: int | None  # their number; None if they could not be counted
    # PNG of the first MAX_IMAGES pages, or of the requested page; empty if none was requested.
    images: tuple[bytes, ...]
    said: str  # one line on how they were counted, or why not; the same on every machine


class Renders:
    """The store of layouts, for one event loop; processes may share its folder."""

    def __init__(self, folder: Path, *, workers: int = 2, mirror: Mirror | None = None) -> None:
        """Set up the store; the folder is created on first use.

        `workers` layouts are made at once. `mirror` is where other machines have the same files, if they
        have.
        """
        self.stopping = False  # True once no more layouts are to be made
        self._mirror = mirror
        self._settled = set[Path]()
        self._folder = folder
        self._slots = asyncio.Semaphore(max(1, workers))
        self._locks: dict[str, asyncio.Lock] = {}

    async def layout(self, data: bytes, suffix: str, *, images: bool = False, caller: str = "") -> Layout:
        """Count the pages of a document, and render the first MAX_IMAGES if `images`.

        `caller` is the tool call, as the key of its completion and its number, or empty: a call that was
        answered with a failure is so again.

        Raises:
            StoreError: the result can't be stored.
        Stopped: it is not stored, and no more are to be made.
        """
        return await self._measured(data, suffix.lower(), "images" if images else "count", caller)

    async def page(self, data: bytes, suffix: str, number: int, *, caller: str = "") -> Layout:
        """Render one page, counted from 1; for files other than PDF, one of the first MAX_IMAGES.

        Returns:
            The layout with that page as its only image; without images if there is no such page.

        Raises:
            StoreError: the result can't be stored.
        """
        if suffix.lower() == _PDF:
            return await self._measured(data, _PDF, f"page{number}", caller)
        layout = await self.layout(data, suffix, images=True, caller=caller)
        return Layout(layout.pages, layout.images[number - 1 : number] if number > 0 else (), layout.said)

    def path_of(self, image: bytes) -> Path:
        """Return the path of a stored image."""
        return self._image(sha256_bytes(image))

    async def _measured(self, data: bytes, suffix: str, kind: str, caller: str) -> Layout:
        name = f"{sha256_bytes(data)}{suffix}-{kind}-{DPI}-v{RENDER_VERSION}"
        async with self._locks.setdefault(name, asyncio.Lock()):
            found = await asyncio.to_thread(self._stored, name, caller)
            if found is None:
                async with self._slots:
                    if self.stopping:
                        raise Stopped("run", "stopped before all was done", remedy="the same command resumes")
                    found = await asyncio.to_thread(self._make, name, data, suffix, kind, caller)
            return found

    def _make(self, name: str, data: bytes, suffix: str, kind: str, caller: str) -> Layout:
        try:
            pages, images, said = _drawn(data, kind) if kind.startswith("page") else _laid(data, suffix, kind)
        except OSError as error:
            raise unwritable(self._folder, error) from error
        if pages is None:
            if caller:
                note = self._note(name, caller)
                self._put(note, canonical_json({"said": said}), lambda: self._read_json(note))
            return Layout(None, (), said)
        digests = [sha256_bytes(image) for image in images]
        for digest, image in zip(digests, images, strict=True):
            self._put(self._image(digest), image, lambda digest=digest: self._read_image(digest))
        record = canonical_json({"pages": pages, "images": digests, "said": said})
        self._put(self._record(name), record, lambda: self._read_record(name))
        # Another process may have stored its record first; all callers use that one.
        kept = self._read_record(name)
        if kept is None:
            raise StoreError(self._record(name), "not there after it was stored", remedy="check the disk")
        return kept

    def _put(self, path: Path, content: str | bytes, kept: Callable[[], object]) -> None:
        """Store a file, unless `kept` reads a sound one."""
        write_whole(path, content, durable=True, keep=lambda: kept() is not None)
        self._settle(path)

    def _settle(self, path: Path) -> None:
        """Take the file that the first machine stored, once in a run; store ours if there is none."""
        if self._mirror is not None and path not in self._settled:
            self._mirror.settle(path)
            if path.is_file():
                self._settled.add(path)

    def _stored(self, name: str, caller: str) -> Layout | None:
        if caller:
            self._settle(self._note(name, caller))
        self._settle(self._record(name))
        note = self._read_json(self._note(name, caller)) if caller else None
        if note is not None:
            return Layout(None, (), str(note.get("said")))
        return self._read_record(name)

    def _read_record(self, name: str) -> Layout | None:
        """Load a record with its images; None if any of it is missing or damaged."""
        record = self._read_json(self._record(name))
        if record is None or record.keys() != {"pages", "images", "said"}:
            return None
        images = [self._read_image(str(digest)) for digest in record["images"]]
        sound = tuple(image for image in images if image is not None)
        return Layout(record["pages"], sound, record["said"]) if len(sound) == len(images) else None

    def _read_image(self, digest: str) -> bytes | None:
        self._settle(self._image(digest))
        try:
            image = self._image(digest).read_bytes()
        except OSError:
            return None
        return image if sha256_bytes(image) == digest else None

    def _read_json(self, path: Path) -> dict[str, Any] | None:
        try:
            value = json.loads(path.read_bytes())
        except (OSError, ValueError):
            return None
        return cast("dict[str, Any]", value) if isinstance(value, dict) else None

    def _record(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name}.json"

    def _note(self, name: str, caller: str) -> Path:
        return self._folder / name[:2] / f"{name}-not-{sha256_text(caller)[:32]}.json"

    def _image(self, digest: str) -> Path:
        return self._folder / "images" / digest[:2] / f"{digest}.png"


def _drawn(data: bytes, kind: str) -> tuple[int | None, tuple[bytes, ...], str]:
    found = draw_page(data, int(kind.removeprefix("page")))
    if found.pages is None:
        return None, (), "the page can't be drawn"
    return found.pages, () if found.png is None else (found.png,), f"{plural(found.pages, 'page')} (PDFium)"


def _laid(data: bytes, suffix: str, kind: str) -> tuple[int | None, tuple[bytes, ...], str]:
    with tempfile.TemporaryDirectory(prefix="layout-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / f"document{suffix}"
        path.write_bytes(data)
        found = render(path, images=MAX_IMAGES if kind == "images" else 0)
    if found.pages is not None:
        return found.pages, found.images, str(found)
    # Without the reason, which may name a folder of this machine.
    if suffix != _PDF and find_converter() is None:
        return None, (), "pages are not measured here: LibreOffice is not installed"
    return None, (), "pages are not measured: the document could not be laid out"
