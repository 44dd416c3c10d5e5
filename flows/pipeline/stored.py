"""What was graded, read back from its files and held against the scenarios as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from flows.adapters.tables import BRIEFS, REPEATS, REPORTS, SCORES, VERDICTS, read_table, table_files
from flows.pipeline.batch import rubric_digest
from flows.pipeline.graded import Graded
from flows.pipeline.scenarios import load, names_of
from flows.pipeline.stages import verdict_of
from flows.schema.errors import StaffbenchError, StoreError
from flows.schema.harbor import HARBOR
from flows.schema.report_task import ReportFacts
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings
from flows.schema.verdict import BriefScore, Verdict


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
    for name in names_of(project, settings.benchmark, None):
        if name not in found:
            try:
                found[name] = load(project, settings.benchmark, name)
            except StaffbenchError as error:
                problems.append(error)
    return dict(sorted(found.items())), problems


def load_graded(
    folder: Path, scenarios: Mapping[str, Scenario]
) -> tuple[list[Graded], list[StaffbenchError]]:
    """Everything that was graded below `results/<benchmark>/`, and what can't be relied on."""
    found: list[Graded] = []
    problems: list[StaffbenchError] = []
    for path in table_files(folder / "verdicts"):
        try:
            found.append(_load(folder, path, scenarios))
        except StaffbenchError as error:
            problems.append(error)
    return found, problems


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
    briefs_path = folder / "briefs" / f"{about['condition']['label']}.parquet"
    briefs, brief_about = read_table(briefs_path, BRIEFS)
    if brief_about["briefs_digest"] != about["briefs_digest"]:
        raise StoreError(
            path, f"verdicts on other briefs than {briefs_path.name} holds", "verdicts on these", again
        )
    return Graded(
        about,
        briefs,
        [verdict_of(row) for row in rows],
        _load_repeats(folder, about, again),
        _load_reports(folder, about, briefs, again),
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
    kept = {field.name for field in fields(ReportFacts)}
    facts = [ReportFacts(**{key: value for key, value in row.items() if key in kept}) for row in rows]
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
    kept = {field.name for field in fields(BriefScore)}
    rewards = [BriefScore(**{key: value for key, value in row.items() if key in kept}) for row in scores]
    return Graded(about, briefs, [verdict_of(row) for row in rows], scores=rewards)


def _load_repeats(folder: Path, about: Mapping[str, Any], again: str) -> list[tuple[int, Verdict]]:
    """What the judge said at each repeat, where it was asked more than once."""
    if not about["judge_repeats"]:
        return []
    path = folder / "repeats" / about["condition"]["label"] / f"{about['judge']['label']}.parquet"
    rows, found = read_table(path, REPEATS)
    if found != about:
        raise StoreError(path, "of another run than the verdicts", "both of one run", again)
    return [(row["repeat"], verdict_of(row)) for row in rows]
