"""Name the settings in which the rows of a table differ."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from flows.common.digests import sha256_text
from flows.schema.settings import Writer

Pairs = tuple[tuple[str, str], ...]

_NAMES = {"model": "label", "prompt": "version", "judge": "label", "judge_prompt": "version"}
"""Sections whose options have a name, and its key; the others have one option for the whole table."""
_SECTIONS = (*_NAMES, "harness", "benchmark")
_NOT_COMPARED = frozenset(
    {"label", "version", "note", "price", "api_key_env", "headers", "context_tokens", "benchmark_effort"}
)
"""Keys of a section that change no result."""
_NAMING = frozenset({"name", "api_base", "provider"})
"""Keys that make a model what its label says: named only where the same label stands for several."""
_PATHS = frozenset({"model.folder", "benchmark.data", "benchmark.controls"})
_ALL = "all"
_ABSENT = {"benchmark.scenarios": _ALL}
_MEMBER = re.compile(r"judge\.members\.[^.]+")
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class RowSettings:
    """One row of a table."""

    # What the table's own columns say of it; rows that differ there need no further name.
    shown: tuple[str, ...]
    prompt: str  # version of the writer's prompt
    # Name, effort, mode and prompt version of its judge.
    judge: tuple[str, str | None, str | None, str | None]
    digests: tuple[str, str]  # of the condition and of the judge
    settings: Mapping[str, Any] | None = None  # the sections of its settings; None if they were not recorded
    changed: Collection[str] = ()  # dotted keys that differ from their named options


def differing(rows: Sequence[RowSettings]) -> list[Pairs]:
    """Return for each row the settings that tell it from the others, as keys and values.

    Within rows of the same option (of a model, say), every key with several values is named. A key that was
    overridden is named as well, unless it has the same value in all rows; one that changes no result, such as
    a header, only if the rows are alike without it. Rows that are still alike, such as those of older files
    without settings, are told apart by their digests.
    """
    flat = [_flat(row.settings) for row in rows]
    found: list[dict[str, str]] = [{} for _ in rows]
    if len({row.prompt for row in rows}) > 1:
        for row, values, pairs in zip(rows, flat, found, strict=True):
            if values is None or values.get("model.writer") == Writer.remote.value:  # others read no prompt
                pairs["prompt"] = row.prompt
    _name_options(rows, flat, found)
    first, *others = [values or {} for values in flat] or [{}]
    everywhere = {key for key, text in first.items() if all(other.get(key) == text for other in others)}
    for values, row, pairs in zip(flat, rows, found, strict=True):
        known = values or {}
        pairs |= {key: known[key] for key in _overridden(row.changed, known) if key not in everywhere}
    for members in _alike(rows, found):
        group = [flat[number] or {} for number in members]
        changed = {key for number in members for key in rows[number].changed}
        for key in sorted({key for values in group for key in _below(changed, values)}):
            _name(found, members, key, [values.get(key, "not set") for values in group])
    for members in _alike(rows, found):
        for place, key in enumerate(("condition", "judge digest")):
            _name(found, members, key, [rows[number].digests[place][:8] for number in members])
    return [
        tuple(
            (_short(key), value)
            for key, value in sorted(pairs.items())
            if (key, value) != ("benchmark.scenarios", _ALL)  # the column of scenarios says so
        )
        for pairs in found
    ]


def _alike(rows: Sequence[RowSettings], found: Sequence[Mapping[str, str]]) -> list[list[int]]:
    """Return the places of rows of which nothing that is named so far tells one from another."""
    return _grouped([(row.shown, *pairs.items()) for row, pairs in zip(rows, found, strict=True)])


def _name_options(
    rows: Sequence[RowSettings], flat: Sequence[dict[str, str] | None], found: Sequence[dict[str, str]]
) -> None:
    """Name the keys with several values among rows of the same judge, and of the same option."""
    for members in _grouped([row.judge[0] for row in rows]):
        for place, key in enumerate(("judge.effort", "judge.mode", "judge_prompt"), 1):
            _name(found, members, key, [rows[number].judge[place] or "none" for number in members])
    members_of_panels = {key for values in flat for key in values or () if _MEMBER.fullmatch(key)}
    for section in (*_SECTIONS, *sorted(members_of_panels)):
        for members in _grouped([_option(values, section) for values in flat]):
            group = [flat[number] or {} for number in members]
            for key in _compared_keys(group, section):
                _name(found, members, key, [values.get(key, "not set") for values in group])


def _name(found: Sequence[dict[str, str]], members: Sequence[int], key: str, values: Sequence[str]) -> None:
    """Name a key of rows of which it tells some apart."""
    if len(set(values)) > 1:
        for number, value in zip(members, values, strict=True):
            found[number][key] = value


def changed_values(settings: Mapping[str, Any], changed: Collection[str]) -> dict[str, str]:
    """Return the values of overridden keys by their shown names, sorted."""
    flat = _flat(settings) or {}
    return {_short(key): flat[key] for key in sorted(_below(changed, flat))}


def _overridden(changed: Collection[str], flat: Mapping[str, str]) -> list[str]:
    """Return the overridden keys that may change a result, without those that only name a model."""
    keys = [(key, *key.split(".")) for key in _below(changed, flat)]
    return [
        key for key, *parts in keys if parts[-1] not in _NOT_COMPARED | _NAMING and "headers" not in parts
    ]


def _below(changed: Collection[str], flat: Mapping[str, str]) -> list[str]:
    """Return the keys of `flat` that are among `changed`, or below one of its keys, such as a header's."""
    ends = [
        one for one in changed if "." in one and not any(other.startswith(f"{one}.") for other in changed)
    ]
    return [key for key in flat if key in changed or any(key.startswith(f"{one}.") for one in ends)]


