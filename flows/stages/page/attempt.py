"""How a report came about: what its model was asked, said, called and was answered, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flows.stages.page.render import parts, render


def attempt_path(condition: str, scenario_id: str, seed: int) -> tuple[str, str, str]:
    """Where an attempt's page lies below the first page: two folders and a name."""
    return "attempts", condition, f"{scenario_id}-{seed}.html"


def attempt_page(
    condition: str,
    scenario_id: str,
    seed: int,
    events: Sequence[Mapping[str, Any]],
    *,
    judges: Sequence[str] = (),
) -> str:
    """The trajectory of one attempt.

    Args:
        condition: its label.
        scenario_id: the task.
        seed: number of the attempt.
        events: as the trajectories table has them, in order; empty where that table is not here.
        judges: labels of those who have a page on what came of it.
    """
    heading = f"{scenario_id}, attempt {seed}"
    return render(
        "attempt.html",
        f"{heading}: {condition}",
        with_script=False,
        heading=heading,
        condition=condition,
        page=f"{scenario_id}-{seed}.html",
        judges=judges,
        events=events,
        n_calls=sum(event["kind"] == "turn" for event in events),
        answered=_answered,
        answer_text=_answer_text,
        count=_count,
    )


def _count(count: int | None) -> str:
    return parts().unknown() if count is None else f"{count:,}"


def _answered(event: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Each call of a tool with its answer; None where none is kept."""
    answers = {answer["call_id"]: answer for answer in event["answers"]}
    return [(call, answers.get(call["call_id"])) for call in event["tool_calls"]]


def _answer_text(answer: Mapping[str, Any]) -> str:
    text = str(answer["text"])
    if "characters" in answer:
        text += f"\n... ({answer['characters']:,} characters in all, sha256 {answer['sha256']})"
    images = len(answer["images"])
    return text + (f"\n({images} picture{'s' * (images != 1)})" if images else "")
