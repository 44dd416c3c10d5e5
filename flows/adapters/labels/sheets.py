"""Workbooks that an expert fills in: items and briefs in random order, without the names of models."""

import math
import textwrap
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openpyxl import Workbook, load_workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.utils.escape import unescape
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.properties import PageSetupProperties

from flows.common.errors import ScenarioError, StaffbenchError
from flows.schema.scenario import Item, Scenario
from flows.schema.verdict import ExpertLabel

LABELS, ABOUT = "Labels", "Read me"

_LONGEST = 2_000  # characters of a brief in a cell: a row is at most 409 points high
_LINE, _HIGHEST = 14.5, 409.0  # height of a line and of a row, in points
_MAX_ROWS = 100_000
_MOST_MOVED = 3  # rows that are named each
_WIDTHS = {
    "brief": 10, "beside": 10, "item": 14, "kind": 13, "what the brief should say": 44, "the truth": 40,
    "passes if": 32, "fails if": 32, "label": 11, "note": 30, "code (leave as it is)": 28,
}  # fmt: skip
_READ = ("brief", "item", "label", "code (leave as it is)")  # the columns that are read
_WORDS = {False: {"pass": True, "fail": False}, True: {"not made": True, "made": False}}
"""Labels as `passed`, for requirements and for wrong moves."""
_HOW = (
    "Label each row of the sheet Labels by the brief that it names; the link in its first column opens it.",
    "pass: the brief makes the determination, as 'passes if' says where it is there. fail: it does not.",
    "A wrong move is something that a brief should not do. made: the brief does it. not made: it does not.",
    "Judge each row alone, by what the brief says and not by what it may mean. Absent is fail.",
    "Where you can't decide leave the label empty, and say why in the note.",
    "Rows may be sorted and filtered as a whole. Leave the last column as it is.",
    "Save it as .xlsx under its name.",
)


@dataclass(frozen=True, slots=True)
class SheetBrief:
    """What the code of a brief in a sheet stands for, and its items by id."""

    condition: str
    scenario_id: str
    seed: int
    items: Mapping[str, Item]


def write_sheet(
    path: Path,
    rater: str,
    sample: str,
    briefs: Sequence[tuple[str, str, Sequence[Item]]],
    scenarios: Mapping[str, Scenario],
) -> None:
    """Write the workbook of one rater on a sample, by whose name `read_sheet` finds the briefs.

    `briefs` has in order the code, the text and the items of each, `scenarios` the scenario of each code; a
    task's expert report is shown too.
    """
    book = Workbook()
    about: Any = book.active
    about.title = ABOUT
    facts = (("rater", rater), ("sample", sample), ("rows", sum(len(items) for _, _, items in briefs)))
    for number, (name, value) in enumerate(facts, 1):
        _put(about, number, 1, name).font = Font(bold=True)
        _put(about, number, 2, value)
    for number, line in enumerate(_HOW, len(facts) + 2):
        _put(about, number, 2, line)
    about.column_dimensions["B"].width = 100
    labels = book.create_sheet(LABELS)
    rows: list[tuple[Item, dict[str, str | None]]] = []
    experts: dict[str, str] = {}
    for number, (code, text, items) in enumerate(briefs, 1):
        title, scenario = f"Brief {number}", scenarios[code]
        _show(book, title, scenario.title, text)
        if scenario.reference is not None and scenario.scenario_id not in experts:
            experts[scenario.scenario_id] = f"Expert {len(experts) + 1}"
            _show(book, experts[scenario.scenario_id], f"The expert's {scenario.title}", scenario.reference)
        for item in items:
            cells = (
                title,
                experts.get(scenario.scenario_id),
                item.item_id,
                "wrong move" if item.is_error else "requirement",
                item.requirement,
                item.ground_truth,
                item.pass_condition,
                item.fail_condition,
                None,
                None,
                f"{code} {item.item_id}",
            )
            rows.append((item, dict(zip(_WIDTHS, cells, strict=True))))
    _fill(labels, rows)
    for sheet in book.worksheets:  # printed: as wide as the page
        _set_heights(sheet)
        sheet.page_setup.orientation = "landscape" if sheet.title == LABELS else "portrait"
        sheet.page_setup.fitToHeight = 0
        sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    book.active = 1
    book.properties.creator = "staffbench"
    book.save(path)


