"""The library behind `from flows import ...`: benchmarks, grades, tables and figures for a notebook."""

import asyncio
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flows.adapters.config.compose import Point, compose_points
from flows.adapters.objects import ObjectStore
from flows.adapters.scenario_files import find_project
from flows.adapters.tables import VERDICTS, arrow_table
from flows.common.errors import ConfigError, StaffbenchError
from flows.common.files import write_whole
from flows.common.telemetry import turn_off_telemetry
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.publish.tables import benchmark_tables, result_tables
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.leaderboard import build_leaderboard
from flows.pipeline.results.pages.charts import drawn
from flows.pipeline.results.stored import load_results, results_lock
from flows.pipeline.work.evaluations import kind_of
from flows.readers.guarded import read_guarded
from flows.schema.document import Document, Packet
from flows.schema.rows import as_row
from flows.schema.scenario import Scenario
from flows.schema.verdict import BriefScore, Verdict
from flows.stages.data_card import TABLES
from flows.stages.score import score_brief
from flows.stages.truncate import truncate

_OF_RESULTS = ("briefs", "verdicts", "scores")


@dataclass(frozen=True)
class Figure:
    """A figure, which a notebook shows by itself.

    Attributes:
        name: of the figure.
        judge: whose verdicts it shows.
        svg: the figure as SVG.
    """

    name: str
    judge: str
    svg: str = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write it to a file that ends in `.svg`.

        Raises:
            StaffbenchError: the file can't be written, or has another ending.
        """
        if Path(path).suffix.lower() != ".svg":
            other = "staffbench report --figures writes PNG, too"
            raise ConfigError(path, "a figure is saved as SVG", "a name that ends in .svg", other)
        write_whole(Path(path), self.svg)

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class Grade:
    """The verdicts of one judge on one text.

    Attributes:
        scenario_id: the scenario.
        judge: label of the judge.
        verdicts: one for each item, in the order of the rubric.
        counts: the score with its bounds, shares and counts.
    """

    scenario_id: str
    judge: str
    verdicts: tuple[Verdict, ...] = field(repr=False)
    counts: BriefScore

    @property
    def score(self) -> float | None:
        """The weighted score: 1 for a perfect text, 0 for an empty one; None if too few items were graded."""
        return self.counts.score

    def table(self) -> Any:
        """Return the verdicts as a `pyarrow.Table`, sorted by item."""
        names = ["scenario_id", "item_id", "status", "passed", "mode", "reason"]
        rows = [as_row(verdict) for verdict in self.verdicts]
        return arrow_table(VERDICTS, rows, ("item_id",)).select(names)


@dataclass(frozen=True)
class Benchmark:
    """A benchmark of a project, with its results. Made by `load_benchmark`.

    Attributes:
        name: the benchmark's name.
        project: folder of the project.
        overrides: Hydra overrides that apply to everything asked of it.
    """

    name: str
    project: Path
    overrides: tuple[str, ...] = ()
    _point: Point = field(repr=False, compare=False, kw_only=True)

    @property
    def scenario_ids(self) -> list[str]:
        """Ids of its scenarios, sorted."""
        benchmark = self._point.settings.benchmark
        return kind_of(benchmark).scenario_ids(self.project, benchmark, benchmark.scenarios)

    def scenario(self, scenario_id: str) -> Scenario:
        """Load a scenario: its assignment, its rubric (`items`) and the names of its documents.

        Raises:
            StaffbenchError: there is no such scenario, or it is invalid.
        """
        _check_text(scenario_id=scenario_id)
        benchmark = self._point.settings.benchmark
        kind = kind_of(benchmark)
        kind.scenario_ids(self.project, benchmark, [scenario_id])  # names the valid ones
        return kind.load(self.project, benchmark, scenario_id)

    def packet(self, scenario_id: str) -> Packet:
        """Load the packet that a writer gets: `text`, and `documents` with the place of each block.

        Raises:
            StaffbenchError: there is no such scenario, or a document can't be read.
        """
        scenario, benchmark = self.scenario(scenario_id), self._point.settings.benchmark
        data = self.project / benchmark.data
        path = packet_path(data, benchmark.name, scenario_id)
        return load_packet(data / scenario_id, scenario, path)

    def grade(self, text: str, scenario_id: str, *overrides: str) -> Grade:
        """Grade a text by the offline judge, or by one that `overrides` choose, such as `judge=gpt_6_1_sol`.

        The text is cut at the word cap, as in a run. Replies of a model are stored with those of runs, and
        none is paid for twice. Nothing else is written.

        Raises:
            StaffbenchError: the scenario or an override is invalid, a report is asked for, which is a Word
                file, or the judge can't be used. An item that it could not grade has a status that says so.
        """
        from flows.pipeline.work.judging import grade_one  # slow import

        _check_text(text=text, scenario_id=scenario_id, **_numbered(overrides))
        given = [f"benchmark={self.name}", *self.overrides, *overrides]
        point = compose_points(self.project, given, multirun=False)[0]
        settings = point.settings
        if kind_of(settings.benchmark).has_tasks:
            what = "reports are Word files, not texts"
            raise ConfigError(self.name, what, "a benchmark of briefs", "use staffbench grade")
        scenario = self.scenario(scenario_id)
        cap = settings.word_cap.words
        brief = truncate(scenario_id, 1, text, cap)
        at = replace(point, settings=replace(settings, results=str(self.project / settings.results)))
        with ThreadPoolExecutor(1) as pool:  # a notebook has an event loop in this thread
            judged = pool.submit(lambda: asyncio.run(grade_one(self.project, at, scenario, brief))).result()
        by_item = {verdict.item_id: verdict for verdict in judged}
        verdicts = tuple(by_item[item.item_id] for item in scenario.items)
        counts = score_brief(scenario.items, verdicts, settings.scoring)
        return Grade(scenario_id, settings.judge.label, verdicts, counts)

    def table(self, name: str) -> Any:
        """Return a table as a `pyarrow.Table`; its `to_pandas()` makes a data frame.

        Args:
            name: `items`, `evidence`, `scenarios`, `packets`; of what was graded `briefs`, `verdicts` and
                `scores`.

        Raises:
            StaffbenchError: no such table, invalid scenarios, or nothing was graded.
        """
        if name not in TABLES:
            raise ConfigError("table", f"no table {name!r}", "one of " + ", ".join(TABLES))
        if name in _OF_RESULTS:
            settings, (graded, scenarios) = self._point.settings, self._graded()
            results = self.project / settings.results
            with results_lock(results):
                tables = result_tables(results / settings.benchmark.name, graded, scenarios, settings.scoring)
        else:
            packets = [self.packet(one) for one in self.scenario_ids] if name == "packets" else []
            tables = benchmark_tables([self.scenario(one) for one in self.scenario_ids], packets)
        (table,) = (one for one in tables if one.name == name)
        return arrow_table(table.schema, table.rows, table.key)

    def plot(self, figure: str = "score", judge: str | None = None) -> Figure:
        """Draw a figure of what was graded, as `staffbench report` does.

        Args:
            figure: `score`, `mode`, `credit`, `scenario`, and of briefs `tier` and `step`.
            judge: whose verdicts; None if only one has graded.

        Raises:
            StaffbenchError: no such figure or judge, or nothing was graded.
        """
        settings, (graded, scenarios) = self._point.settings, self._graded()
        objects = ObjectStore(self.project / settings.results / ".cache" / "objects")
        board = build_leaderboard(graded, scenarios, settings.scoring, objects)
        charts = drawn(board, graded, scenarios, settings.scoring, only_charts=True)
        found = {each.judge: each for each in charts}
        if judge is None and len(found) > 1:
            raise ConfigError("judge", "several judges have graded", "one of " + ", ".join(found))
        chosen = judge or next(iter(found), "none")
        if chosen not in found:
            raise ConfigError("judge", f"no results by {chosen}", "one of " + ", ".join(found))
        if figure not in found[chosen].charts:
            names = ", ".join(found[chosen].charts)
            raise ConfigError("figure", f"no figure {figure!r}", f"one of {names}")
        return Figure(figure, chosen, found[chosen].files[f"{chosen}/{figure}.svg"].decode())

    def _graded(self) -> tuple[list[Graded], dict[str, Scenario]]:
        """Load what was graded; a warning names what does not fit the scenarios any more."""
        settings = self._point.settings
        graded, scenarios, problems = load_results(self.project, settings)
        for problem in problems:
            warnings.warn(f"left out: {problem}", stacklevel=3)
        if not graded:
            folder = self.project / settings.results / settings.benchmark.name
            raise StaffbenchError(folder, "nothing graded here", remedy="staffbench run first")
        return graded, scenarios


def load_benchmark(name: str, *overrides: str, project: str | Path | None = None) -> Benchmark:
    """Load a benchmark.

    Args:
        name: of a file in `conf/benchmark/`.
        overrides: Hydra overrides, such as `scoring=unweighted`.
        project: folder of the project; None for the nearest one, from the current folder upwards.

    Raises:
        StaffbenchError: no such benchmark, an invalid override, or no project.
    """
    turn_off_telemetry()
    _check_text(name=name, **_numbered(overrides))
    folder = find_project(Path.cwd()) if project is None else Path(project).resolve()
    point = compose_points(folder, [f"benchmark={name}", *overrides], multirun=False)[0]
    return Benchmark(name, folder, overrides, _point=point)


def read_document(path: str | Path) -> Document:
    """Read a document as a packet has it: `text`, `blocks` with their places, and `notices`.

    Args:
        path: a .docx, .pdf, .xlsx, .eml, .csv, .md or .txt file.

    Raises:
        StaffbenchError: it can't be read completely.
    """
    return read_guarded(Path(path))


def _numbered(overrides: Sequence[object]) -> dict[str, object]:
    return {f"override_{number}": one for number, one in enumerate(overrides, 1)}


def _check_text(**arguments: object) -> None:
    """Raise a TypeError for an argument that is not a text, such as a cell of a table without a value."""
    for name, value in arguments.items():
        if not isinstance(value, str):
            raise TypeError(f"{name}: expected a text (str), found {type(value).__name__}")
