"""`staffbench export`: a benchmark and its results as a folder to publish."""

import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flows.adapters.config.compose import compose_points
from flows.adapters.provenance import now
from flows.adapters.screen import Screen
from flows.adapters.tables import with_text, write_table
from flows.common.digests import canonical_json, sha256_file, sha256_text
from flows.common.errors import Problems, StaffbenchError
from flows.common.files import write_whole
from flows.common.version import __version__
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.publish.findings import (
    SOFTWARE,
    Finding,
    find_private,
    people_in,
    refuse_findings,
    show_findings,
)
from flows.pipeline.publish.tables import ExportTable, benchmark_tables, result_tables
from flows.pipeline.publish.target import CANARY, earlier_canary, replacing
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.stored import load_graded, load_scenarios, results_lock
from flows.schema.document import Packet
from flows.schema.scenario import Scenario
from flows.schema.settings import Settings
from flows.stages.data_card import CardFacts, TableFile, croissant, data_card, licence_address

_NOT_STATED = ("", "not stated")


@dataclass(frozen=True)
class Publication:
    """What only the publisher knows."""

    creator: str | None = None  # who made the benchmark, for croissant.json; None if not given
    url: str | None = None  # where it will be found; None if not given


@dataclass(frozen=True)
class _Benchmark:
    settings: Settings
    scenarios: Mapping[str, Scenario]
    packets: Sequence[Packet]
    people: Mapping[str, Sequence[str]]


def export(
    project: Path,
    overrides: Sequence[str],
    folder: Path,
    screen: Screen,
    *,
    allow: bool = False,
    publication: Publication = Publication(),
) -> int:
    """Write a benchmark as Parquet with a data card, a licence and croissant.json; all of it or nothing.

    `folder` is new, empty, or an earlier export, which is replaced. With `allow` findings don't stop it.

    Returns:
        0; 1 if results were left out.

    Raises:
        ConfigError: `folder` holds something else.
        Problems: invalid scenarios, or findings that are not allowed.
        StoreError: the folder can't be written.
    """
    folder = folder.resolve()
    canary = earlier_canary(folder)
    loaded = _load(project, overrides, screen)
    tables, graded, left_out = _tables(project, loaded)
    canary = canary or _canary(loaded.settings.benchmark.name, tables)
    with replacing(folder, earlier_canary) as part:
        files = [_written(part, table, canary) for table in tables if table.rows]
        facts = _facts(loaded, files, graded, canary, publication)
        found = [
            *_licence_findings(loaded.scenarios),
            *find_private(_texts(tables, facts), loaded.people, project),
        ]
        show_findings(found, screen)
        _show_authors(found, loaded.people, screen)
        refuse_findings(found, allow=allow)
        allowed = Counter(one.kind for one in found)
        _write_texts(part, replace(facts, allowed=allowed), loaded.scenarios)
    _report(folder, files, publication, screen)
    for problem in left_out:
        screen.fault(f"left out of the export: {problem}")
    return 1 if left_out else 0


def _load(project: Path, overrides: Sequence[str], screen: Screen) -> _Benchmark:
    """Load the benchmark with its packets and the people in its documents.

    Raises:
        Problems: every invalid scenario and unreadable document.
    """
    settings = compose_points(project, overrides, multirun=False)[0].settings
    scenarios, problems = load_scenarios(project, settings)
    wanted = settings.benchmark.scenarios
    scenarios = {name: one for name, one in scenarios.items() if wanted is None or name in wanted}
    data = project / settings.benchmark.data
    packets: list[Packet] = []
    people: dict[str, list[str]] = {}
    for name, scenario in scenarios.items():
        path = packet_path(data, settings.benchmark.name, name)
        try:
            packets.append(load_packet(data / name, scenario, path, screen.say))
            people_in(data / name, scenario, people)
        except StaffbenchError as error:
            problems.append(error)
    if problems:
        raise Problems.of("export", problems)
    return _Benchmark(settings, scenarios, packets, people)


def _tables(
    project: Path, loaded: _Benchmark
) -> tuple[list[ExportTable], list[Graded], list[StaffbenchError]]:
    """Return the tables, the graded conditions, and what was left out of them."""
    scenarios = loaded.scenarios
    tables = benchmark_tables(list(scenarios.values()), loaded.packets)
    results = project / loaded.settings.results
    folder = results / loaded.settings.benchmark.name
    if not (folder / "verdicts").is_dir():
        return tables, [], []
    with results_lock(results):
        graded, problems = load_graded(folder, scenarios)
        tables += result_tables(folder, graded, scenarios, loaded.settings.scoring)
    return tables, graded, problems


