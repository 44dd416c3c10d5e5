"""Read Harbor job trees, even damaged ones."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from flows.adapters.harbor_jobs.origins import attribute
from flows.adapters.harbor_jobs.tree import Tree, as_count, as_dict, as_list, as_number, as_text, nested
from flows.adapters.harbor_jobs.trials import config_agent, read_trial
from flows.common.errors import ConfigError
from flows.schema.harbor import KNOWN_VERSIONS, HarborError, HarborJob, Origin, Trial


def read_job(folder: Path) -> HarborJob:
    """Read a job tree of Harbor 0.25 or 0.26, or of another version with the same layout.

    Its folder has one for each trial. Reports and briefs are located but not opened. Links and paths out of
    the tree are not followed. Attempts are numbered separately for each benchmark, word cap and weights of a
    task.

    Raises:
        ConfigError: no such folder.
        HarborError: no trial in it.
    """
    if not folder.is_dir():
        raise ConfigError(folder, "no such folder", "a job of Harbor, such as jobs/<job name>")
    tree = Tree(folder)
    result = tree.mapping(tree.file(tree.root, "result.json"))
    lock = tree.mapping(tree.file(tree.root, "lock.json"))
    found = {place: read for place in tree.folders(tree.root) if (read := read_trial(tree, place))}
    read = {place: trial for place, (trial, _) in found.items()}
    what = "no trial in it" if not read else "a folder of jobs" if _holds_jobs(tree) else ""
    if what:
        raise HarborError(
            folder, what, "a folder for each trial", "give the folder of one job, not of all jobs"
        )
    judgments = {trial.name: judgment for trial, judgment in found.values()}
    trials = attribute(tree, _named_alike(tree, read), judgments)
    trials = _numbered(_distinguished(tree, trials))
    _one_task_each(tree, trials)
    n_planned = as_count(result.get("n_total_trials"))
    if n_planned is not None and n_planned > len(trials):
        tree.note("result.json", f"{n_planned} trials planned, {len(trials)} in the tree")
    return HarborJob(
        name=tree.root.name,
        job_id=as_text(result.get("id")) or _job_id(tree, list(read)),
        version=_version(tree, lock),
        trials=tuple(trials),
        reported=_reported(result),
        damage=tuple(tree.damage),
    )


def _version(tree: Tree, lock: Mapping[str, object]) -> str | None:
    version = as_text(nested(lock, "harbor").get("version"))
    if version is None:
        tree.note("lock.json", "does not say which Harbor wrote this job")
    elif ".".join(version.split(".")[:2]) not in KNOWN_VERSIONS:
        tree.note("lock.json", f"Harbor {version} was not tried, only {' and '.join(KNOWN_VERSIONS)}")
    return version


def _job_id(tree: Tree, folders: Sequence[Path]) -> str | None:
    configs = [tree.mapping(tree.file(folder, "config.json")) for folder in folders]
    ids = {as_text(config.get("job_id")) for config in configs} - {None}
    return ids.pop() if len(ids) == 1 else None


def _named_alike(tree: Tree, read: Mapping[Path, Trial]) -> list[Trial]:
    """Give a trial without a result the agent name of its siblings, which differs from the settings."""
    names: dict[tuple[str, str], set[tuple[str | None, str | None]]] = defaultdict(set)
    for folder, trial in read.items():
        if trial.has_result:
            names[config_agent(tree, folder)].add((trial.agent, trial.agent_version))
    trials: list[Trial] = []
    for folder, trial in read.items():
        alike = names[config_agent(tree, folder)]
        agent, version = next(iter(alike)) if len(alike) == 1 else (trial.agent, trial.agent_version)
        trials.append(trial if trial.has_result else replace(trial, agent=agent, agent_version=version))
    return trials


def _distinguished(tree: Tree, trials: Sequence[Trial]) -> list[Trial]:
    """Use long names for tasks with equal short names. Paths are not long names."""
    long: dict[tuple[Origin, str], set[str]] = defaultdict(set)
    for trial in trials:
        if trial.has_result:
            long[trial.origin, trial.task].add(trial.task_name)
    shared = {key: names for key, names in long.items() if len(names) > 1}
    for (_, short), names in sorted(shared.items(), key=lambda item: item[0][1]):
        tree.note(".", f"several tasks called {short}: {', '.join(sorted(names))}; distinguished by them")
    return [replace(t, task=t.task_name) if (t.origin, t.task) in shared else t for t in trials]


def _numbered(trials: Sequence[Trial]) -> list[Trial]:
    """Number the attempts of each system at each task by start time; Harbor has no numbers."""
    numbers: dict[tuple[object, ...], Iterator[int]] = defaultdict(lambda: count(1))
    ordered = sorted(
        trials, key=lambda t: (t.task, t.system, t.started_at is None, t.started_at or "", t.name)
    )
    return [replace(t, attempt=next(numbers[t.origin, t.task, t.system])) for t in ordered]


def _one_task_each(tree: Tree, trials: Sequence[Trial]) -> None:
    sums: dict[tuple[Origin, str], set[str]] = defaultdict(set)
    for trial in trials:
        if trial.task_checksum:
            sums[trial.origin, trial.task].add(trial.task_checksum)
    for (_, task), found in sorted(sums.items(), key=lambda item: item[0][1]):
        if len(found) > 1:
            tree.note(
                ".", f"{len(found)} versions of task {task} by its checksum; their attempts stand together"
            )


def _reported(result: Mapping[str, object]) -> dict[str, float | None]:
    """Return the job's own means by agent, model and dataset."""
    found: dict[str, float | None] = {}
    for key, stats in nested(result, "stats", "evals").items():
        metrics = [as_dict(metric) for metric in as_list(as_dict(stats).get("metrics"))]
        values = [as_number(metric.get(name)) for metric in metrics for name in ("mean", "reward")]
        found[key] = next((value for value in values if value is not None), None)
    return found


def _holds_jobs(tree: Tree) -> bool:
    """True for a folder of jobs: trials don't contain results of others."""
    return any(
        tree.file(inner, "result.json") is not None
        for place in tree.folders(tree.root)
        for inner in tree.folders(place)
    )
