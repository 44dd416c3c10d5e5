"""The tools that read files: list, text and page images."""

import threading
from collections import OrderedDict
from pathlib import Path, PurePosixPath

from flows.common.digests import sha256_bytes
from flows.common.errors import ReadError
from flows.pipeline.native.folder import REPORT, Folder
from flows.pipeline.native.offered import FilePage, PageView
from flows.pipeline.native.renders import Layout, Renders
from flows.pipeline.native.toolbox import ToolAnswer, ToolFault, encodable, page_of
from flows.readers import SUFFIXES
from flows.readers.guarded import read_guarded_bytes
from flows.schema.completion import Image
from flows.schema.document import Document

_OFFICE = frozenset(
    {suffix for suffix, media in SUFFIXES.items() if media in ("docx", "xlsx")}
    | {".doc", ".dot", ".xls", ".xlsb", ".ppt", ".pptx", ".rtf", ".odt", ".ods", ".odp"}
)
_PICTURES = {".png": ("image/png", b"\x89PNG\r\n"), ".jpg": ("image/jpeg", b"\xff\xd8\xff")}
_PICTURES[".jpeg"] = _PICTURES[".jpg"]
_MAX_PICTURE = 3_500_000  # bytes; base64 adds a third, and providers take 5 MB
_CACHED = 30_000_000  # characters


def list_files(folder: Folder) -> ToolAnswer:
    """List the files with their sizes, except the report's: compression may differ by machine."""
    lines: list[str] = []
    for entry in folder.entries():
        if entry.size is None:
            lines.append(f"{entry.path} (no regular file: not opened)")
        else:
            lines.append(
                entry.path if entry.path == "/".join(REPORT) else f"{entry.path} ({entry.size:,} bytes)"
            )
    return ToolAnswer(encodable("\n".join(lines) or "There is no file."))


def read_file(folder: Folder, wanted: FilePage, page_chars: int) -> ToolAnswer:
    """Return one part of a file's text.

    Raises:
        PathRefused: see `Folder.read`.
        ReadError: the file can't be read.
        ToolFault: the offset is out of range.
    """
    path, data = folder.read(wanted.path)
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in _PICTURES:
        raise ToolFault(path, "a picture", "a document", "call view_page, if you have that tool")
    return ToolAnswer(encodable(page_of(_texts.of(path, data), wanted.offset, page_chars, path)))


async def view_page(renders: Renders, path: str, data: bytes, wanted: PageView, caller: str) -> ToolAnswer:
    """Return the image of a page.

    `path` is as `Folder.read` returns it; for `caller` see `Renders.layout`.

    Raises:
        ToolFault: the page does not exist, or such a file can't be rendered.
        StoreError: the image can't be stored.
    """
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in _PICTURES:
        media, magic = _PICTURES[suffix]
        if not data.startswith(magic):
            raise ToolFault(path, f"no {media.removeprefix('image/').upper()} inside", "a picture")
        layout = Layout(1, (data,) if wanted.page == 1 else (), "1 page")
    elif suffix == ".pdf" or suffix in _OFFICE:
        media = "image/png"
        layout = await renders.page(data, suffix, wanted.page, caller=caller)
    else:
        raise ToolFault(path, f"a file of the kind {suffix or 'unknown'}", "Word, PDF, Excel or a picture")
    if layout.pages is None:
        return ToolAnswer(f"{encodable(path)}: {layout.said}.")
    if wanted.page > layout.pages:
        raise ToolFault(path, f"page {wanted.page}", f"1 to {layout.pages}")
    if not layout.images:
        raise ToolFault(path, f"page {wanted.page} of {layout.pages}", "one of the first 20, for such a file")
    if len(layout.images[0]) > _MAX_PICTURE:
        raise ToolFault(path, f"a picture of {len(layout.images[0]):,} bytes", f"at most {_MAX_PICTURE:,}")
    text = f"{encodable(path)}, page {wanted.page} of {layout.pages}:"
    return ToolAnswer(text, (Image(media, layout.images[0]),))


class _Texts:
    """Cache of recently read documents, since all attempts at a task read the same files."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: OrderedDict[tuple[str, str], str] = OrderedDict()

    def of(self, path: str, data: bytes) -> str:
        """Return the text of a document, with its notices first."""
        key = (path, sha256_bytes(data))
        with self._lock:
            if key in self._texts:
                self._texts.move_to_end(key)
                return self._texts[key]
        text = _with_notices(_document(path, data))
        with self._lock:
            self._texts[key] = text
            while sum(map(len, self._texts.values())) > _CACHED:
                self._texts.popitem(last=False)
        return text


_texts = _Texts()


def _document(path: str, data: bytes) -> Document:
    media = SUFFIXES.get(PurePosixPath(path).suffix.lower())
    if media is None:
        raise ReadError(
            path, "no reader for such a file", "one of " + ", ".join(SUFFIXES), "view its pages instead"
        )
    return read_guarded_bytes(data, Path(path), media)


def _with_notices(document: Document) -> str:
    notices = [f"- {notice.kind}, {notice.place}: {notice.detail}" for notice in document.notices]
    if not notices:
        return document.text
    return "\n".join(["[The reader says:", *notices, "]", "", document.text])
