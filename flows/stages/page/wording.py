"""Names on pages, which differ between briefs for scenarios and reports on tasks."""

from dataclasses import dataclass

from flows.common.text import in_task_terms, words
from flows.schema.brief import Brief
from flows.schema.scenario import Item


@dataclass(frozen=True, slots=True)
class Wording:
    """Names of one protocol.

    Attributes:
        scenario: a scenario or task.
        brief: the written text.
        repeat: what `seed` numbers.
        counted: the unit of mean scores; an attempt counts even without a report.
        requirement, requirements: items that should be met, singular and plural.
        error, errors: items that describe errors, singular and plural.
        made: participle for an error that occurred.
    """

    scenario: str
    brief: str
    repeat: str
    counted: str
    requirement: str
    requirements: str
    error: str
    errors: str
    made: str

    def of(self, text: str) -> str:
        """Return a text about scenarios in this wording."""
        return in_task_terms(text) if self.scenario == "task" else text

    def head(self, name: str) -> str:
        """Return the name of a leaderboard column on these pages."""
        return {"scenarios": f"{self.scenario}s", "briefs": f"{self.counted}s"}.get(name, name)


BRIEFS = Wording(
    scenario="scenario",
    brief="brief",
    repeat="seed",
    counted="brief",
    requirement="requirement",
    requirements="requirements",
    error="wrong move",
    errors="wrong moves",
    made="made",
)
REPORTS = Wording(
    scenario="task",
    brief="report",
    repeat="attempt",
    counted="attempt",
    requirement="required criterion",
    requirements="required criteria",
    error="penalty",
    errors="penalties",
    made="triggered",
)


def wording(*, is_task: bool) -> Wording:
    """Return the wording for a report task or for a scenario."""
    return REPORTS if is_task else BRIEFS


def meanings(said: Wording, *, is_clamped: bool) -> dict[str, str]:
    """Explain each column of the leaderboard.

    Args:
        said: the wording.
        is_clamped: True if each score is clamped to [0, 1] before averaging.
    """
    low = (
        f"each {said.repeat}'s within [0, 1]: 1 is a perfect {said.brief}'s, 0 an empty one's"
        if is_clamped
        else f"1 is a perfect {said.brief}'s, 0 an empty one's, and it can fall below 0"
    )
    return {
        "model": "who wrote; controls and baselines, which are no models, are named in the notes",
        "effort": "how hard the model was asked to reason; default: nothing was sent, the provider decided",
        "harness": "how the model was led to what it wrote: single_prompt, our own loop of tools (native), "
        "or Harbor (harbor); never pooled",
        "cap": f"words of a {said.brief} that are graded; none: all of them",
        "judge": "who graded; * marks the model that also wrote",
        "differs in": "settings, by key and value, in which it differs from other rows",
        "score": f"points of passed {said.requirements} less those of {said.errors} {said.made}, as a share "
        f"of the points of all {said.requirements}; {low}. Each {said.scenario}'s {said.repeat}s are "
        f"averaged, then the {said.scenario}s",
        "interval": f"of the score, over {said.scenario}s; of two to five {said.scenario}s only their range, "
        "which is no interval",
        "rank": "among rows on the same scenarios in which everything was scored; a dash for others",
        "bounds": "the score if everything missing had failed, and if it had passed",
        "correct": f"share of graded items passed, {said.requirements} and {said.errors} alike; "
        f"{_article(said.error)} is passed where it was not {said.made}",
        "passed": f"share of graded {said.requirements} passed",
        "wrong": f"{said.errors} {said.made} for each {said.counted}, on average",
        "scenarios": f"{said.scenario}s that the score rests on",
        "briefs": f"{said.counted}s that the score rests on, over all {said.scenario}s; texts, where no "
        "model wrote them: copies count once",
        "ungraded": "items that the judge should have graded and that have no verdict: refused, without a "
        "valid reply, or failed. Items that it never judges are not counted",
        "refused": f"{said.brief}s that the provider refused to write",
        "cost": "list price of the stored replies of writer and judge, whenever they were made; a dash "
        "where a price is unknown",
        "tokens": "in and out, of writer and judge, as their endpoints counted them",
        "seconds": "duration of all calls, summed, though many ran at once",
        "cut": f"{said.brief}s cut at the word cap or at the provider's output limit",
    }


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def anchor(place: int) -> str:
    """Return an item's anchor on the rubric page, from its index in the rubric: its id may be any text."""
    return f"item-{place + 1}"


def kind_of(item: Item) -> str:
    """Return what an item is called: a requirement, a penalty, ..."""
    said = wording(is_task=item.points is not None)
    return said.error if item.is_error else said.requirement


def filtered_by(item: Item) -> list[str]:
    """Return tier, step and severity of an item, by which rows are chosen; empty ones are no choice."""
    return [str(item.tier or ""), words(item.step or ""), words(item.severity or "")]


def placing(item: Item) -> list[str]:
    """Return the classes of an item, or the points of a criterion, as phrases."""
    found: list[str | int | None] = [
        item.step and words(item.step),
        item.tier and f"tier {item.tier}",
        item.severity and words(item.severity),
        None if item.points is None else f"{item.points:+g} point{'' if item.points in (1, -1) else 's'}",
    ]
    return [str(phrase) for phrase in found if phrase]


def cut_phrase(brief: Brief) -> str:
    """Describe how a brief was cut, as a suffix to its status; empty if it was not."""
    at_cap = ", cut at the cap" if brief.cut else ""
    return at_cap + (", stopped at the provider's limit" if brief.cut_by_provider else "")
