"""The tables of an export, as rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flows.adapters.tables import BLOCKS, BRIEFS, EVIDENCE, ITEMS, SCENARIOS, SCORES, VERDICTS, read_table
from flows.pipeline.inputs.packets import packet_rows
from flows.pipeline.results.graded import Graded, scored
from flows.schema.document import Packet
from flows.schema.rows import as_row
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings


@dataclass(frozen=True)
class ExportTable:
    """One table of an export."""

    name: str  # of the table and its file
    schema: Any  # its Arrow schema
    key: tuple[str, ...]  # the columns that identify a row, in the order of sorting
    rows: Sequence[Mapping[str, Any]]  # in any order


def benchmark_tables(scenarios: Sequence[Scenario], packets: Sequence[Packet]) -> list[ExportTable]:
    """Return scenarios, items with their evidence, and packets."""
    heads = [{name: getattr(scenario, name) for name in SCENARIOS.names} for scenario in scenarios]
    items: list[dict[str, Any]] = []
    evidence: list[dict[str, Any]] = []
    for scenario in scenarios:
        for number, item in enumerate(scenario.items, 1):
            row = {"scenario_id": scenario.scenario_id, "number": number, "wrong_move": item.is_error}
            items.append(row | {name: getattr(item, name) for name in ITEMS.names if name not in row})
            place = {"scenario_id": scenario.scenario_id, "item_id": item.item_id}
            evidence += [{**place, "number": n, **as_row(each)} for n, each in enumerate(item.source, 1)]
    blocks = [row for packet in packets for row in packet_rows(packet)]
    return [
        ExportTable("items", ITEMS, ("scenario_id", "number"), items),
        ExportTable("evidence", EVIDENCE, ("scenario_id", "item_id", "number"), evidence),
        ExportTable("scenarios", SCENARIOS, ("scenario_id",), heads),
        ExportTable("packets", BLOCKS, ("scenario_id", "document_number", "is_notice", "number"), blocks),
    ]


def result_tables(
    folder: Path, graded: Sequence[Graded], scenarios: Mapping[str, Scenario], scoring: ScoringSettings
) -> list[ExportTable]:
    """Return briefs, verdicts and scores; none if nothing was graded.

    Raises:
        StaffbenchError: a table can't be read, or verdicts do not match their rubric.
    """
    if not graded:
        return []
    by_condition = {entry.condition: entry.whole_briefs for entry in graded}
    briefs = [row for rows in by_condition.values() for row in rows]
    verdicts: list[Mapping[str, Any]] = []
    scores: list[Mapping[str, Any]] = []
    for entry in graded:
        rows, _ = read_table(folder / "verdicts" / entry.condition / f"{entry.judge}.parquet", VERDICTS)
        verdicts += rows
        names = {"condition": entry.condition, "judge": entry.judge, "scoring": scoring.name}
        statuses = {(brief["scenario_id"], brief["seed"]): brief["status"] for brief in entry.briefs}
        scores += [
            {**names, "brief_status": statuses[one.scenario_id, one.seed], **as_row(one)}
            for one in scored(entry, scenarios, scoring).scores
        ]
    key = ("condition", "judge", "scenario_id", "seed")
    return [
        ExportTable("briefs", BRIEFS, ("condition", "scenario_id", "seed"), briefs),
        ExportTable("verdicts", VERDICTS, (*key, "item_id"), verdicts),
        ExportTable("scores", SCORES, key, scores),
    ]
