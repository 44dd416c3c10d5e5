"""Compares this project's readers with other converters on the same files: kept, lost, wrong, and speed.

Not part of the test run, as the others need environments of their own:

    .venv/bin/python tests/benchmarks/readers_compare.py --python /path/to/env/bin/python --python ...

Each converter runs in the first of the given interpreters that has it; one that none has is left out.
The tables are printed in Markdown, as flows/readers/README.md shows them. With `--recall FOLDER` it prints
how much of the text that poppler finds in each PDF file of the folder is in ours, and why some is not.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import unicodedata
import zipfile
from collections import Counter
from pathlib import Path

from tests.benchmarks import reader_converters
from tests.benchmarks.reader_converters import ROOT, TOOLS
from tests.benchmarks.reader_features import plain, verdicts

FIXTURES = ROOT / "tests" / "fixtures" / "documents"
RECALL = 0.995  # of poppler's letters and digits
FEWEST = 20  # signs of a text that has a share worth stating


def run(pythons, media, tool, files):
    """The worker's result in the first interpreter that has the tool; None if none has."""
    for python in pythons:
        done = subprocess.run(
            [python, reader_converters.__file__, media, tool],
            input="\n".join(map(str, files)),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0 and "@@json" in done.stdout:
            return json.loads(done.stdout.rpartition("@@json")[2])
    return None


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
    parser.add_argument("--recall", nargs="+", metavar="FOLDER", help="compare PDF files with poppler")
    options = parser.parse_args()
    if options.recall:
        recall(options.recall)
        return
    with tempfile.TemporaryDirectory() as folder:
        for media in TOOLS:
            compare([sys.executable, *options.python], media, Path(folder))


if __name__ == "__main__":
    main()
