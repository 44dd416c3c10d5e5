"""Differences between the rows of a table that its columns do not show."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from flows.pipeline.results.graded import Graded

_FEW = 8
"""Maximum number of scenarios named in a note."""


def differences(graded: Sequence[Graded]) -> tuple[str, ...]:
    """Describe differences between the rows of a table that its columns do not show, a sentence each.

    Rows are compared with one another, not with the current scenarios. Rows of older files, which do not
    record their inputs, are named: they may or may not differ.
    """
    ours = [entry for entry in graded if not entry.is_foreign]
    texts = _divided(ours, lambda entry: {entry.about["condition"]["prompt"]: _inputs(entry).get("prompt")})
    judges = _divided(graded, lambda entry: {entry.judge: entry.about["judge"]["digest"]})
    return (
        *_sources(ours, "documents", "documents"),
        *_sources(ours, "assignments", "assignment"),
        *(f"Rows were written by different texts of prompt {name}: {rows}." for name, rows in texts.items()),
        *(
            f"Rows were graded by different versions of judge {name}: {rows}."
            for name, rows in judges.items()
        ),
        *_unrecorded(ours),
        *_coverage(graded),
    )


def _inputs(entry: Graded) -> Mapping[str, Any]:
    return entry.about.get("written_from", {})


def _divided(
    graded: Sequence[Graded], versions: Callable[[Graded], Mapping[str, Hashable]]
) -> dict[str, str]:
    """Return the rows of each version, by the names that have several versions; None is no version."""
    found: defaultdict[str, list[tuple[Graded, Hashable]]] = defaultdict(list)
    for entry in graded:
        for name, version in versions(entry).items():
            if version is not None:
                found[name].append((entry, version))
    parts = {name: _parts(entries) for name, entries in sorted(found.items())}
    return {name: "; ".join(rows.values()) for name, rows in parts.items() if rows}


def _sources(graded: Sequence[Graded], key: str, what: str) -> list[str]:
    alike: defaultdict[str, list[str]] = defaultdict(list)  # scenarios that divide the rows in the same way
    for name, rows in _divided(graded, lambda entry: _inputs(entry).get(key, {})).items():
        alike[rows].append(name)
    return sorted(
        f"Rows were written from different versions of the {what} of {_shortened(names)} (run the old ones "
        f"again to compare them): {rows}."
        for rows, names in alike.items()
    )


def _unrecorded(graded: Sequence[Graded]) -> list[str]:
    """Name rows of older files without recorded inputs, if rows with inputs share their scenarios."""
    asked = any(entry.has_attempts or any(b["completion"] for b in entry.briefs) for entry in graded)
    if not asked and not any(_inputs(entry).get("documents") for entry in graded):
        return []  # only controls and baselines, which have no such inputs
    named = sorted(
        {
            entry.condition
            for entry in graded
            if "written_from" not in entry.about and any(_share(entry, other) for other in graded)
        }
    )
    what = "The documents, assignments and prompts of these rows were not recorded"
    return [f"{what}: {', '.join(named)}."] if named else []


def _share(one: Graded, other: Graded) -> bool:
    return one.condition != other.condition and bool({*one.about["scenarios"]} & {*other.about["scenarios"]})


def _coverage(graded: Sequence[Graded]) -> list[str]:
    """Name rows that lack scenarios or seeds of other rows."""
    every = frozenset(name for entry in graded for name in entry.about["scenarios"])
    most = max((int(entry.about["seeds"]) for entry in graded), default=0)
    scenarios = _parts([(entry, frozenset(entry.about["scenarios"])) for entry in graded])
    seeds = _parts([(entry, int(entry.about["seeds"])) for entry in graded])
    found: list[str] = []
    if odd := [f"{rows} on {_part_of(every, names)}" for names, rows in scenarios.items() if names != every]:
        found.append(f"Rows do not cover the same scenarios: {'; '.join(odd)}.")
    if odd := [f"{rows} {number_of}" for number_of, rows in seeds.items() if number_of != most]:
        found.append(f"Rows have fewer than {most} seeds: {'; '.join(odd)}.")
    return found


def _part_of(every: frozenset[str], names: Any) -> str:
    """Name the present or the missing scenarios, whichever are fewer."""
    missing = every - names
    return f"all but {_shortened(missing)}" if len(missing) < len(names) else _shortened(names)


def _shortened(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = [f"{len(ordered) - _FEW} more"] if len(ordered) > _FEW else []
    return ", ".join(ordered[:_FEW] + more)


def _parts(versions: Sequence[tuple[Graded, Hashable]]) -> dict[Hashable, str]:
    """Names of the rows of each version, sorted by name; empty if there is only one version.

    A row is named by its condition, and by its judge too if its condition has several versions.
    """
    if len({version for _, version in versions}) < 2:  # noqa: PLR2004 -- a pair is needed to differ
        return {}
    of_condition: defaultdict[str, set[Hashable]] = defaultdict(set)
    for entry, version in versions:
        of_condition[entry.condition].add(version)
    parts: defaultdict[Hashable, set[str]] = defaultdict(set)
    for entry, version in versions:
        is_one = len(of_condition[entry.condition]) == 1
        parts[version].add(entry.condition if is_one else f"{entry.condition} ({entry.judge})")
    named = {version: ", ".join(sorted(rows)) for version, rows in parts.items()}
    return dict(sorted(named.items(), key=lambda part: part[1]))
