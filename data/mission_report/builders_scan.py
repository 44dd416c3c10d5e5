"""PDF attachments that look as if somebody had laid a typed sheet askew on a scanner.

A source `NAME.pdf.scan` has front matter between two `---` lines and then the sheet as typed: every line
is kept as it stands, spaces included, and a line `---` begins the next sheet. Front matter:

    title       the file's title property; it is not printed
    skew        slope of the lines in degrees, 0.6 unless given; every second sheet leans the other way
    stamps      list of {sheet, line, column, text, angle}: rubber stamps over the text

A line that starts with `~` is a note in handwriting. The text layer is there, as in a scan that went
through character recognition: upright words at the places where they lie on the crooked sheet.
"""

# The libraries behind the builders ship no complete types, and `builders` lies in the folder above.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import yaml
from builders.markdown import SourceError
from builders.package import AUTHOR
from reportlab.lib.pagesizes import letter
from reportlab.lib.units import cm
from reportlab.pdfgen.canvas import Canvas

KEYS = {"title", "skew", "stamps"}
WIDTH, HEIGHT = letter
LEFT, TOP = 1.9 * cm, HEIGHT - 2.3 * cm
SIZE, LEADING = 9.5, 13.0  # points; Courier is 0.6 of its size wide
COLUMN = SIZE * 0.6
MOST_LINES, MOST_COLUMNS = 50, 88
SPECKS = 90


def build_scan(path: Path) -> bytes:
    """The PDF file of the typed sheets at `path`. Raises SourceError where they break the format."""
    parts = re.split(r"^---\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if len(parts) < 3 or parts[0]:  # noqa: PLR2004 -- nothing, front matter, one sheet
        raise SourceError(f"{path}: no front matter between two `---` lines at its start")
    meta = yaml.safe_load(parts[1])
    if "title" not in meta or not meta.keys() <= KEYS:
        raise SourceError(f"{path}: front matter needs `title` and takes only {sorted(KEYS)}")
    buffer = io.BytesIO()
    # Streams stay plain: builds of zlib differ in their output, and git deflates anyway.
    canvas = Canvas(buffer, pagesize=letter, invariant=1, pageCompression=0)
    canvas.setTitle(meta["title"])
    canvas.setAuthor(AUTHOR)
    for number, sheet in enumerate(parts[2:], 1):
        lines = sheet.rstrip("\n").split("\n")
        if len(lines) > MOST_LINES or max(map(len, lines)) > MOST_COLUMNS:
            raise SourceError(
                f"{path}: sheet {number} exceeds {MOST_LINES} lines of {MOST_COLUMNS} characters"
            )
        slope = math.tan(math.radians(float(meta.get("skew", 0.6)))) * (1 if number % 2 else -1)
        _draw_dirt(canvas, f"{path.name}/{number}")
        _draw_lines(canvas, lines, slope)
        for stamp in meta.get("stamps", []):
            if stamp["sheet"] == number:
                _draw_stamp(canvas, stamp)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def _chance(key: str) -> float:
    """A number from 0 to 1 that depends on `key` alone."""
    return int.from_bytes(sha256(key.encode()).digest()[:4]) / 2**32


def _draw_dirt(canvas: Canvas, key: str) -> None:
    """Grey paper that doesn't cover the glass, its dark edge, and specks."""
    canvas.setFillGray(0.94)
    canvas.rect(0.3 * cm, 0.4 * cm, WIDTH - 0.5 * cm, HEIGHT - 0.7 * cm, stroke=0, fill=1)
    canvas.setFillGray(0.35)
    canvas.rect(0, 0, 0.25 * cm, HEIGHT, stroke=0, fill=1)
    for speck in range(SPECKS):
        x, y, size = (_chance(f"{key}/{speck}/{axis}") for axis in "xyz")
        canvas.setFillGray(0.45)
        canvas.circle(x * WIDTH, y * HEIGHT, 0.2 + 0.7 * size, stroke=0, fill=1)


def _draw_lines(canvas: Canvas, lines: list[str], slope: float) -> None:
    for row, line in enumerate(lines):
        written = line.startswith("~")
        canvas.setFont("Times-Italic" if written else "Courier", SIZE + 3 if written else SIZE)
        canvas.setFillColorRGB(*((0.1, 0.15, 0.5) if written else (0.15, 0.15, 0.15)))
        if written:
            indent = len(line) - len(line[1:].lstrip()) - 1
            x = LEFT + COLUMN * indent
            canvas.drawString(x, TOP - LEADING * row + slope * x, line[1:].strip())
            continue
        for word in re.finditer(r"\S+(?: \S+)*", line):
            # One text object for words a space apart: recognised text comes in such stretches.
            x = LEFT + COLUMN * word.start()
            canvas.drawString(x, TOP - LEADING * row + slope * x, word[0])


def _draw_stamp(canvas: Canvas, stamp: Mapping[str, Any]) -> None:
    canvas.saveState()
    canvas.translate(LEFT + COLUMN * stamp["column"], TOP - LEADING * stamp["line"])
    canvas.rotate(stamp.get("angle", 0))
    canvas.setFont("Helvetica-Bold", 15)
    canvas.setFillColorRGB(0.65, 0.1, 0.1)
    canvas.setStrokeColorRGB(0.65, 0.1, 0.1)
    width = canvas.stringWidth(stamp["text"], "Helvetica-Bold", 15)
    canvas.rect(-4, -5, width + 8, 21, stroke=1, fill=0)
    canvas.drawString(0, 0, stamp["text"])
    canvas.restoreState()


BUILDERS: dict[str, tuple[str, Callable[[Path], bytes]]] = {".pdf.scan": (".pdf", build_scan)}
"""Ending of a source to the ending of its file and the function that builds it."""
