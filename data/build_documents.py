"""Build the .docx, .pdf and .xlsx files of the scenarios from their text sources.

    python data/build_documents.py [--check] [SCENARIO_DIR ...]

Without folders: every scenario in `data/ma_bench`. A rebuild gives equal bytes, so `--check` writes
nothing and says which committed files differ from their sources (exit 1).

`sources/NAME.docx.md` and `sources/NAME.pdf.md` start with YAML front matter between `---` lines:

    title       first line of the document, and its title property; required
    header      text at the top of every page
    footer      text at the bottom of every page; a page number follows it
    font        `sans` (default) or `serif`
    columns     PDF: 1 (default) or 2; the title spans both, and a table stays within its column
    comments    Word: list of {at, author, text} and optionally date (2031-04-02 06:00:00); hung on the first
                paragraph that contains `at`

The body is blocks with a blank line between them. Lines of a block are joined by a space, except for
bullets and table rows, which take a line each:

    # Heading         `#` to `####`
    - bullet          two spaces deeper for each level
    | a | b |         table; the first row is its header, a `|---|` row is optional and not kept; a cell
                      `^` is merged with the cell above it, `<` with the one on its left; a cell can't
                      contain a pipe
    [^1]: text        a note: a real footnote in Word; in a PDF, under the heading "Notes" at the end
    3.b.(2) text      any other block is a paragraph; a number at its start is kept as typed, and indents
    ---               page break

Within text: `**bold**`, `*italic*`, `~~struck~~`, and `[^1]` where a note's mark stands (in a PDF it prints
as `[1]`). In Word `{+inserted+}` and `{-deleted-}` are tracked changes. No mark stands within another.
PDFs use the standard fonts: a character outside Windows-1252 is an error.

`sources/NAME.xlsx.yaml` has `title` (a property) and `sheets`, each with `name` and, optionally:

    title_rows, header_rows, rows, note_rows
                    stacked in that order from row 1; a row is a list of cells, a bare text is a row of one
                    cell, `[]` an empty row. A cell is null, a number, true or false, a text, a date
                    (2031-04-02), a date and time (2031-04-02 06:00:00), or {f: "=SUM(B3:B9)", v: 41}: a
                    formula with the value that Excel would have stored
    formats         column letter or cell to number format: {C: "0%", D7: "dd mmm yyyy"}
    merge           list of ranges: ["A1:F1"]
    comments        cell to text, or to {author, text}
    widths          column letter to width
    freeze          cell below and right of the frozen panes
    hidden          true for a hidden sheet
    hidden_columns, hidden_rows
                    lists of column letters, of row numbers
"""

# Basic: the libraries behind the builders ship no complete types.
# pyright: basic
from __future__ import annotations

import argparse
import sys
from pathlib import Path

import yaml
from builders.excel import build_xlsx
from builders.markdown import SourceError
from builders.pdf import build_pdf
from builders.word import build_docx

BUILDERS = {".docx.md": build_docx, ".pdf.md": build_pdf, ".xlsx.yaml": build_xlsx}
SCENARIOS = Path(__file__).parent / "ma_bench"


def build(scenario: Path) -> dict[str, bytes]:
    """The bytes of every document of the scenario in folder `scenario`, by file name.

    Raises SourceError where a source breaks the format, or where the sources are not the documents that
    `scenario.yaml` lists.
    """
    built: dict[str, bytes] = {}
    for source in sorted((scenario / "sources").iterdir()):
        kind = "".join(source.suffixes[-2:])
        if kind not in BUILDERS:
            raise SourceError(f"{source}: expected a name ending in {', '.join(BUILDERS)}")
        try:
            built[source.stem] = BUILDERS[kind](source)
        except (yaml.YAMLError, KeyError, ValueError) as error:
            raise SourceError(f"{source}: {type(error).__name__}: {error}") from error
    listed = yaml.safe_load((scenario / "scenario.yaml").read_text(encoding="utf-8"))["documents"]
    if set(listed) != built.keys():
        raise SourceError(f"{scenario}: scenario.yaml lists {listed}, the sources make {sorted(built)}")
    return built


def differences(scenario: Path) -> list[str]:
    """One line for each committed document that is missing, differs from its source, or has none."""
    built = build(scenario)
    committed = {path.name: path.read_bytes() for path in (scenario / "documents").glob("*")}
    return [
        f"{scenario.name}/documents/{name}: "
        + (
            "missing"
            if name not in committed
            else "has no source"
            if name not in built
            else "differs from its source"
        )
        for name in sorted(built.keys() | committed.keys())
        if built.get(name) != committed.get(name)
    ]


def main() -> int:
    """Build or check; 1 where a check found differences or a source is faulty."""
    parser = argparse.ArgumentParser(description="Build the documents of the scenarios from their sources.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where files differ")
    parser.add_argument("scenarios", nargs="*", type=Path, metavar="SCENARIO_DIR")
    arguments = parser.parse_args()
    found = 0
    for scenario in arguments.scenarios or sorted(path.parent for path in SCENARIOS.glob("*/scenario.yaml")):
        try:
            if not arguments.check:
                (scenario / "documents").mkdir(exist_ok=True)
                for name, blob in build(scenario).items():
                    (scenario / "documents" / name).write_bytes(blob)
            problems = differences(scenario)
        except SourceError as error:
            problems = [str(error)]
        print("\n".join(problems) if problems else f"{scenario.name}: documents match their sources")
        found += len(problems)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
