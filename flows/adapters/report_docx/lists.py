"""Add missing styles and lists to a document."""

from __future__ import annotations

from typing import Any

from flows.adapters.report_docx.defaults import STYLES, list_definition, list_use, numbering_part
from flows.adapters.report_docx.elements import AFTER_SPACING, make, parse, put_in_order, required_child
from flows.adapters.report_docx.styles import ListPlace, Styles
from flows.adapters.report_docx.writing import paragraph_properties
from flows.common.word_xml import Element, child, qn, val

_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.numbering+xml"
_LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering"
_LIST_STYLES = {"bullet": "List Bullet", "number": "List Number"}


def ensure_style(styles: Styles, name: str, kind: str = "paragraph") -> str:
    """Return the id of a style by name, adding the default if the document has none.

    Args:
        styles: the document's.
        name: a name in `defaults.STYLES`.
        kind: `paragraph` or `table`.
    """
    found = styles.id_of(name, kind)
    if found is not None:
        return found
    new = parse(STYLES[name])
    taken = {str(each.get(qn("w:styleId"))) for each in styles.root.findall(qn("w:style"))}
    style_id = str(new.get(qn("w:styleId")))
    while style_id in taken:
        style_id += "0"
    new.set(qn("w:styleId"), style_id)
    usual = styles.default_id if kind == "paragraph" else (styles.id_of("Normal Table", "table") or "")
    for reference in (child(new, "w:basedOn"), child(new, "w:next")):
        if reference is not None and usual:
            reference.set(qn("w:val"), usual)
        elif reference is not None:
            new.remove(reference)
    styles.root.append(new)
    styles.forget()
    return style_id


def list_for(document: Any, styles: Styles, kind: str, level: int) -> tuple[str, ListPlace]:
    """Return the style and the list of a list item, adding them if the document has none.

    Args:
        document: a python-docx document.
        styles: its styles.
        kind: `bullet` or `number`.
        level: from 1.
    """
    name = _LIST_STYLES[kind]
    deeper = styles.id_of(f"{name} {level}") if level > 1 else None
    for style_id, depth in ((deeper, 0), (styles.id_of(name), level - 1)):
        listed = None if style_id is None else styles.list_of(_probe(style_id))
        if style_id is None or listed is None or listed.kind != kind:
            continue
        form = styles.list_form(listed.number_id, depth or listed.level)
        if (form == "bullet") == (kind == "bullet") and form is not None:
            return style_id, ListPlace(listed.number_id, depth or listed.level, listed.kind)
    style_id = ensure_style(styles, name)
    listed = ListPlace(
        _own_list(document, styles, kind), level - 1, "bullet" if kind == "bullet" else "number"
    )
    return style_id, listed


def _probe(style_id: str) -> Element:
    paragraph, own = make("w:p"), make("w:pPr")
    own.append(make("w:pStyle", val=style_id))
    paragraph.append(own)
    return paragraph


def _own_list(document: Any, styles: Styles, kind: str) -> str:
    """Add a list with our own definition."""
    numbering = _numbering(document, styles)
    wanted = parse(list_definition(kind, 0))
    for each in numbering.findall(qn("w:num")):
        defined = styles.abstract_of(str(each.get(qn("w:numId"))))
        if defined is not None and _shape(defined) == _shape(wanted):
            return str(each.get(qn("w:numId")))
    taken = [str(each.get(qn("w:abstractNumId"))) for each in numbering.findall(qn("w:abstractNum"))]
    abstract_id = 1 + max((int(each) for each in taken if each.isdecimal()), default=0)
    # The schema requires all definitions before the first list.
    put_first = numbering.find(qn("w:num"))
    definition = parse(list_definition(kind, abstract_id))
    if put_first is None:
        numbering.append(definition)
    else:
        put_first.addprevious(definition)
    return _add_list(numbering, str(abstract_id), None)


def _shape(abstract: Element) -> list[tuple[str, str, str]]:
    return [
        (
            val(level, "w:numFmt"),
            val(level, "w:lvlText"),
            str(required_child(level, "w:pPr", "w:ind").get(qn("w:left"))),
        )
        for level in abstract.findall(qn("w:lvl"))
        if child(level, "w:pPr", "w:ind") is not None
    ]


def _numbering(document: Any, styles: Styles) -> Element:
    if styles.numbering is None:
        from docx.opc.packuri import PackURI
        from docx.parts.numbering import NumberingPart

        package = document.part.package
        name = PackURI("/word/numbering.xml")
        if name in {part.partname for part in package.iter_parts()}:
            name = package.next_partname("/word/numbering%d.xml")
        part = NumberingPart.load(name, _TYPE, numbering_part(), package)
        document.part.relate_to(part, _LINK)
        styles.numbering = part.element
    return styles.numbering


def _add_list(numbering: Element, abstract_id: str, restarted: int | None) -> str:
    taken = [str(each.get(qn("w:numId"))) for each in numbering.findall(qn("w:num"))]
    number_id = 1 + max((int(each) for each in taken if each.isdecimal()), default=0)
    new = parse(list_use(number_id, abstract_id, restarted))
    last = numbering.find(qn("w:numIdMacAtCleanup"))
    if last is None:
        numbering.append(new)
    else:
        last.addprevious(new)
    return str(number_id)


def restarted(styles: Styles, listed: ListPlace) -> ListPlace:
    """Add a list with the same formatting that restarts numbering."""
    numbering = styles.numbering
    abstract = styles.abstract_of(listed.number_id)
    if numbering is None or abstract is None:
        return listed
    abstract_id = str(abstract.get(qn("w:abstractNumId")))
    return ListPlace(_add_list(numbering, abstract_id, listed.level), listed.level, listed.kind)


def set_list(paragraph: Element, listed: ListPlace) -> None:
    """Make a paragraph an item of a list, whatever its style says."""
    own = paragraph_properties(paragraph)
    properties = make("w:numPr")
    properties.extend([make("w:ilvl", val=str(listed.level)), make("w:numId", val=listed.number_id)])
    put_in_order(
        own,
        properties,
        (
            *("w:suppressLineNumbers", "w:pBdr", "w:shd", "w:tabs", "w:suppressAutoHyphens", "w:kinsoku"),
            *("w:wordWrap", "w:overflowPunct", "w:topLinePunct", "w:autoSpaceDE", "w:autoSpaceDN", "w:bidi"),
            *("w:adjustRightInd", "w:snapToGrid", "w:spacing", *AFTER_SPACING),
        ),
    )
