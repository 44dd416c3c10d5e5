"""What was graded, read back from its files and held against the scenarios as they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from flows.adapters.tables import BRIEFS, REPEATS, REPORTS, SCORES, VERDICTS, read_table, table_files
from flows.adapters.tracking import locked
from flows.pipeline.work.digests import rubric_digest, rule_versions
from flows.common.digests import canonical_json
from flows.pipeline.results.graded import SCORE_VERSIONS, Graded, Scored
from flows.pipeline.work.kinds import kind_of
from flows.common.errors import StaffbenchError, StoreError
from flows.schema.harbor import HARBOR
from flows.schema.report_task import ReportFacts
from flows.schema.rows import from_row, from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings
from flows.schema.verdict import BriefScore, Estimate, Verdict

_FIRST_VERSION = "1"
"""Of each rule of the offline judge: the only one that graded before files named it."""
_FEW = 8
"""So many scenarios are named in a note; of more, how many."""


def results_lock(results: Path) -> AbstractContextManager[None]:
    """Held while tables are written, and from reading all of them to writing the board that they make.

    A board that was made of an earlier reading would otherwise replace that of a run which ended meanwhile,
    and lack its row.

    Raises:
        StoreError: the folder can't be written.
    """
    return locked(results / ".cache" / "results.lock")


def load_scenarios(
    project: Path, settings: Settings, loaded: Sequence[Scenario] = ()
) -> tuple[dict[str, Scenario], list[StaffbenchError]]:
    """Every scenario of the benchmark, by id, and what is wrong with those that can't be loaded.

    A broken one costs the results on it, which are left out and named, and nobody else's.

    Args:
        project: folder of the project.
        settings: which benchmark.
        loaded: these are not read again.
    """
    found = {scenario.scenario_id: scenario for scenario in loaded}
    problems: list[StaffbenchError] = []
    kind = kind_of(settings.benchmark)
    for name in kind.scenario_ids(project, settings.benchmark, None):
        if name not in found:
            try:
                found[name] = kind.load(project, settings.benchmark, name)
            except StaffbenchError as error:
                problems.append(error)
    return dict(sorted(found.items())), problems


def load_graded(
    folder: Path, scenarios: Mapping[str, Scenario], is_wanted: Callable[[Path], bool] | None = None
) -> tuple[list[Graded], list[StaffbenchError]]:
    """Everything that was graded below `results/<benchmark>/`, and what can't be relied on.

    Args:
        folder: `results/<benchmark>/`.
        scenarios: by id.
        is_wanted: False for a file of verdicts that is passed over; None where all are wanted.
    """
    found: list[Graded] = []
    problems: list[StaffbenchError] = []
    for path in filter(is_wanted, table_files(folder / "verdicts")):
        try:
            found.append(_load(folder, path, scenarios))
        except StaffbenchError as error:
            problems.append(error)
    return found, problems


def left_out(folder: Path, problems: Sequence[StaffbenchError]) -> tuple[str, ...]:
    """`load_graded`'s problems as a board names them: a line each, files by their place below `folder`."""
    return tuple(sorted(" ".join(str(one).replace(f"{folder}/", "").split()) for one in problems))


def _load(folder: Path, path: Path, scenarios: Mapping[str, Scenario]) -> Graded:
    rows, about = read_table(path, VERDICTS)
    if about["condition"]["harness"] == HARBOR:
        return _load_foreign(folder, path, rows, about)
    if "hidden_characters" not in about:
        raise StoreError(path, "lacks what this version notes of a judge", remedy="run that condition again")
    model = about["condition"]["model"]
    again = f"run that condition again (model={model}); stored replies are not paid for again"
    for scenario_id, digest in about["rubrics"].items():
        if scenario_id not in scenarios:
            raise StoreError(
                path, f"verdicts on {scenario_id}, which is not there", "a scenario of the benchmark"
            )
        if rubric_digest(scenarios[scenario_id]) != digest:
            raise StoreError(
                path, f"verdicts on another rubric of {scenario_id}", "the rubric as it is", again
            )
    _check_versions(path, about, scenarios, again)
    briefs_path = folder / "briefs" / f"{about['condition']['label']}.parquet"
    briefs, brief_about = read_table(briefs_path, BRIEFS)
    if brief_about["briefs_digest"] != about["briefs_digest"]:
        raise StoreError(
            path, f"verdicts on other briefs than {briefs_path.name} holds", "verdicts on these", again
        )
    return Graded(
        about,
        briefs,
        from_rows(Verdict, rows),
        _load_repeats(folder, about, again),
        _load_reports(folder, about, briefs, again),
        known=_load_scores(folder, about),
    )


