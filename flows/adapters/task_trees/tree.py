"""Read a task tree as in the specification, reporting all errors together.

This follows Harbor 0.26: with `[[steps]]` the instruction at the root is not sent, and a step's own `tests/`
and `solution/` take precedence over those at the root.
"""

import re
from collections.abc import Sequence
from itertools import dropwhile
from pathlib import Path, PurePosixPath

from flows.adapters.task_trees.fixtures import GUIDANCE_KEYS, Config, find_golden, read_rubric
from flows.adapters.task_trees.safe_files import Found, read_text, walk
from flows.adapters.task_trees.settings import LABELS, StepSettings, read_settings
from flows.common.errors import ConfigError, Problems, ScenarioError
from flows.common.untrusted import first_link, is_file, plain_name
from flows.schema.report_task import Attachment, ReportTask, TaskStep

# Files that build the sandbox are not given to the agent.
_BUILD = re.compile(
    r"(?:.+\.)?dockerfile(?:\..+)?|(?:docker-)?compose(?:\..+)?\.ya?ml|singularity-compose\.ya?ml|\.dockerignore",
    re.IGNORECASE,
)


def task_ids(data: Path, wanted: Sequence[str] | None = None) -> list[str]:
    """Return sorted names of the folders in `data` with a `task.toml`, only the wanted ones if given.

    Raises:
        ConfigError: the folder or a wanted task is missing.
        ScenarioError: the folder has no task.
    """
    if not data.is_dir():
        raise ConfigError(data, "no such folder", "a folder of tasks", "set benchmark.data")
    found = sorted(file.parent.name for file in data.glob("*/task.toml") if not file.parent.is_symlink())
    if not found:
        raise ScenarioError(data, "no task", "folders that hold a task.toml")
    missing = [name for name in wanted or () if name not in found]
    if missing:
        raise ConfigError(
            "benchmark.scenarios", f"no task {', '.join(missing)}", "one of " + ", ".join(found)
        )
    return found if wanted is None else sorted(set(wanted))


def read_task(root: Path) -> ReportTask:
    """Read one task tree, the name of whose folder is the task's id.

    Raises:
        Problems: all errors in the tree.
    """
    found = Found(root)
    if not plain_name(root.name):
        found.fault("", f"a folder named {root.name!a}", "a plain name")
        raise Problems.of(root, found.problems)
    settings = read_settings(found)
    if settings is None:
        raise Problems.of(root, found.problems)
    found.step = settings.steps[-1].name
    config = Config(found)
    steps = _steps(found, settings.steps)
    rubric_path, criteria = read_rubric(found, config)
    golden = find_golden(found, config)
    labels = {name: settings.labels.get(name) or config.text(name) for name in LABELS}
    said = labels.pop("task_id")
    if said is not None and said.casefold() != root.name.casefold():
        found.notes.append(f"the task calls itself {said!r}; its folder's name, {root.name!r}, is its id.")
    if found.problems:
        raise Problems.of(root, found.problems)
    return ReportTask(
        task_id=root.name,
        schema_version=settings.schema_version,
        **labels,
        prompt=config.text("prompt"),
        steps=steps,
        criteria=criteria,
        grading_guidance=config.text(*GUIDANCE_KEYS),
        golden_path=golden,
        oracle_path=found.first("solution/solve.sh"),
        rubric_path=rubric_path,
        judge={**settings.judge, **config.judge},
        mean_score_pct=settings.mean_score_pct,
        unused=dict(found.unused),
        notes=tuple(found.notes),
    )


def _steps(found: Found, entries: Sequence[StepSettings]) -> tuple[TaskStep, ...]:
    """Read the steps with their files; those of `environment/` belong to the first one."""
    image = _files(found, "environment", image=True)
    steps: list[TaskStep] = []
    for entry in entries:
        own = {} if entry.name is None else _files(found, f"steps/{entry.name}/workdir", image=False)
        if own and image:
            unused = ", ".join(sorted(image.values()))
            found.notes.append(
                f"{unused}: built into Harbor's sandbox; not among the files that are given here."
            )
            image = {}
        path = "instruction.md" if entry.name is None else f"steps/{entry.name}/instruction.md"
        files, image = {**image, **own}, {}
        steps.append(
            TaskStep(
                name=entry.name,
                instruction=_instruction(found, path),
                instruction_path=path,
                attachments=tuple(Attachment(name, files[name]) for name in sorted(files)),
                agent_seconds=entry.agent_seconds,
                verifier_seconds=entry.verifier_seconds,
            )
        )
    first = steps[0]
    if first.name is not None and is_file(found.root, "instruction.md"):
        text = _instruction(found, "instruction.md")
        if text.split() != first.instruction.split():
            found.notes.append(
                f"instruction.md differs from {first.instruction_path}, which is what is sent."
            )
    return tuple(steps)


def _instruction(found: Found, path: str) -> str:
    text = found.read(read_text, path)
    if text is None:
        return ""
    text = without_canary(text)
    if not text.strip():
        found.fault(path, "empty", "the instruction for the agent")
    return text


def without_canary(text: str) -> str:
    """Remove leading canary lines and the blank ones after them, as Harbor does."""
    lines = dropwhile(lambda line: _is_canary(line.strip().lower()), text.split("\n"))
    return "\n".join(dropwhile(lambda line: not line.strip(), lines))


def _is_canary(line: str) -> bool:
    return "canary" in line and (line.startswith("#") or (line.startswith("<!--") and line.endswith("-->")))


def _files(found: Found, folder: str, *, image: bool) -> dict[str, str]:
    """Return paths in the task by name in the agent's folder."""
    link = first_link(found.root, folder)
    if link is not None:
        found.problems.append(ScenarioError(link, "a link", "a folder", "put the folder itself in its place"))
        return {}
    if not (found.root / folder).is_dir():
        return {}
    files: dict[str, str] = {}
    for path in walk(found, folder):
        name = path[len(folder) + 1 :]
        if image and _BUILD.fullmatch(PurePosixPath(name).name):
            continue
        if not image and name == "setup.sh":
            found.notes.append(f"{path}: Harbor runs it before the step; it is not run here.")
            continue
        files[name] = path
    return files
