"""Format check of a report (missing, corrupt, empty or readable), its text and its word count.

`flows.stages.truncate` defines a word (`w1`). Rule `r1`, here, defines which words of a Word file count
against a limit. They are those of Word's own count, so that a writer can check:

- Counted: paragraphs, headings, list items, tables, text boxes and shapes, footnotes, endnotes, tracked
  insertions, the results of fields, content controls, struck text.
- Not counted: headers and footers (they repeat on each page), comments, tracked deletions, hidden text, the
  numbers that Word generates for headings and list items, note marks, image descriptions, charts, link
  targets, and marks that the reader adds for the judge (`[spans 2 columns]`).
"""

import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from flows.common.errors import ReadError
from flows.readers import docx as docx_reader
from flows.readers.guarded import guarded
from flows.readers.limits import MAX_BYTES, Limits
from flows.readers.markup import Element, lxml_etree
from flows.readers.ooxml import Package
from flows.readers.read import read_bytes
from flows.schema.document import Block, BlockKind, Document, Notice
from flows.schema.report_task import ReportFile, ReportStatus, ReportWords
from flows.stages.truncate import WORD_COUNTER, count_words

REPORT_WORDS_VERSION = "r1"
"""Version of the rule above; raise it when any report would be counted differently."""
WORD_RULE = f"{REPORT_WORDS_VERSION}/{WORD_COUNTER}"
"""The rule and its word counter, as tables name them."""

_PLACES = {
    BlockKind.paragraph: "body",
    BlockKind.heading: "body",
    BlockKind.list_item: "body",
    BlockKind.form: "body",
    BlockKind.table: "tables",
    BlockKind.footnote: "notes",
    BlockKind.endnote: "notes",
    BlockKind.textbox: "text_boxes",
    BlockKind.header: "outside",
    BlockKind.footer: "outside",
}

# Marks that the reader adds (flows/readers/README.md), matched only where it adds them: a writer must not
# be able to exclude text from the count by writing the same marks.
_LEADS = {
    BlockKind.footnote: re.compile(r"^\[\^[^\]\s]+\]: "),
    BlockKind.endnote: re.compile(r"^\[\^[^\]\s]+\]: "),
    BlockKind.textbox: re.compile(r"^\[Text box\] "),
    BlockKind.header: re.compile(r"^\[Header\] (?:\[Text box\] )?"),
    BlockKind.footer: re.compile(r"^\[Footer\] (?:\[Text box\] )?"),
}
_MARKS = re.compile(r"\[\^\w{1,8}\]|~~")
_TABLE_MARKS = re.compile(
    r" \[spans \d+ (?:columns|rows)(?:, \d+ rows)?\]|\[table below\]|\[Image without description\]|<br>"
    r"|^\[Table inside [^\]\n]{0,120}row \d+, column \d+\]$",
    re.MULTILINE,
)
_STORIES = {"header", "footer", "footnotes", "endnotes", "comments"}
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_NO_NUMBERS = f'<w:numbering xmlns:w="{_W[1:-1]}"/>'.encode()


def check_report(path: Path, limits: Limits = Limits()) -> ReportFile:  # noqa: B008 -- frozen
    """Check one report and read it for the judge, in a process with resource limits.

    A report is corrupt if python-docx raises any exception, or if the reader refuses it (protected, a zip
    bomb, a macro, an external entity). It is empty if its body, tables, text boxes, notes, headers and
    footers show no word and no picture. Authors of comments and changes are removed from text and notices,
    since they could name the model that wrote it.

    Raises:
        ReadError: python-docx opens the file, but our reader fails or exceeds `limits`. No report is scored
            0 for that.
    """
    absent = _absent(path)
    if absent:
        return _without_text(ReportStatus.missing, absent)
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_BYTES else b""
    except OSError as error:
        raise ReadError(path, f"it can't be opened ({error.strerror})", "a readable file") from error
    if size > MAX_BYTES:
        return _without_text(ReportStatus.corrupt, f"{size:,} bytes; at most {MAX_BYTES:,} are read")
    fields = guarded(report_of, data, path, limits=limits)
    words = fields["words"]
    return ReportFile(
        status=ReportStatus(fields["status"]),
        reason=fields["reason"],
        text=fields["text"],
        notices=tuple(Notice(**notice) for notice in fields["notices"]),
        words=None if words is None else ReportWords(**words),
    )


def report_of(data: bytes, path: Path) -> ReportFile:
    """Check the bytes of a report, in this process; `path` names it in errors."""
    failure: Exception | None = None
    try:
        package = Package(data, path)
        counted = docx_reader.read(_rewritten(package, _countable, numbers=False), path)
        document = None if _is_blank(counted[0]) else _document(package, path)
    except ReadError as error:
        # Before python-docx unpacks it: the file may be a zip bomb.
        return _without_text(ReportStatus.corrupt, f"the reader refuses it: {error.found}")
    except Exception as error:  # noqa: BLE001 -- raised below unless python-docx fails too
        failure, counted, document = error, (list[Block](), list[Notice]()), None
    fault = _python_docx_fault(data)
    if fault:
        return _without_text(ReportStatus.corrupt, fault)
    if failure is not None:
        raise ReadError(
            path,
            f"python-docx opens it, and the reader fails ({type(failure).__name__}: {failure})",
            "a file that both read",
            "report this bug in staffbench",
        ) from failure
    blocks, notices = counted
    if document is None:
        return _without_text(ReportStatus.empty, _why_empty(blocks, notices), tuple(notices))
    words = report_words(blocks)
    reported = document.notices
    if not words.counted and not words.outside:
        reported = (*reported, Notice("no_text", "document", "pictures and no word"))
    return ReportFile(ReportStatus.readable, "", document.text, reported, words)


