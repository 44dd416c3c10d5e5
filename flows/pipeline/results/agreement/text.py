"""Agreements as table rows and phrases."""

from flows.common.text import number
from flows.schema.scenario import Severity
from flows.schema.verdict import Agreement
from flows.stages.agreement import BM25, WHICH_BRIEF

HEAD = ("items", "n", "accuracy", "kappa", "within", "by brief", "BM25")

_SEVERITIES = {
    Severity.critically_important: "critical",
    Severity.important: "important",
    Severity.slightly_important: "slight",
    Severity.detrimental: "detrimental",
    Severity.critically_detrimental: "crit. detrim.",
}
_NAMES = {
    "polarity=positive": "requirements",
    "polarity=negative": "wrong moves",
    **{f"severity={severity.value}": name for severity, name in _SEVERITIES.items()},
}


def figure(value: float | None, margin: float | None) -> str:
    """Format a figure with the margin of its 95% interval, if it has one: `0.70±0.06`."""
    return number(value, 2) if margin is None else f"{number(value, 2)}±{margin:.2f}"


def agreement_rows(found: Agreement) -> list[tuple[str, ...]]:
    """Return the rows of one agreement under `HEAD`: everything, then each group that is not everything."""
    return [_row("all", found), *(_row(_name(group), group) for group in _shown(found))]


def remarks(found: Agreement) -> list[str]:
    """Return what a table must not hide: items not judged, and figures at or below a baseline."""
    said: list[str] = []
    for group in (found, *_shown(found)):
        if group.n_ungraded and (group is found or not group.n):
            said.append(f"{_name(group, found)}: {group.n_ungraded} without a verdict")
        if group.no_better_than:
            rater, kappa = group.no_better_than
            compared = f"kappa no better than {rater} ({kappa:.2f})"
            if group.kappa is None:
                compared = f"no kappa, since all its verdicts are alike; {rater} has {kappa:.2f}"
            said.append(f"{_name(group, found)}: {compared}")
    return said


def phrase(found: Agreement) -> str:
    """Format an agreement as a phrase: figures of all items, and what was not judged or is no better."""
    if found.accuracy is None:
        return f"{found.labels}: nothing to compare"
    kappa = "undefined" if found.kappa is None else figure(found.kappa, found.kappa_margin)
    accuracy = figure(found.accuracy, found.accuracy_margin)
    parts = [f"{found.labels}: n {found.n}, accuracy {accuracy}, kappa {kappa}"]
    if found.within is not None:
        parts.append(f"within briefs {figure(found.within, found.within_margin)}")
    if found.baselines:
        raters = " and ".join(f"{rater} {kappa:.2f}" for rater, kappa in found.baselines)
        parts.append(f"{raters} without a judge")
    groups = [group for group in found.groups if group.labels.startswith("polarity=")]
    parts += [
        f"{_name(group, found)} no better than {group.no_better_than[0]}"
        for group in (found, *groups)
        if group.no_better_than and group.n
    ]
    parts += [f"{_name(group)} not judged" for group in groups if not group.n]
    return ", ".join(parts)


def _shown(found: Agreement) -> list[Agreement]:
    return [
        group
        for group in found.groups
        if group.n + group.n_ungraded < found.n + found.n_ungraded
        and (group.n or group.labels.startswith("polarity="))
    ]


def _name(found: Agreement, whole: Agreement | None = None) -> str:
    return "all" if found is whole else _NAMES.get(found.labels, found.labels.replace("=", " "))


def _row(name: str, found: Agreement) -> tuple[str, ...]:
    baselines = dict(found.baselines) if found.n else {}
    return (
        name,
        str(found.n),
        figure(found.accuracy, found.accuracy_margin),
        figure(found.kappa, found.kappa_margin),
        figure(found.within, found.within_margin),
        number(baselines.get(WHICH_BRIEF), 2),
        number(baselines.get(BM25), 2),
    )