def _grouped(names: Sequence[Any]) -> list[list[int]]:
    """Return the places of equal names, two or more each; None stands for a row without a name."""
    groups: defaultdict[Any, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        if name is not None:
            groups[name].append(place)
    return [places for places in groups.values() if len(places) > 1]


def _option(values: Mapping[str, str] | None, section: str) -> str | None:
    if values is None:
        return None
    if _MEMBER.fullmatch(section):  # of members that are another judge, the name says enough
        return values.get(section)
    return values.get(f"{section}.{_NAMES[section]}") if section in _NAMES else section


def _compared_keys(group: Sequence[Mapping[str, str]], section: str) -> list[str]:
    keys = {key for values in group for key in values if key.startswith(f"{section}.")}
    # The provider of an endpoint is its address, by default.
    if all(values.get(f"{section}.provider") == values.get(f"{section}.api_base") for values in group):
        keys.discard(f"{section}.provider")
    own = section.count(".") + 1
    return sorted(
        key
        for key in keys
        if key.split(".")[own] not in _NOT_COMPARED
        and (_MEMBER.fullmatch(section) or _MEMBER.fullmatch(key) or not _MEMBER.match(key))
    )


def _short(key: str) -> str:
    """Return a key as it is shown: `temperature`, `judge.temperature`, `harness.max_steps`."""
    return key.removeprefix("model.parameters.").replace(".parameters.", ".")


def _flat(settings: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Return every value as a text, by its dotted key."""
    if settings is None:
        return None
    return {key: text for section in _SECTIONS for key, text in _leaves(section, settings.get(section))}


def _leaves(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, Any]", value).items():
            if key == "judge.members" and isinstance(inner, Mapping):
                yield f"{key}.{name}", str(cast("Mapping[str, Any]", inner).get("label"))
            yield from _leaves(f"{key}.{name}", inner)
    else:
        yield key, _ABSENT.get(key, _text(value)) if value is None else _text(_named(key, value))


def _named(key: str, value: Any) -> Any:
    """Return a path as the name of its last part: its place on this machine says nothing."""
    if key not in _PATHS or not isinstance(value, str):
        return value
    return value.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        parts = list(map(_text, cast("list[Any]", value)))
        value = " ".join(parts)
        if len(value) > _LONGEST:
            return f"{parts[0]} and {len(parts) - 1} more ({sha256_text(value)[:8]})"
    text = "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    if len(text) > _LONGEST or "\n" in text:
        return f"text {sha256_text(text)[:8]}"
    return text
