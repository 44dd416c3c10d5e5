"""Convert documents to pages: LibreOffice makes a PDF, PDFium counts and renders its pages.

Each conversion has its own user profile: with a shared one LibreOffice passes a second document to the first
process, which may exit before converting it, without an error. The profile disables macros and links to files
and URLs; by default LibreOffice fetches linked pictures.
"""

# pypdfium2 ships no complete types:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from flows.adapters.pages.draw import opened, png_of
from flows.adapters.pages.fonts import Fonts, named_fonts

SECONDS = 120.0  # limit of one conversion; a page takes two to four seconds, most of it LibreOffice's start

_TRIES = 2  # LibreOffice now and then aborts at its start, and not again with the same file
_BY_SIGNAL = 128

MAX_IMAGES = 20
MAX_UNPACKED = 512 * 1024 * 1024
MAX_PAGES = 2_000  # whose fonts are looked at

_NAMES = ("soffice", "libreoffice", "/Applications/LibreOffice.app/Contents/MacOS/soffice")
_SECURITY = {
    "Office.Common/Security/Scripting": {
        "BlockUntrustedRefererLinks": "true",
        "DisableMacrosExecution": "true",
        "MacroSecurityLevel": "3",
    },
    "Office.Writer/Content/Update": {"Link": "0"},
    "Office.Calc/Content/Update": {"Link": "2"},
}
_SETTINGS = re.compile(rb"<(\w+:)?settings\b[^>]*(?<!/)>")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A document as pages."""

    pages: int | None  # number of pages; None, never 0, if not counted
    images: tuple[bytes, ...] = ()  # the first pages as PNG, in order; empty if not requested
    fonts: Fonts | None = None  # of the rendering; None if there is none
    renderer: str | None = None  # program and version, as printed next to a page count; None if there is none
    reason: str = ""  # why `pages` is None; empty if it isn't

    def __str__(self) -> str:
        """Format as one line: `2 pages (LibreOffice 7.4.7.2; fonts drawn: ...)`, or the reason."""
        if self.pages is None:
            return f"pages not measured: {self.reason}"
        return f"{self.pages} page{'s' * (self.pages != 1)} ({self.renderer}; {self.fonts})"


def find_converter() -> Path | None:
    """Return the path of `soffice`; None if LibreOffice is not installed."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    return None if found is None else Path(found)


