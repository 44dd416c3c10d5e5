"""What a machine made of a document's pages, kept: how many there are and how they look.

Page counts and pictures depend on LibreOffice, its version and the fonts of the machine, and what a model is
shown enters the key of its next request. So each is made once and stored by the document's content; whoever
asks again, also on another machine that was given this folder, gets the same bytes. A measure that failed is
made anew for whoever asks next, and stays failed only for the call that was told so.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from flows.adapters.pages import find_converter, render
from flows.adapters.pages.convert import DPI, MAX_IMAGES
from flows.adapters.pages.draw import draw_page
from flows.common.digests import canonical_json, sha256_bytes, sha256_text
from flows.common.errors import StoreError
from flows.common.files import sync, unwritable

RENDER_VERSION = 1
"""Raised when a stored record would be read differently; part of every record's name."""

_PDF = ".pdf"


@dataclass(frozen=True, slots=True)
class Layout:
    """A document as pages.

    Attributes:
        pages: how many; None where they could not be counted, never 0 for that.
        images: PNG of the first MAX_IMAGES pages, or of the one page that was asked for; empty where
            none was asked for.
        said: in a line how they were counted, or why they were not; equal wherever it is read.
    """

    pages: int | None
    images: tuple[bytes, ...]
    said: str


class Renders:
    """The store of layouts; belongs to one event loop, its folder may be shared by processes."""

    def __init__(self, folder: Path, *, workers: int = 2) -> None:
        """Prepare; nothing is made before it is needed.

        Args:
            folder: where they are kept.
            workers: how many documents are laid out at a time.
        """
        self._folder = folder
        self._room = asyncio.Semaphore(max(1, workers))
        self._locks: dict[str, asyncio.Lock] = {}

    async def layout(self, data: bytes, suffix: str, *, images: bool = False, asker: str = "") -> Layout:
        """Count the pages of a document, and draw the first MAX_IMAGES where `images`.

        Args:
            data: the document.
            suffix: of its name, `.docx`.
            images: whether to draw.
            asker: the call that is answered with it, by the key of its completion and its number: told
                once that nothing could be measured, it is told so again. Empty for none.

        Raises:
            StoreError: it can't be kept.
        """
        return await self._measured(data, suffix.lower(), "images" if images else "count", asker)

    async def page(self, data: bytes, suffix: str, number: int, *, asker: str = "") -> Layout:
        """Draw one page, from 1; of what is no PDF only one of the first MAX_IMAGES can be.

        Returns:
            The layout with that page as its one image; without, where there is no such page.

        Raises:
            StoreError: it can't be kept.
        """
        if suffix.lower() == _PDF:
            return await self._measured(data, _PDF, f"page{number}", asker)
        layout = await self.layout(data, suffix, images=True, asker=asker)
        return Layout(layout.pages, layout.images[number - 1 : number] if number > 0 else (), layout.said)

    async def _measured(self, data: bytes, suffix: str, kind: str, asker: str) -> Layout:
        name = f"{sha256_bytes(data)}{suffix}-{kind}-{DPI}-v{RENDER_VERSION}"
        async with self._locks.setdefault(name, asyncio.Lock()):
            found = await asyncio.to_thread(self._stored, name, asker)
            if found is None:
                async with self._room:
                    found = await asyncio.to_thread(self._make, name, data, suffix, kind, asker)
            return found

    def _make(self, name: str, data: bytes, suffix: str, kind: str, asker: str) -> Layout:
        try:
            pages, images, said = _drawn(data, kind) if kind.startswith("page") else _laid(data, suffix, kind)
        except OSError as error:
            raise unwritable(self._folder, error) from error
        if pages is None:
            if asker:
                note = self._note(name, asker)
                self._keep(
                    note, canonical_json({"said": said}).encode(), lambda: self._read_json(note) is not None
                )
            return Layout(None, (), said)
        digests = [sha256_bytes(image) for image in images]
        for digest, image in zip(digests, images, strict=True):
            self._keep(self._image(digest), image, lambda digest=digest: self._read_image(digest) is not None)
        record = canonical_json({"pages": pages, "images": digests, "said": said}).encode()
        self._keep(self._record(name), record, lambda: self._read_record(name) is not None)
        # Another process may have been quicker: what lies there is what everybody is told.
        kept = self._read_record(name)
        if kept is None:
            raise StoreError(self._record(name), "not there after it was stored", remedy="check the disk")
        return kept

    def _stored(self, name: str, asker: str) -> Layout | None:
        note = self._read_json(self._note(name, asker)) if asker else None
        if note is not None:
            return Layout(None, (), str(note.get("said")))
        return self._read_record(name)

    def _read_record(self, name: str) -> Layout | None:
        """A record with its images; None where any of it is gone or damaged."""
        record = self._read_json(self._record(name))
        if record is None or record.keys() != {"pages", "images", "said"}:
            return None
        images = [self._read_image(str(digest)) for digest in record["images"]]
        whole = tuple(image for image in images if image is not None)
        return Layout(record["pages"], whole, record["said"]) if len(whole) == len(images) else None

    def _read_image(self, digest: str) -> bytes | None:
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

    def _keep(self, path: Path, content: bytes, is_sound: Callable[[], bool]) -> None:
        """Store durably and whole, or not at all; a sound file that is there already stays."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            scratch = Path(name)
            try:
                with open(descriptor, "wb") as file:  # noqa: PTH123 -- pathlib opens no descriptor
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                try:
                    # A link, unlike a move, takes nobody else's place.
                    path.hardlink_to(scratch)
                except OSError:  # it is there, or the disk has no links
                    if not is_sound():
                        scratch.replace(path)
                sync(path.parent)
            finally:
                scratch.unlink(missing_ok=True)
        except OSError as error:
            raise unwritable(path, error) from error

    def _record(self, name: str) -> Path:
        return self._folder / name[:2] / f"{name}.json"

    def _note(self, name: str, asker: str) -> Path:
        return self._folder / name[:2] / f"{name}-not-{sha256_text(asker)[:32]}.json"

    def _image(self, digest: str) -> Path:
        return self._folder / "images" / digest[:2] / f"{digest}.png"


def _drawn(data: bytes, kind: str) -> tuple[int | None, tuple[bytes, ...], str]:
    found = draw_page(data, int(kind.removeprefix("page")))
    if found.pages is None:
        return None, (), "the page can't be drawn"
    return found.pages, () if found.png is None else (found.png,), f"{_count(found.pages)} (PDFium)"


def _laid(data: bytes, suffix: str, kind: str) -> tuple[int | None, tuple[bytes, ...], str]:
    with tempfile.TemporaryDirectory(prefix="layout-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / f"document{suffix}"
        path.write_bytes(data)
        found = render(path, images=MAX_IMAGES if kind == "images" else 0)
    if found.pages is not None:
        return found.pages, found.images, str(found)
    # Not the reason itself: it may name a folder of this machine.
    if suffix != _PDF and find_converter() is None:
        return None, (), "pages are not measured here: LibreOffice is not installed"
    return None, (), "pages are not measured: the document could not be laid out"


def _count(pages: int) -> str:
    return f"{pages} page{'s' * (pages != 1)}"
