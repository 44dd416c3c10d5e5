"""Compares this project's readers with other converters on the same files: kept, lost, wrong, and speed.

Not part of the test run, as the others need environments of their own:

    python tests/benchmarks/readers_compare.py --python /path/to/env/bin/python --python ...

Each converter runs in the first of the given interpreters that has it; one that none has is left out.
The tables are printed in Markdown, as flows/readers/README.md shows them. With `--recall FOLDER` it prints
how much of the text that poppler finds in each PDF file of the folder is in ours, and why some is not.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
import zipfile
from collections import Counter
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures" / "documents"
ROOT = Path(__file__).parents[2]
RECALL = 0.995  # of poppler's letters and digits
FEWEST = 20  # signs of a text that has a share worth stating


def ours():
    sys.path.insert(0, str(ROOT))
    from flows.readers import read_document

    def text(path):
        document = read_document(path)
        # What was left out is told apart: a report is as good as text for 'reported', not for 'shown'.
        return document.text + "\n\n@@notices\n" + "\n".join(notice.detail for notice in document.notices)

    return text


def python_docx():
    import docx

    return lambda path: "\n".join(paragraph.text for paragraph in docx.Document(str(path)).paragraphs)


def pandoc():
    tool = shutil.which("pandoc")
    if tool is None:
        raise ImportError("pandoc")

    def text(path):
        done = subprocess.run(
            [tool, "-f", "docx", "-t", "markdown", "--wrap=none", str(path)],
            capture_output=True,
            check=True,
            timeout=300,
        )
        return done.stdout.decode()

    return text


def docling():
    # docling itself imports torch and fetches models; for Office files its pipeline is this backend alone.
    from docling.backend.msexcel_backend import MsExcelDocumentBackend
    from docling.backend.msword_backend import MsWordDocumentBackend
    from docling.datamodel.base_models import InputFormat
    from docling.datamodel.document import InputDocument

    def text(path):
        sheet = path.suffix == ".xlsx"
        backend = MsExcelDocumentBackend if sheet else MsWordDocumentBackend
        source = InputDocument(
            path_or_stream=path, format=InputFormat.XLSX if sheet else InputFormat.DOCX, backend=backend
        )
        return source._backend.convert().export_to_markdown()

    return text


def markitdown():
    from markitdown import MarkItDown

    converter = MarkItDown()
    return lambda path: converter.convert(str(path)).text_content


def docx2txt():
    import docx2txt as module

    return lambda path: module.process(str(path))


def docx2python():
    from docx2python import docx2python as module

    def text(path):
        with module(str(path)) as document:
            return document.text

    return text


def pdfplumber_text():
    import pdfplumber

    def text(path):
        with pdfplumber.open(path) as pdf:
            return "\n".join(page.extract_text() or "" for page in pdf.pages)

    return text


def pypdf():
    from pypdf import PdfReader

    return lambda path: "\n".join(page.extract_text() for page in PdfReader(str(path)).pages)


def pymupdf4llm():
    import pymupdf4llm as module

    return lambda path: module.to_markdown(str(path), show_progress=False)


def pdftotext():
    tool = shutil.which("pdftotext")
    if tool is None:
        raise ImportError("pdftotext")

    def text(path):
        done = subprocess.run([tool, "-layout", str(path), "-"], capture_output=True, check=True, timeout=300)
        return done.stdout.decode()

    return text


def openpyxl_values():
    import openpyxl

    def text(path):
        book = openpyxl.load_workbook(path, data_only=True)
        rows = [f"{sheet.title}\n" for sheet in book.worksheets]
        for sheet in book.worksheets:
            rows += [
                " | ".join("" if v is None else str(v) for v in row)
                for row in sheet.iter_rows(values_only=True)
            ]
        return "\n".join(rows)

    return text


def pandas():
    import pandas as pd

    return lambda path: "\n\n".join(
        f"{name}\n{frame.to_csv(sep='|')}"
        for name, frame in pd.read_excel(path, sheet_name=None, header=None).items()
    )


TOOLS = {
    "docx": {
        "staffbench": ours,
        "python-docx paragraphs": python_docx,
        "pandoc": pandoc,
        "docling": docling,
        "markitdown": markitdown,
        "docx2python": docx2python,
        "docx2txt": docx2txt,
    },
    "pdf": {
        "staffbench": ours,
        "pdfplumber text": pdfplumber_text,
        "pdftotext -layout": pdftotext,
        "markitdown": markitdown,
        "pymupdf4llm": pymupdf4llm,
        "pypdf": pypdf,
    },
    "xlsx": {
        "staffbench": ours,
        "openpyxl values": openpyxl_values,
        "docling": docling,
        "markitdown": markitdown,
        "pandas": pandas,
    },
}


def has(*patterns):
    return lambda text: all(re.search(pattern, text, re.MULTILINE | re.DOTALL) for pattern in patterns)


def times(word, least=1, most=1):
    return lambda text: least <= text.count(word) <= most


def gone(word, report):
    """Left out of the text, and reported."""
    return lambda text: word not in text.split("@@notices")[0] and re.search(report, text) is not None


def live(word):
    return lambda text: word in text.split("@@notices")[0]


def never(_):
    return False


# feature: (kept if, else wrong if); what is neither is lost.
CHECKS = {
    "docx": {
        "heading with its level": (has(r"^#+ \**Situation heading"), never),
        "list numbers as shown, three levels": (
            has(r"1\. +Execution", r"b\. +Tasks to units", r"\(2\) +Second task"),
            has(r"\b(?:2|ii)[.)] +Second task|[1-9]\. +Tasks to units"),
        ),
        "list restarted": (has(r"\b1[.)] +Restarted list"), has(r"[2-9][.)] +Restarted list")),
        "legal numbering": (
            has(r"1\.1\.? +Legal paragraph"),
            has(r"(?:I\.1|\bI|\b[ai1]\.?\)?) +Legal paragraph"),
        ),
        "table as a table": (has(r"Middle[ \t]*\|"), never),
        "merged cell once": (times("Merged head"), times("Merged head", 2, 9)),
        "nested table": (has(r"nested one", r"nested two"), never),
        "header": (times("Header of all pages"), times("Header of all pages", 2, 9)),
        "first-page and even headers": (has("Header of the first page", "Header of even pages"), never),
        "footer": (times("Footer of all pages"), times("Footer of all pages", 2, 9)),
        "footnote": (has("Footnote words"), never),
        "endnote": (has("Endnote words"), never),
        "text box, once": (times("Text box words"), times("Text box words", 2, 9)),
        "content controls": (has("Inline control", "Block control"), never),
        "smart tag": (has("Smart tag"), never),
        "link with its target": (has("annex", r"example\.org/annex"), never),
        "field's result": (has("seven boats"), has("REF x")),
        "symbol": (has("Sign[ \\\\]*[✓✔☑]"), has("Sign[ \\\\]*[\uf0fcü]")),
        "check box of a form": (has(r"[☒☑✓x]\]?\\?\]? *Box ticked"), has(r"[☐]\s*Box ticked")),
        "tab and line break": (has(r"Tab\s+stop[\\ ]*\s+next line"), has("Tabstop|stopnext")),
        "no-break hyphen": (has("No[-\u2011]break"), has("Nobreak")),
        "tracked insertion": (has("carries .{0,4}twelve"), never),
        "tracked deletion left out": (
            lambda text: "twelve" in text and not live("forty")(text),
            live("forty"),
        ),
        "moved text once": (times("Moved words"), times("Moved words", 2, 9)),
        "said that revisions exist": (has("[Tt]racked changes|revision"), never),
        "comment with author": (has("Comment words", r"J\. Moss"), never),
        "hidden text left out and reported": (
            gone("Vanished words", "hidden: Vanished"),
            live("Vanished words"),
        ),
        "white text left out and reported": (gone("White words", "White words"), live("White words")),
        "one-point text left out and reported": (gone("Tiny words", "Tiny words"), live("Tiny words")),
        "white on a dark cell shown": (has("Visible on navy"), never),
        "struck text marked": (has(r"(?:~~|<s>|<del>).{0,3}Cancelled order"), has("(?<!~~)Cancelled order")),
        "raised digit": (has(r"10\s?(?:⁶|\^\{?6|<sup>6)"), has("10 ?6")),
        "equation": (has(r"a\s?\+\s?b"), never),
        "image's description": (has("Map of the northern sector"), never),
    },
    "pdf": {
        "columns in reading order": (
            lambda text: -1 < text.find("until the reserve has passed") < text.find("Civilian traffic"),
            has("Civilian traffic"),
        ),
        "table across the columns": (has(r"Alpha[ \t]*\|[ \t]*12[ \t]*\|[ \t]*04:30"), never),
        "rows of a table without rules": (has(r"Stretchers[ \t|]*18[ \t|]*30"), never),
        "header of each page once": (times("EXERCISE SECRET", 1, 2), times("EXERCISE SECRET", 3, 9)),
        "hyphen at a line end": (has("support company"), has(r"com-\s+pany")),
        "raised digit": (has(r"10\s?(?:⁶|\^6|<sup>6|\[6\])"), has("10\\s?6")),
        "turned page": (has("Turned page: the ferry runs hourly"), never),
        "sideways text": (has("until relieved by the corps"), never),
        "form's value": (has("Major Lindqvist"), never),
        "hidden text left out and reported": (
            gone("White words", "White words"),
            live("White words in the file"),
        ),
        "page without text said to be one": (has("no text layer"), never),
    },
    "xlsx": {
        "date, without a time of its own": (
            has(r"2026-03-01(?! 00:00)|1 Mar 2026"),
            has("2026-03-01[ T]00:00|46082"),
        ),
        "percent": (has(r"25\.6 ?%"), has(r"0\.256")),
        "currency": (has(r"\$1,234\.50?"), has(r"1234\.5")),
        "leading zeros": (has("00042"), has(r"\b42\b")),
        "formula's value": (has(r"1,?135\.5"), never),
        "formula never calculated": (has(r"SUM\(E4:E6\)"), never),
        "merged range filled": (has(r"North.*\n?.*North"), never),
        "hidden row included and marked": (has("hidden row.{0,3}South"), has("South")),
        "hidden column included and marked": (has("hidden column"), has("00042|\\b42\\b")),
        "hidden sheet included and marked": (has("Reserve.{0,4}hidden"), has("Hidden reserve")),
        "comment with author and cell": (
            has(r"Q\. Ames.{0,9}C4.{0,3}Counted by hand"),
            has("Counted by hand"),
        ),
        "chart sheet named": (has("Crew chart"), never),
        "two tables kept apart": (has(r"\| Boat \| Crew \|"), has("Cost.{0,60}Boat")),
        "link with its target": (has(r"example\.org/south"), never),
    },
}


def worker(media, tool):
    """In the converter's own interpreter: convert all files, write their texts and times as JSON."""
    start = time.perf_counter()
    convert = TOOLS[media][tool]()
    loaded = time.perf_counter() - start
    found = {"import": loaded, "files": {}}
    for line in sys.stdin.read().splitlines():
        path = Path(line)
        start = time.perf_counter()
        try:
            text = convert(path)
        except Exception as error:  # noqa: BLE001 -- how a converter fails is what is measured
            found["files"][line] = {"error": f"{type(error).__name__}: {error}"[:300]}
        else:
            found["files"][line] = {"text": text, "seconds": time.perf_counter() - start}
    sys.stdout.write("\n@@json" + json.dumps(found))


