"""Read an attempt's reward from Harbor's result or the verifier's files."""

from pathlib import Path
from typing import Any

from flows.adapters.harbor_jobs.tree import Tree, as_dict, as_list, as_number, nested

_KEY = "reward"
_SHOWN = 60


def read_reward(
    tree: Tree, folder: Path, result: dict[str, Any], step_folders: list[Path]
) -> tuple[float | None, str]:
    """Return the reward and its file; None and no file if no reward is a finite number.

    Harbor's result, empty without one, takes precedence over the verifier's files; disagreement is noted.
    Rewards of several steps are ignored, as only Harbor knows how to combine them.
    """
    written = _of_result(result) + (
        _of_files(tree, folder, step_folders[0]) if len(step_folders) == 1 else []
    )
    read = [(_usable(tree, folder, content, source), source) for content, source in written]
    found = [(value, source) for value, source in read if value is not None]
    if not found:
        return None, ""
    reward, source = found[0]
    for value, file in found[1:]:
        if value != reward:
            tree.note(folder, f"{file} has reward {value}, {source} has {reward}; the latter is kept")
    if result and source != "result.json":
        tree.note(folder, f"result.json has no reward, {source} has {reward}; the latter is kept")
    return reward, source


def _of_result(result: dict[str, Any]) -> list[tuple[object, str]]:
    """Return the trial's rewards, or else those of its only step."""
    steps = [as_dict(step) for step in as_list(result.get("step_results"))]
    for phase in [result, *steps] if len(steps) == 1 else [result]:
        rewards = nested(phase, "verifier_result").get("rewards")
        if rewards is not None:
            return [(rewards, "result.json")]
    return []


def _of_files(tree: Tree, folder: Path, place: Path) -> list[tuple[object, str]]:
    found: list[tuple[object, str]] = []
    for name in ("reward.json", "reward.txt"):  # Harbor's search order
        path = tree.file(place, f"verifier/{name}")
        if path is not None:
            content = tree.json(path) if path.suffix == ".json" else _text(tree, path)
            found.append((content, path.relative_to(folder).as_posix()))
    return found


def _usable(tree: Tree, folder: Path, content: object, source: str) -> float | None:
    """Return the reward in `content`; None, with a note, if it is not a finite number."""
    rewards = as_dict(content) or {_KEY: content}
    numbers = {key: number for key, value in rewards.items() if (number := as_number(value)) is not None}
    for key, value in rewards.items():
        if key not in numbers:
            shown = repr(value)[:_SHOWN]
            tree.note(folder, f"{source}: {key} is {shown}, no finite number; taken for no reward")
    # A single reward may have any name; Harbor's mean includes it.
    key = _KEY if _KEY in rewards or len(rewards) != 1 else next(iter(rewards))
    if key not in numbers and _KEY not in rewards:
        tree.note(folder, f"{source}: rewards {', '.join(rewards)}, none called {_KEY}; no reward taken")
    return numbers.get(key)


def _text(tree: Tree, path: Path) -> object:
    """Return the number in a reward.txt, or its text if it is not a number."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        tree.note(path, f"can't be read ({error})")
        return None
    try:
        return float(text)
    except ValueError:
        return text
