"""`staffbench harbor summarize` and `import`: rewards of a job, and its attempts as our tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from flows.adapters.screen import Screen
from flows.common.errors import ConfigError
from flows.common.text import number
from flows.pipeline.harbor.jobs.parts import Part, open_parts
from flows.pipeline.harbor.overrides import axis_of
from flows.schema.harbor import (
    AttemptScore,
    HarborError,
    HarborJob,
    Outcome,
    ReportState,
    SystemSummary,
    Trial,
)
from flows.stages.harbor_summary import missed, undecided

_RULES = (
    "job: the mean in the job's own result.json. Harbor 0.25: an attempt without a reward counts as 0. "
    "Harbor 0.26: it is left out. Both average over attempts."
)
_OUR_RULE = (
    "ours: a missing, corrupt or empty report is 0; a refusal without a report and a failed verifier are no "
    "score, left out and counted. "
    "Attempts are averaged within a task, then tasks. bounds: every attempt without a score as 0, and as 1."
)
_OUR_RULE_OF_BRIEFS = (
    "ours: a missing, corrupt or empty brief is 0; a refusal without a brief and a failed verifier are no "
    "score, left out and counted. "
    "Attempts count unclamped, below 0 where wrong moves outweigh the rest; they are averaged within a task, "
    "then tasks. bounds: every attempt without a score as the least that its rubric allows, and as 1."
)
_COUNTS = ("model", "agent", "attempts", "scored", "no report", "no score")
_MEANS = ("job", "Harbor 0.25", "Harbor 0.26", "ours", "bounds", "tasks")
_DECIMALS = 3
_IMPORT_AXES = ("results", "benchmark", "scoring")
_JUDGE_AXES = ("judge", "judge_prompt", "runner", "budget", "retry")
_BENCHMARK_FOLDERS = ("briefs", "verdicts", "harbor")
"""Folders that identify the results of a benchmark; one is enough."""


def summarize(project: Path, job: Path, *, criteria: bool, screen: Screen) -> int:
    """Show the reward per task, the mean per model under three rules, and missed criteria.

    Args:
        project: base of a relative path that does not exist in the current folder.
        job: folder of one Harbor job.
        criteria: True to list each missed criterion and triggered penalty with the judge's reason.
        screen: output.

    Returns:
        0; 1 if a part of the job was unreadable, which is then named. A collected file that is not kept with
        the job is named too, and is no fault.

    Raises:
        ConfigError: the folder does not exist.
        HarborError: the folder holds no job.
    """
    found, parts = open_parts(_folder(project, job), every=False)
    for part in parts:
        _show(part, screen)
    for part in parts:
        for system in part.systems:
            _show_criteria(system, screen, listed=criteria)
    return _show_damage(found, screen)


def import_job(project: Path, overrides: Sequence[str], job: Path, screen: Screen) -> int:
    """Import a job's attempts as briefs, verdicts and scores with `harness=harbor`.

    They go to the benchmark that their judgment names, or to mission_report if another verifier graded them.
    Each system of each job is a condition of its own: it is not pooled with other jobs or our own harness.
    Importing the same job again writes the same bytes.

    With `judge=...` that judge grades the kept submissions as well. Its verdicts and scores stand under its
    name beside the verifier's.

    Args:
        project: folder of the project.
        overrides: `results`, the benchmark, and a judge with what belongs to it.
        job: folder of one Harbor job.
        screen: output.

    Returns:
        0; 1 if a part of the job was unreadable; 4 if an attempt has no score.

    Raises:
        HarborError: the folder holds no job; an attempt has neither a score nor a lower bound; or the folder
            of the benchmark's results holds something else.
        ConfigError: the folder does not exist, an override has no effect, or the judge can't be asked.
        StoreError: a table can't be written.
    """
    # Slow imports that summarize does not need.
    from flows.adapters.config.compose import compose_points
    from flows.pipeline.evaluate.showing import display_path
    from flows.pipeline.harbor.jobs.imported import import_part
    from flows.pipeline.harbor.jobs.rubric import rubric_here
    from flows.pipeline.harbor.jobs.tables import check_bounds
    from flows.pipeline.results.stored import results_lock

    judged = _check_overrides(overrides)
    results = project.absolute() / compose_points(project, overrides, multirun=False)[0].settings.results
    rubric = partial(rubric_here, project, overrides)
    folder = _folder(project, job)
    found, parts = open_parts(folder, every=True, rubric=rubric)
    for part in parts:
        check_bounds(part)
        _check_folder(results / part.origin.benchmark)
    written: list[Path] = []
    unscored = False
    with results_lock(results):
        for part in parts:
            paths, is_whole = import_part(project, results, overrides, part, folder.resolve(), judged=judged)
            written += paths
            unscored = unscored or not is_whole
    for part in parts:
        _show(part, screen)
    screen.note("Written: " + ", ".join(display_path(path) for path in written))
    return _show_damage(found, screen) or (4 if unscored else 0)


def _check_overrides(overrides: Sequence[str]) -> bool:
    """Refuse overrides that an import has no use for; return whether a judge is chosen.

    Raises:
        ConfigError: there is such an override.
    """
    axes = {axis_of(override): override for override in overrides}
    judged = "judge" in axes
    for axis, override in axes.items():
        if axis in _IMPORT_AXES or (judged and axis in _JUDGE_AXES):
            continue
        raise ConfigError(
            override,
            "no effect on an import" + ("" if judged or axis not in _JUDGE_AXES else " without judge=..."),
            f"one of {', '.join((*_IMPORT_AXES, 'judge'))}, and with a judge {', '.join(_JUDGE_AXES)}",
        )
    return judged


def _check_folder(folder: Path) -> None:
    """Refuse a folder with other content: its name comes from the job, which may be untrusted."""
    if not folder.exists() or any((folder / name).is_dir() for name in _BENCHMARK_FOLDERS):
        return
    # A clone without pulled results has only this file.
    if not folder.is_dir() or [path.name for path in folder.iterdir()] != [".gitignore"]:
        raise HarborError(
            folder, "not a benchmark's results", "a new folder, or one with results of a benchmark"
        )


def _folder(project: Path, job: Path) -> Path:
    return project / job if not job.exists() and (project / job).exists() else job


def _show(part: Part, screen: Screen) -> None:
    job = part.job
    version = f"Harbor {job.version}" if job.version else "Harbor of unknown version"
    head = f"{part.origin.benchmark}: {job.name} ({version})"
    tasks = [("model", "agent", "task", "judge", "rewards by attempt", "ours")]
    means: list[tuple[str, ...]] = [(*_COUNTS, *_MEANS)]
    for system in part.systems:
        model, agent = _names(system)
        for task, mean in system.by_task.items():
            attempts = [a for a in system.attempts if a.trial.task == task]
            rewards = " · ".join(_reward(a, clamped=part.is_clamped) for a in attempts)
            tasks.append((model, agent, task, _judges(attempts), rewards, number(mean, _DECIMALS)))
        n_scored, n_no_report = (system.counts.get(o, 0) for o in (Outcome.scored, Outcome.no_report))
        counts = (len(system.attempts), n_scored, n_no_report, len(system.attempts) - n_scored - n_no_report)
        rules = (system.reported, system.mean_0_25, system.mean_0_26, system.ours)
        bounds = f"{number(system.ours_low, _DECIMALS)} to {number(system.ours_high, _DECIMALS)}"
        share = f"{system.n_tasks} of {len(system.by_task)}"
        means.append(
            (model, agent, *map(str, counts), *(number(rule, _DECIMALS) for rule in rules), bounds, share)
        )
    screen.table(f"{head}: reward per task", tasks, words=5)
    screen.table(f"{head}: mean per model", means, words=2)
    screen.note(_RULES)
    screen.note(_OUR_RULE if part.is_clamped else _OUR_RULE_OF_BRIEFS)
    for system in part.systems:
        for attempt in system.attempts:
            if attempt.detail:
                screen.note(f"{_attempt(attempt.trial)}: {attempt.outcome.value}: {_plain(attempt.detail)}")


def _show_criteria(system: SystemSummary, screen: Screen, *, listed: bool) -> None:
    verdicts = [(a, v) for a in system.attempts for v in missed(a)]
    open_ones = [(a, v) for a in system.attempts for v in undecided(a)]
    penalties = sum(verdict.is_penalty is True for _, verdict in verdicts)
    known = sum(bool(attempt.trial.criteria) for attempt in system.attempts)
    screen.note(
        f"{' / '.join(_names(system))}: criteria missed {len(verdicts) - penalties}, penalties triggered "
        f"{penalties}, undecided {len(open_ones)}; verdicts in {known} of {len(system.attempts)} attempts"
        f"{'' if listed or not known else '; --criteria lists them'}"
    )
    if not listed:
        return
    for attempt, verdict in verdicts:
        kind = "penalty" if verdict.is_penalty else "missed"
        points = "" if verdict.points is None else f" ({verdict.points:+g})"
        text = ": ".join(_plain(part) for part in (verdict.text, verdict.reason or "no reason given") if part)
        screen.note(f"{_attempt(attempt.trial)}: {kind} {_plain(verdict.criterion_id)}{points}: {text}")
    for attempt, verdict in open_ones:
        why = verdict.detail or f"met is {verdict.met}, but it is unknown whether the item is a penalty"
        screen.note(f"{_attempt(attempt.trial)}: undecided {_plain(verdict.criterion_id)}: {_plain(why)}")


def _show_damage(job: HarborJob, screen: Screen) -> int:
    """Name the unreadable parts of a job; return 1 if there are any, else 0."""
    faults = [damage for damage in job.damage if damage.is_fault]
    for damage in faults:
        screen.fault(f"{_plain(damage.where)}: {_plain(damage.detail)}")
    if others := [damage for damage in job.damage if not damage.is_fault]:
        first = f"{_plain(others[0].where)}: {_plain(others[0].detail)}"
        screen.note(
            f"No fault: {len(others)} files are not kept with the job, and no reward depends on them. "
            f"The first: {first}."
        )
    return 1 if faults else 0


def _names(system: SystemSummary) -> tuple[str, str]:
    model = system.model or "no model"
    return _plain(f"{model} ({system.effort})" if system.effort else model), _plain(system.agent or "unknown")


def _judges(attempts: Sequence[AttemptScore]) -> str:
    """Name the judge of a task's rewards, once or for each attempt; a dash where nobody judged."""
    names = [_plain(" + ".join(attempt.trial.judges)) or "-" for attempt in attempts]
    judged = {name for name in names if name != "-"}
    return " · ".join(names) if len(judged) > 1 else "".join(judged) or "-"


def _attempt(trial: Trial) -> str:
    return _plain(f"{trial.task} attempt {trial.attempt} ({trial.name})")


def _reward(attempt: AttemptScore, *, clamped: bool) -> str:
    score, state = attempt.clamped if clamped else attempt.score, attempt.trial.report_state
    if score is None:
        return attempt.outcome.value.replace("_", " ")
    suffix = f" ({state.value})" if state not in (ReportState.readable, ReportState.unknown) else ""
    return f"{score:.{_DECIMALS}f}{suffix}"


def _plain(text: str) -> str:
    """Join lines and drop control characters: names and reasons come from models and files."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