def run(pythons, media, tool, files):
    """The worker's result in the first interpreter that has the tool; None if none has."""
    for python in pythons:
        done = subprocess.run(
            [python, __file__, "--worker", media, tool],
            input="\n".join(map(str, files)),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0 and "@@json" in done.stdout:
            return json.loads(done.stdout.rpartition("@@json")[2])
    return None


def plain(text):
    """Without the marks by which Markdown escapes and sets off text, white space as it is."""
    text = re.sub(r"\\([^\w\s])", r"\1", text).replace("\u00a0", " ")
    return text.replace("&gt;", ">").replace("**", "")


def variants(folder):
    """Files that differ in their kind only."""
    source = FIXTURES / "marked.docx"
    strict = folder / "strict.docx"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(strict, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            pattern = (
                rb"http://schemas\.openxmlformats\.org/(wordprocessingml|officeDocument|drawingml)/2006/"
            )
            new.writestr(name, re.sub(pattern, rb"http://purl.oclc.org/ooxml/\1/", old.read(name)))
    macro = folder / "macro.docm"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(macro, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            kind = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
            new.writestr(
                name, old.read(name).replace(kind, b"application/vnd.ms-word.document.macroEnabled.main+xml")
            )
    return {"strict file": strict, "file with macros (.docm)": macro}


def verdicts(media, text):
    for feature, (kept, wrong) in CHECKS[media].items():
        yield feature, "kept" if kept(text) else "wrong" if wrong(text) else "lost"


def compare(pythons, media, folder):
    files = sorted(FIXTURES.glob(f"*.{media}"))
    marked = FIXTURES / f"marked.{media}"
    extra = variants(folder) if media == "docx" else {}
    columns, rows = [], {}
    speeds = []
    for tool in TOOLS[media]:
        found = run(pythons, media, tool, [*files, *extra.values()])
        if found is None:
            print(f"{media}: {tool} is not installed in any interpreter given", file=sys.stderr)
            continue
        columns.append(tool)
        result = found["files"][str(marked)]
        for feature, verdict in verdicts(media, plain(result.get("text", ""))):
            rows.setdefault(feature, []).append(verdict)
        for feature, path in extra.items():
            text = found["files"][str(path)].get("text", "")
            rows.setdefault(feature, []).append("kept" if "Situation heading" in text else "lost")
        read = {
            name: entry
            for name, entry in found["files"].items()
            if "seconds" in entry and Path(name) in files
        }
        size = sum(Path(name).stat().st_size for name in read) / 1e6
        seconds = sum(entry["seconds"] for entry in read.values())
        speeds.append((len(read), len(files), f"{found['import']:.2f}", f"{seconds / size:.2f}"))
    print(f"\n| {media}: feature | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for feature, cells in rows.items():
        print(f"| {feature} | " + " | ".join(cells) + " |")
    for word in ("kept", "lost", "wrong"):
        counts = [sum(cells[at] == word for cells in rows.values()) for at in range(len(columns))]
        print(f"| **{word}** | " + " | ".join(map(str, counts)) + " |")
    print("| files read | " + " | ".join(f"{read} of {count}" for read, count, _, _ in speeds) + " |")
    print("| import, s | " + " | ".join(loaded for _, _, loaded, _ in speeds) + " |")
    print("| reading, s per MB | " + " | ".join(speed for *_, speed in speeds) + " |")


def signs(text):
    """Letters and digits, which all converters agree on; ligatures and full-width forms spelt out."""
    return Counter(sign for sign in unicodedata.normalize("NFKC", text) if sign.isalnum())


def page_count(place):
    """Pages of a running line's place: `pages 1-3, 5` are four."""
    ends = [part.split("-") for part in place.removeprefix("pages ").split(", ")]
    return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)


def explained(path, expected):
    """Share of the expected signs that our text has, and what explains the rest."""
    from flows.common.errors import ReadError
    from flows.readers import read_document

    try:
        document = read_document(path)
    except ReadError as error:
        return 0.0, f"refused: {error}".replace(str(path), path.name)
    found = Counter()
    for block in document.blocks:
        times = page_count(block.place) if block.kind in {"header", "footer"} else 1
        found.update({sign: count * times for sign, count in signs(block.text).items()})
    causes = [("", Counter())]
    for kind in ("hidden_text", "broken_encoding", "normalised"):
        details = [notice.detail for notice in document.notices if notice.kind == kind]
        if details:
            causes.append((kind, signs(" ".join(details))))
    for cause, more in causes:
        found.update(more)
        share = 1 - (expected - found).total() / expected.total()
        if share >= RECALL:
            return share, cause
    return share, ", ".join(cause for cause, _ in causes[1:]) or "unexplained"


def recall(folders):
    sys.path.insert(0, str(ROOT))
    rows = []
    for path in sorted(path for folder in folders for path in Path(folder).rglob("*.pdf")):
        for option in ("-layout", "-raw"):
            done = subprocess.run(["pdftotext", option, path, "-"], capture_output=True, check=False)
            expected = signs(done.stdout.decode(errors="replace"))
            if expected.total() >= FEWEST:
                rows.append((*explained(path, expected), option, path.name))
    print("\n| recall | of poppler | file | why not all |\n|---|---|---|---|")
    for share, cause, option, name in sorted(rows):
        if share < RECALL or cause:
            print(f"| {share:.4f} | {option} | {name} | {cause} |")
    reached = sum(share >= RECALL for share, *_ in rows)
    print(f"\n{reached} of {len(rows)} texts of poppler reach {RECALL}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--python", action="append", default=[], help="an interpreter that has some converters"
    )
    parser.add_argument("--worker", nargs=2, metavar=("MEDIA", "TOOL"), help=argparse.SUPPRESS)
    parser.add_argument("--recall", nargs="+", metavar="FOLDER", help="compare PDF files with poppler")
    options = parser.parse_args()
    if options.worker:
        worker(*options.worker)
        return
    if options.recall:
        recall(options.recall)
        return
    with tempfile.TemporaryDirectory() as folder:
        for media in TOOLS:
            compare([sys.executable, *options.python], media, Path(folder))


if __name__ == "__main__":
    main()
