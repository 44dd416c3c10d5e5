"""Read and validate scenario folders, reporting all errors of a folder together."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml

from flows.common.errors import ConfigError, Problems, ScenarioError, StaffbenchError
from flows.schema.rubric_row import read_item
from flows.schema.scenario import MA_BENCH, Control, Dimensions, Item, Scenario

_SCENARIO_KEYS = ("scenario_id", "title", "synthetic", "licence", "notice", "assignment", "documents")
_COLON = "mapping values are not allowed"  # the parser's words for a second colon in a line
CONTROLS = ("strong", "middle", "weak")


def find_project(start: Path) -> Path:
    """Return the nearest folder, from `start` upwards, with `conf/config.yaml`.

    Raises:
        ConfigError: there is none.
    """
    for folder in (start, *start.parents):
        if (folder / "conf" / "config.yaml").is_file():
            return folder
    raise ConfigError(
        start,
        "no project here or above: there is no conf/config.yaml",
        remedy="change to the folder of one, or make one here with staffbench new NAME",
    )


def scenario_ids(data: Path, wanted: Sequence[str] | None) -> list[str]:
    """Return sorted ids of the scenarios in `data`, only the `wanted` ones if given.

    Raises:
        ConfigError: the folder or a wanted scenario is missing.
        ScenarioError: the folder has no scenario.
    """
    if not data.is_dir():
        raise ConfigError("benchmark.data", f"no such folder: {data}", "a folder of scenarios")
    found = sorted(file.parent.name for file in data.glob("*/scenario.yaml"))
    if not found:
        raise ScenarioError(data, "no scenario", "folders that hold a scenario.yaml")
    if wanted is None:
        return found
    missing = [name for name in wanted if name not in found]
    if missing:
        raise ConfigError(
            "benchmark.scenarios", f"no scenario {', '.join(missing)}", "one of " + ", ".join(found)
        )
    return sorted(set(wanted))


def load_scenario(folder: Path, dimensions: Dimensions = MA_BENCH) -> Scenario:
    """Load a scenario with its rubric and controls.

    Raises:
        Problems: all errors in the folder's files.
    """
    found, problems = check_scenario(folder, dimensions)
    if found is None or problems:
        raise Problems.of(folder, problems)
    return found


def check_scenario(
    folder: Path, dimensions: Dimensions = MA_BENCH
) -> tuple[Scenario | None, list[StaffbenchError]]:
    """Load as much of a scenario as can be read, for checks that say more of it.

    Returns:
        The scenario with the sound items, None if a document is missing; and every error in the files.
    """
    problems = _Faults()
    path = folder / "scenario.yaml"
    head = _mapping(path, problems)
    expected = "keys " + ", ".join(_SCENARIO_KEYS)
    if head and (missing := [key for key in _SCENARIO_KEYS if key not in head]):
        problems.add(path, f"scenario: {', '.join(missing)} missing", expected)
    if unknown := [str(key) for key in head if key not in _SCENARIO_KEYS]:
        problems.add(path, f"scenario: unknown {', '.join(unknown)}", expected)
    _check_head(path, head, problems)
    documents = _documents(folder, head, problems)
    items, named = _items(folder / "rubric.yaml", documents, dimensions, problems)
    controls = _controls(folder / "controls", named, problems)
    if head and head.get("scenario_id") != folder.name:
        problems.add(path, f"scenario_id {head.get('scenario_id')!r}", repr(folder.name))
    there = [Path(name).name == name and (folder / "documents" / name).is_file() for name in documents or ()]
    if not documents or not all(there):
        return None, problems
    scenario = Scenario(
        scenario_id=folder.name,
        title=str(head.get("title")),
        assignment=str(head.get("assignment")).strip(),
        documents=documents,
        items=items,
        controls=controls,
        synthetic=bool(head.get("synthetic")),
        licence=str(head.get("licence")),
        dimensions=dimensions,
    )
    return scenario, problems


class _Faults(list[StaffbenchError]):
    def add(self, where: Path, found: str, expected: str, remedy: str = "") -> None:
        self.append(ScenarioError(where, found, expected, remedy))


def _check_head(path: Path, head: Mapping[str, Any], problems: _Faults) -> None:
    """Name values of another type: they would be published as something that the author did not write."""
    for key in ("title", "licence", "notice", "assignment"):
        value = head.get(key)
        if key in head and not (isinstance(value, str) and value.strip()):
            problems.add(path, f"{key} {value!r}", "a text")
    if "synthetic" in head and not isinstance(head["synthetic"], bool):
        problems.add(path, f"synthetic {head['synthetic']!r}", "true or false, without quotes")


def _documents(folder: Path, head: Mapping[str, Any], problems: _Faults) -> tuple[str, ...] | None:
    """Return the names of the documents, None if there is no list of them, which is one fault and not two."""
    where = folder / "scenario.yaml"
    if "documents" not in head:
        return None
    names = head["documents"]
    if not isinstance(names, list) or not names:
        problems.add(where, f"documents: {names!r}", "a list of file names")
        return None
    listed = tuple(str(name) for name in cast("list[object]", names))
    for name in listed:
        if Path(name).name != name:
            problems.add(where, f"document {name!r}", "a plain file name, no folder")
        elif not (path := folder / "documents" / name).is_file():
            problems.add(path, "not there", "a file", "add it, or take it off scenario.yaml")
    for name in sorted({name for name in listed if listed.count(name) > 1}):
        problems.add(where, f"document {name!r} twice", "each document once")
    return listed


def _items(
    path: Path, documents: tuple[str, ...] | None, dimensions: Dimensions, problems: _Faults
) -> tuple[tuple[Item, ...], set[str]]:
    """Return the sound items, and the ids of all."""
    rows = _yaml(path, problems)
    if not isinstance(rows, list):
        if rows is not None:
            problems.add(path, f"a {type(rows).__name__}", "a list of items")
        return (), set()
    items: dict[str, Item] = {}
    named: set[str] = set()
    for number, row in enumerate(cast("list[object]", rows), 1):
        if not isinstance(row, dict):
            problems.add(path, f"item {number} is a {type(row).__name__}", "a mapping")
            continue
        fields = cast("dict[str, Any]", row)
        item, faults = read_item(fields, documents, dimensions)
        for fault in faults:
            name = f"item {fields.get('item_id', number)!r}"
            problems.add(path, f"{name}: {fault.field}: {fault.found}", fault.expected)
        if (item_id := str(fields.get("item_id", ""))) in named and item_id:
            problems.add(path, f"item_id {item_id!r} twice", "each id once", "rename one of them")
        named |= {item_id} - {""}
        if item is not None:
            items[item.item_id] = item
    if items and all(item.is_error for item in items.values()):
        remedy = "add what a brief should say"
        problems.add(path, "no item of a positive severity", "a positive sum of points", remedy)
    return tuple(items.values()), named


def _controls(folder: Path, ids: set[str], problems: _Faults) -> dict[str, Control]:
    files = {name: file for name in CONTROLS if (file := folder / f"{name}.md").is_file()}
    if not files:
        return {}
    path = folder / "labels.csv"
    written = {name: text for name, file in files.items() if (text := _text(file, problems)) is not None}
    table = _text(path, problems)
    if table is None:
        return {}
    labels: dict[str, dict[str, bool]] = {name: {} for name in files}
    rows = [(str(row.get("item_id")), row) for row in csv.DictReader(io.StringIO(table))]
    for item_id, row in rows:
        for name in files:
            value = row.get(name)
            if value not in ("pass", "fail"):
                problems.add(path, f"{row.get('item_id')}: {name} is {value!r}", "pass or fail")
            labels[name][item_id] = value == "pass"
    labelled = [item_id for item_id, _ in rows]
    for kind, names in (
        ("no label for", ids - set(labelled)),
        ("a label for unknown", set(labelled) - ids),
        ("two labels for", {name for name in labelled if labelled.count(name) > 1}),
    ):
        if names and ids:
            problems.add(path, f"{kind} {', '.join(sorted(names))}", "one label for each item")
    return {name: Control(name, text, labels[name]) for name, text in written.items()}


def _mapping(path: Path, problems: _Faults) -> dict[str, Any]:
    before = len(problems)
    value = _yaml(path, problems)
    if value and isinstance(value, dict):
        return cast("dict[str, Any]", value)
    if len(problems) == before:
        found = "empty" if value in (None, {}) else f"a {type(value).__name__}"
        problems.add(path, found, "a mapping")
    return {}


def _yaml(path: Path, problems: _Faults) -> object:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C loader is ten times faster
    text = _text(path, problems)
    try:
        return None if text is None else yaml.load(text, Loader=loader)  # noqa: S506 -- both are safe loaders
    except yaml.YAMLError as error:
        found = " ".join(str(error).replace('in "<unicode string>",', "at").split())
        remedy = "a value with a colon and a space in it needs quotes" if _COLON in found else ""
        problems.add(path, f"not YAML: {found}", "", remedy)
    return None


def _text(path: Path, problems: _Faults) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        problems.add(path, f"can't be read ({error.strerror})", "a readable file")
    except UnicodeDecodeError as error:
        problems.add(path, f"not UTF-8 at byte {error.start}", "UTF-8 text")
    return None
