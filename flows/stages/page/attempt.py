"""How a report came about: what its model was told, said, called and was answered, turn by turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flows.stages.page.frame import document
from flows.stages.page.markup import MISSING, address, own

_PLACES = (
    "Places such as p7, s2 or t1r2c1 are the tools' names for parts of the report at that turn; they move "
    "when something is put in before them, and are no paragraph numbers of the finished file."
)


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
    title = f"{scenario_id}, attempt {seed}"
    body = [
        f'<nav><a href="{address("..", "..", "index.html")}">Leaderboard</a></nav>',
        f"<h1>{own(title)}</h1>",
        f'<p class="soft own">{own(condition)}</p>',
    ]
    if judges:
        pages = [
            (judge, address("..", "..", condition, judge, f"{scenario_id}-{seed}.html")) for judge in judges
        ]
        listed = ", ".join(f'<a href="{page}">judge {own(judge)}</a>' for judge, page in pages)
        body.append(f"<p>Verdicts on its report: {listed}</p>")
    if not events:
        body.append("<p>Its trajectory is not among these results.</p>")
    else:
        body.append(f'<p class="soft">{_PLACES}</p>')
    n_calls = sum(event["kind"] == "turn" for event in events)
    for event in events:
        body += _told(event) if event["kind"] == "told" else _turn(event, n_calls)
    return document(f"{title}: {condition}", body)


def _told(event: Mapping[str, Any]) -> list[str]:
    return [_folded(f"Message to the model ({m['role']})", str(m["text"])) for m in event["messages"]]


def _turn(event: Mapping[str, Any], n_calls: int) -> list[str]:
    usage = event["usage"]
    counts = [usage["input_tokens"], usage["output_tokens"]]
    tokens_in, tokens_out = (MISSING if count is None else f"{count:,}" for count in counts)
    about = f"{event['seconds']:g} s; {tokens_in} tokens in, {tokens_out} out"
    if event["status"] != "complete":
        about += f"; {own(event['status'])} {own(event['detail'])}"
    body = [
        f"<h2>Reply {event['turn']} of {n_calls}</h2>",
        f'<p class="soft">{about}</p>',
    ]
    if event["text"]:
        body.append(f'<pre class="own" dir="auto">\n{own(event["text"])}</pre>')
    answers = {answer["call_id"]: answer for answer in event["answers"]}
    for call in event["tool_calls"]:
        body.append(f'<p class="own"><b>{own(call["name"])}</b> <code>{own(call["arguments"])}</code></p>')
        answer = answers.get(call["call_id"])
        if answer is not None:
            body.append(
                _folded("The tool refused" if answer["is_error"] else "The tool's answer", _answer(answer))
            )
    return body


def _answer(answer: Mapping[str, Any]) -> str:
    text = str(answer["text"])
    if "characters" in answer:
        text += f"\n... ({answer['characters']:,} characters in all, sha256 {answer['sha256']})"
    images = len(answer["images"])
    return text + (f"\n({images} picture{'s' * (images != 1)})" if images else "")


def _folded(head: str, text: str) -> str:
    return (
        f'<details><summary>{own(head)}</summary>\n<pre class="own" dir="auto">\n{own(text)}</pre></details>'
    )
