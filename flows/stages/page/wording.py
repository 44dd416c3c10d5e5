"""What pages call things: a brief for a scenario has other names than a report on a task."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wording:
    """Names of one protocol, each for one thing; what they mean is the same.

    Attributes:
        scenario: what is answered.
        brief: what was written.
        repeat: what `seed` numbers.
        counted: what a score is a mean of: an attempt counts though it left no report.
        requirement, requirements: items that should be met, one and several.
        error, errors: items that describe what should not be done.
        made: what an error is that was done.
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

    def head(self, name: str) -> str:
        """The leaderboard's column as these pages call it."""
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
    """Names for a report task, or for a scenario that asks for a brief."""
    return REPORTS if is_task else BRIEFS


def meanings(said: Wording, *, is_clamped: bool) -> dict[str, str]:
    """What each column of the leaderboard means, by its name there.

    Args:
        said: the names to use.
        is_clamped: True where each score is held within [0, 1] before it is averaged.
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
        "score": f"points of passed {said.requirements} less those of {said.errors} {said.made}, as a share "
        f"of the points of all {said.requirements}; {low}. Each {said.scenario}'s {said.repeat}s are "
        f"averaged, then the {said.scenario}s",
        "interval": f"of the score, over {said.scenario}s; none below two",
        "correct": f"share of all items passed, {said.requirements} and {said.errors} alike; "
        f"{_article(said.error)} is passed where it was not {said.made}",
        "passed": f"share of {said.requirements} passed",
        "wrong": f"{said.errors} {said.made} for each {said.counted}, on average",
        "scenarios": f"{said.scenario}s that the score rests on",
        "briefs": f"{said.counted}s that the score rests on, over all {said.scenario}s",
        "ungraded": "items without a verdict: neither passed nor failed",
        "refused": f"{said.brief}s that the provider refused to write",
        "cut": f"{said.brief}s cut at the word cap or at the provider's output limit",
    }


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
