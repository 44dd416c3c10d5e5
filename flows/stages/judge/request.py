"""Requests to a judge: a rubric or one of its items, and a shielded brief."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flows.common.errors import ScenarioError
from flows.schema.call import build_call, render
from flows.schema.completion import Image, Message, Request
from flows.schema.scenario import Item
from flows.schema.settings import JudgeMode, JudgePromptSettings, JudgeSettings
from flows.schema.verdict import FailureMode
from flows.stages.judge.items import render_items, shown_order, with_canaries
from flows.stages.judge.text import shield

_ROOM_FOR_FORMAT = 256  # tokens for the braces and keys around the entries


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """One call to a judge, with what is needed to read the reply."""

    request: Request
    mode: JudgeMode  # the format of the reply
    items: tuple[Item, ...]  # the items, in the order shown, including canaries
    rejected: str  # text added after a rejected reply; `{{fault}}` is filled in
    attempt: int = 1  # number of this attempt, from 1
    canaries: tuple[str, ...] = ()  # ids of the canary items; may be empty
    quoted: str | None = None  # the brief, in which the reply's quotes must be; None if none are asked for

    @property
    def item_ids(self) -> tuple[str, ...]:
        """Ids of the items that get a verdict, in order: all but the canaries."""
        return tuple(item.item_id for item in self.items if item.item_id not in self.canaries)


def output_room(n_items: int, judge: JudgeSettings) -> int:
    """Return the tokens that a reply on `n_items` items may need, including reasoning.

    The limit grows with the rubric so that long replies are not cut. `build_call` lowers it to the model's
    maximum.
    """
    per_item = judge.tokens_per_item * (2 if judge.quotes else 1)  # a quote is about as long as a reason
    return per_item * n_items + judge.tokens_thinking + _ROOM_FOR_FORMAT


def reply_schema(mode: JudgeMode, *, quotes: bool = False) -> dict[str, Any]:
    """Return the JSON schema of a reply, which an agent gives as the arguments of its decision."""
    text: dict[str, Any] = {"type": "string"}
    if mode is JudgeMode.failed_only:
        modes = {"type": "string", "enum": [mode.value for mode in FailureMode]}
        entry = {"id": text, "mode": modes, "reason": text}
        reply = {"items": {"type": "integer"}, "failed": _list_of(entry)}
    else:
        quote = {"quote": text} if quotes else {}
        reply = {"verdicts": _list_of({"id": text, "met": {"type": "boolean"}, **quote, "reason": text})}
    return _object_of(reply)


def _object_of(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object_of(properties)}


def build_requests(
    items: Sequence[Item],
    brief_text: str,
    judge: JudgeSettings,
    prompt: JudgePromptSettings,
    seed: int,
    *,
    reference: str | None = None,
    pages: Sequence[Image] = (),
    reference_pages: Sequence[Image] = (),
) -> list[JudgeCall]:
    """Build the calls that grade one brief: one for the whole rubric or one per item.

    With `judge.canaries`, two items with known verdicts are added to the rubric or in their own calls. With
    `judge.quotes`, each item that is met needs a quote of the brief. From the second repeat on the rubric is
    shuffled. The request does not depend on the writer or its repeat, so equal briefs are paid for once.

    Args:
        items: the rubric, in file order.
        brief_text: the brief as graded, before shielding; may be empty.
        judge: the judge's settings.
        prompt: the judge's prompt.
        seed: number of the judge's own repeat, from 1; not the brief's.
        reference: the expert's report; None if there is none.
        pages: images of the brief's pages, in order; may be empty.
        reference_pages: images of the expert's pages, in order; may be empty.

    Raises:
        ScenarioError: no items, or two with one id.
        ConfigError: the judge has no name or does not support the effort, or the prompt has an unknown
            placeholder.
    """
    shown, canaries = _shown_items(items, judge)
    per_item = judge.mode is JudgeMode.per_item
    groups = [(item,) for item in shown] if per_item else [shown_order(shown, seed)]
    template = {
        JudgeMode.failed_only: prompt.failed_only,
        JudgeMode.all_items: prompt.all_items,
        JudgeMode.per_item: prompt.per_item,
    }[judge.mode]
    if judge.quotes:
        template = f"{template}\n\n{prompt.quotes}"
    brief, _ = shield(brief_text)
    shown_reference = {} if reference is None else {"reference": shield(reference)[0]}
    images = (*pages, *reference_pages)
    legend = _legend(len(pages), len(reference_pages)) if reference_pages else ""
    schema = reply_schema(judge.mode, quotes=judge.quotes)  # of every rubric: a provider compiles it once
    calls: list[JudgeCall] = []
    for group in groups:
        values = {"items": render_items(group), "count": str(len(group)), "brief": brief, **shown_reference}
        request = build_call(
            judge,
            judge.effort,
            [Message("system", prompt.system), Message("user", render(template, values) + legend, images)],
            seed,
            output_tokens=output_room(len(group), judge),
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "grading", "strict": True, "schema": schema},
            },
        )
        own = tuple(item.item_id for item in group if item.item_id in canaries)
        quoted = brief if judge.quotes else None
        calls.append(JudgeCall(request, judge.mode, group, prompt.rejected, canaries=own, quoted=quoted))
    return calls


def build_agent_call(
    items: Sequence[Item], judge: JudgeSettings, prompt: JudgePromptSettings, seed: int, *, files: str
) -> JudgeCall:
    """Build the first call to a judge that opens the reports by tools, which the caller adds.

    `seed` is the number of the judge's repeat, from 1; `files` the names of the reports' files, a line each.

    Raises:
        ScenarioError, ConfigError: as in `build_requests`.
    """
    shown, canaries = _shown_items(items, judge)
    values = {"items": render_items(shown), "count": str(len(shown)), "files": files}
    request = build_call(
        judge,
        judge.effort,
        [Message("system", prompt.system), Message("user", render(prompt.agent, values))],
        seed,
        output_tokens=output_room(len(shown), judge),
    )
    return JudgeCall(request, JudgeMode.all_items, shown, prompt.rejected, canaries=canaries)


def _shown_items(items: Sequence[Item], judge: JudgeSettings) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """Return the items that a judge is shown, and the ids of the canaries among them."""
    if not items:
        raise ScenarioError("rubric", "no items", "at least one")
    name, count = Counter(item.item_id for item in items).most_common(1)[0]
    if count > 1:
        raise ScenarioError(f"item {name}", "duplicate id", "unique ids")
    return with_canaries(items) if judge.canaries else (tuple(items), ())


def _legend(n_pages: int, n_reference: int) -> str:
    """Say which pictures are of which report."""
    own = f"the first {n_pages} of the report, then " if n_pages else ""
    return f"\n\nPictures of pages: {own}{n_reference} of the expert's report."


def with_fault(call: JudgeCall, fault: str) -> JudgeCall:
    """Return the same call with a note on what was wrong with the last reply.

    The note is added to earlier notes. If it replaced them, a reply with the same fault twice would lead to
    the same request key, and be found in the store.

    Raises:
        ConfigError: the note has an unknown placeholder.
    """
    *before, last = call.request.messages
    note = render(call.rejected, {"fault": shield(fault)[0]})
    asked = replace(last, content=f"{last.content}\n\n{note}")
    return replace(call, request=replace(call.request, messages=(*before, asked)), attempt=call.attempt + 1)