def _fill(sheet: Any, rows: Sequence[tuple[Item, Mapping[str, str | None]]]) -> None:
    """Fill the sheet of labels; columns that no row needs are left out."""
    head = [name for name in _WIDTHS if name in ("label", "note") or any(cells[name] for _, cells in rows)]
    for column, name in enumerate(head, 1):
        cell = _put(sheet, 1, column, name)
        cell.font, cell.fill = Font(bold=True, color="FFFFFF"), PatternFill("solid", fgColor="1F3864")
        sheet.column_dimensions[get_column_letter(column)].width = _WIDTHS[name]
    choices: dict[bool, Any] = {}
    for is_error, words in _WORDS.items():
        offered = f'"{",".join(words)}"'
        choices[is_error] = DataValidation("list", formula1=offered, allow_blank=True, showErrorMessage=True)
    for row, (item, cells) in enumerate(rows, 2):
        for column, name in enumerate(head, 1):
            cell = _put(sheet, row, column, cells[name] or None)
            if name in ("brief", "beside") and cell.value:
                cell.hyperlink, cell.font = f"#'{cell.value}'!A1", Font(color="0563C1", underline="single")
            elif name == "label":
                choices[item.is_error].add(cell)
                cell.fill = PatternFill("solid", fgColor="FFF2CC")
            elif name.startswith("code"):
                cell.font = Font(color="999999")
    for one in choices.values():
        sheet.add_data_validation(one)
    sheet.freeze_panes = "C2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(head))}{len(rows) + 1}"


def _put(sheet: Any, row: int, column: int, value: object) -> Any:
    """Fill a cell; a text that begins like a formula stays a text."""
    cell = sheet.cell(row, column)
    if isinstance(value, str):
        cell.number_format = "@"
        cell.value = ILLEGAL_CHARACTERS_RE.sub(" ", value)
        cell.data_type = "s"
    else:
        cell.value = value
    cell.alignment = Alignment(vertical="top", wrap_text=True)
    return cell


def _set_heights(sheet: Any) -> None:
    """Make each row as high as its texts need; not every program does when it opens a file."""
    for row in sheet.iter_rows():
        needed = 1
        for cell in row:
            wide = sheet.column_dimensions[cell.column_letter].width * 0.95
            lines = str(cell.value or "").split("\n")
            needed = max(needed, sum(math.ceil((len(line) + 1) / wide) for line in lines))
        sheet.row_dimensions[row[0].row].height = min(_HIGHEST, _LINE * needed)


def _show(book: Workbook, name: str, title: str, text: str) -> None:
    sheet: Any = book.create_sheet(name)
    sheet.column_dimensions["A"].width = 95
    back = _put(sheet, 1, 1, f"{title} (back to {LABELS})")
    back.hyperlink, back.font = f"#'{LABELS}'!A1", Font(bold=True, size=13, color="0563C1")
    wrapped = textwrap.TextWrapper(_LONGEST, replace_whitespace=False, drop_whitespace=False)
    parts = [part for paragraph in text.splitlines() for part in wrapped.wrap(paragraph) or [None]]
    for row, part in enumerate(parts, 3):
        _put(sheet, row, 1, part)