def _load_scores(folder: Path, about: Mapping[str, Any]) -> dict[str, Scored]:
    """What the run's stages made of these verdicts; empty where it is of another run, or of older rules."""
    path = folder / "scores" / about["condition"]["label"] / f"{about['judge']['label']}.parquet"
    try:
        rows, found = read_table(path, SCORES)
    except StoreError:
        return {}
    scoring, versions, estimate = (found.pop(key, None) for key in ("scoring", "score_versions", "estimate"))
    if found != about or versions != SCORE_VERSIONS:
        return {}
    scored = Scored(from_rows(BriefScore, rows), from_row(Estimate, estimate))
    return {canonical_json(scoring): scored}


def _check_versions(
    path: Path, about: Mapping[str, Any], scenarios: Mapping[str, Scenario], again: str
) -> None:
    """That the offline judge, where it graded or is a panel's member, did so by its present rules."""
    present = rule_versions([scenarios[name] for name in about["scenarios"]])
    judge = about["judge"]
    is_offline = judge["is_stand_in"] or "offline" in judge["members"]
    found = about.get("judge_versions", dict.fromkeys(present, _FIRST_VERSION) if is_offline else {})
    if found and found != present:
        told, wanted = (
            ", ".join(f"{rule} {version}" for rule, version in sorted(versions.items()))
            for versions in (found, present)
        )
        raise StoreError(
            path,
            f"verdicts by another version of the offline judge ({told})",
            f"that of now ({wanted})",
            again,
        )


def _load_reports(
    folder: Path, about: Mapping[str, Any], briefs: Sequence[Mapping[str, Any]], again: str
) -> dict[tuple[str, int], ReportFacts]:
    """What is known of the reports' files, where briefs are some."""
    if all(brief["report"] is None for brief in briefs):
        return {}
    path = folder / "reports" / f"{about['condition']['label']}.parquet"
    rows, found = read_table(path, REPORTS)
    if found["briefs_digest"] != about["briefs_digest"]:
        raise StoreError(path, "of another run than the briefs", "both of one run", again)
    facts = from_rows(ReportFacts, rows)
    return {(one.scenario_id, one.seed): one for one in facts}


def _load_foreign(
    folder: Path, path: Path, rows: Sequence[dict[str, Any]], about: Mapping[str, Any]
) -> Graded:
    """An imported job: its tasks need not be here, and its verifier's rewards stand."""
    names = about["condition"]["label"], about["judge"]["label"]
    again = "import that job again"
    briefs, brief_about = read_table(folder / "briefs" / f"{names[0]}.parquet", BRIEFS)
    scores, score_about = read_table(folder / "scores" / names[0] / f"{names[1]}.parquet", SCORES)
    for other in (brief_about, score_about):
        if other["briefs_digest"] != about["briefs_digest"]:
            raise StoreError(path, "of another import than its briefs or scores", "all of one import", again)
    return Graded(about, briefs, from_rows(Verdict, rows), scores=from_rows(BriefScore, scores))


def _load_repeats(folder: Path, about: Mapping[str, Any], again: str) -> list[tuple[int, Verdict]]:
    """What the judge said at each repeat, where it was asked more than once."""
    if not about["judge_repeats"]:
        return []
    path = folder / "repeats" / about["condition"]["label"] / f"{about['judge']['label']}.parquet"
    rows, found = read_table(path, REPEATS)
    if found != about:
        raise StoreError(path, "of another run than the verdicts", "both of one run", again)
    return [(row["repeat"], from_row(Verdict, row)) for row in rows]