def _absent(path: Path) -> str:
    """Reason why there is no file to read; empty if there is one."""
    if path.is_symlink():
        return f"{path.name} is a link, which is not followed"
    if path.is_file():
        return ""
    return f"{path.name} is {'a folder' if path.is_dir() else 'not there'}"


def _is_blank(blocks: list[Block]) -> bool:
    words = report_words(blocks)
    pictures = any(block.kind is BlockKind.image for block in blocks)
    return not (words.counted or words.outside or pictures)


def _why_empty(blocks: list[Block], notices: list[Notice]) -> str:
    found = [
        *(["hidden text"] if any(notice.kind == "hidden_text" for notice in notices) else []),
        *(["comments"] if any(block.kind is BlockKind.comment for block in blocks) else []),
    ]
    only = f", only {' and '.join(found)}" if found else ""
    return f"no word in its body, tables, text boxes, notes, headers and footers, and no picture{only}"


def _document(package: Package, path: Path) -> Document:
    """Read the report as a judge is shown it."""
    return read_bytes(_rewritten(package, _anonymous, numbers=True), path, "docx")


def _without_text(status: ReportStatus, reason: str, notices: tuple[Notice, ...] = ()) -> ReportFile:
    return ReportFile(status, " ".join(reason.split()), None, notices, None)


def _python_docx_fault(data: bytes) -> str:
    """Error of python-docx on opening a file and reading its paragraphs; empty if there is none."""
    import docx

    try:
        document = docx.Document(io.BytesIO(data))
        _ = [paragraph.text for paragraph in document.paragraphs]
    except Exception as error:  # noqa: BLE001 -- by the specification, any exception means a corrupt file
        return f"python-docx can't open it ({type(error).__name__}: {error})"
    return ""


def report_words(blocks: Iterable[Block]) -> ReportWords:
    """Count the words of a report by place.

    The blocks are of a file without generated numbers and link targets.
    """
    counts: Counter[str] = Counter()
    for block in blocks:
        place = _PLACES.get(block.kind)
        if place is not None:
            lead = _LEADS.get(block.kind)
            text = _MARKS.sub("", block.text if lead is None else lead.sub("", block.text))
            if place != "body":  # notes, boxes and headers may hold tables
                text = _TABLE_MARKS.sub("\n", text).replace("\\|", "|")
            counts[place] += count_words(text)
    return ReportWords(
        rule=WORD_RULE,
        body=counts["body"],
        tables=counts["tables"],
        notes=counts["notes"],
        text_boxes=counts["text_boxes"],
        outside=counts["outside"],
    )


def _rewritten(package: Package, change: Callable[[Element], None], *, numbers: bool) -> bytes:
    """Apply `change` to each part with text; drop list numbering unless `numbers`. Return the new file."""
    etree: Any = lxml_etree()
    parts: dict[str, bytes] = {}
    links = [link for link in package.relationships(package.main).values() if not link.external]
    for name in {package.main, *(link.target for link in links if link.kind in _STORIES)}:
        if package.has(name):
            root = package.xml(name)
            change(root)
            parts[name.lower()] = etree.tostring(
                root, xml_declaration=True, encoding="UTF-8", standalone=True
            )
    if not numbers:
        parts.update({link.target.lower(): _NO_NUMBERS for link in links if link.kind == "numbering"})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as target:
        for name in package.names():
            # Pictures and fonts are not read, so their size does not matter.
            read = name.endswith((".xml", ".rels"))
            target.writestr(name, parts.get(name) or (package.read(name) if read else b""))
    return buffer.getvalue()


def _anonymous(root: Element) -> None:
    for element in root.iter():
        for key in ("author", "initials"):
            element.attrib.pop(_W + key, None)


def _countable(root: Element) -> None:
    """Remove what the reader shows but Word does not count: link targets and image descriptions."""
    _anonymous(root)
    for element in root.iter():
        for key in ("descr", "title", "alt"):
            element.attrib.pop(key, None)
    for link in root.iter(_W + "hyperlink"):
        for key in [key for key in link.attrib if str(key).endswith("}id")]:
            del link.attrib[key]
    for code in root.iter(_W + "instrText"):
        if "HYPERLINK" in str(code.text or "").upper():
            code.text = " REF "
    for simple in root.iter(_W + "fldSimple"):
        if "HYPERLINK" in str(simple.get(_W + "instr", "")).upper():
            simple.set(_W + "instr", " REF ")
