"""Briefs written elsewhere, as a table lists them: files under any names, or texts.

A CSV file has a row of names first: `file`, `scenario` and `seed`, or `scenario`, `seed` and `text`. JSON
Lines have the same names. Other columns are ignored. In `file`, `{scenario}`, `{seed}`, `*` and `?` make a
pattern.
"""

import csv
import glob
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.readers.text.decode import decoded

BRIEF_SUFFIXES = (".md", ".txt", ".docx", ".pdf")
REPORT_SUFFIXES = (".docx",)
_TABLES = ("briefs.csv", "briefs.jsonl")
_SEED = re.compile(r"[1-9][0-9]{0,5}")
_SIGN = re.compile(r"\{scenario\}|\{seed\}|[*?]")
_GROUPS = {
    "{scenario}": "(?P<scenario>[^/]+)",
    "{seed}": f"(?P<seed>{_SEED.pattern})",
    "*": "[^/]*",
    "?": "[^/]",
}
"""What each sign of a pattern stands for, as a regular expression."""
_MOST_FAULTS = 50
_SHOWN = 60  # characters of a value in a message


@dataclass(frozen=True)
class ListedBrief:
    """One brief of a table: `file` or `text` is None."""

    file: Path | None
    text: str | None


_Row = tuple[str, Mapping[str, Any] | ScenarioError]
"""Where a row is; its fields, or why it is none."""


def find_table(given: Path) -> Path | None:
    """Return the table that `model.folder` names or that is in it; None if it has none."""
    if given.suffix.lower() in (".csv", ".jsonl"):
        return given if given.is_file() else None
    return next((path for name in _TABLES if (path := given / name).is_file()), None)


def read_brief_table(
    table: Path,
    scenarios: Sequence[str] | None = None,
    *,
    only: str | None = None,
    suffixes: Sequence[str] = BRIEF_SUFFIXES,
) -> dict[tuple[str, int], ListedBrief]:
    """Read a table of briefs, by scenario and seed.

    Args:
        table: a CSV or JSON Lines file; relative paths in it begin at its folder.
        scenarios: ids that are valid; None if the table was checked before.
        only: a scenario, to look for its files alone; None for all of them.
        suffixes: valid endings of files; with `REPORT_SUFFIXES`, texts are no reports.

    Raises:
        Problems: every invalid row.
        ConfigError: a column is missing.
        ScenarioError: the file can't be read or has no row.
        ReadError: its encoding is unknown.
    """
    try:
        data = table.read_bytes()
    except OSError as error:
        raise ScenarioError(table, f"can't be read ({error.strerror})", "a readable file") from None
    rows = _rows(data, table)
    found: dict[tuple[str, int], ListedBrief] = {}
    places: dict[tuple[str, int], str] = {}
    faults: list[StaffbenchError] = []
    for where, fields in rows:
        if isinstance(fields, ScenarioError):
            faults.append(fields)
            continue
        try:
            for scenario, seed, brief in _briefs(where, fields, table.parent, only, suffixes):
                if scenarios is not None and scenario not in scenarios:
                    expected = "one of " + ", ".join(scenarios)
                    raise ScenarioError(where, f"scenario: no {_shown(scenario)}", expected)  # noqa: TRY301 -- collected with the others
                if other := places.get((scenario, seed)):
                    again = "from two files" if other == where else f"again, as in {other}"
                    again = f"seed {seed} of {scenario} {again}"
                    raise ScenarioError(where, again, "each seed of a scenario once")  # noqa: TRY301 -- the same
                found[scenario, seed], places[scenario, seed] = brief, where
        except ScenarioError as fault:
            faults.append(fault)
    if faults:
        more = len(faults) - _MOST_FAULTS
        rest = [ScenarioError(table.name, f"and {more} more rows")] if more > 0 else []
        raise Problems.of(table, [*faults[:_MOST_FAULTS], *rest])
    return found


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 4]} ...{text[-1]}"


@lru_cache(maxsize=2)  # each stage of each scenario asks; the key is the whole content
def _rows(data: bytes, table: Path) -> list[_Row]:
    text, _ = decoded(data, table)
    is_json = table.suffix.lower() == ".jsonl"
    rows = list(_json_rows(text, table.name) if is_json else _csv_rows(text, table))
    if not rows:
        raise ScenarioError(table, "no row", "a row for each brief")
    return rows


def _csv_rows(text: str, table: Path) -> Iterator[_Row]:
    csv.field_size_limit(2**31 - 1)  # a brief is longer than the 128 KiB that the module allows
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise ScenarioError(
            table, f"not CSV: {error}", "fields with quotes or line breaks in quotes"
        ) from None
    names = [name.strip().lower() for name in lines[0]] if lines else []
    _check_names(names, table)
    for number, cells in enumerate(lines[1:], 2):
        if any(cell.strip() for cell in cells):
            # An empty cell is a value that is missing; only JSON can say that a text is empty.
            fields = {name: cell for name, cell in zip(names, cells, strict=False) if cell.strip()}
            yield f"{table.name} row {number}", fields


