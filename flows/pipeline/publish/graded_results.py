"""What formats of results share: what was graded, and a folder of texts, checked and replaced as a whole."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.objects import ObjectStore
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, StaffbenchError
from flows.common.files import write_whole
from flows.pipeline.publish.export import Publication
from flows.pipeline.publish.findings import find_private, people_in, refuse_findings, show_findings
from flows.pipeline.publish.target import contents, replacing
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.leaderboard import build_leaderboard
from flows.pipeline.results.stored import load_results
from flows.schema.leaderboard import Leaderboard, LeaderboardRow
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings


@dataclass(frozen=True)
class GradedResults:
    """What was graded of a benchmark."""

    settings: Settings  # names the benchmark and the scoring
    scenarios: Mapping[str, Scenario]  # by id
    graded: Sequence[Graded]  # all conditions, each under one judge
    board: Leaderboard
    problems: Sequence[StaffbenchError]  # what was left out
    people: Mapping[str, Sequence[str]]  # names in the documents, with their places

    def row(self, entry: Graded) -> LeaderboardRow:
        """Return the row of a condition under its judge."""
        names = (entry.condition, entry.judge)
        return next(row for row in self.board.rows if (row.condition, row.judge_id) == names)


@dataclass(frozen=True)
class Texts:
    """What a format makes of results."""

    files: Mapping[str, str]  # relative path to content; `README.md` is one of them
    summary: str  # what was written, in a few words
    notes: Sequence[str] = ()  # sentences for whoever exports


def _load(project: Path, overrides: Sequence[str]) -> GradedResults:
    settings = compose_points(project, overrides, multirun=False)[0].settings
    results = project / settings.results
    graded, scenarios, problems = load_results(project, settings)
    if not graded:
        nothing = StaffbenchError(
            results / settings.benchmark.name,
            "nothing graded here",
            remedy="staffbench run first, or dvc pull",
        )
        raise problems[0] if problems else nothing
    objects = ObjectStore(results / ".cache" / "objects")
    board = build_leaderboard(graded, scenarios, settings.scoring, objects)
    people: dict[str, list[str]] = {}
    for name, scenario in scenarios.items():
        if scenario.task is None:
            people_in(project / settings.benchmark.data / name, scenario, people)
    return GradedResults(settings, scenarios, graded, board, problems, people)


def texts_exporter(kind: str, make: Callable[[GradedResults, Publication], Texts]) -> Callable[..., int]:
    """Return the function that exports results as a folder of texts: arguments as of the Parquet export.

    The folder is new or empty, or an earlier export of the same kind, which is replaced as a whole.
    The function returns 1 if results were left out, and raises as the Parquet export does.
    """

    def export(
        project: Path,
        overrides: Sequence[str],
        folder: Path,
        screen: Screen,
        *,
        allow: bool,
        publication: Publication,
    ) -> int:
        loaded = _load(project, overrides)
        made, target, mark = (
            make(loaded, publication),
            folder.resolve(),
            f"<!-- staffbench export: {kind} -->\n",
        )
        _check(target, mark)
        found = find_private(made.files.items(), loaded.people, project)
        show_findings(found, screen)
        refuse_findings(found, allow=allow)
        with replacing(target, partial(_check, mark=mark)) as part:
            for name, text in made.files.items():
                write_whole(part / name, mark + text if name == "README.md" else text)
        for problem in loaded.problems:
            screen.fault(f"left out of the export: {problem}")
        for note in (f"Written: {folder}/ ({made.summary})", *made.notes):
            screen.note(note)
        return 1 if loaded.problems else 0

    return export


def _check(folder: Path, mark: str) -> None:
    new, readme = "a new or empty folder", folder / "README.md"
    if contents(folder, new) and not (
        readme.is_file() and readme.read_text(encoding="utf-8", errors="replace").startswith(mark)
    ):
        raise ConfigError(folder, "no earlier export of this format", f"{new}, or an earlier export")
