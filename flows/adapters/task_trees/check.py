"""Validate task trees (`staffbench validate benchmark=mission_report`), and build their table."""

import importlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from flows.adapters.task_trees.index import IndexRow, rows_by_task, with_index
from flows.adapters.task_trees.safe_files import Found
from flows.adapters.task_trees.tree import read_task
from flows.common.digests import sha256_file
from flows.common.errors import ScenarioError, StaffbenchError
from flows.common.text import plural
from flows.common.untrusted import inside
from flows.schema.report_task import FAMILIES, ReportTask

HEAD = (
    "task",
    "report",
    "family",
    "setting",
    "reader",
    "length limit",
    "source files",
    "criteria (penalties)",
    "points",
    "mean score",
)
FACTS = ("title", "report_family", "setting", "reader", "length_limit")
"""Fields of a task in the columns after the first."""
# Of our own tasks: shown on pages, and a notice for who opens the file.
_USED = tuple(f"task.toml: metadata.{key}" for key in ("synthetic", "licence", "notice"))
WORDS = 6  # number of text columns in HEAD

_KINDS = {"docx": "Word", "docm": "Word", "dotx": "Word", "doc": "Word", "pdf": "PDF", "xlsx": "Excel",
          "xlsm": "Excel", "xls": "Excel"}  # fmt: skip
_SUFFIXES = "docx|docm|dotx|doc|pdf|xlsx|xlsm|xls|csv|tsv|pptx|ppt|txt|md|eml|msg|rtf|png|jpe?g|zip"
_BELOW = re.compile(rf"attachments/((?=\w)[^\n`\"'<>|*?{{}}$]{{1,200}}?\.(?:{_SUFFIXES}))\b", re.IGNORECASE)
_BULLET = re.compile(
    rf"^\s*(?:[-*+•]|\d+[.)])\s+[`\"“*]*([^\n`\"”“*<>|?/\\{{}}$]{{1,200}}?\.(?:{_SUFFIXES}))(?=[`\"”*\s,;:)(\u2014\u2013-]|$)",
    re.IGNORECASE | re.MULTILINE,
)
# 'pdftotext -layout file.pdf' is a tip, not a file name.
_COMMAND = re.compile(
    r"(?:pandoc|pdfto\w+|soffice|libreoffice|python\d*|pip|cat|less|head|unzip|docx2txt|xlsx2csv|ls|cp|mv|find)\s|.*\s--?\w",
    re.IGNORECASE,
)
_STAND_IN = re.compile(
    r"(?:your[-_ ]?)?(?:file|filename|name|input|output|example|document|x+)\.\w+", re.IGNORECASE
)


@dataclass(slots=True)
class TreeCheck:
    """The result of validating task trees."""

    tasks: list[ReportTask] = field(default_factory=list[ReportTask])  # readable tasks, in order
    problems: list[StaffbenchError] = field(default_factory=list[StaffbenchError])  # errors; may be empty
    notes: list[str] = field(default_factory=list[str])  # remarks, one line each

    def table(self) -> list[tuple[str, ...]]:
        """Return the specification's table, HEAD first."""
        return [HEAD, *(_line(task) for task in self.tasks)]

    def totals(self) -> str:
        """Return the sentence below the specification's table for these tasks."""
        sums = [task.totals for task in self.tasks]
        files = Counter(_kind(each.name) for task in self.tasks for each in task.attachments)
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(files.items()))
        required = sum(each.criteria - each.penalties for each in sums)
        penalties = sum(each.penalties for each in sums)
        earned = sum(each.positive_points for each in sums)
        cost = sum(each.penalty_points for each in sums)
        return (
            f"{plural(len(self.tasks), 'task')}, {plural(files.total(), 'source file')} ({kinds or 'none'}), "
            f"{plural(required, 'required criterion', 'required criteria')} worth {earned:g} points and "
            f"{plural(penalties, 'penalty', 'penalties')} worth {cost:g} points."
        )


def check_tasks(roots: Sequence[Path], index: Sequence[IndexRow] = (), *, strict: bool = False) -> TreeCheck:
    """Read and validate task trees, with the rows of an index that should match them; empty for none.

    Where `strict`, keys and fields that nothing uses are errors, not remarks.

    Returns:
        The result; an unreadable tree is a problem, and the others are still checked.
    """
    found = TreeCheck()
    rows = rows_by_task(index)
    for root in roots:
        try:
            task = read_task(root)
        except StaffbenchError as error:
            found.problems.append(error)
            continue
        row = rows.get(task.task_id.casefold())
        if row is not None:
            found.problems += compare(row, task, root)
            task = with_index(task, row)  # what only the index says
        elif index:
            found.problems.append(
                ScenarioError(root, f"not in the index {index[0].file}", "a row for each task")
            )
        found.tasks.append(task)
        found.problems += check_task(task, root)
        unused = [key for key in task.unused if key not in _USED]
        if unused and strict:
            found.problems.append(ScenarioError(root, f"not used: {', '.join(unused)}", "known fields only"))
        elif unused:
            found.notes.append(f"{task.task_id}: kept and not used: {', '.join(unused)}")
        found.notes += [f"{task.task_id}: {note}" for note in (*task.notes, *_remarks(task))]
    known = {root.name.casefold() for root in roots}
    found.notes += [
        f"{row.file}: {row.task_id} is in the index, and its tree is not here."
        for name, row in rows.items()
        if name not in known
    ]
    return found


