"""Read a judge's reply strictly: verdicts or a fault.

In `failed_only` an item that is not listed has passed, so a reply that is cut, malformed or counts
wrongly would pass ungraded items. So nothing is repaired or guessed; the first valid reply counts.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from flows.common.strict_json import strict_json
from flows.schema.completion import Completion, CompletionStatus
from flows.schema.settings import JudgeMode
from flows.schema.verdict import FailureMode, ItemVerdict, VerdictStatus
from flows.stages.judge.request import JudgeCall, with_fault
from flows.stages.judge.text import is_quoted

_LONGEST_QUOTE = 80  # characters of a reply that a fault quotes
_MODES = {
    error: [mode.value for mode in FailureMode if (mode is FailureMode.committed) == error]
    for error in (False, True)
}
_HALF = re.compile("[\ud800-\udfff]")  # half of a character


class RejectedReply(Exception):  # noqa: N818 -- no error of ours: the judge is asked again
    """A reply that can't be read as verdicts.

    Attributes:
        fault: what is wrong with it, worded for the judge.
    """

    def __init__(self, fault: str) -> None:
        self.fault = fault
        super().__init__(fault)


class MissedCanary(RejectedReply):
    """A valid reply that gets a canary item wrong."""

    # The judge sees this text, so it must not reveal the canaries.
    def __init__(
        self, fault: str = "the gradings go against the items' own pass and fail conditions"
    ) -> None:
        super().__init__(fault)


def judge_outcome(
    call: JudgeCall, completion: Completion, max_attempts: int
) -> JudgeCall | tuple[ItemVerdict, ...]:
    """Return what follows from a reply: the next call, or a verdict on each item.

    The pipeline sends `call.request` and calls this until it returns verdicts: `graded` after the first
    valid reply, `refused` or `error` without a reply, `unparsed` after `max_attempts` rejected replies.
    Canaries have no verdict.
    """
    if completion.status is CompletionStatus.refused:
        return _ungraded(call, VerdictStatus.refused, completion.detail or "the judge was refused")
    if completion.status in (CompletionStatus.error, CompletionStatus.partial):
        return _ungraded(call, VerdictStatus.error, completion.detail or "no reply from the judge")
    try:
        reject_if_cut(completion)
        return tuple(read_reply(call, completion.text or ""))
    except RejectedReply as rejected:
        if call.attempt < max_attempts:
            return with_fault(call, rejected.fault)
        reason = f"no valid reply in {call.attempt} attempts; the last: {rejected.fault}"
        return _ungraded(call, VerdictStatus.unparsed, reason)


def _ungraded(call: JudgeCall, status: VerdictStatus, reason: str) -> tuple[ItemVerdict, ...]:
    return tuple(ItemVerdict(item_id, status, None, reason=reason) for item_id in call.item_ids)


def misses_canary(call: JudgeCall, completion: Completion) -> bool:
    """True if a complete, valid reply is rejected because of a canary."""
    if call.canaries and completion.status is CompletionStatus.complete:
        try:
            read_reply(call, completion.text or "")
        except RejectedReply as rejected:
            return isinstance(rejected, MissedCanary)
    return False


def reject_if_cut(completion: Completion) -> None:
    """Reject a reply that reached the output limit, however complete it looks.

    Raises:
        RejectedReply: it was cut.
    """
    if completion.status is CompletionStatus.cut:
        raise RejectedReply("it was cut at the output limit; keep each reason short")


def read_reply(call: JudgeCall, completion_text: str) -> list[ItemVerdict]:
    """Read the verdicts in a reply, in the order shown, without canaries.

    Requirements that `failed_only` does not list are passed; errors that it does not list were not
    committed. Where every item is listed, `met` means passed for a requirement and committed for an
    error. Where quotes are asked for, each item that is met needs one that is in the brief.

    Raises:
        RejectedReply: the reply is not exactly one JSON object of the requested format.
        MissedCanary: the reply is valid but gets a canary wrong.
    """
    found = _read(call, completion_text)
    is_error = {item.item_id: item.is_error for item in call.items}
    # No brief can pass the requirement or make the error.
    if any(v.passed != is_error[v.item_id] for v in found if v.item_id in call.canaries):
        raise MissedCanary
    return [verdict for verdict in found if verdict.item_id not in call.canaries]


def _read(call: JudgeCall, completion_text: str) -> list[ItemVerdict]:
    reply = _one_object(completion_text)
    errors = {item.item_id: item.is_error for item in call.items}
    if call.mode is JudgeMode.failed_only:
        _expect_keys(reply, ("items", "failed"), "the object")
        count = reply["items"]
        if type(count) is not int or count != len(errors):
            raise RejectedReply(f"items is {_quoted(count)}, and {len(errors)} were to be graded")
        entries = _entries(reply["failed"], "failed", ("id", "mode", "reason"), errors)
        return [_from_failed(item_id, error, entries.get(item_id)) for item_id, error in errors.items()]
    _expect_keys(reply, ("verdicts",), "the object")
    keys = ("id", "met", "reason") if call.quoted is None else ("id", "met", "quote", "reason")
    entries = _entries(reply["verdicts"], "verdicts", keys, errors)
    missing = [item_id for item_id in errors if item_id not in entries]
    if missing:
        raise RejectedReply(
            f"{len(entries)} of {len(errors)} items are in the list; missing is {_quoted(missing[0])}"
        )
    verdicts = [_from_met(item_id, error, entries[item_id]) for item_id, error in errors.items()]
    if call.quoted is None:
        return verdicts
    unquoted = [name for name in errors if not _has_quote(entries[name], call.quoted)]
    if unquoted:
        more = f" and {len(unquoted) - 1} more" if len(unquoted) > 1 else ""
        raise RejectedReply(f"met is true and the quote is not in the brief for {_quoted(unquoted[0])}{more}")
    return [
        replace(verdict, reason=f"\u201c{entry['quote']}\u201d {verdict.reason}".strip())
        if (entry := entries[verdict.item_id])["met"]
        else verdict
        for verdict in verdicts
    ]


def _has_quote(entry: dict[str, Any], brief_text: str) -> bool:
    """True if an item that is met has a quote of the brief, and one that is not met needs none."""
    quote = entry["quote"]
    if not isinstance(quote, str) or _HALF.search(quote):
        raise RejectedReply(f"quote of {_quoted(entry['id'])} is no text")
    return not entry["met"] or is_quoted(quote, brief_text)


def _from_failed(item_id: str, error: bool, entry: dict[str, Any] | None) -> ItemVerdict:
    if entry is None:
        return ItemVerdict(item_id, VerdictStatus.graded, passed=True)
    names = _MODES[error]
    if entry["mode"] not in names:
        kind = "an error" if error else "a requirement"
        raise RejectedReply(
            f"mode of {_quoted(item_id)}, {kind}, is {_quoted(entry['mode'])}, not {' or '.join(names)}"
        )
    return ItemVerdict(
        item_id, VerdictStatus.graded, passed=False, mode=FailureMode(entry["mode"]), reason=entry["reason"]
    )


def _from_met(item_id: str, error: bool, entry: dict[str, Any]) -> ItemVerdict:
    met = entry["met"]
    if not isinstance(met, bool):
        raise RejectedReply(f"met of {_quoted(item_id)} is {_quoted(met)}, neither true nor false")
    committed = FailureMode.committed if error and met else None
    return ItemVerdict(
        item_id, VerdictStatus.graded, passed=met != error, mode=committed, reason=entry["reason"]
    )


def _one_object(text: str) -> dict[str, Any]:
    """Parse the reply as one object, with nothing but JSON white space around it."""
    stripped = text.strip()
    if not stripped:
        raise RejectedReply("it is empty")
    if stripped.startswith("```"):
        raise RejectedReply("a code fence stands around the JSON")
    try:
        value = strict_json(
            text,
            lambda keys: RejectedReply(f"an object has the key {_quoted(keys[0])} twice"),
            lambda name: RejectedReply(f"{name} is no JSON"),
        )
    except RecursionError:
        raise RejectedReply("it is nested too deeply") from None
    except ValueError as error:
        raise RejectedReply(f"it is not one JSON object and nothing else ({error})") from None
    if not isinstance(value, dict):
        raise RejectedReply("it is JSON, but no object")
    return cast("dict[str, Any]", value)


def _expect_keys(found: dict[str, Any], expected: Sequence[str], where: str) -> None:
    if set(found) != set(expected):
        keys = ", ".join(_quoted(key) for key in found)
        wanted = ", ".join(_quoted(key) for key in expected)
        raise RejectedReply(f"{where} has the keys {keys or 'none'}, and should have {wanted}")


def _entries(value: Any, name: str, keys: Sequence[str], known: dict[str, bool]) -> dict[str, dict[str, Any]]:
    """Return the list's entries by item id, after checking ids and the types of `id` and `reason`."""
    if not isinstance(value, list):
        raise RejectedReply(f"{name} is no list")
    entries: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(cast("list[Any]", value), 1):
        where = f"entry {number} of {name}"
        if not isinstance(entry, dict):
            raise RejectedReply(f"{where} is no object")
        entry = cast("dict[str, Any]", entry)
        _expect_keys(entry, keys, where)
        item_id, reason = entry["id"], entry["reason"]
        if not isinstance(item_id, str) or item_id not in known:
            raise RejectedReply(f"{where} has the unknown id {_quoted(item_id)}")
        if item_id in entries:
            raise RejectedReply(f"the id {_quoted(item_id)} is listed twice")
        if not isinstance(reason, str):
            raise RejectedReply(f"reason of {_quoted(item_id)} is no text")
        if not reason.strip():
            raise RejectedReply(f"reason of {_quoted(item_id)} is empty")
        if _HALF.search(reason):
            raise RejectedReply(f"reason of {_quoted(item_id)} holds half of a character")
        entries[item_id] = entry
    return entries


def _quoted(value: Any) -> str:
    """Quote a value of the reply for a fault: ASCII, short, and never in double quotes.

    The fault goes into the next prompt, where the judge's own text must not look like a key of the format.
    Lists and objects are named, not quoted.
    """
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    text = json.dumps(value)
    if isinstance(value, str):
        text = f"'{text[1:-1]}'"
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "..."