def _canary(name: str, tables: Sequence[ExportTable]) -> str:
    """Return a canary that no other benchmark has; its export keeps it."""
    items = [[row["scenario_id"], row["requirement"]] for row in tables[0].rows]
    return f"{CANARY}{uuid.UUID(sha256_text(canonical_json([name, items]))[:32])}"


def _written(part: Path, table: ExportTable, canary: str) -> TableFile:
    name = f"data/{table.name}.parquet"
    schema: Any = with_text(table.schema, "canary")
    rows = [{**row, "canary": canary} for row in table.rows]
    write_table(part / name, schema, rows, table.key, {"table": table.name, "canary": canary})
    columns = [(field.name, str(field.type)) for field in schema]
    return TableFile(table.name, name, sha256_file(part / name), len(rows), columns)


def _facts(
    loaded: _Benchmark,
    files: Sequence[TableFile],
    graded: Sequence[Graded],
    canary: str,
    publication: Publication,
) -> CardFacts:
    scenarios = loaded.scenarios.values()
    return CardFacts(
        name=loaded.settings.benchmark.name,
        licences=sorted({scenario.licence or "not stated" for scenario in scenarios}),
        canary=canary,
        version=__version__,
        tables=files,
        synthetic=sum(scenario.synthetic for scenario in scenarios),
        n_scenarios=len(loaded.scenarios),
        stand_ins=sorted({entry.judge for entry in graded if entry.about["judge"]["is_stand_in"]}),
        creator=publication.creator,
        url=publication.url,
        date=now()[:10],
    )


def _licence_findings(scenarios: Mapping[str, Scenario]) -> list[Finding]:
    places = tuple(name for name, scenario in scenarios.items() if scenario.licence.strip() in _NOT_STATED)
    return [Finding("licence", "not stated", places)] if places else []


def _texts(tables: Sequence[ExportTable], facts: CardFacts) -> Iterator[tuple[str, str]]:
    """Yield every text of the export with its place; equal texts of a table once."""
    for table in tables:
        seen: set[str] = set()
        columns = [field.name for field in table.schema if str(field.type) == "string"]
        for row in table.rows:
            for column in columns:
                text = row[column]
                if text and text not in seen:
                    seen.add(text)
                    yield _place(table, row, column), text
    yield "croissant.json", croissant(facts)


def _place(table: ExportTable, row: Mapping[str, Any], column: str) -> str:
    if table.name == "packets":
        return f"packets: {row['scenario_id']}/{row['document']}, {row['place']}"
    names = ["item_id" if name == "number" and "item_id" in row else name for name in table.key]
    return f"{table.name}: {'/'.join(str(row[name]) for name in names)}, {column}"


def _show_authors(found: Sequence[Finding], people: Mapping[str, Sequence[str]], screen: Screen) -> None:
    """Name the people that the documents name and the export does not."""
    exported = {one.shown for one in found if one.kind == "author"}
    named = [f"{name} ({places[0]})" for name, places in people.items() if name.lower() not in SOFTWARE]
    if rest := [each for each in named if each not in exported]:
        screen.note(f"Documents name these authors, but the export does not: {'; '.join(rest)}")


def _write_texts(part: Path, facts: CardFacts, scenarios: Mapping[str, Scenario]) -> None:
    lines: list[str] = []
    for licence in facts.licences:
        names = [name for name, one in scenarios.items() if (one.licence or "not stated") == licence]
        lines.append(f"{licence}\n{licence_address(licence)}\nScenarios: {', '.join(names)}\n")
    write_whole(part / "LICENSE", "\n".join([*lines, f"{facts.canary}\n"]))
    write_whole(part / "README.md", data_card(facts))
    write_whole(part / "croissant.json", croissant(facts))


def _report(folder: Path, files: Sequence[TableFile], publication: Publication, screen: Screen) -> None:
    from flows.pipeline.evaluate.showing import display_path  # slow import

    rows = [("table", "rows"), *((file.name, f"{file.n_rows:,}") for file in files)]
    screen.table(f"{folder.name}: exported", rows)
    given = {
        "who made it: --creator": publication.creator,
        "where it will be found: --url": publication.url,
    }
    for missing in (text for text, value in given.items() if value is None):
        screen.note(f"croissant.json does not say {missing} would.")
    screen.note(f"Written: {display_path(folder)}/ (README.md, LICENSE, croissant.json, data/)")