def check_task(task: ReportTask, root: Path) -> list[StaffbenchError]:
    """Find missing files and unreadable reports of a task."""
    found = Found(root)
    base = {PurePosixPath(each.name).name for each in task.attachments}
    among = "a file among " + (", ".join(sorted(base)) or "no files")
    for step in task.steps:
        for name in sorted(named_files(step.instruction) - base):
            remedy = "add the file, or correct the instruction"
            found.fault(step.instruction_path, f"names {name!r}, which is not there", among, remedy)
    if fault := opens(root / task.golden_path):
        found.fault(task.golden_path, f"python-docx can't open it ({fault})", "a Word document")
    if task.oracle_path is None:
        found.fault("solution/solve.sh", "not there", "the script that submits the expert's report")
    digest = sha256_file(root / task.golden_path)
    for each in task.attachments:
        if sha256_file(root / each.path) == digest:
            found.fault(each.path, "is the expert's report", "a source file", "take it out")
    return found.problems


def named_files(instruction: str) -> set[str]:
    """Return the names of files that an instruction gives to the agent.

    These are names below `attachments/` and names at the start of list items, except commands and
    placeholders such as `file.docx`.
    """
    found = {PurePosixPath(match).name for match in _BELOW.findall(instruction)}
    found |= {match.strip() for match in _BULLET.findall(instruction)}
    return {name for name in found if not _COMMAND.match(name) and not _STAND_IN.fullmatch(name)}


def opens(path: Path) -> str:
    """Return why python-docx can't open a report; empty if it can."""
    docx: Any = importlib.import_module("docx")
    try:
        with path.open("rb") as file:  # given a path, the library reports any bad file as missing
            _ = [paragraph.text for paragraph in docx.Document(file).paragraphs]
    except Exception as error:  # noqa: BLE001 -- a damaged file can break the library anywhere
        return f"{type(error).__name__}: {error}".splitlines()[0][:200]
    return ""


def compare(row: IndexRow, task: ReportTask, root: Path) -> list[StaffbenchError]:
    """Find contradictions between an index row and its tree, ignoring what either leaves out."""
    found = Found(root)
    for name in ("title", "report_family", "setting", "reader", "length_limit", "prompt", "grading_guidance"):
        mine, theirs = getattr(task, name), getattr(row, name)
        if mine is not None and theirs is not None and mine.split() != theirs.split():
            found.fault("", f"{name} is {mine!r:.80}", f"{theirs!r:.80}, as {row.file} says")
    means = (task.mean_score_pct, row.mean_score_pct)
    if None not in means and means[0] != means[1]:
        found.fault("", f"mean_score_pct is {means[0]}", f"{means[1]}, as {row.file} says")
    sides = [{each.criterion_id: each for each in side} for side in (task.criteria, row.criteria)]
    different = [key for key in {**sides[0], **sides[1]} if sides[0].get(key) != sides[1].get(key)]
    if different:
        found.fault(task.rubric_path, f"{', '.join(different)} differ from {row.file}", "one rubric")
    for what, path, here in (
        ("golden_report_path", row.golden_report_path, {task.golden_path}),
        ("rubric_path", row.rubric_path, {task.rubric_path}),
        ("instruction_path", row.instruction_path, {"instruction.md", task.steps[0].instruction_path}),
    ):
        if _in_task(path, row.task_path) not in here:
            said = f"{what} of {row.task_id} is {path}"
            found.problems.append(ScenarioError(row.file, said, " or ".join(sorted(here))))
    listed = {_in_task(path, row.task_path) for path in row.attachments}
    given = {each.path for each in task.attachments}
    for name in sorted(listed - given):
        found.fault(name, f"is only in the index {row.file}", "one list of source files")
    for name in sorted(given - listed):
        found.fault(name, f"is not in the index {row.file}", "one list of source files")
    return found.problems


def _in_task(path: str, task_path: str) -> str:
    clean, prefix = inside(path) or path, (inside(task_path) or task_path) + "/"
    return clean.removeprefix(prefix)


def _remarks(task: ReportTask) -> Iterator[str]:
    for name in ("title", "report_family", "setting", "reader", "length_limit", "prompt"):
        if getattr(task, name) is None:
            yield f"no {name}"
    if task.report_family is not None and task.report_family not in FAMILIES:
        yield f"report_family is {task.report_family!r}, none of {', '.join(FAMILIES)}"
    sent = " ".join(" ".join(step.instruction for step in task.steps).split())
    if task.prompt is not None and " ".join(task.prompt.split()) not in sent:
        yield "the instruction does not hold the prompt word for word"
    named = {name.casefold() for step in task.steps for name in named_files(step.instruction)}
    unnamed = [
        each.name for each in task.attachments if PurePosixPath(each.name).name.casefold() not in named
    ]
    if unnamed:
        yield "given and not named in the instruction: " + ", ".join(unnamed)
    if not task.attachments:
        yield "no source files"


def _line(task: ReportTask) -> tuple[str, ...]:
    totals = task.totals
    return (
        task.task_id,
        *(getattr(task, name) or "unknown" for name in FACTS),
        str(len(task.attachments)),
        f"{totals.criteria} ({totals.penalties})",
        f"{totals.positive_points:g} (-{totals.penalty_points:g})",
        "unknown" if task.mean_score_pct is None else f"{task.mean_score_pct:.1f}%",
    )


def _kind(name: str) -> str:
    suffix = PurePosixPath(name).suffix.lower().lstrip(".")
    return _KINDS.get(suffix, f".{suffix}" if suffix else "other")
