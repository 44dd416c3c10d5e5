"""Load graded conditions from their files and check them against the current scenarios."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from flows.adapters.tables import REPEATS, REPORTS, SCORES, read_table, table_files
from flows.common.digests import canonical_json
from flows.common.errors import NotOfBenchmark, StaffbenchError, StoreError
from flows.common.locks import locked
from flows.pipeline.results.graded import SCORE_VERSIONS, Graded, Scored
from flows.pipeline.results.settings_file import read_settings, settings_path
from flows.pipeline.results.table_rows import BriefRows, VerdictRows
from flows.pipeline.work.digests import rubric_digest, rule_versions
from flows.pipeline.work.evaluations import kind_of
from flows.schema.harbor import HARBOR
from flows.schema.report_task import ReportFacts
from flows.schema.rows import from_row, from_rows
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings
from flows.schema.verdict import BriefScore, Estimate, Verdict

_FIRST_VERSION = "1"
"""Version of each offline rule in files that were written before versions were recorded."""


def results_lock(results: Path) -> AbstractContextManager[object]:
    """Lock for writing tables, and from loading all tables to writing the board.

    Else a board from an earlier load could replace that of a run that ended in between, and lack its row.

    Raises:
        StoreError: the folder can't be written.
    """
    return locked(results / ".cache" / "results.lock")


def load_scenarios(
    project: Path, settings: Settings, loaded: Sequence[Scenario] = ()
) -> tuple[dict[str, Scenario], list[StaffbenchError]]:
    """Load every scenario of the benchmark, by id; return the errors of invalid ones too.

    Only results on invalid scenarios are left out of the board, and named.
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
    """Load all graded conditions below `results/<benchmark>/`; return the errors of unusable files too.

    Files of verdicts for which `is_wanted` is false are ignored.
    """
    found: list[Graded] = []
    problems: list[StaffbenchError] = []
    for path in filter(is_wanted, table_files(folder / "verdicts")):
        try:
            found.append(_load(folder, path, scenarios))
        except StaffbenchError as error:
            problems.append(error)
    return found, problems


def load_results(
    project: Path, settings: Settings
) -> tuple[list[Graded], dict[str, Scenario], list[StaffbenchError]]:
    """Load what was graded of a benchmark and its scenarios, by id; return the errors of the rest too."""
    results = project / settings.results
    scenarios, problems = load_scenarios(project, settings)
    if not (results / settings.benchmark.name / "verdicts").is_dir():
        return [], scenarios, problems
    with results_lock(results):
        graded, unusable = load_graded(results / settings.benchmark.name, scenarios)
    return graded, scenarios, [*problems, *unusable]


def left_out(folder: Path, problems: Sequence[StaffbenchError]) -> tuple[str, ...]:
    """Format the problems of `load_graded`, one line each, with paths relative to `folder`."""
    return tuple(sorted(" ".join(str(problem).replace(f"{folder}/", "").split()) for problem in problems))


def _load(folder: Path, path: Path, scenarios: Mapping[str, Scenario]) -> Graded:
    verdicts, about = VerdictRows.read(path)
    if about["condition"]["harness"] == HARBOR:
        return _load_foreign(folder, path, verdicts, about)
    if "hidden_characters" not in about:
        raise StoreError(path, "written by an older version", remedy="run that condition again")
    own = settings_path(folder, about["condition"]["label"], about["judge"]["label"])
    again = (
        f"run that condition again with this judge and as many seeds, as {own.relative_to(folder)} says; "
        "stored replies are not paid for again"
    )
    for scenario_id, digest in about["rubrics"].items():
        if scenario_id not in scenarios:
            raise NotOfBenchmark(path, f"verdicts on {scenario_id}, which is not a scenario of the benchmark")
        if rubric_digest(scenarios[scenario_id]) != digest:
            raise StoreError(
                path, f"verdicts on another rubric of {scenario_id}", "the rubric as it is", again
            )
    _check_versions(path, about, scenarios, again)
    briefs_path = folder / "briefs" / f"{about['condition']['label']}.parquet"
    briefs, brief_about = BriefRows.read(briefs_path)
    if brief_about["briefs_digest"] != about["briefs_digest"]:
        raise StoreError(
            path, f"verdicts on other briefs than {briefs_path.name} holds", "verdicts on these", again
        )
    return Graded(
        about,
        briefs,
        verdicts,
        _load_repeats(folder, about, again),
        _load_reports(folder, about, briefs, again),
        known=_load_scores(folder, about),
        settings=read_settings(folder, about),
    )


def _load_scores(folder: Path, about: Mapping[str, Any]) -> dict[str, Scored]:
    """Load the scores that the run stored; empty if they are of another run or of older rules."""
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
    """Check that verdicts of the offline judge, also as a panel member, are by its current rules."""
    present = rule_versions([scenarios[name] for name in about["scenarios"]])
    judge = about["judge"]
    is_offline = judge["is_stand_in"] or "offline" in judge["members"]
    found = about.get("judge_versions", dict.fromkeys(present, _FIRST_VERSION) if is_offline else {})
    if found and found != present:
        used, wanted = (
            ", ".join(f"{rule} {version}" for rule, version in sorted(versions.items()))
            for versions in (found, present)
        )
        raise StoreError(
            path,
            f"verdicts by another version of the offline judge ({used})",
            f"the current one ({wanted})",
            again,
        )


def _load_reports(
    folder: Path, about: Mapping[str, Any], briefs: Sequence[Mapping[str, Any]], again: str
) -> dict[tuple[str, int], ReportFacts]:
    """Load the facts of attempts, also of those without a report; empty if briefs are text."""
    path = folder / "reports" / f"{about['condition']['label']}.parquet"
    if all(brief["report"] is None for brief in briefs) and not path.is_file():
        return {}
    rows, found = read_table(path, REPORTS)
    if found["briefs_digest"] != about["briefs_digest"]:
        raise StoreError(path, "of another run than the briefs", "both of one run", again)
    return {(facts.scenario_id, facts.seed): facts for facts in from_rows(ReportFacts, rows)}


def _load_foreign(folder: Path, path: Path, verdicts: VerdictRows, about: Mapping[str, Any]) -> Graded:
    """Load an imported job: its tasks may not exist here, and its verifier's rewards are its scores."""
    names = about["condition"]["label"], about["judge"]["label"]
    again = "import that job again"
    briefs, brief_about = BriefRows.read(folder / "briefs" / f"{names[0]}.parquet")
    scores, score_about = read_table(folder / "scores" / names[0] / f"{names[1]}.parquet", SCORES)
    for other in (brief_about, score_about):
        if other["briefs_digest"] != about["briefs_digest"]:
            raise StoreError(path, "of another import than its briefs or scores", "all of one import", again)
    reports = _load_reports(folder, about, briefs, again)
    return Graded(about, briefs, verdicts, reports=reports, scores=from_rows(BriefScore, scores))


def _load_repeats(folder: Path, about: Mapping[str, Any], again: str) -> list[tuple[int, Verdict]]:
    """Load the verdicts of each repeat; empty for a judge without repeats."""
    if not about["judge_repeats"]:
        return []
    path = folder / "repeats" / about["condition"]["label"] / f"{about['judge']['label']}.parquet"
    rows, found = read_table(path, REPEATS)
    if found != about:
        raise StoreError(path, "of another run than the verdicts", "both of one run", again)
    return [(row["repeat"], from_row(Verdict, row)) for row in rows]
