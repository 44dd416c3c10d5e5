"""Small Word files with a fault or a feature, and the words counted in one."""

import io
import re
import zipfile

import docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from flows.pipeline.inputs.submission_check import check_report


def write_report(folder, *paragraphs, change=None):
    """Write report.docx: the paragraphs given, then what `change` makes of the document."""
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    if change is not None:
        change(document)
    path = folder / "report.docx"
    document.save(path)
    return path


def add(xml):
    """A change that puts raw XML at the end of the body."""

    def change(document):
        declared = re.sub(r"(<w:\w+)", rf"\1 {nsdecls('w', 'wp', 'a', 'r', 'm')}", xml, count=1)
        document.element.body.insert(len(document.element.body) - 1, parse_xml(declared))

    return change


def rewrite(path, change):
    """Rewrite the package: `change` takes a part's name and bytes, and gives its bytes or None to drop it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            data = change(name, source.read(name))
            if data is not None:
                target.writestr(name, data)
    path.write_bytes(buffer.getvalue())
    return path


def counts(path):
    words = check_report(path).words
    return (words.body, words.tables, words.notes, words.text_boxes, words.outside)
