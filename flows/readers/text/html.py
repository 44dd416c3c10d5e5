"""HTML as a mail program shows it: paragraphs, lists, tables, links with target, images by description."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass, field
from typing import Any

from flows.readers.contrast import unreadable
from flows.readers.ooxml import Element
from flows.readers.words import collapsed, flat, pipe_table
from flows.schema.document import Block, BlockKind, Notice

_SKIP = frozenset(["head", "script", "style", "title", "template", "noscript", "object", "iframe", "svg"])
_BREAKS = frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "header",
        "footer",
        "main",
        "aside",
        "blockquote",
        "pre",
        "address",
        "figure",
        "figcaption",
        "form",
        "fieldset",
        "dl",
        "dt",
        "dd",
        "ul",
        "ol",
        "center",
        "tbody",
        "body",
        "html",
        "hr",
        "nav",
    ]
)
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)"
    r"|font-size\s*:\s*[01](?:\.\d+)?(?:px|pt)?\s*(?:;|!|$)",
    re.IGNORECASE,
)
_COLOUR = re.compile(r"(?<![-\w])(color|background(?:-color)?)\s*:\s*([^;!]+)", re.IGNORECASE)
_NAMES = {"white": "FFFFFF", "black": "000000"}


@dataclass(slots=True)
class _Reader:
    blocks: list[Block] = field(default_factory=list[Block])
    notices: list[Notice] = field(default_factory=list[Notice])
    parts: list[str] = field(default_factory=list[str])
    lead: str = ""
    kind: BlockKind = BlockKind.paragraph
    level: int | None = None
    pre: bool = False

    def flush(self) -> None:
        text = "".join(self.parts)
        text = text.strip("\n") if self.pre else collapsed(text)
        self.parts.clear()
        if text:
            place = f"paragraph {len(self.blocks) + 1} of the message"
            self.blocks.append(Block(self.kind, self.lead + text, place, self.level))
            self.lead = " " * len(self.lead) if self.kind is BlockKind.list_item else ""
            if self.kind is BlockKind.heading:
                self.kind, self.level = BlockKind.paragraph, None

    def words(self, text: str | None) -> None:
        if text:
            self.parts.append(text if self.pre else re.sub(r"\s+", " ", text))

    def walk(self, element: Element, depth: int, ground: str) -> None:  # noqa: C901, PLR0912 -- one case an element
        name = element.tag if isinstance(element.tag, str) else ""
        if not name or name in _SKIP:
            return
        style = str(element.get("style") or "")
        colours = {key.lower()[:5]: _hex(value) for key, value in _COLOUR.findall(style)}
        ground = colours.get("backg") or _hex(str(element.get("bgcolor") or "")) or ground
        colour = colours.get("color") or _hex(str(element.get("color") or ""))
        if (
            _HIDDEN.search(style)
            or element.get("hidden") is not None
            or (colour and unreadable(colour, ground))
        ):
            text = flat("".join(str(part) for part in element.itertext()))
            if text:
                self.notices.append(Notice("hidden_text", "message", f"not visible: {text}"))
            return
        if name == "br":
            self.parts.append("\n")
        elif name == "img":
            alt = flat(str(element.get("alt") or ""))
            if alt or str(element.get("width") or "") not in {"0", "1"}:  # one pixel: a counter, not an image
                self.parts.append(f" [Image: {alt}] " if alt else " [Image without description] ")
        elif name == "table":
            self.table(element, depth, ground)
        elif name in {"ul", "ol"}:
            self.flush()
            self.items(element, depth, ground, numbered=name == "ol")
        elif re.fullmatch("h[1-6]", name):
            self.flush()
            self.kind, self.level = BlockKind.heading, int(name[1])
            self.lead = "#" * self.level + " "
            self.inside(element, depth, ground)
            self.flush()
            self.kind, self.level, self.lead = BlockKind.paragraph, None, ""
        else:
            breaks = name in _BREAKS
            if breaks:
                self.flush()
            before, self.pre = self.pre, self.pre or name == "pre"
            start = len(self.parts)
            struck = name in {"s", "strike", "del"}
            self.parts.append("~~" if struck else "")
            self.inside(element, depth, ground)
            self.parts.append("~~" if struck else "")
            if name == "a":
                shown, target = flat("".join(self.parts[start:])), str(element.get("href") or "")
                bare = re.sub(r"^(?:mailto:|https?://)", "", target).rstrip("/")
                if bare and not target.startswith("#") and bare not in shown:
                    self.parts.append(f" ({target})")
            if breaks:
                self.flush()
            self.pre = before

    def inside(self, element: Element, depth: int, ground: str) -> None:
        self.words(element.text)
        for child in element:
            self.walk(child, depth, ground)
            self.words(child.tail)

    def items(self, element: Element, depth: int, ground: str, *, numbered: bool) -> None:
        start = str(element.get("start") or "1")
        count = int(start) if start.lstrip("-").isdigit() else 1
        for child in element:
            if child.tag in {"ul", "ol"}:
                self.items(child, depth + 1, ground, numbered=child.tag == "ol")
                continue
            if child.tag != "li":
                continue
            self.kind, self.level = BlockKind.list_item, depth + 1
            self.lead = "  " * depth + (f"{count}. " if numbered else "- ")
            count += 1
            self.walk(child, depth + 1, ground)
            self.flush()
            self.kind, self.level, self.lead = BlockKind.paragraph, None, ""

    def table(self, element: Element, depth: int, ground: str) -> None:
        self.flush()
        rows = [row for row in element.iter("tr") if next(row.iterancestors("table")) is element]
        cells = [[cell for cell in row if cell.tag in {"td", "th"}] for row in rows]
        if max((len(row) for row in cells), default=0) <= 1 or any(
            next(cell.iter("table"), None) is not None for row in cells for cell in row
        ):
            # A table that only lays the mail out: its cells follow one another.
            for row in cells:
                for cell in row:
                    self.inside(cell, depth, ground)
                    self.flush()
            return
        lines: list[list[str]] = []
        for row in cells:
            line: list[str] = []
            for cell in row:
                part = _Reader()
                part.inside(cell, 0, _hex(str(cell.get("bgcolor") or "")) or ground)
                part.flush()
                self.notices.extend(part.notices)
                span = str(cell.get("colspan") or "1")
                wide = min(int(span), 100) if span.isdigit() else 1
                text = "\n".join(block.text for block in part.blocks)
                line += [text + (f" [spans {wide} columns]" if wide > 1 and text else "")] + [""] * (wide - 1)
            lines.append(line)
        place = f"paragraph {len(self.blocks) + 1} of the message"
        if any(any(line) for line in lines):
            self.blocks.append(Block(BlockKind.table, pipe_table(lines), place))


def _hex(colour: str) -> str:
    colour = colour.strip().lower()
    if re.fullmatch("#[0-9a-f]{6}", colour):
        return colour[1:].upper()
    if re.fullmatch("#[0-9a-f]{3}", colour):
        return "".join(digit * 2 for digit in colour[1:]).upper()
    return _NAMES.get(colour, "")


def read(text: str) -> tuple[list[Block], list[Notice]]:
    """The visible text of an HTML page or mail as blocks; hidden text as notices.

    Text counts as hidden by its inline style (display, visibility, size, colour on its ground).
    """
    html: Any = importlib.import_module("lxml.html")
    if not text.strip():
        return [], []
    parser = html.HTMLParser(no_network=True, remove_comments=True, remove_pis=True)
    root: Element = html.document_fromstring(text, parser=parser)
    reader = _Reader()
    reader.walk(root, 0, "FFFFFF")
    reader.flush()
    return reader.blocks, reader.notices
