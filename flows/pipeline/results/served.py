"""Replies by another model than asked for, paid texts that are not graded, and what replies cost."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from flows.pipeline.results.graded import Graded
from flows.pipeline.work.judging import Judged
from flows.pipeline.work.run_context import Evaluation
from flows.schema.brief import Brief
from flows.schema.completion import Completion, Spent, spent_on

# Parts that names of the same model may differ in: the provider before it; dates and revisions after it.
_SERVED_BY = re.compile(
    r"(?:.*/)?(?:(?:us|eu|apac|global)\.)?(?:(?:anthropic|meta|mistral|amazon|cohere|deepseek|openai)\.)?"
)
_DIGEST = re.compile(r"@sha256:[0-9a-f]+$")  # of the file of a local model
_REVISION = re.compile(r"(?:[-@:.](?:preview|exp|free|\d{3,8}|\d{4}-\d\d-\d\d|\d\d-\d\d|v\d+(?::\d)?))*")


def is_other_model(asked: str, served: str) -> bool:
    """Whether an endpoint names another model than requested.

    A provider before the name, a date or revision after it, and `-latest` are ignored. Two different dates,
    or versions such as 5 and 5.5, are different models.
    """
    if served.lower() == asked.lower().partition("/")[0]:
        return False  # only the provider is named
    short, long = sorted((_bare(asked), _bare(served)), key=len)
    return not long.startswith(short) or not _REVISION.fullmatch(long.removeprefix(short))


def _bare(name: str) -> str:
    name = _DIGEST.sub("", name.lower().rstrip("/"))
    return _SERVED_BY.sub("", name, count=1).removesuffix(".gguf").removesuffix("-latest")


def served(
    briefs: Sequence[Brief],
    asked: str | None,
    completion: Callable[[str], Completion | None],
    trajectories: Sequence[Sequence[Mapping[str, Any]]] = (),
) -> dict[str, Any]:
    """Summarise irregular replies behind the briefs of a condition; empty if there are none.

    Args:
        briefs: of one condition.
        asked: the provider's name of the model; None without a model.
        completion: returns a stored reply by its key.
        trajectories: of its attempts, whose calls are all counted; empty if briefs are text.

    Returns:
        `asked` and `answered_by`, the number of briefs, or calls of attempts, by the name of another model,
        `of` how many `what`; `partial`, the number of texts without a known end. Replies that name no model
        are not counted.
    """
    keys = [event["completion"] for events in trajectories for event in events if event["kind"] == "turn"]
    what = "calls" if keys else "briefs"
    keys = keys or [brief.completion for brief in briefs if brief.completion is not None]
    replies = [reply for key in keys if (reply := completion(key)) is not None]
    names = Counter(reply.provider_model for reply in replies if reply.provider_model)
    of = len(keys) if what == "calls" else len(briefs)
    found = other_models(asked, names, of=of, what=what)
    partial = sum(bool(reply.fragment) for reply in replies)
    return found | ({"partial": partial} if partial else {})


def writer_spent(
    briefs: Sequence[Brief],
    trajectories: Iterable[Sequence[Mapping[str, Any]]],
    completion: Callable[[str], Completion | None] | None,
) -> Spent | None:
    """Add up what the replies behind the briefs of a condition cost; None if one is not stored.

    `completion` is None in a run without calls.
    """
    keys = replies_behind(briefs, trajectories)
    replies = [completion(key) if completion is not None else None for key in sorted(keys)]
    known = [reply for reply in replies if reply is not None]
    return spent_on(known) if len(known) == len(replies) else None


def replies_behind(briefs: Sequence[Brief], trajectories: Iterable[Sequence[Mapping[str, Any]]]) -> set[str]:
    """Return the keys of all replies that briefs, and the attempts with these events, came from."""
    keys = {brief.completion for brief in briefs if brief.completion is not None}
    return keys | {
        event["completion"] for events in trajectories for event in events if "completion" in event
    }


def other_models(asked: str | None, names: Mapping[str, int], *, of: int, what: str) -> dict[str, Any]:
    """Return what `served` says of other models than requested; empty if there are none.

    Args:
        asked: the provider's name of the model; None without a model.
        names: number of replies by the name that the endpoint gave.
        of: number of all of them.
        what: what is counted, in the plural.
    """
    others = {
        name: count
        for name, count in sorted(names.items())
        if asked is not None and is_other_model(asked, name)
    }
    return {"asked": asked, "answered_by": others, "of": of, "what": what} if others else {}


def judge_served(evaluation: Evaluation, judged: Iterable[Judged]) -> dict[str, Any]:
    """Return what `served` says of a judge's replies."""
    names = sum((Counter(one.answered_by) for one in judged), Counter[str]())
    return other_models(evaluation.settings.judge.name, names, of=names.total(), what="replies")


def served_notes(graded: Sequence[Graded]) -> list[str]:
    """Return the leaderboard's notes on irregular replies, to writers and to judges."""
    by_row = {entry.condition: (entry.about.get("served", {}), len(entry.briefs)) for entry in graded}
    by_judge = {
        f"{entry.condition} · {entry.judge}": (entry.about.get("judge_served", {}), 0) for entry in graded
    }
    notes: list[str] = []
    for what, rows in (("Another model answered", by_row), ("Another model judged", by_judge)):
        lines = [
            # Older files have only briefs, and not their number.
            f"{row} asked for {found['asked']}, and {count} of {found.get('of', n_briefs)} "
            f"{found.get('what', 'briefs')} came from {name}"
            for row, (found, n_briefs) in sorted(rows.items())
            for name, count in found.get("answered_by", {}).items()
        ]
        if lines:
            notes.append(f"{what}, by the endpoint's own word: {'; '.join(lines)}.")
    partial = [
        f"{row} {found['partial']}" for row, (found, _) in sorted(by_row.items()) if found.get("partial")
    ]
    if partial:
        notes.append(
            "Texts that were paid for and are not graded, as their end is unknown or a filter stopped them: "
            f"{', '.join(partial)}. retry=partial asks for the former again, retry=refused for the latter."
        )
    return notes