def read_sheet(
    path: Path, briefs: Callable[[str], Mapping[str, SheetBrief]]
) -> tuple[list[ExpertLabel], list[StaffbenchError]]:
    """Read a filled workbook, also one that LibreOffice or Excel saved again.

    `briefs` returns what the codes of a sample stand for, by code; of briefs that are stored today.

    Returns:
        The labels, and every fault with its cell: another word than the row offers, a code that no stored
        brief has, a row whose item is not that of its code, a row that is there twice, rows that are missing.

    Raises:
        ScenarioError: no workbook, or none of `write_sheet`.
    """
    facts, sheet, head = _opened(path)
    known = briefs(facts["sample"])
    found: list[ExpertLabel] = []
    faults: list[StaffbenchError] = []
    moved: list[ScenarioError] = []  # rows whose item is not that of their code
    rows: dict[str, int] = {}
    for number in range(2, (sheet.max_row or 1) + 1):
        brief, item_id, label, code = (_text(sheet[f"{head[name]}{number}"].value) for name in _READ)
        if not (item_id or label or code):
            continue
        of_brief, _, of_item = code.partition(" ")
        own = known.get(of_brief)
        item = own.items.get(of_item) if own else None
        fault = None
        if own is None or item is None:
            fault = ("code", f"code {code!r}", "that of a stored brief, as it was written")
        elif code in rows:
            fault = ("code", f"the row of {item_id} in {brief} again", f"once; row {rows[code]} is the first")
        elif item_id != item.item_id:
            fault = ("item", f"item {item_id!r} beside the code of {item.item_id}", "rows sorted as a whole")
        elif label and label.casefold() not in _WORDS[item.is_error]:
            fault = ("label", f"label {label!r}", f"{' or '.join(_WORDS[item.is_error])}, or nothing")
        elif label:
            passed = _WORDS[item.is_error][label.casefold()]
            place = (own.condition, own.scenario_id, own.seed, item.item_id)
            where = f"{path.name}, {LABELS}!{head['label']}{number}"
            found.append(ExpertLabel(facts["rater"], *place, passed, where))
        if fault:
            column = _READ[-1] if fault[0] == "code" else fault[0]
            error = ScenarioError(f"{path.name}, {LABELS}!{head[column]}{number}", fault[1], fault[2])
            (moved if fault[0] == "item" else faults).append(error)
        rows.setdefault(code, number)
    faults += _few(path, moved)
    if len(rows) < int(facts["rows"]):
        what = f"{len(rows)} different rows"
        faults.append(ScenarioError(f"{path.name}, {LABELS}", what, f"the {facts['rows']} that were written"))
    return found, faults


def _few(path: Path, moved: list[ScenarioError]) -> list[ScenarioError]:
    """Return the errors on rows that were moved in part; one for all where a column was sorted alone."""
    if len(moved) <= _MOST_MOVED:
        return moved
    what = f"{len(moved)} rows whose item is not that of their code; the first is {moved[0].where}"
    return [ScenarioError(f"{path.name}, {LABELS}", what, "rows sorted as a whole")]


def _opened(path: Path) -> tuple[dict[str, str], Any, dict[str, str]]:
    """Return what the workbook says about itself, the sheet of labels, and its columns by head."""
    try:
        book: Any = load_workbook(path, data_only=True)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, InvalidFileException) as error:
        raise ScenarioError(path, f"no Excel workbook ({error})", "an .xlsx file") from error
    if not {LABELS, ABOUT} <= set(book.sheetnames):
        raise ScenarioError(path, "no sheet of labels", f"the sheets {ABOUT} and {LABELS}")
    pairs = book[ABOUT].iter_rows(max_row=20, max_col=2, values_only=True)
    facts = {_text(name): _text(value) for name, value in pairs}
    sheet = book[LABELS]
    if (sheet.max_row or 0) > _MAX_ROWS:
        raise ScenarioError(path, f"{sheet.max_row:,} rows", f"at most {_MAX_ROWS:,}")
    head = {_text(cell.value): str(cell.column_letter) for cell in sheet[1]}
    missing = sorted(
        {name for name in ("rater", "sample", "rows") if not facts.get(name)} | set(_READ) - head.keys()
    )
    missing += [] if facts.get("rows", "0").isdecimal() else ["number of rows"]
    if missing:
        raise ScenarioError(path, f"no {', '.join(missing)}", "the sheets as they were written")
    return facts, sheet, head


def _text(value: object) -> str:
    return "" if value is None else unescape(str(value)).strip()
