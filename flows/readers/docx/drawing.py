"""Drawings (DrawingML and VML): text boxes, images, charts, diagrams, embedded objects."""

from collections.abc import Iterator

from flows.common.word_xml import NAMESPACES, Element, attribute, child, qn, tag
from flows.readers.docx.colours import UNKNOWN, Palette
from flows.readers.docx.context import After, Box, Context
from flows.readers.markup import branches
from flows.readers.shared.charts import chart_text, diagram_text, drawn_text
from flows.readers.shared.notation import collapsed, flat, image
from flows.schema.document import Block, BlockKind

_ABSENT: dict[str, str] = {}  # the attributes of an element that is not there
_GROUPS = (
    "{http://schemas.microsoft.com/office/word/2010/wordprocessingGroup}wgp",
    "{http://schemas.microsoft.com/office/word/2010/wordprocessingCanvas}wpc",
    qn("v:group"),
)


def contents(element: Element, context: Context) -> list[After]:
    """What a `w:drawing`, `w:pict` or `w:object` shows, in order, each thing once."""
    properties = next(element.iter(qn("wp:docPr")), _ABSENT)
    described = _described(properties)
    if properties.get("hidden") in {"1", "true"}:
        text = flat(" ".join(str(part.text or "") for part in element.iter(qn("w:t"), qn("a:t"))))
        context.notice("hidden_text", f"hidden drawing: {text or described}")
        return []
    found = list(_walk(element, context, described))
    return found or ([_block(f"[Shape: {described}]", context)] if described else [])


def _described(element: Element) -> str:
    return flat(str(element.get("descr") or element.get("title") or ""))


def _block(text: str, context: Context, kind: BlockKind = BlockKind.image) -> Block:
    return Block(kind, text, context.place)


def _walk(element: Element, context: Context, outer: str) -> Iterator[After]:  # noqa: C901, PLR0912 -- one case an element
    for part in element:
        match tag(part):
            case "mc:AlternateContent":
                for branch in branches(part):
                    shown = list(_walk(branch, context, outer))
                    if shown:
                        yield from shown
                        break
            case "w:txbxContent":
                yield Box(part, _grounds(element, context))
            case "pic:pic":
                own = next(part.iterfind("pic:nvPicPr/pic:cNvPr", NAMESPACES), _ABSENT)
                yield _image(outer or _described(own), part, context)
            case "v:imagedata":
                alt = element.get("alt") or part.get(qn("o:title")) or outer
                yield _image(flat(str(alt or "")), part, context)
            case "v:textpath":
                if part.get("string"):
                    yield _block(f"[Text box] {flat(str(part.get('string')))}", context, BlockKind.textbox)
            case "c:chart" | "chart":  # the second of Office 2016 and later (chartex)
                root = _root(attribute(part, "r:id"), context)
                missing = f"[Chart: {outer}]" if outer else "[Chart that can't be found in the file]"
                yield _block(missing if root is None else chart_text(root, outer), context)
            case "dgm:relIds":
                root = _root(attribute(part, "r:dm"), context)
                if root is None:
                    yield _block("[Diagram that can't be found in the file]", context)
                elif text := diagram_text(root):
                    yield _block(f"[Text box] {text}", context, BlockKind.textbox)
            case "o:OLEObject":
                program = flat(str(part.get("ProgID") or "unknown program"))
                context.notice(
                    "embedded_file", f"an embedded object of {program} is shown as its picture only"
                )
                yield _block(f"[Embedded object: {program}]", context)
            case "a:txBody":
                text = "\n".join(drawn_text(line) for line in part.iter(qn("a:p")))
                if text.strip():
                    yield _block(f"[Text box] {collapsed(text)}", context, BlockKind.textbox)
            case _:
                yield from _walk(part, context, outer)


def _image(alt: str, element: Element, context: Context) -> Block:
    found = context.links.get(attribute(next(element.iter(qn("a:hlinkClick")), None), "r:id"))
    return _block(image(alt) + (f" ({found.target})" if found and found.external else ""), context)


def _grounds(shape_text: Element, context: Context) -> frozenset[str] | None:
    """Fills behind the text of a shape, `shape_text` being the parent of its `w:txbxContent`."""
    shape = shape_text.getparent()
    fill = "" if shape is None else context.styles.palette.box(shape)
    if fill:
        return frozenset({fill})
    grouped = shape is not None and next(shape.iterancestors(*_GROUPS), None) is not None
    return frozenset({UNKNOWN}) if grouped else None


def floating_fills(root: Element, palette: Palette) -> tuple[set[str], set[str]]:
    """Fills of the drawings that float on the pages: of those behind the text, and of all."""
    behind: set[str] = set()
    every: set[str] = set()
    for drawing in root.iter(qn("wp:anchor"), qn("w:pict")):
        shapes = [part for part in drawing.iter() if tag(part) == "wps:wsp" or part.get("style")]
        fills = {palette.box(shape) for shape in shapes if child(shape, "v:textpath") is None}
        if next(drawing.iter(qn("pic:pic"), qn("v:imagedata")), None) is not None:
            fills.add(UNKNOWN)
        styles = [str(shape.get("style")) for shape in shapes if shape.get("style")]
        if tag(drawing) == "wp:anchor" or any("absolute" in style for style in styles):
            every |= fills
        if drawing.get("behindDoc") in {"1", "true"} or any("z-index:-" in style for style in styles):
            behind |= fills
    return behind - {""}, every - {""}


def _root(key: str, context: Context) -> Element | None:
    link = context.links.get(key)
    if link is None or link.external or not context.package.has(link.target):
        return None
    return context.package.xml(link.target)
