"""Text of a Word report as the judge reads it, by the standard library alone.

Headings are marked with `#`, list items with their number, tables with bars; headers and footers stand
first and last. Deleted, hidden and white text is left out: a reader of the page does not see it.
"""

# pyright: basic
# ruff: noqa: INP001, S314 -- document types are refused, and expat bounds what entities expand to
from __future__ import annotations

import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MOST_BYTES = 100 * 1024 * 1024
_SKIPPED = {W + name for name in ("del", "moveFrom", "pPr", "rPr", "instrText", "delText", "sdtPr")}
_PICTURES = ("drawing", "pict", "object")


class NoReportError(Exception):
    """The report scores 0 without a judge: it is missing, corrupt or empty."""


def report_text(path: Path) -> str:
    """Return the text of a report.

    Raises:
        NoReportError: its message begins with `missing`, `corrupt` or `empty`.
    """
    if path.is_symlink() or not path.is_file():
        raise NoReportError(f"missing: {path.name} is not there")
    try:
        with zipfile.ZipFile(path) as package:
            found = _Word(package)
            text = found.text()
    except (zipfile.BadZipFile, ET.ParseError, KeyError, OSError, ValueError, RuntimeError) as error:
        raise NoReportError(f"corrupt: {type(error).__name__}: {error}") from error
    except (NotImplementedError, RecursionError, EOFError) as error:
        raise NoReportError(f"corrupt: {type(error).__name__}") from error
    if not re.search(r"\w", re.sub(r"\[(?:Header|Footer)\]", "", text)) and not found.has_picture:
        raise NoReportError("empty: no word and no picture")
    return text


