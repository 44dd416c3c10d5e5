"""The page of one attempt: the trajectory of its model, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flows.stages.page.render import render


def attempt_page(
    condition: str,
    scenario_id: str,
    seed: int,
    events: Sequence[Mapping[str, Any]],
    *,
    judges: Sequence[str] = (),
    is_imported: bool = False,
) -> str:
    """Render the trajectory of one attempt.

    Args:
        condition: the condition's label.
        scenario_id: the task.
        seed: number of the attempt.
        events: rows of the trajectories table, in order; empty without that table.
        judges: labels of the judges with a page on its report.
        is_imported: True if the attempt was not made with our tools.
    """
    heading = f"{scenario_id}, attempt {seed}"
    return render(
        "attempt.html",
        f"{heading}: {condition}",
        depth=2,
        heading=heading,
        condition=condition,
        page=f"{scenario_id}-{seed}.html",
        judges=judges,
        is_imported=is_imported,
        events=events,
        n_calls=sum(event["kind"] == "turn" for event in events),
        answered=_answered,
        answer_text=_answer_text,
    )


def _answered(event: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Return each tool call with its answer; None if it was not kept."""
    answers = {answer["call_id"]: answer for answer in event["answers"]}
    return [(call, answers.get(call["call_id"])) for call in event["tool_calls"]]


def _answer_text(answer: Mapping[str, Any]) -> str:
    text = str(answer["text"])
    if "characters" in answer:
        text += f"\n... ({answer['characters']:,} characters in all, sha256 {answer['sha256']})"
    images = len(answer["images"])
    return text + (f"\n({images} picture{'s' * (images != 1)})" if images else "")
