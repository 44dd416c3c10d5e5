"""`staffbench list`: what can be chosen, and what was graded."""

import json
from collections.abc import Sequence
from pathlib import Path

from flows.adapters.config.described import AXES, options, sentence
from flows.adapters.screen import Screen
from flows.common.errors import ConfigError

_PLURALS = {f"{axis}{'es' if axis.endswith('s') else 's'}": axis for axis in AXES}
_OWN = ("scenarios", "conditions")


def show_list(project: Path, what: str | None, overrides: Sequence[str], screen: Screen) -> int:
    """Show the axes, the options of one, or a benchmark's scenarios or graded conditions.

    Raises:
        ConfigError: there is nothing of that name.
    """
    if what in _OWN:
        return _show_own(project, what, overrides, screen)
    axis = _PLURALS.get(what or "", what)
    beside: Sequence[Path] = ()
    if overrides:
        from flows.adapters.config.shown import beside_of

        beside, overrides = beside_of(project, overrides)
    if axis is not None and axis not in AXES:
        expected = ", ".join([*AXES, *_OWN])
        raise ConfigError("list", f"nothing named {what!r}", f"one of {expected}")
    if overrides:
        expected = "nothing after an axis, or a folder with further options (hydra.searchpath)"
        raise ConfigError(f"list {what or ''}".rstrip(), f"{overrides[0]} has no effect", expected)
    known = options(project, beside)
    if axis is None:
        rows = [(name, str(len(known.get(name, []))), text) for name, text in AXES.items()]
        screen.table("axes of a run", [("axis", "options", "what it decides"), *rows], words=3)
        screen.note("staffbench list AXIS shows the options of one; AXIS=OPTION chooses it.")
        screen.note("staffbench list scenarios and staffbench list conditions show a benchmark's.")
        return 0
    described = [(name, sentence(project, axis, name, beside)) for name in known.get(axis, [])]
    rows = [(name, text) for name, text in described if text]  # without bases of other options
    screen.table(f"{axis}: {AXES[axis]}", [("option", "what it is"), *rows], words=2)
    sign = "+" if axis == "experiment" else ""
    screen.note(f"staffbench run {sign}{axis}=OPTION chooses one.")
    return 0


def _show_own(project: Path, what: str, overrides: Sequence[str], screen: Screen) -> int:
    name, rows = own_rows(project, what, overrides)
    if what == "scenarios":
        screen.table(f"{name}: scenarios", [("scenario", "title"), *rows], words=2)
    elif rows:
        screen.table(f"{name}: graded conditions", [("condition", "judge", "differs in"), *rows], words=3)
    else:
        screen.hint(f"Nothing is graded in {name} yet. First", f"staffbench run benchmark={name}")
    return 0


def _differs(folder: Path) -> dict[tuple[str, str], str]:
    """Return what the leaderboard says of the settings of each condition and judge; nothing without one."""
    try:
        rows = json.loads((folder / "leaderboard.json").read_bytes())["rows"]
        return {
            (row["condition"], row["judge_id"]): "; ".join(f"{key} {text}" for key, text in row["differs"])
            for row in rows
        }
    except (OSError, ValueError, KeyError, TypeError):  # made by an older version, or not there
        return {}


def own_rows(project: Path, what: str, overrides: Sequence[str]) -> tuple[str, list[tuple[str, ...]]]:
    """Return a benchmark's name, and its scenarios with titles, or its conditions, judges and differences.

    Raises:
        StaffbenchError: the overrides name no benchmark, or a scenario can't be read.
    """
    from flows.adapters.config.compose import compose_points
    from flows.pipeline.results.condition_files import judges_of
    from flows.pipeline.work.evaluations import kind_of

    settings = compose_points(project, overrides, multirun=False)[0].settings
    benchmark, kind = settings.benchmark, kind_of(settings.benchmark)
    if what == "scenarios":
        names = kind.scenario_ids(project, benchmark, benchmark.scenarios)
        return benchmark.name, [(name, kind.load(project, benchmark, name).title) for name in names]
    folder = project / settings.results / benchmark.name
    pairs = [(label, judge) for label, judges in judges_of(folder).items() for judge in judges]
    differs = _differs(folder)
    not_there = "not on the leaderboard" if differs else ""
    return benchmark.name, [(*pair, differs.get(pair, not_there)) for pair in pairs]
