"""Read HTML as a mail program shows it: paragraphs, lists, tables, forms, links and images."""

import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from flows.common.text import plural
from flows.readers.markup import Element
from flows.readers.shared.notation import (
    bare_address,
    collapsed,
    flat,
    image,
    in_cell,
    pipe_table,
    shifted,
    span_mark,
    struck_out,
)
from flows.readers.text import elements
from flows.readers.text.style import Look, apply_sheets, seen
from flows.schema.document import Block, BlockKind, Notice

_SKIP = frozenset(["head", "script", "style", "title", "iframe", "meta", "link", "col", "colgroup", "rp"])
_UNSHOWN = frozenset(["template", "datalist", "noframes", "object", "video", "audio", "canvas"])
_BREAKS = frozenset([
    "p", "div", "section", "article", "header", "footer", "main", "aside", "blockquote", "pre", "address",
    "figure", "figcaption", "form", "fieldset", "legend", "dl", "dt", "dd", "li", "center", "tbody", "tr",
    "td", "th", "caption", "body", "html", "hr", "nav", "details", "summary", "listing", "xmp", "dialog",
])  # fmt: skip
_AROUND = {"q": ("“", "”"), "rt": (" (", ")")}
_NUMBER = re.compile(r"[+\-−]?\d")  # noqa: RUF001 -- a minus sign
_CONTROL: dict[str, Any] = {"colour": "000000", "ground": "FFFFFF", "pre": False}  # colours of its own
_ROWS = frozenset(["tr", "thead", "tbody", "tfoot", "form"])
_CELLS = frozenset(["td", "th"])


