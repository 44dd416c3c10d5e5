"""Convert the XML of a story (body, cell, note, header, box) to blocks."""

from dataclasses import dataclass, field, replace

from flows.common.word_xml import Element, attribute, child, qn, tag
from flows.readers.docx.colours import WHITE
from flows.readers.docx.context import Box, CommentMark, Context, Line, NoteMark
from flows.readers.docx.inline import comment_range, deleted, walk
from flows.readers.docx.numbering import Label
from flows.readers.docx.tables import Fills, grid, shown_rows
from flows.readers.markup import branches
from flows.readers.ooxml import Relationship
from flows.readers.shared.notation import ALONGSIDE, collapsed, flat, in_cell, pipe_table, unmarked
from flows.readers.shared.signs import bullet
from flows.schema.document import Block, BlockKind

_INDENT = "  "


@dataclass(slots=True)
class Story:
    """Reader of one story; in the body paragraphs and tables are counted, to name places."""

    _context: Context
    counted: bool = False
    _carried: Line | None = None
    blocks: list[Block] = field(default_factory=list[Block])

    def read(self, container: Element) -> list[Block]:
        """All blocks of a container, in order."""
        self._walk(container)
        self._finish_carried()
        return self.blocks

    def _finish_carried(self) -> None:
        if self._carried is not None:
            line, self._carried = self._carried, None
            self._finish(line)

    def _walk(self, container: Element) -> None:  # noqa: C901 -- one case an element
        for part in container:
            match tag(part):
                case "w:p":
                    self._paragraph(part)
                case "w:tbl":
                    self._table(part)
                case "mc:AlternateContent":
                    for branch in branches(part):
                        before = len(self.blocks)
                        self._walk(branch)
                        if len(self.blocks) != before:
                            break
                case "w:commentRangeStart" | "w:commentRangeEnd":
                    comment_range(part, self._context)
                case "w:del" | "w:moveFrom":
                    deleted(part, self._context, moved=tag(part) == "w:moveFrom")
                case "m:oMathPara" | "m:oMath" | "w:r" | "w:hyperlink":
                    # Not allowed here, yet written by some programs; Word shows it.
                    line = Line()
                    walk([part], line, self._context, "")
                    self._finish(line)
                case "w:altChunk":
                    self._chunk(part)
                case "w:sectPr" | "w:tblPr" | "w:sdtPr" | "w:sdtEndPr" | "w:tcPr" | "":
                    pass
                case _:
                    self._walk(part)

    def _paragraph(self, element: Element) -> None:
        context = self._context
        properties = child(element, "w:pPr")
        style = context.styles.paragraph_style(properties)
        mark = child(properties, "w:rPr")
        if self.counted:
            context.place = f"paragraph {context.paragraphs + 1}"
        line = Line() if self._carried is None else self._carried
        self._carried = None
        fill = context.styles.ground(properties, style)
        before = context.grounds
        context.grounds = before if fill in {None, "auto"} else frozenset({fill or ""})
        walk(element, line, context, style)
        context.grounds = before
        deleted_end = child(mark, "w:del") is not None
        if deleted_end or child(mark, "w:moveFrom") is not None:
            # The end of this paragraph is deleted: the next one goes on from here.
            context.revisions["deleted"] += deleted_end
            self._carried = line if any(line.position()) else None
            return
        if attribute(child(properties, "w:framePr"), "w:dropCap") in {"drop", "margin"}:
            self._carried = line
            return
        text = line.text()
        gone = not text and context.styles.run_look(mark, style).vanish
        label = None if gone else self._label(properties, style)
        level = context.styles.heading_level(properties, style)
        if level is not None and text:
            number = f"{label.text} " if label and label.text and not label.bullet else ""
            self._finish(line, BlockKind.heading, "#" * level + " " + number, level)
        elif label is not None and (text or line.after):
            lead = bullet(label.text, label.font) if label.bullet else label.text
            lead = _INDENT * (label.level - 1) + (f"{lead} " if lead else "")
            self._finish(line, BlockKind.list_item, lead, label.level, label.citation)
        else:
            self._finish(line)

    def _label(self, properties: Element | None, style: str) -> Label | None:
        context = self._context
        found = context.styles.list_of(properties, style)
        if found is None:
            return None
        num, level, source = found
        if source:
            tied = context.numbering.level_of_style(num, source)
            level = tied if tied is not None else level
        label = context.numbering.advance(num, level or 0)
        if label is not None and label.unknown:
            context.notice("unknown_numbering", f"number format {label.unknown}, written in decimal")
        return label

    def _finish(
        self,
        line: Line,
        kind: BlockKind = BlockKind.paragraph,
        lead: str = "",
        level: int | None = None,
        citation: str = "",
    ) -> None:
        context = self._context
        text = line.text()
        place = context.place
        if self.counted:
            place = f"after paragraph {context.paragraphs}" if context.paragraphs else "before paragraph 1"
        if text or (kind is BlockKind.list_item and line.after and lead.strip()):
            if self.counted:
                context.paragraphs += 1
                place = f"paragraph {context.paragraphs}"
            shown = place + (f", {citation}" if citation else "")
            self.blocks.append(Block(kind, (lead + text).rstrip(), shown, level))
        for reason, hidden in line.hidden:
            context.notice("hidden_text", f"{reason}: {flat(hidden)}", place)
        for item in line.after:
            match item:
                case Block():
                    self.blocks.append(replace(item, place=place))
                case Box():
                    self._box(item, place)
                case NoteMark():
                    self._note(item, place)
                case CommentMark():
                    self.comment(item.key, place)

    def part(
        self,
        element: Element,
        place: str,
        behind: frozenset[str] | None = None,
        links: dict[str, Relationship] | None = None,
    ) -> tuple[str, list[Block]]:
        """Read a story of its own: its text, and what stands alongside it.

        `behind` are the possible fills behind it, `links` the relationships of its part; None: those of
        what is around it.
        """
        with self._context.at(place, links, behind):
            blocks = Story(self._context).read(element)
        own = [block for block in blocks if block.kind not in ALONGSIDE]
        return "\n".join(map(unmarked, own)), [block for block in blocks if block.kind in ALONGSIDE]

    def _box(self, box: Box, place: str) -> None:
        behind = box.grounds or self._context.grounds | self._context.floating
        text, alongside = self.part(box.content, f"text box at {place}", behind)
        if text:
            self.blocks.append(Block(BlockKind.textbox, f"[Text box] {text}", f"text box at {place}"))
        self.blocks.extend(alongside)

    def _note(self, mark: NoteMark, place: str) -> None:
        element = self._context.notes.get(mark.kind, {}).pop(mark.key, None)
        if element is None:
            self._context.notice("missing_note", f"{mark.kind} {mark.label} has no text in the file")
            return
        where = f"{mark.kind} {mark.label} at {place}"
        links = self._context.story_links.get(mark.kind, {})
        text, alongside = self.part(element, where, self._context.page, links)
        self.blocks.append(Block(BlockKind(mark.kind), f"[^{mark.label}]: {text}", where))
        self.blocks.extend(alongside)

    def comment(self, key: str, place: str) -> None:
        """Add a comment, once."""
        context = self._context
        comment = context.comments.get(key)
        if comment is None or key in context.comments_read:
            return
        context.comments_read.append(key)
        links = context.story_links.get("comment", {})
        text, alongside = self.part(comment.element, f"comment at {place}", frozenset({WHITE}), links)
        anchor = "" if comment.parent else context.anchors.get(key, "")
        said = [
            ("Reply" if comment.parent else "Comment") + (f" by {comment.author}" if comment.author else ""),
            comment.date,
            "resolved" if comment.done else "",
            f'on "{anchor}"' if anchor else "",
        ]
        shown = f"[{', '.join(filter(None, said))}] {text}".rstrip()
        self.blocks.append(Block(BlockKind.comment, shown, f"comment at {place}"))
        self.blocks.extend(alongside)

    def _chunk(self, element: Element) -> None:
        link = self._context.links.get(attribute(element, "r:id"))
        name = link.target if link else "?"
        self._context.notice("unread_part", f"a file inserted whole: {name}")
        note = f"[Reader's note: the inserted file {name} is not read]"
        self.blocks.append(Block(BlockKind.note, note, self._context.place))

    def _table(self, element: Element) -> None:
        context = self._context
        self._finish_carried()
        place = f"table in {context.place}"
        if self.counted:
            context.tables += 1
            place = context.place = f"table {context.tables}"
        rows = shown_rows(element, place, context)
        cells, covered, width = grid(rows, f"{context.path}, {place}")
        behind: list[Block] = []
        fills = Fills(element, rows, width, context)
        for cell in cells:
            where = f"{place}, row {cell.row + 1}, column {cell.column + 1}"
            with context.at(where, grounds=fills.behind(cell)):
                text, alongside = in_cell(Story(context).read(cell.element), where)
            cell.text = collapsed(text)
            behind.extend(alongside)
        for cell in covered:
            text = flat("".join(str(part.text or "") for part in cell.element.iter(qn("w:t"))))
            if text:
                context.notice("hidden_text", f"covered by a merged cell: {text}", place)
        lines = [[""] * width for _ in rows]
        for cell in cells:
            lines[cell.row][cell.column] = cell.shown()
        if any(cell.text for cell in cells):
            self.blocks.append(Block(BlockKind.table, pipe_table(lines), place))
        self.blocks.extend(behind)
