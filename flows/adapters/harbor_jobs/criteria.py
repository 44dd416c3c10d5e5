"""Find verdicts on criteria in a verifier's JSON files.

Harbor prescribes no format. Two are common: a list of objects with `met`, and the reward-details.json of its
reward kit, whose objects have a `value` and a `raw` mark. Both are found anywhere in a file, also as an
object by criterion id.
"""

from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

from flows.adapters.harbor_jobs.tree import Tree, as_dict, as_list, as_number, as_text
from flows.schema.harbor import CriterionVerdict

_IDS = ("criterion_id", "item_id", "id", "name")
_POINTS = ("points", "weight")
_TEXTS = ("criterion", "description", "requirement", "text")
_REASONS = ("reason", "reasoning", "justification", "explanation")
_PENALTY = {"negative": True, "penalty": True, "positive": False, "required": False}
_FIRST = ("judgment.json", "reward-details.json")
"""Files that take precedence if several have verdicts on one criterion."""
_NOT_VERDICTS = ("reward.json",)
_ELSEWHERE = ("judge", "usage", "samples", "guard")
"""Parts of the reward kit's file that look like criteria but are not."""


def read_criteria(
    tree: Tree, trial: Path, folders: list[Path]
) -> tuple[tuple[CriterionVerdict, ...], tuple[str, ...], str | None]:
    """Read verdicts, judges and format error from the JSON files of a trial's verifier, in a folder a step.

    Returns:
        Verdicts in file order, each criterion once; sorted names of the judges; the verifier's
        format error for a report that it could not grade, or None.
    """
    found: dict[str, CriterionVerdict] = {}
    judges: set[str] = set()
    format_error: str | None = None
    for number, folder in enumerate(folders):
        step = f"{folder.parent.name}/" if len(folders) > 1 else ""
        files = [path for path in tree.files(folder, ".json") if path.name not in _NOT_VERDICTS]
        files.sort(key=lambda path: (*(path.name != name for name in _FIRST), path.name))
        for path in files:
            content = tree.json(path)
            judges |= set(_judges(content))
            if number == len(folders) - 1 and format_error is None:
                format_error = as_text(as_dict(content).get("format_error"))
            for verdict in _of_file(tree, path, content, path.relative_to(trial).as_posix(), step):
                first = found.setdefault(verdict.criterion_id, verdict)
                if first.met != verdict.met:
                    tree.note(
                        path,
                        f"says met={verdict.met} of {verdict.criterion_id}, where {first.file} says "
                        f"met={first.met}; the latter is kept",
                    )
    return tuple(found.values()), tuple(sorted(judges)), format_error


def _of_file(tree: Tree, path: Path, content: object, file: str, step: str) -> list[CriterionVerdict]:
    """Return the verdicts of one file. Duplicate ids are distinguished by the part of the file."""
    entries = list(_entries(content, ""))
    ids = Counter(_id(entry) for _, entry in entries)
    verdicts: dict[str, CriterionVerdict] = {}
    for part, entry in entries:
        name = _id(entry)
        shown = f"{part}/{name}" if ids[name] > 1 and part else name
        if shown in verdicts:
            tree.note(path, f"criterion {shown} twice; the first is kept")
        else:
            verdicts[shown] = _verdict(step + shown, entry, file)
    return list(verdicts.values())


def _entries(value: object, part: str) -> Generator[tuple[str, dict[str, Any]]]:
    """Yield every object that is a verdict, in file order, with its part of the file."""
    for inner in as_list(value):
        yield from _entries(inner, part)
    entry = as_dict(value)
    if _is_verdict(entry):
        yield part, entry
        return
    name = as_text(entry.get("name"))
    for key, inner in entry.items():
        if key in _ELSEWHERE:
            continue
        below = as_dict(inner)
        if below and not _id(below) and _is_verdict({**below, "id": key}):
            yield part, {**below, "id": key}
        else:
            yield from _entries(inner, name or (part if key in ("criteria", "components", "detail") else key))


def _is_verdict(entry: dict[str, Any]) -> bool:
    return bool(_id(entry)) and ("met" in entry or ("value" in entry and "raw" in entry))


def _id(entry: dict[str, Any]) -> str:
    for key in _IDS:
        value = entry.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        text = as_text(value)
        if text:
            return text
    return ""


def _verdict(criterion_id: str, entry: dict[str, Any], file: str) -> CriterionVerdict:
    points = next((found for key in _POINTS if (found := as_number(entry.get(key))) is not None), None)
    is_penalty = None if points is None else points < 0
    if points is None:
        is_penalty = _PENALTY.get(str(entry.get("polarity")).lower())
    met, detail = _met(entry)
    text = _first(entry, _TEXTS)
    return CriterionVerdict(
        criterion_id=criterion_id,
        met=met,
        points=points,
        is_penalty=is_penalty,
        # The reward kit inverts a negated mark: its value is for the opposite of the text.
        text=f"not: {text}" if entry.get("negate") is True else text,
        reason=_first(entry, _REASONS),
        file=file,
        detail=detail,
    )


def _met(entry: dict[str, Any]) -> tuple[bool | None, str]:
    """Return True or False, or None with a reason: for partial marks and failed judges."""
    error = as_text(entry.get("error"))
    if error:
        return None, error
    if "met" in entry:
        met = entry["met"]
        return (met, "") if isinstance(met, bool) else (None, f"met is {met!r}")
    value = as_number(entry.get("value"))
    if value in (0.0, 1.0):
        return value == 1.0, ""
    return None, f"value {entry.get('value')!r}, raw mark {entry.get('raw')!r}"


def _first(entry: dict[str, Any], keys: tuple[str, ...]) -> str:
    return next((found for key in keys if (found := as_text(entry.get(key)))), "")


def _judges(value: object) -> Generator[str]:
    """Yield a file's judge models, with their effort if given."""
    for entry in as_list(value):
        yield from _judges(entry)
    fields = as_dict(value)
    plain = as_text(fields.get("judge_model"))
    if plain:
        yield plain
    judge = as_dict(fields.get("judge"))
    model = as_text(judge.get("model")) or as_text(judge.get("agent"))
    if model:
        effort = as_text(judge.get("reasoning_effort"))
        yield f"{model} ({effort})" if effort else model
    for inner in fields.values():
        yield from _judges(inner)