def render(
    path: Path,
    *,
    images: int = 0,
    seconds: float = SECONDS,
    converter: Path | None = None,
) -> Rendered:
    """Lay out one document.

    Tracked changes of a Word file: insertions are text and deletions are gone, as the judge's text has it.

    Args:
        path: a .docx, .xlsx or other file that LibreOffice reads; a .pdf needs no LibreOffice.
        images: number of first pages to render, at DPI; at most MAX_IMAGES.
        seconds: limit; a conversion that takes longer is ended.
        converter: the `soffice` to run; None to look for it.

    Returns:
        The pages, or the reason for any failure; never a page count of 0.
    """
    count = min(images, MAX_IMAGES)
    if path.is_symlink() or not path.is_file():
        return Rendered(None, reason=f"{path.name} is no file")
    if path.suffix.lower() == ".pdf":
        return _drawn(path, count, None, "PDFium")
    converter = converter or find_converter()
    if converter is None:
        return Rendered(None, reason="LibreOffice is not installed (no soffice on the path)")
    with tempfile.TemporaryDirectory(prefix="pages-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        copy = folder / f"document{path.suffix.lower()}"  # its name may be unsafe
        try:
            if path.suffix.lower() in {".docx", ".docm", ".dotx"}:
                _without_changes(path, copy)
            else:
                shutil.copyfile(path, copy)
            crashed, reason = True, ""
            for number in range(_TRIES):
                crashed, reason = _convert(converter, copy, folder, seconds, number)
                if not crashed:
                    break
        except (OSError, ValueError, RuntimeError, zipfile.BadZipFile, NotImplementedError) as error:
            return Rendered(None, reason=f"it can't be converted ({type(error).__name__}: {error})")
        pdf = copy.with_suffix(".pdf")
        if not pdf.is_file():
            return Rendered(None, renderer=_version(converter), reason=reason or "LibreOffice wrote no PDF")
        return _drawn(pdf, count, named_fonts(copy), _version(converter))


def _without_changes(path: Path, copy: Path) -> None:
    """Copy a Word file with its tracked changes hidden, as `w:revisionView` asks of LibreOffice."""

    def hide(match: re.Match[bytes]) -> bytes:
        prefix = match.group(1) or b""
        return match.group() + b'<%srevisionView %smarkup="0" %sinsDel="0"/>' % (prefix, prefix, prefix)

    with zipfile.ZipFile(path) as source, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as target:
        names = source.namelist()
        if len(set(names)) < len(names) or sum(info.file_size for info in source.infolist()) > MAX_UNPACKED:
            raise ValueError(f"two parts of one name, or over {MAX_UNPACKED:,} bytes unpacked")
        for info in source.infolist():
            with source.open(info) as part:
                if info.filename == "word/settings.xml":
                    target.writestr(info.filename, _SETTINGS.sub(hide, part.read(), count=1))
                else:
                    with target.open(info.filename, "w") as out:
                        shutil.copyfileobj(part, out)


def _convert(converter: Path, source: Path, folder: Path, seconds: float, number: int) -> tuple[bool, str]:
    """Run LibreOffice; return whether it crashed without a PDF, and what went wrong if there is none."""
    profile = _profile(folder / f"profile-{number}")
    command = [str(converter), f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore"]
    command += ["--nolockcheck", "--convert-to", "pdf", "--outdir", str(folder), str(source)]
    # A new session: `soffice` is a script whose children must end with it.
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 -- a fixed command; the file's own name is not in it
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_environment(folder),
            start_new_session=True,
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False, f"LibreOffice took over {seconds:g} s"
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    said = (folder / "log").read_text(encoding="utf-8", errors="replace").split()
    # The script `soffice` passes a signal of its child on as 128 and its number.
    crashed = (code < 0 or code > _BY_SIGNAL) and not source.with_suffix(".pdf").is_file()
    return crashed, f"LibreOffice wrote no PDF (exit {code}: {' '.join(said)[-200:]})"


def _profile(profile: Path) -> Path:
    items = [
        f'<item oor:path="/org.openoffice.{path}"><prop oor:name="{name}" oor:op="fuse">'
        f"<value>{value}</value></prop></item>"
        for path, entries in _SECURITY.items()
        for name, value in entries.items()
    ]
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry">' + "".join(items) + "</oor:items>\n"
    )
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(text, encoding="utf-8")
    return profile


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment without secrets, home folder or display, with a fixed locale."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ
    }
    return {
        **kept,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "SAL_USE_VCLPLUGIN": "svp",
    }


@cache
def _version(converter: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="pages-", ignore_cleanup_errors=True) as name:
        try:
            done = subprocess.run(  # noqa: S603 -- a fixed command
                [str(converter), f"-env:UserInstallation={Path(name).as_uri()}", "--version"],
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
                env=_environment(Path(name)),
            )
        except (OSError, subprocess.TimeoutExpired):
            return "LibreOffice, version unknown"
    found = re.search(r"LibreOffice \d[\d.]*", done.stdout)
    return found.group() if found else "LibreOffice, version unknown"


def _drawn(pdf: Path, images: int, named: tuple[str, ...] | None, renderer: str) -> Rendered:
    from pypdfium2 import PdfiumError

    failed = "the PDF can't be opened"
    try:
        with opened(pdf) as document:
            failed = "a page can't be drawn"
            pages = len(document)
            if not pages:
                return Rendered(None, renderer=renderer, reason="the PDF has no page")
            drawn = tuple(png_of(document[number]) for number in range(min(images, pages)))
            fonts = {name for number in range(min(pages, MAX_PAGES)) for name in _fonts(document[number])}
    except PdfiumError as error:
        return Rendered(None, renderer=renderer, reason=f"{failed} ({error})")
    return Rendered(pages, drawn, Fonts.of(named, fonts), renderer)


def _fonts(page: Any) -> set[str]:
    from pypdfium2.raw import FPDF_PAGEOBJ_TEXT

    return {text.get_font().get_base_name() for text in page.get_objects(filter=[FPDF_PAGEOBJ_TEXT])}
