"""`staffbench compare`: two conditions, in the terminal and as a page."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from flows.adapters.config.compose import compose_points
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError, NotOfBenchmark, Problems
from flows.common.text import number, plural
from flows.pipeline.commands.report import note_unused
from flows.pipeline.results.leaderboard import differing_settings
from flows.pipeline.results.leaderboard.differences import differences
from flows.pipeline.results.pages.compare import score_text
from flows.pipeline.results.pages.comparison import (
    Comparison,
    ItemCounts,
    compare_entries,
    difference_text,
    pair,
)
from flows.pipeline.results.pages.site import write_compared
from flows.pipeline.results.stored import load_graded, load_scenarios
from flows.stages.page.condition import compare_fragment
from flows.stages.page.wording import Wording, wording

_MOST = 20  # items in the terminal


def compare(
    project: Path, overrides: Sequence[str], screen: Screen, *, first: str, second: str, every: bool
) -> int:
    """Show the paired difference of two conditions and the items on which they differ.

    Raises:
        StaffbenchError: they can't be compared.
    """
    settings = compose_points(project, overrides, multirun=False)[0].settings
    note_unused(overrides, screen, f"{first} and {second} are compared")
    folder = project / settings.results / settings.benchmark.name
    scenarios, _ = load_scenarios(project, settings)
    graded, problems = load_graded(folder, scenarios)
    try:
        entries = pair(graded, first, second)
    except ConfigError as error:
        damaged = [problem for problem in problems if not isinstance(problem, NotOfBenchmark)]
        if damaged:
            raise Problems.of("compare", [*damaged, error]) from error
        raise
    found = compare_entries(entries, scenarios, settings.scoring)
    said = wording(is_task=any(one.task is not None for one in scenarios.values()))
    notes = _notes(found, said)
    first_side, second_side = entries
    if first_side.judge == second_side.judge or first_side.condition == second_side.condition:
        text = difference_text(found.difference, settings.scoring.interval_level)
    else:
        text = "not computed, since condition and judge both differ"
    means = [(said.scenario, "A", "B", "A - B"), *_means(found)]
    differing = in_turn([item for item in found.items if every or item.differs])
    shown = differing if every else differing[:_MOST]
    for side, entry, pairs in zip("AB", found.entries, differing_settings(found.entries), strict=True):
        value = score_text(entry, scenarios, settings.scoring)
        own = ", ".join(f"{key} {text}" for key, text in pairs)
        value = said.of(value)
        screen.note(f"{side}: {entry.condition}, judge {entry.judge}: {value}{own and f'; {own}'}")
    screen.table(f"mean score by {said.scenario}", means)
    if differing:
        rows = [
            (f"{item.scenario_id}/{item.item.item_id}", item.item.requirement, item.shown(0), item.shown(1))
            for item in shown
        ]
        screen.table(
            "passes by item", [("item", f"{said.requirement} or {said.error}", "A", "B"), *rows], words=2
        )
        if len(shown) < len(differing):
            screen.note(
                f"... and {len(differing) - len(shown)} more: --all shows them, and so does the page."
            )
    for note in notes:
        screen.bullet(note)
    known = [item for item in found.items if item.gap is not None]
    n_differing, n_missing = sum(item.differs for item in known), len(found.items) - len(known)
    missing = f"; on {plural(n_missing, 'other')}, one or both have no verdict" if n_missing else ""
    screen.note(f"Items with different shares of passes: {n_differing} of {len(known)}{missing}.")
    screen.note(f"A - B: {said.of(text)}.")  # at the end, where a terminal still shows it
    path = write_compared(folder, settings.benchmark.name, graded, scenarios, settings.scoring)
    labels = [(entry.condition, entry.judge) for entry in found.entries]
    screen.verbatim(f"Page: {path.as_uri()}#{compare_fragment(*labels)}")
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


def _means(found: Comparison) -> list[tuple[str, str, str, str]]:
    return [
        (
            name,
            number(first),
            number(second),
            "-" if first is None or second is None else f"{first - second:+z.3f}",
        )
        for name, first, second in found.scenarios
    ]


def _notes(found: Comparison, said: Wording) -> list[str]:
    notes = list(differences(found.entries))
    if found.entries[0].judge != found.entries[1].judge:
        notes.append("The judges differ: a part of the difference is theirs.")
    stand_ins = sorted({entry.judge for entry in found.entries if entry.is_stand_in})
    notes += [f"Judge {name} is a deterministic stand-in, no judge to publish with." for name in stand_ins]
    notes.append(f"A passed {said.error} is one that was not {said.made}.")
    return notes
