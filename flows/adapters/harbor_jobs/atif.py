"""Read the trajectory that Harbor kept of an agent, in its format ATIF, as events of ours."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from flows.adapters.harbor_jobs.tree import Tree, as_count, as_dict, as_list, nested
from flows.common.digests import sha256_text

TRAJECTORY = "agent/trajectory.json"
MAX_EVENTS = 10_000
_SHOWN_CHARS = 2_000  # of an answer, as in our own trajectories


def read_trajectory(root: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the events of one attempt, in the form of the trajectories table; empty if none was kept.

    `names` are the paths of its trajectories in the job's folder, in the order of its steps.
    """
    tree = Tree(root)
    events: list[dict[str, Any]] = []
    for name in names:
        steps = as_list(tree.mapping(tree.file(tree.root, name)).get("steps"))
        events += _events([as_dict(step) for step in steps], model_calls(events))
    return events[:MAX_EVENTS]


def model_calls(events: Sequence[dict[str, Any]]) -> int:
    """Return the number of the model's replies."""
    return sum(event["kind"] == "turn" for event in events)


def _events(steps: Sequence[dict[str, Any]], number: int) -> Iterator[dict[str, Any]]:
    before: datetime | None = None
    for step in steps:
        if step.get("is_copied_context") is True:
            continue  # shown where it happened
        now, text = _time(step.get("timestamp")), _text(step.get("message"))
        if step.get("source") == "agent":
            number += 1
            seconds = None if now is None or before is None else round((now - before).total_seconds(), 3)
            yield _turn(step, number, text, seconds)
        else:
            role = "system" if step.get("source") == "system" else "user"
            yield {"kind": "told", "step": None, "messages": [{"role": role, "text": text}]}
        before = now


def _turn(step: dict[str, Any], number: int, text: str, seconds: float | None) -> dict[str, Any]:
    metrics = as_dict(step.get("metrics"))
    calls = [as_dict(call) for call in as_list(step.get("tool_calls"))]
    results = [as_dict(result) for result in as_list(nested(step, "observation").get("results"))]
    ids = [_text(call.get("tool_call_id")) for call in calls]
    alone = [result for result in results if _text(result.get("source_call_id")) not in ids]
    shown = [text, *(_text(result.get("content")) for result in alone)]
    return {
        "kind": "turn",
        "turn": number,
        "step": None,
        "completion": None,
        "status": "complete",
        "finish_reason": None,
        "detail": "",
        "text": "\n\n".join(part for part in shown if part),
        "tool_calls": [
            {
                "call_id": call_id,
                "name": _text(call.get("function_name")),
                "arguments": _clean(json.dumps(call.get("arguments"), ensure_ascii=False)),
            }
            for call_id, call in zip(ids, calls, strict=True)
        ],
        "answers": [_answer(result) for result in results if result not in alone],
        "usage": {
            "input_tokens": as_count(metrics.get("prompt_tokens")),
            "output_tokens": as_count(metrics.get("completion_tokens")),
            "reasoning_tokens": None,
            "cached_tokens": as_count(metrics.get("cached_tokens")),
        },
        "seconds": seconds,
    }


def _answer(result: dict[str, Any]) -> dict[str, Any]:
    text = _text(result.get("content"))
    entry: dict[str, Any] = {
        "call_id": _text(result.get("source_call_id")),
        "is_error": False,  # the format does not say
        "text": text[:_SHOWN_CHARS],
        "images": [],
    }
    if len(text) > _SHOWN_CHARS:
        entry |= {"characters": len(text), "sha256": sha256_text(text)}
    return entry


def _text(value: object) -> str:
    """Return a message's text: itself, or its text parts, with a mark for each picture or sound."""
    if isinstance(value, str):
        return _clean(value)
    parts = [as_dict(part) for part in as_list(value)]
    return "\n".join(
        _clean(str(part.get("text"))) if part.get("type") == "text" else f"[{_clean(str(part.get('type')))}]"
        for part in parts
    )


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
