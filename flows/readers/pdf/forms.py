"""What stands on a page beside its text: form fields, typed annotations, comments, stamps, links."""

from typing import Any

from flows.readers.pdf.objects import keys, resolved, string
from flows.readers.pdf.paint.annotations import Annotation, address
from flows.readers.pdf.paint.page import PageText
from flows.readers.shared.notation import bare_address, collapsed, flat
from flows.schema.document import Block, BlockKind

_MARKUP = frozenset([
    "Text", "Highlight", "Underline", "StrikeOut", "Squiggly", "Caret", "Square", "Circle", "Line", "Polygon",
    "PolyLine", "Ink", "Redact",
])  # fmt: skip
_PARENTS = 20


def _said(entry: Any, name: str) -> list[Any]:
    """The values of a field and of those around it, innermost first."""
    values: list[Any] = []
    for _ in range(_PARENTS):
        found = keys(entry)
        values += [resolved(found[name])] if name in found else []
        entry = found.get("Parent")
    return values


def _inherited(entry: Any, name: str) -> Any:
    return next(iter(_said(entry, name)), None)


def _field(data: dict[str, Any]) -> str | None:
    kind, value = string(_inherited(data, "FT")), _inherited(data, "V")
    if kind == "Btn":
        flags = _inherited(data, "Ff")
        if isinstance(flags, int) and flags & 0x10000:  # a push button does, it holds nothing
            return None
        state = string(data.get("AS")) or string(value)
        chosen = state not in {"", "Off"}
        own = next((key for key in keys(keys(data.get("AP")).get("N")) if key != "Off"), "")
        label = f" ({own})" if own and own not in {"Yes", "On", "1"} else ""
        return ("☒" if chosen else "☐") + label
    if kind == "Sig":
        signer = flat(string(keys(value).get("Name")))
        return f"signed by {signer}" if signer else "signed" if keys(value) else ""
    return collapsed(string(value))


def _details(data: dict[str, Any]) -> str:
    author, when = flat(string(data.get("T"))), string(data.get("M")).removeprefix("D:")
    said = f" by {author}" if author else ""
    if len(when) >= 8 and when[:8].isdigit():  # noqa: PLR2004 -- year, month, day
        said += f", {when[:4]}-{when[4:6]}-{when[6:8]}"
    return said


def _block(annotation: Annotation, place: str, stamps: list[str]) -> Block | None:
    data, kind = annotation.data, annotation.kind
    text = collapsed(string(data.get("Contents")))
    if kind == "Widget":
        value = _field(data)
        if value is None:
            return None
        name = ".".join(flat(string(part)) for part in reversed(_said(data, "T")))
        label = flat(string(_inherited(data, "TU"))) or name or "without a name"
        return Block(BlockKind.form, f"[Form field: {label}] {value or '(empty)'}", place)
    block, mark = BlockKind.comment, ""
    if kind == "FreeText":
        block, mark = BlockKind.textbox, "[Text box]"
    elif kind == "Stamp":
        mark, text = f"[Stamp{_details(data)}]", text or ("" if stamps else string(data.get("Name")))
    elif kind in _MARKUP:
        mark = f"[Comment{_details(data)}]"
    elif kind == "FileAttachment":
        name = _file_name(data)
        mark = "[Attached file, not read]"
        text = f"{name} {text if text != name else ''}".strip() or "without a name"
    return Block(block, f"{mark} {text}", place) if mark and text else None


def _file_name(data: dict[str, Any]) -> str:
    found = keys(data.get("FS"))
    return flat(string(found.get("UF")) or string(found.get("F")) if found else string(data.get("FS")))


def beside(page: PageText) -> list[Block]:
    """Return form fields with values, text boxes, comments and stamps of a page, from top to bottom."""
    place = f"page {page.number}"
    blocks = [_block(annotation, place, page.stamps) for annotation in page.annotations]
    blocks += [Block(BlockKind.comment, f"[Stamp] {text}", place) for text in page.stamps]
    blocks += [Block(BlockKind.paragraph, f"[Link] {uri}", place) for uri in page.links]
    return [block for block in blocks if block is not None]


def attached(page: PageText) -> list[str]:
    """Return the names of files attached to annotations of a page."""
    return [
        _file_name(annotation.data) or "without a name"
        for annotation in page.annotations
        if annotation.kind == "FileAttachment"
    ]


def linked(page: PageText) -> None:
    """Append the address of each link to its words, in place, unless they contain it."""
    links: list[tuple[str, list[Annotation]]] = []
    for annotation in page.annotations:
        uri = address(annotation)
        if not uri:
            continue
        last = links[-1][1][-1] if links and links[-1][0] == uri else None
        # A link over a line end is one annotation a line.
        if last is not None and annotation.box[1] < last.box[3] + 2 * (last.box[3] - last.box[1]):
            links[-1][1].append(annotation)
        else:
            links.append((uri, [annotation]))
    for uri, group in links:
        words = [
            word
            for annotation in group
            for piece in annotation.pieces
            for word in page.words
            if piece[0] <= (word.x0 + word.x1) / 2 <= piece[2] and piece[1] <= word.middle <= piece[3]
        ]
        said = "".join(word.text for word in words)
        bare = bare_address(uri)
        if not words:
            page.links.append(uri)
        elif bare.lower() not in said.lower():
            last_word = max(words, key=lambda word: (round(word.middle), word.x0))
            last_word.text += f" ({uri})"
