"""What a site shows beside verdicts: scores by task, the origin of imported rows, the documents."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from flows.common.errors import StaffbenchError
from flows.pipeline.inputs.packets import load_packet, packet_path
from flows.pipeline.results.graded import Graded, in_order
from flows.pipeline.results.leaderboard.tasks import published_note, task_table, transposed
from flows.schema.document import Document
from flows.schema.leaderboard import Leaderboard
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings, Settings


def further_tables(
    board: Leaderboard,
    graded: Sequence[Graded],
    scenarios: Mapping[str, Scenario],
    scoring: ScoringSettings,
) -> list[tuple[str, str, list[tuple[str, ...]]]]:
    """Return heading, caption and rows of each table below the leaderboard; none without tasks."""
    if not is_of_tasks(scenarios.values()):
        return []
    ordered = in_order(graded, board)
    caption = (
        "First what the tasks are; then what each condition scored on each, the mean of those of its "
        f"{_attempts(ordered)} that have a score. All: the mean over tasks."
    )
    caption = " ".join([caption, *published_note(ordered, scenarios)])
    return [("Score by task", caption, transposed(task_table(ordered, scenarios, scoring)))]


def load_documents(
    project: Path, settings: Settings, graded: Sequence[Graded], scenarios: Mapping[str, Scenario]
) -> dict[str, tuple[Document, ...]]:
    """Load the documents of each graded scenario as its packet has them; none of a task or a broken one."""
    data = project / settings.benchmark.data
    found: dict[str, tuple[Document, ...]] = {}
    for name in sorted({name for entry in graded for name in entry.about["scenarios"]} & scenarios.keys()):
        path = packet_path(data, settings.benchmark.name, name)
        if scenarios[name].task is None:
            with suppress(StaffbenchError):  # verdicts can be shown without them
                found[name] = load_packet(data / name, scenarios[name], path).documents
    return found


def origin(entry: Graded) -> str:
    """Describe the Harbor version, job and agent of an imported row."""
    about = entry.about["harbor"]
    agent = " ".join([str(about.get("agent") or "unknown"), *about.get("agent_versions", ())])
    return f"Harbor {about.get('version') or 'of unknown version'}, job {about.get('job')}, agent {agent}"


def is_of_tasks(scenarios: Iterable[Scenario]) -> bool:
    """True if any scenario is a task."""
    return any(scenario.task is not None for scenario in scenarios)


def _attempts(graded: Sequence[Graded]) -> str:
    """Format the number of attempts per condition and task, scored or not."""
    counts = {
        n for entry in graded for n in Counter(row["scenario_id"] for row in entry.briefs).values()
    } or {0}
    fewest, most = min(counts), max(counts)
    return f"{most} attempts" if fewest == most else f"{fewest} to {most} attempts"