@dataclass(slots=True)
class _Reader:
    blocks: list[Block] = field(default_factory=list[Block])
    notices: list[Notice] = field(default_factory=list[Notice])
    segments: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    unseen: list[str] = field(default_factory=list[str])
    lead: str = ""
    kind: BlockKind = BlockKind.paragraph
    level: int | None = None
    pre: bool = False

    @property
    def place(self) -> str:
        return f"paragraph {len(self.blocks) + 1} of the message"

    def flush(self) -> None:
        self.report()
        text = struck_out(self.segments)
        text = text.strip("\n") if self.pre else collapsed(text)
        self.segments.clear()
        self.pre = False
        if text.strip():
            text = flat(text) if self.kind is BlockKind.heading else text
            self.blocks.append(Block(self.kind, self.lead + text, self.place, self.level))
            self.lead = " " * len(self.lead) if self.kind is BlockKind.list_item else ""
            if self.kind is BlockKind.heading:
                self.kind, self.level = BlockKind.paragraph, None

    def report(self) -> None:
        text = flat("".join(self.unseen))
        self.unseen.clear()
        if text:
            self.notices.append(Notice("hidden_text", "message", f"not visible: {text}"))

    def words(self, text: str | None, look: Look) -> None:
        if not text:
            return
        if not look.visible:
            self.unseen.append(text)
            return
        if text.strip():
            self.report()
            text = shifted(text, look.shift, behind_digit=bool(_NUMBER.match(text.strip())))
        self.pre = self.pre or look.pre
        self.segments.append((text if look.pre else re.sub(r"\s+", " ", text), look.struck))

    def hide(self, element: Element) -> None:
        inner = _Reader()
        inner.inside(element, Look(), 0)
        inner.flush()
        self.report()
        self.unseen += [f"{block.text} " for block in inner.blocks]
        self.report()
        self.notices += inner.notices

    def walk(self, element: Element, look: Look, depth: int) -> None:  # noqa: C901, PLR0912 -- one case an element
        name = element.tag if isinstance(element.tag, str) else ""
        if not name or name in _SKIP:
            return
        inner = seen(element, replace(look, **_CONTROL) if name in elements.CONTROLS else look)
        if inner is None or name in _UNSHOWN:
            self.hide(element)
        elif name == "br":
            self.segments.append(("\n", inner.struck))
        elif name in {"img", "svg"}:
            self.image(element, inner)
        elif name in elements.CONTROLS:
            text, unseen = elements.control(element)
            self.unseen.append(unseen)
            lines = "\n" in text
            for part in ["", text, ""] if lines else [f" {text} "]:
                self.words(part, replace(inner, pre=lines))
                if lines:
                    self.flush()
        elif name == "table":
            self.table(element, inner, depth)
        elif name in {"ul", "ol", "menu", "dir"}:
            self.flush()
            self.items(element, inner, depth)
        elif re.fullmatch("h[1-6]", name):
            self.flush()
            self.kind, self.level = BlockKind.heading, int(name[1])
            self.lead = "#" * self.level + " "
            self.inside(element, inner, depth)
            self.flush()
            self.kind, self.level, self.lead = BlockKind.paragraph, None, ""
        elif name == "a":
            self.link(element, inner, depth)
        elif name in _BREAKS:
            self.flush()
            self.inside(element, inner, depth)
            self.flush()
        else:
            before, behind = _AROUND.get(name, ("", ""))
            self.words(before, inner)
            self.inside(element, inner, depth)
            self.words(behind, inner)

    def inside(self, element: Element, look: Look, depth: int) -> None:
        self.words(element.text, look)
        for child in element:
            self.walk(child, look, depth)
            self.words(child.tail, look)

    def image(self, element: Element, look: Look) -> None:
        alt = flat(str(element.get("alt") or ""))
        if element.tag == "svg":
            texts = element.iter("title", "desc", "text", "tspan")
            alt = flat(" ".join(str(part.text or "") for part in texts))
        sides = {str(element.get(side) or "").removesuffix("px") for side in ("width", "height")}
        if alt or not sides & {"0", "1"}:  # one pixel: a counter, not an image
            # The colour of its text has no part in whether an image is seen.
            alone = replace(look, colour="", tiny=False)
            self.words(f" {image(alt)} ", alone)

    def link(self, element: Element, look: Look, depth: int) -> None:
        start, before = len(self.segments), len(self.blocks)
        self.inside(element, look, depth)
        target = flat(str(element.get("href") or ""))
        bare = bare_address(target)
        whole = before < len(self.blocks)  # the link holds paragraphs of its own
        text = flat("".join(text for text, _ in self.segments[0 if whole else start :]))
        contained = " ".join([*(block.text for block in self.blocks[before:]), text])
        if not contained.strip() or not bare or target.startswith(("#", "javascript:")) or bare in contained:
            return
        last = self.blocks[-1] if whole else None
        if text or last is None or last.kind is BlockKind.table:
            self.segments.append((f" ({target})", look.struck))
        else:
            self.blocks[-1] = replace(last, text=f"{last.text} ({target})")

    def items(self, element: Element, look: Look, depth: int) -> None:
        outer = (self.kind, self.level, self.lead)
        first = f"{self.lead.strip()} ".lstrip()  # the number of an item that begins with this list
        plain = (BlockKind.paragraph, None, "")
        form = elements.marker(element, "decimal" if element.tag == "ol" else "")
        looks = {child: seen(child, look) for child in element if child.tag == "li"}
        step = -1 if element.get("reversed") is not None else 1
        count = sum(inner is not None for inner in looks.values()) if step < 0 else 1
        count = elements.integer(element.get("start"), count)
        self.words(element.text, look)
        for child in element:
            if child.tag in {"ul", "ol"}:
                self.flush()
                nested = seen(child, look)
                self.hide(child) if nested is None else self.items(child, nested, depth + 1)
            elif child not in looks:
                self.walk(child, look, depth)
            elif (inner := looks[child]) is None:
                self.hide(child)
            else:
                self.flush()
                count = elements.integer(child.get("value"), count)
                self.kind, self.level = BlockKind.list_item, depth + 1
                self.lead = "  " * depth + first + elements.numbered(count, elements.marker(child, form))
                first = ""
                count += step
                self.inside(child, inner, depth + 1)
                self.flush()
            self.kind, self.level, self.lead = plain
            self.words(child.tail, look)
        self.flush()
        self.kind, self.level, self.lead = outer[0], outer[1], " " * len(outer[2])

    def table(self, element: Element, look: Look, depth: int) -> None:
        self.flush()
        order = {"thead": 0, "tfoot": 2}
        rows = sorted(self.rows(element, look, depth), key=lambda row: order.get(row[0].getparent().tag, 1))
        self.flush()
        cells, width = elements.place_cells(rows)
        if not width or width == 1 or elements.lays_out(element, cells):
            # A layout table: its cells follow one another.
            for cell in cells:
                self.inside(cell.element, cell.look, depth)
                self.flush()
            return
        if self.kind is BlockKind.list_item and self.lead.strip():
            self.words("[table below]", Look())
            self.flush()
        lines = [[""] * width for _ in rows]
        behind: list[Block] = []
        for cell in cells:
            part = _Reader()
            part.inside(cell.element, cell.look, 0)
            part.flush()
            self.notices += part.notices
            text, tables = in_cell(part.blocks, f"row {cell.row + 1}, column {cell.column + 1}")
            behind += tables
            lines[cell.row][cell.column] = text + span_mark(cell.columns, cell.rows) if text else ""
        if any(map(any, lines)):
            self.blocks.append(Block(BlockKind.table, pipe_table(lines), self.place))
        for block in behind:
            self.blocks.append(replace(block, place=self.place))

    def rows(
        self, element: Element, look: Look, depth: int
    ) -> Iterator[tuple[Element, list[tuple[Element, Look]]]]:
        """The rows that show, each with its cells; what else is in the table stands before it."""
        for part, inner in self.parts(element, look, depth, _ROWS):
            if part.tag == "tr":
                yield part, list(self.parts(part, inner, depth, _CELLS))
            else:
                yield from self.rows(part, inner, depth)

    def parts(
        self, element: Element, look: Look, depth: int, wanted: frozenset[str]
    ) -> Iterator[tuple[Element, Look]]:
        """The children of these names that show; others are read at once."""
        self.words(element.text, look)
        for part in element:
            inner = seen(part, look) if isinstance(part.tag, str) else look
            if inner is None:
                self.hide(part)
            elif part.tag in wanted:
                yield part, inner
            else:
                self.walk(part, look, depth)
            self.words(part.tail, look)


def read(text: str) -> tuple[list[Block], list[Notice]]:
    """The visible text of an HTML page or mail as blocks; hidden text as notices."""
    html: Any = importlib.import_module("lxml.html")
    # As bytes: lxml refuses a text that declares an encoding of its own.
    parser = html.HTMLParser(
        encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True
    )
    reader = _Reader()
    try:
        root: Element = html.document_fromstring(text.encode(), parser=parser)
    except html.etree.ParserError:  # nothing in it, or comments alone
        return [], []
    left = apply_sheets(root)
    if left:
        reader.notices.append(Notice("unread_part", "message", f"{plural(left, 'style rule')} of too many"))
    reader.walk(root, Look(), 0)
    reader.flush()
    return reader.blocks, reader.notices