def differences(graded: Sequence[Graded]) -> tuple[str, ...]:
    """In what the rows of one table differ that none of its columns shows, a sentence each.

    Rows are compared with one another, not with the scenarios as they are. Those of files that do not
    say what they were written from are named as such: they may be equal to others or not.
    """
    own = [entry for entry in graded if not entry.is_foreign]
    return (
        *_sources(own, "documents", "documents"),
        *_sources(own, "assignments", "assignment"),
        *_texts(own),
        *_judges(graded),
        *_unrecorded(own),
        *_coverage(graded),
    )


def _sources(own: Sequence[Graded], key: str, what: str) -> list[str]:
    by_scenario: defaultdict[str, list[tuple[Graded, Hashable]]] = defaultdict(list)
    for entry in own:
        for name, digest in entry.about.get("written_from", {}).get(key, {}).items():
            by_scenario[name].append((entry, digest))
    alike: defaultdict[str, list[str]] = defaultdict(list)  # scenarios that part the rows in the same way
    for name, versions in by_scenario.items():
        if parts := _parts(versions):
            alike["; ".join(parts.values())].append(name)
    return sorted(
        f"Rows stand on different versions of the {what} of {_shortened(names)}: {rows}."
        for rows, names in alike.items()
    )


def _texts(own: Sequence[Graded]) -> list[str]:
    by_name: defaultdict[str, list[tuple[Graded, Hashable]]] = defaultdict(list)
    for entry in own:
        if digest := entry.about.get("written_from", {}).get("prompt"):
            by_name[entry.about["condition"]["prompt"]].append((entry, digest))
    return [
        f"Rows were written by different texts of prompt {name}: {'; '.join(parts.values())}."
        for name, versions in sorted(by_name.items())
        if (parts := _parts(versions))
    ]


def _judges(graded: Sequence[Graded]) -> list[str]:
    by_label: defaultdict[str, list[tuple[Graded, Hashable]]] = defaultdict(list)
    for entry in graded:
        by_label[entry.judge].append((entry, entry.about["judge"]["digest"]))
    return [
        f"Rows were graded by different versions of judge {label}: {'; '.join(parts.values())}."
        for label, versions in sorted(by_label.items())
        if (parts := _parts(versions))
    ]


def _unrecorded(own: Sequence[Graded]) -> list[str]:
    """Rows of files from before these versions were kept, where a row that rests on some stands beside."""
    known = [entry.about.get("written_from") for entry in own]
    asked = any(entry.has_attempts or any(b["completion"] for b in entry.briefs) for entry in own)
    if not asked and not any(found and found["documents"] for found in known):
        return []  # controls and baselines of an earlier time: there is nobody to take them for equal to
    named = sorted(
        {
            entry.condition
            for entry, found in zip(own, known, strict=True)
            if found is None and any(_share(entry, other) for other in own)
        }
    )
    what = "Which documents, assignments and prompts these rows stand on was not recorded"
    return [f"{what}: {', '.join(named)}."] if named else []


def _share(one: Graded, other: Graded) -> bool:
    """True for two conditions with a scenario in common."""
    both = set(one.about["scenarios"]) & set(other.about["scenarios"])
    return one.condition != other.condition and bool(both)


def _coverage(graded: Sequence[Graded]) -> list[str]:
    """Rows on fewer scenarios than the others together, and with fewer seeds than the most."""
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
    """Scenarios by the shorter of two lists: of those that are there, or of those that are missing."""
    missing = every - names
    return f"all but {_shortened(missing)}" if len(missing) < len(names) else _shortened(names)


def _shortened(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = [f"{len(ordered) - _FEW} more"] if len(ordered) > _FEW else []
    return ", ".join(ordered[:_FEW] + more)


def _parts(versions: Sequence[tuple[Graded, Hashable]]) -> dict[Hashable, str]:
    """Names of the rows of each version, in the order of the names; empty where there is one version.

    A row is named by its condition, and by its judge as well where that tells two rows apart.
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