class _Word:
    def __init__(self, package: zipfile.ZipFile) -> None:
        self._package = package
        if sum(entry.file_size for entry in package.infolist()) > _MOST_BYTES:
            raise ValueError(f"unpacks to over {_MOST_BYTES} bytes")
        self._body = self._xml("word/document.xml")
        self._styles = {style.get(W + "styleId"): style for style in self._optional("word/styles.xml")}
        self._levels = self._numbering()
        self._counts: dict[tuple[str, int], int] = {}
        self.has_picture = any(next(self._body.iter(W + name), None) is not None for name in _PICTURES)

    def text(self) -> str:
        body = self._body.find(W + "body")
        if body is None:
            raise ValueError("no body")
        blocks = self._blocks(body)
        notes = [
            f"[^{note.get(W + 'id')}]: " + " ".join(self._blocks(note))
            for note in self._optional("word/footnotes.xml")
            if note.get(W + "type") is None
        ]
        parts = [*self._stories("header"), *blocks, *notes, *self._stories("footer")]
        return "\n\n".join(part for part in parts if part.strip())

    def _xml(self, name: str) -> ET.Element:
        data = self._package.read(name)
        if b"<!DOCTYPE" in data:
            raise ValueError("a document type")
        return ET.fromstring(data)

    def _optional(self, name: str) -> list[ET.Element]:
        return list(self._xml(name)) if name in self._package.namelist() else []

    def _stories(self, kind: str) -> list[str]:
        """Headers or footers that a section uses, each text once."""
        relations = self._optional("word/_rels/document.xml.rels")
        links = {link.get("Id"): f"word/{link.get('Target')}" for link in relations}
        used = [links[reference.get(R + "id")] for reference in self._body.iter(f"{W}{kind}Reference")]
        texts = [
            f"[{kind.capitalize()}] " + "\n".join(filter(None, self._blocks(self._xml(name))))
            for name in used
        ]
        return [text for text in dict.fromkeys(texts) if text.split("] ", 1)[1].strip()]

    def _blocks(self, parent: ET.Element) -> list[str]:
        found: list[str] = []
        items: list[str] = []
        for child in parent:
            if child.tag == W + "p":
                text, is_item = self._paragraph(child)
                if is_item:
                    items.append(text)
                    continue
                block = [text]
            elif child.tag == W + "tbl":
                block = [self._table(child)]
            else:  # content controls, insertions
                block = [] if child.tag in _SKIPPED else self._blocks(child)
            found += ["\n".join(items)] if items else []
            items = []
            found += block
        return [*found, *(["\n".join(items)] if items else [])]

    def _table(self, table: ET.Element) -> str:
        rows = [
            [text for cell in _within(row, "tc") for text in self._spanned(cell)]
            for row in _within(table, "tr")
            if row.find(f"{W}trPr/{W}del") is None
        ]
        lines = [f"| {' | '.join(cells)} |" for cells in rows if cells]
        rule = [f"| {' | '.join(['---'] * len(rows[0]))} |"] if lines else []
        return "\n".join([*lines[:1], *rule, *lines[1:]])

    def _spanned(self, cell: ET.Element) -> list[str]:
        """The cell's text, and an empty one for each further column that it spans."""
        span = cell.find(f"{W}tcPr/{W}gridSpan")
        columns = 1 if span is None else int(span.get(W + "val") or 1)
        note = f" [spans {columns} columns]" if columns > 1 else ""
        return [f"{self._cell(cell)}{note}".strip(), *[""] * (columns - 1)]

    def _cell(self, cell: ET.Element) -> str:
        text = "\n".join(part for part in self._blocks(cell) if part)
        return text.replace("\n", "<br>").replace("|", "\\|")

    def _paragraph(self, paragraph: ET.Element) -> tuple[str, bool]:
        text = re.sub(r"[^\S\n\t]+", " ", "".join(self._runs(paragraph))).strip()
        style = self._style(paragraph)
        name = (_value(style, "name") or "").lower().replace("title", "heading 1")
        heading = re.fullmatch(r"heading (\d)", name)
        number = self._number(paragraph, style) if text else ""
        if heading:
            return f"{'#' * int(heading[1])} {number}{text}" if text else "", False
        return number + text, bool(number)

    def _runs(self, parent: ET.Element) -> list[str]:
        found: list[str] = []
        for child in parent:
            name = child.tag.removeprefix(W)
            if child.tag in _SKIPPED:
                continue
            if name == "r" and _is_unseen(child):
                continue
            if name == "t":
                found.append(child.text or "")
            elif name in ("tab", "br", "cr", "noBreakHyphen"):
                found.append({"tab": "\t", "noBreakHyphen": "-"}.get(name, "\n"))
            elif name == "footnoteReference":
                found.append(f"[^{child.get(W + 'id')}]")
            else:
                found += self._runs(child)
        return found

    def _style(self, paragraph: ET.Element) -> ET.Element | None:
        return self._styles.get(_value(paragraph.find(W + "pPr"), "pStyle"))

    def _numbering(self) -> dict[str, dict[int, tuple[str, str, int]]]:
        """Format, text and start of each level, by id of the list."""
        parts = self._optional("word/numbering.xml")
        kinds = {part.get(W + "abstractNumId"): part for part in parts if part.tag == W + "abstractNum"}
        found: dict[str, dict[int, tuple[str, str, int]]] = {}
        for part in (part for part in parts if part.tag == W + "num"):
            kind = kinds.get(_value(part, "abstractNumId"))
            found[part.get(W + "numId", "")] = {
                int(level.get(W + "ilvl", "0")): (
                    _value(level, "numFmt") or "decimal",
                    _value(level, "lvlText") or "",
                    int(_value(level, "start") or 1),
                )
                for level in ([] if kind is None else kind.iter(W + "lvl"))
            }
        return found

    def _number(self, paragraph: ET.Element, style: ET.Element | None) -> str:
        places = [place.find(f"{W}pPr/{W}numPr") for place in (paragraph, style) if place is not None]
        numbered = next((place for place in places if place is not None), None)
        levels = self._levels.get(_value(numbered, "numId") or "")
        level = int(_value(numbered, "ilvl") or 0)
        if not levels or level not in levels:
            return ""
        name = _value(numbered, "numId") or ""
        kind, text, start = levels[level]
        if kind == "bullet":
            return "    " * level + "- "
        if kind == "none":
            return ""
        self._counts[name, level] = self._counts.get((name, level), start - 1) + 1
        for deeper in [key for key in self._counts if key[0] == name and key[1] > level]:
            del self._counts[deeper]
        for each, (shape, _, first) in levels.items():
            text = text.replace(f"%{each + 1}", _figure(self._counts.get((name, each), first), shape))
        return "    " * level + text + " "


def _within(parent: ET.Element, name: str) -> list[ET.Element]:
    """Return children of that name, also those in content controls."""
    found: list[ET.Element] = []
    for child in parent:
        if child.tag == W + name:
            found.append(child)
        elif child.tag in (W + "sdt", W + "sdtContent", W + "ins"):
            found += _within(child, name)
    return found


def _value(parent: ET.Element | None, name: str) -> str | None:
    child = None if parent is None else parent.find(W + name)
    return None if child is None else child.get(W + "val")


def _is_unseen(run: ET.Element) -> bool:
    """True for hidden text, and for white text without a ground of its own."""
    look = run.find(W + "rPr")
    if look is None:
        return False
    hidden = look.find(W + "vanish")
    if hidden is not None and hidden.get(W + "val") not in ("0", "false"):
        return True
    has_ground = look.find(W + "shd") is not None or look.find(W + "highlight") is not None
    return (_value(look, "color") or "").upper() == "FFFFFF" and not has_ground


def _figure(number: int, shape: str) -> str:
    if shape in ("lowerLetter", "upperLetter"):
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter.upper() if shape == "upperLetter" else letter
    if shape in ("lowerRoman", "upperRoman"):
        text = ""
        for value, sign in ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")):
            text += sign * (number // value)
            number %= value
        return text.upper() if shape == "upperRoman" else text
    return str(number)
