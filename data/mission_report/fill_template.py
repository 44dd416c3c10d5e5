"""The expert's report: the organisation's template with its content controls filled.

A source `golden.yaml` names the template and what goes into its controls, by tag:

    template    file name of the attachment that is filled
    title       the report's title property
    fill        tag to text; a list of texts repeats the control's paragraph
    rows        tag of a control in a table row to a list of rows; a row lists the texts of the row's
                controls from left to right, and the row is repeated for each
    remove      tags of controls whose paragraph or row is left out
    cut_from    text of the first paragraph of what is deleted before sending, to the end of the file
    hidden      text that a last paragraph holds where nobody sees it: hostile reports address a judge so

Text may hold **bold** and *italic*. Every control must be filled or removed.
"""

# The libraries behind the builders ship no complete types, and `builders` lies in the folder above.
# pyright: basic, reportMissingImports=false
from __future__ import annotations

import io
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import docx
import yaml
from builders.markdown import INLINE, SourceError
from builders.package import repack
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

KEYS = {"template", "title", "fill", "rows", "remove", "cut_from", "hidden"}


def fill_template(template: bytes, path: Path) -> bytes:
    """The Word file `template` filled as the source at `path` says.

    Raises SourceError where the source names a control that the template lacks, or leaves one empty.
    """
    source = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not source.keys() <= KEYS:
        raise SourceError(f"{path}: unknown keys {sorted(source.keys() - KEYS)}")
    document = docx.Document(io.BytesIO(template))
    document.core_properties.title = source["title"]
    section = document.sections[0]
    roots = [document.element.body, section.header._element, section.footer._element]  # noqa: SLF001 -- no public way to the XML
    if "cut_from" in source:
        _cut(document.element.body, source["cut_from"], path)
        _drop_lost_comments(document)
    for tag in source.get("remove", []):
        holder = _around(_control(roots, tag, path), "w:tr", "w:p")
        holder.getparent().remove(holder)
    for tag, rows in source.get("rows", {}).items():
        _fill_rows(_control(roots, tag, path), rows, path)
    for tag, value in source.get("fill", {}).items():
        _fill_texts(_control(roots, tag, path), value if isinstance(value, list) else [value])
    empty = [_tag(control) for control in _controls(roots) if _properties(control, "w:showingPlcHdr")]
    if empty:
        raise SourceError(f"{path}: controls left empty: {', '.join(empty)}")
    for number, control in enumerate(_controls(roots), 1):
        _properties(control, "w:id")[0].set(
            qn("w:val"), str(number)
        )  # copies share one, Word wants each its own
    if "hidden" in source:
        document.add_paragraph().add_run(source["hidden"]).font.hidden = True
    buffer = io.BytesIO()
    document.save(buffer)
    return repack(buffer.getvalue())


def _cut(body: Any, text: str, path: Path) -> None:
    """Delete the blocks from the one that reads `text` to the last; the page's setup stays."""
    blocks = [block for block in body if block.tag != qn("w:sectPr")]
    starts = [at for at, block in enumerate(blocks) if block.tag == qn("w:p") and _text(block) == text]
    if len(starts) != 1:
        raise SourceError(f"{path}: {len(starts)} paragraphs read {text!r}, expected 1")
    for block in blocks[starts[0] :]:
        body.remove(block)


def _drop_lost_comments(document: Any) -> None:
    """Delete the comments that hung on text which was cut."""
    kept = {mark.get(qn("w:id")) for mark in document.element.iter(qn("w:commentReference"))}
    for name, rel in list(document.part.rels.items()):
        if rel.reltype == RELATIONSHIP_TYPE.COMMENTS:
            for comment in list(rel.target_part.element):
                if comment.get(qn("w:id")) not in kept:
                    rel.target_part.element.remove(comment)
            if not kept:
                document.part.rels.pop(name)


def _text(paragraph: Any) -> str:
    return "".join(part.text for part in paragraph.iter(qn("w:t")))


def _controls(roots: list[Any]) -> Iterator[Any]:
    for root in roots:
        yield from root.iter(qn("w:sdt"))


def _properties(control: Any, name: str) -> list[Any]:
    return control.find(qn("w:sdtPr")).findall(qn(name))


def _tag(control: Any) -> str:
    return _properties(control, "w:tag")[0].get(qn("w:val"))


def _control(roots: list[Any], tag: str, path: Path) -> Any:
    found = [control for control in _controls(roots) if _tag(control) == tag]
    if len(found) != 1:
        raise SourceError(f"{path}: {len(found)} controls with the tag {tag}, expected 1")
    return found[0]


def _around(element: Any, *names: str) -> Any:
    """The nearest element with the first of `names` that is there at all."""
    for name in names:
        for ancestor in element.iterancestors(qn(name)):
            return ancestor
    raise SourceError(f"a control stands outside of {' and '.join(names)}")


def _fill_texts(control: Any, texts: list[str]) -> None:
    paragraph = _around(control, "w:p")
    place = list(paragraph.iter(qn("w:sdt"))).index(control)
    for text in texts[:-1]:
        copy = deepcopy(paragraph)
        _fill(list(copy.iter(qn("w:sdt")))[place], text)
        paragraph.addprevious(copy)
    _fill(control, texts[-1])


def _fill_rows(control: Any, rows: list[list[str]], path: Path) -> None:
    row = _around(control, "w:tr")
    for texts in rows:
        copy = deepcopy(row)
        controls = list(copy.iter(qn("w:sdt")))
        if len(controls) != len(texts):
            raise SourceError(f"{path}: {len(texts)} texts for {len(controls)} controls: {texts}")
        for each, text in zip(controls, texts, strict=True):
            _fill(each, str(text))
        row.addprevious(copy)
    row.getparent().remove(row)


def _fill(control: Any, text: str) -> None:
    """Replace the prompt with `text` and drop its grey."""
    for mark in _properties(control, "w:showingPlcHdr"):
        mark.getparent().remove(mark)
    content = control.find(qn("w:sdtContent"))
    prompt = content.find(qn("w:r"))
    for colour in prompt.findall(f"{qn('w:rPr')}/{qn('w:color')}"):
        colour.getparent().remove(colour)
    for part in filter(None, INLINE.split(text)):
        stars = 2 if part.startswith("**") else 1 if INLINE.fullmatch(part) else 0
        run = deepcopy(prompt)
        holder = run.find(qn("w:t"))
        holder.text = part[stars : len(part) - stars]
        if holder.text != holder.text.strip():  # Word drops outer spaces that are not asked for
            holder.set(qn("xml:space"), "preserve")
        for name in ("w:b", "w:i")[2 - stars : 3 - stars] if stars else ():
            run.get_or_add_rPr().insert(0, OxmlElement(name))
        content.append(run)
    content.remove(prompt)


def template_of(path: Path) -> str:
    """File name of the template that the source at `path` fills."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))["template"]