def _check_names(names: Sequence[str], table: Path) -> None:
    wanted = ("scenario", "seed", "text") if "text" in names else ("file", "scenario", "seed")
    missing = [name for name in wanted if name not in names]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if missing or twice:
        found = f"no column {', '.join(missing)}" if missing else f"column {', '.join(twice)} twice"
        expected = "file,scenario,seed or scenario,seed,text in its first row"
        raise ConfigError(table, f"{found} among {', '.join(names) or 'none'}", expected)
    if {"file", "text"} <= {*names}:
        raise ConfigError(table, "a column file and a column text", "one of them")


def _json_rows(text: str, name: str) -> Iterator[_Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{name} line {number}"
        try:
            fields: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield where, ScenarioError(where, f"not JSON: {error}", "one object a line")
            continue
        if isinstance(fields, dict):
            given = cast("dict[str, Any]", fields)
            yield where, {key: value for key, value in given.items() if value is not None}
        else:
            yield where, ScenarioError(where, f"a {type(fields).__name__}", "an object")


def _briefs(
    where: str, fields: Mapping[str, Any], folder: Path, only: str | None, suffixes: Sequence[str]
) -> Iterator[tuple[str, int, ListedBrief]]:
    """Yield scenario, seed and brief; several if the row has a pattern."""
    scenario, seed = _key(where, fields)
    if only is not None and scenario is not None and scenario != only:
        return
    file, text = fields.get("file"), fields.get("text")
    if file is None and text is None:
        raise ScenarioError(where, "no brief in it", 'a file or a text; an empty brief is "" in JSON Lines')
    if file is not None and text is not None:
        raise ScenarioError(where, "a file and a text", "one of them")
    if file is not None:
        yield from _files(where, file, (scenario, seed), folder, suffixes)
        return
    if suffixes == REPORT_SUFFIXES:
        raise ScenarioError(where, "a text", "a file: a report is a Word file")
    for name, value in (("scenario", scenario), ("seed", seed)):
        if not value:
            raise ScenarioError(where, f"{name}: missing", "a value in every row")
    if not isinstance(text, str):
        raise ScenarioError(where, f"text: {_shown(text)}", "a text in quotes")
    yield str(scenario), int(seed), ListedBrief(None, text.replace("\r\n", "\n").replace("\r", "\n"))


def _key(where: str, fields: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the scenario and the seed of a row; None and an empty text where it leaves them to a pattern."""
    scenario, given = fields.get("scenario"), fields.get("seed")
    if scenario is not None and (not isinstance(scenario, str) or not scenario.strip()):
        raise ScenarioError(where, f"scenario: {_shown(scenario)}", "the id of a scenario")
    seed = str(given).strip() if isinstance(given, int | str) and not isinstance(given, bool) else ""
    if given is not None and not _SEED.fullmatch(seed):
        raise ScenarioError(where, f"seed: {_shown(given)}", "a whole number from 1")
    return (None if scenario is None else scenario.strip()), seed


def _files(
    where: str, file: object, key: tuple[str | None, str], folder: Path, suffixes: Sequence[str]
) -> Iterator[tuple[str, int, ListedBrief]]:
    scenario, seed = key
    if not isinstance(file, str) or "\0" in file:
        raise ScenarioError(where, f"file: {_shown(file)}", "a path")
    # What the row states itself is filled into the pattern.
    name = file.strip().replace("\\", "/")
    name = name if scenario is None else name.replace("{scenario}", scenario)
    name = name.replace("{seed}", seed) if seed else name
    for field, value in (("scenario", scenario), ("seed", seed)):
        if not value and f"{{{field}}}" not in name:
            raise ScenarioError(where, f"{field}: missing", f"a value, or {{{field}}} in file")
    found = _matching(folder, name)
    if not found:
        kind = "no file matches" if _SIGN.search(name) else "no file"
        raise ScenarioError(where, f"file: {kind} {_shown(name)}", f"a path that begins at {folder.name}/")
    for path, parts in found:
        if path.suffix.lower() not in suffixes:
            raise ScenarioError(where, f"file: {_shown(path.name)}", "a file in " + ", ".join(suffixes))
        yield scenario or parts["scenario"], int(seed or parts["seed"]), ListedBrief(path, None)


def _matching(folder: Path, name: str) -> list[tuple[Path, Mapping[str, str]]]:
    """Return the files that match a pattern, with what stands for its names, sorted by path."""
    if not _SIGN.search(name):
        path = folder / name
        return [(path, {})] if path.is_file() else []
    literals, signs = _SIGN.split(name), _SIGN.findall(name)
    search, regex, seen = glob.escape(literals[0]), re.escape(literals[0]), set[str]()
    for sign, literal in zip(signs, literals[1:], strict=True):
        group = _GROUPS[sign] if sign not in seen else f"(?P={sign[1:-1]})"
        seen |= {sign} if sign.startswith("{") else set()
        search += ("?" if sign == "?" else "*") + glob.escape(literal)
        regex += group + re.escape(literal)
    names = sorted(glob.glob(search, root_dir=folder))  # noqa: PTH207 -- Path.glob takes no escaped pattern
    matched = ((one, re.fullmatch(regex, one.replace("\\", "/"))) for one in names)
    return [(folder / one, match.groupdict()) for one, match in matched if match and (folder / one).is_file()]
