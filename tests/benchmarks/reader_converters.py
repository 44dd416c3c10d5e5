"""The converters that readers_compare.py measures; as a script, it converts files with one of them."""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def ours():
    sys.path.insert(0, str(ROOT))
    from flows.readers import read_document

    def text(path):
        document = read_document(path)
        # What was left out is kept apart: a report is as good as text for 'reported', not for 'shown'.
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


def worker(media, tool):
    """Convert all files that standard input names, write their texts and times as JSON."""
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


if __name__ == "__main__":
    worker(*sys.argv[1:])
