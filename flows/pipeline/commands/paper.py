"""`staffbench report --tables FOLDER` and `--figures FOLDER`: the tables and figures of a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flows.adapters.config.compose import Point
from flows.adapters.labels import read_labels
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError
from flows.common.text import plural
from flows.pipeline.evaluate.showing import display_path
from flows.pipeline.inputs.packets import stored_characters
from flows.pipeline.results.agreement.labels import by_code, check_labels
from flows.pipeline.results.graded import Graded
from flows.schema.condition import judge_of
from flows.schema.scenario import Scenario


@dataclass(frozen=True)
class Wanted:
    """What `staffbench report` was asked for instead of the leaderboard and the site.

    Attributes:
        tables, figures: folders to write; None to make none.
        labels: files of experts' labels.
    """

    tables: Path | None = None
    figures: Path | None = None
    labels: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if self.labels and not self:
            raise ConfigError(
                "--labels", "nothing uses them", "--tables FOLDER or --figures FOLDER beside it"
            )
        for folder in (self.tables, self.figures):
            if folder is not None and folder.exists() and not folder.is_dir():
                raise ConfigError(str(folder), "a file", "a folder, new or existing")

    def __bool__(self) -> bool:
        """Whether tables or figures were asked for."""
        return self.tables is not None or self.figures is not None


def write(
    wanted: Wanted,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    point: Point,
    screen: Screen,
    *,
    project: Path,
    is_judge_chosen: bool,
) -> None:
    """Make the tables and figures, and say what could not be made.

    Args:
        wanted: what, and where.
        graded: all graded conditions, at least one.
        scenarios: by id.
        point: the composed options: scoring, and cap and prompt of the benchmark's condition.
        screen: output.
        project: folder of the project.
        is_judge_chosen: True if the judge of the tables is that of `point`, and not the one with most briefs.

    Raises:
        StaffbenchError: labels can't be read, verdicts don't match their rubric, or a file can't be written.
    """
    # pandas and altair take a second to import.
    from flows.pipeline.results.paper import paper_results, write_paper

    settings = point.settings
    benchmark = settings.benchmark
    labels = read_labels(wanted.labels, lambda sample: by_code(graded, scenarios, sample))
    check_labels(labels, graded)
    results = paper_results(
        graded,
        scenarios,
        settings.scoring,
        word_cap=settings.word_cap.words,
        prompt=settings.prompt.version,
        judge=judge_of(settings, point.changed).label if is_judge_chosen else None,
        labels=labels,
        characters=stored_characters(project / benchmark.data, benchmark.name, scenarios.values()),
    )
    readmes, without = write_paper(results, tables=wanted.tables, figures=wanted.figures)
    screen.note("Written: " + ", ".join(display_path(path) for path in readmes) + ", and what they list")
    if without:
        screen.note(f"Not made: {plural(len(without), 'table or figure', 'tables and figures')}. Why:")
        for reason in dict.fromkeys(without.values()):
            names = [name for name, why in without.items() if why == reason]
            screen.note(f"- {reason}: {', '.join(names)}")
