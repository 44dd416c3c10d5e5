"""`staffbench compare`: two conditions, in the terminal and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.common.digests import sha256_text
from flows.common.files import write_whole
from flows.common.text import count_of, number
from flows.pipeline.evaluate.showing import display_path
from flows.pipeline.results.chosen import pair
from flows.pipeline.results.comparison import Comparison, ItemCounts, compare_entries, difference_text
from flows.pipeline.results.graded import scored
from flows.pipeline.results.stored import differences, load_graded, load_scenarios
from flows.schema.scenario import Scenario
from flows.schema.settings import ScoringSettings
from flows.stages.page.compare import compare_page

_MOST = 20  # items in the terminal
_NAME_CHARS = 60  # of a condition in a file name


def compare(
    project: Path, overrides: Sequence[str], named: tuple[str, str], screen: Screen, *, every: bool
) -> int:
    """Show the paired difference of two conditions and the items on which they differ.

    Args:
        project: folder of the project.
        overrides: Hydra overrides, such as benchmark and scoring.
        named: the two conditions.
        screen: output.
        every: True to show all items.

    Raises:
        StaffbenchError: they can't be compared.
    """
    settings = compose_points(project, overrides, multirun=False)[0].settings
    folder = project / settings.results / settings.benchmark.name
    scenarios, _ = load_scenarios(project, settings)
    graded, _ = load_graded(folder, scenarios)
    found = compare_entries(pair(graded, *named), scenarios, settings.scoring)
    notes = _notes(found)
    summary = _summary(found, scenarios, settings.scoring)
    text = difference_text(found.difference, settings.scoring.interval_level)
    means = [("scenario", "A", "B", "A - B"), *_means(found)]
    differing = in_turn([item for item in found.items if every or item.gap != 0])
    shown = differing if every else differing[:_MOST]
    for side, (name, value) in zip("AB", summary, strict=True):
        screen.note(f"{side}: {name}: {value}")
    screen.note(f"A - B: {text}.")
    screen.table("mean score by scenario", means)
    n_differing = sum(item.gap != 0 for item in found.items)
    screen.note(f"Items with different shares of passes: {n_differing} of {len(found.items)}.")
    if differing:
        rows = [(f"{item.scenario_id}/{item.item.item_id}", item.shown(0), item.shown(1)) for item in shown]
        screen.table("passes by item", [("item", "A", "B"), *rows])
        if len(shown) < len(differing):
            screen.note(
                f"... and {len(differing) - len(shown)} more: --all shows them, and so does the page."
            )
    for note in notes:
        screen.note(f"- {note}")
    path = folder / "compare" / _file_name(found)
    facts = [("A", ": ".join(summary[0])), ("B", ": ".join(summary[1])), ("A - B", text)]
    write_whole(
        path, compare_page(settings.benchmark.name, facts, _means(found), _item_rows(found.items), notes)
    )
    screen.note(f"Page: {display_path(path)}")
    return 0


def in_turn(items: Sequence[ItemCounts]) -> list[ItemCounts]:
    """Sort by gap, the largest first, unknown ones last; of equal gaps each scenario has its turn."""
    place: Counter[tuple[str, float]] = Counter()
    keyed: list[tuple[tuple[float, int], ItemCounts]] = []
    for item in items:
        rank = 1.0 if item.gap is None else -abs(item.gap)
        keyed.append(((rank, place[item.scenario_id, rank]), item))
        place[item.scenario_id, rank] += 1
    return [item for _, item in sorted(keyed, key=lambda pair: pair[0])]


def _summary(
    found: Comparison, scenarios: dict[str, Scenario], scoring: ScoringSettings
) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for entry in found.entries:
        estimate = scored(entry, scenarios, scoring).estimate
        interval = estimate.interval
        over = f" ({number(interval.low)} to {number(interval.high)})" if interval else ""
        briefs = count_of(estimate.n_briefs, estimate.n_briefs_all)
        lines.append(
            (
                f"{entry.condition}, judge {entry.judge}",
                f"score {number(estimate.score)}{over}, briefs scored: {briefs}",
            )
        )
    return lines


def _means(found: Comparison) -> list[tuple[str, str, str, str]]:
    return [
        (
            name,
            number(first),
            number(second),
            "-" if first is None or second is None else f"{first - second:+.3f}",
        )
        for name, first, second in found.scenarios
    ]


def _item_rows(items: Sequence[ItemCounts]) -> list[tuple[str, str, str, str, str, str]]:
    return [
        (
            one.scenario_id,
            one.item.item_id,
            one.item.requirement,
            one.shown(0),
            one.shown(1),
            "-" if one.gap is None else f"{one.gap:+.2f}",
        )
        for one in items
    ]


def _notes(found: Comparison) -> list[str]:
    notes = list(differences(found.entries))
    if found.entries[0].judge != found.entries[1].judge:
        notes.append("The judges differ: a part of the difference is theirs.")
    stand_ins = sorted({entry.judge for entry in found.entries if entry.about["judge"]["is_stand_in"]})
    notes += [f"Judge {name} is a deterministic stand-in, no judge to publish with." for name in stand_ins]
    notes.append("A passed wrong move is one that the brief does not make.")
    return notes


def _file_name(found: Comparison) -> str:
    names = [f"{entry.condition}/{entry.judge}" for entry in found.entries]
    short = "-and-".join(entry.condition[:_NAME_CHARS] for entry in found.entries)
    return f"{short}.{sha256_text(' '.join(names))[:8]}.html"
