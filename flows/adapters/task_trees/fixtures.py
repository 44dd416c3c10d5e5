"""Files that only the verifier sees: `config.json`, the rubric and the expert's report."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, cast

from flows.adapters.task_trees.rubric import LISTS, criteria_of
from flows.adapters.task_trees.safe_files import Found, parse_json, read_json, walk
from flows.adapters.task_trees.settings import LABELS
from flows.common.untrusted import inside, is_file
from flows.schema.report_task import Criterion

_GOLDEN_KEYS = (
    "golden",
    "golden_path",
    "golden_report",
    "golden_report_path",
    "expert_report",
    "reference_report",
)
_RUBRIC_KEYS = ("rubric_path", "criteria_path", *LISTS)
GUIDANCE_KEYS = ("grading_guidance", "guidance", "grading_notes")
_JUDGE_KEYS = ("judge", "judge_settings")
_IGNORED_KEYS = ("version", "schema_version", "output", "output_path", "report_path")
_LONGEST_NAME = 250  # of one part of a path; file systems refuse longer ones
_READ = {*_GOLDEN_KEYS, *_RUBRIC_KEYS, *GUIDANCE_KEYS, *_JUDGE_KEYS, *_IGNORED_KEYS, *LABELS, "prompt"}

_MOUNTS = ("/tests/", "/solution/")
"""Paths of these folders in Harbor's sandbox, which a verifier's files may use."""


class Config:
    """`tests/fixtures/config.json`: prompt, grading guidance, judge settings and other keys."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self.path = found.first("tests/fixtures/config.json") or ""
        self.entries: Mapping[str, Any] = {}
        if not self.path:
            found.notes.append(
                "no tests/fixtures/config.json: prompt, guidance and judge settings are not known."
            )
            return
        n_before = len(found.problems)
        value = found.read(read_json, self.path)
        if not isinstance(value, dict):
            if len(found.problems) == n_before:  # else it can't be read
                found.fault(self.path, f"a {type(value).__name__}", "an object")
            return
        entries = cast("dict[str, Any]", value)
        self.entries = {key: self._unpacked(key, entry) for key, entry in entries.items()}
        for key, entry in self.entries.items():
            if key not in _READ and not key.startswith("judge_"):
                found.unused[f"{self.path}: {key}"] = entry

    def _unpacked(self, key: str, value: Any) -> Any:
        """Parse a rubric or judge settings that are JSON in a string, as the rubric is in the index."""
        packed = isinstance(value, str) and value.lstrip().startswith(("[", "{"))
        if not packed or key not in (*LISTS, *_JUDGE_KEYS):
            return value
        return self._found.read(lambda root, path: parse_json(value, f"{root / path}: {key}"), self.path)

    def text(self, *keys: str) -> str | None:
        """Return the first text under `keys`; None if there is none. Other types are noted."""
        for key in keys:
            value = self.entries.get(key)
            if isinstance(value, str):
                return value.replace("\r\n", "\n").strip() or None
            if value is not None:
                self._found.notes.append(f"{self.path}: {key} is a {type(value).__name__}; it is not used.")
        return None

    @property
    def judge(self) -> dict[str, Any]:
        """The settings under `judge`, and those whose key begins with it."""
        prefixed = (key for key in self.entries if key.startswith("judge_") and key not in _JUDGE_KEYS)
        settings = {key: self.entries[key] for key in prefixed}
        for key in _JUDGE_KEYS:
            judge = self.entries.get(key)
            if isinstance(judge, dict):
                settings |= cast("dict[str, Any]", judge)
            elif judge is not None:
                settings[key] = judge
        return settings

    def named(self, what: str, keys: Sequence[str]) -> str | None:
        """Return the file named by the first text under `keys`; None if there is none or it is missing."""
        name = next((self.entries[key] for key in keys if isinstance(self.entries.get(key), str)), None)
        if name is None:
            return None
        if max(map(len, name.split("/"))) > _LONGEST_NAME:
            candidates = []
        elif name.startswith(_MOUNTS):
            candidates = [path for place in self._found.places(name[1:]) if (path := inside(place))]
        else:
            base = PurePosixPath(self.path).parent
            found = (inside(name, str(base)), inside(name, str(base.parent)), inside(name))
            candidates = [path for path in found if path is not None]
        for path in candidates:
            if is_file(self._found.root, path):
                return path
        wrong = "is not there, or is a link" if candidates else "leads out of the task, or is too long"
        self._found.fault(self.path, f"{what} {name!r:.100} {wrong}", "the path of a file in the task")
        return None


def read_rubric(found: Found, config: Config) -> tuple[str, tuple[Criterion, ...]]:
    """Read the criteria and their file; those in `config.json` must be the same."""
    embedded = next(
        (config.entries[k] for k in LISTS if isinstance(config.entries.get(k), (list, dict))), None
    )
    path = config.named("the rubric", _RUBRIC_KEYS) or found.first("tests/fixtures/rubric.json")
    inner, extra = (), {}
    if embedded is not None:
        inner, extra = _criteria(found, config.path, embedded)
    if path is None:
        found.unused |= extra
        if embedded is None:
            found.fault("tests/fixtures/rubric.json", "not there, or a link", "the criteria")
        return config.path, inner
    n_before = len(found.problems)
    value = found.read(read_json, path)
    if len(found.problems) > n_before:
        return path, ()
    if isinstance(value, dict):
        holder = cast("dict[str, Any]", value)
        if any(key in holder for key in LISTS):
            found.unused.update({f"{path}: {key}": holder[key] for key in holder if key not in LISTS})
    criteria, extra = _criteria(found, path, value)
    found.unused |= extra
    sides = [
        {each.criterion_id: (each.points, each.criterion) for each in side} for side in (criteria, inner)
    ]
    different = sorted(key for key in {*sides[0], *sides[1]} if sides[0].get(key) != sides[1].get(key))
    if embedded is not None and different:
        found.fault(
            config.path,
            f"its rubric differs from rubric.json in {', '.join(different)}",
            "one rubric",
            "correct one of the two",
        )
    return path, criteria


def _criteria(found: Found, path: str, value: Any) -> tuple[tuple[Criterion, ...], dict[str, Any]]:
    extra: dict[str, Any] = {}
    criteria = criteria_of(value, found.root / path, found.problems, extra)
    return criteria, {f"{path}: criterion.{key}": values for key, values in extra.items()}


def find_golden(found: Found, config: Config) -> str:
    """Find the expert's report: from `config.json`, `report.docx`, or the only .docx; empty with an error."""
    if any(isinstance(config.entries.get(key), str) for key in _GOLDEN_KEYS):
        return config.named("the expert's report", _GOLDEN_KEYS) or ""
    path = found.first("tests/golden/report.docx")
    if path is not None:
        return path
    for folder in found.places("tests/golden"):
        if not (found.root / folder).is_dir() or (found.root / folder).is_symlink():
            continue
        reports = [name for name in walk(found, folder) if name.lower().endswith(".docx")]
        if len(reports) == 1:
            return reports[0]
        if reports:
            found.fault(folder, f"{len(reports)} reports", "one, or one named report.docx")
            return ""
    found.fault("tests/golden", "no expert's report", "one .docx file, and no link")
    return ""
