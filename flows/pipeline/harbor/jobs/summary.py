"""`staffbench harbor summarize`: the rewards of a job, and the criteria that its attempts missed."""

from collections.abc import Sequence
from pathlib import Path

from flows.adapters.screen import Screen
from flows.common.text import number, plural
from flows.pipeline.harbor.jobs.parts import Part, open_parts
from flows.schema.harbor import AttemptScore, HarborJob, Outcome, ReportState, SystemSummary, Trial
from flows.stages.harbor_summary import missed, undecided

_RULES = (
    "job: the mean in the job's own result.json. Harbor 0.25: an attempt without a reward counts as 0. "
    "Harbor 0.26: it is left out. Both average over attempts."
)
_OUR_RULE = (
    "ours: a missing, corrupt or empty {0} is 0; a refusal without a {0} and a failed verifier are no score, "
    "left out and counted. {1} averaged within a task, then tasks. bounds: every attempt without a score as "
    "{2}, and as 1."
)
_OF_REPORTS = ("report", "Attempts are", "0")
_OF_BRIEFS = (
    "brief",
    "Attempts count unclamped, below 0 where wrong moves outweigh the rest; they are",
    "the least that its rubric allows",
)
_COUNTS = ("model", "agent", "attempts", "scored", "no report", "no score")
_MEANS = ("job", "Harbor 0.25", "Harbor 0.26", "ours", "bounds", "tasks")
_DECIMALS = 3


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
    found, parts = open_parts(job_folder(project, job), every=False)
    for part in parts:
        show_part(part, screen)
    for part in parts:
        for system in part.systems:
            _show_criteria(system, screen, listed=criteria)
    return show_damage(found, screen)


def job_folder(project: Path, job: Path) -> Path:
    """Return the folder of a job that is named from here, or from the project."""
    return project / job if not job.exists() and (project / job).exists() else job


def show_part(part: Part, screen: Screen) -> None:
    """Show the rewards and means of a part, and why attempts have no score."""
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
    screen.note(_OUR_RULE.format(*(_OF_REPORTS if part.is_clamped else _OF_BRIEFS)))
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


def show_damage(job: HarborJob, screen: Screen) -> int:
    """Name the unreadable parts of a job; return 1 if there are any, else 0."""
    faults = [damage for damage in job.damage if damage.is_fault]
    for damage in faults:
        screen.fault(f"{_plain(damage.where)}: {_plain(damage.detail)}")
    if others := [damage for damage in job.damage if not damage.is_fault]:
        first = f"{_plain(others[0].where)}: {_plain(others[0].detail)}"
        screen.note(
            f"No fault: not kept with the job, and no reward depends on it: {plural(len(others), 'file')}, "
            f"the first {first}."
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
