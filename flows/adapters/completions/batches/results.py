"""Read a batch's results: a reply or a fault for each call."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, cast

from flows.adapters.completions.batches.transport import BatchState
from flows.adapters.completions.faults import Fault, FaultKind, error_fault
from flows.adapters.completions.senders.fields import load_json
from flows.adapters.completions.senders.reply import Reply, read_completion

_OK = 200
_THROTTLED = 429
_NO_ROOM = frozenset({"token_limit_exceeded", "request_limit_exceeded"})
"""The account has too many tokens in batches: the batch is throttled, not invalid."""


@dataclass(slots=True)
class Results:
    """The contents of a batch's result files."""

    outcomes: dict[str, Reply | Fault] = field(default_factory=dict[str, "Reply | Fault"])  # by `custom_id`
    unknown: int = 0  # number of lines for calls that are not in the batch
    unreadable: int = 0  # number of lines that can't be read or name no call


def read_results(files: Sequence[bytes], expected: AbstractSet[str]) -> Results:
    """Read the lines of all result files, JSON lines in OpenAI's format, in any order.

    Equal lines for one call count once; different ones are a fault, as it is unknown which is the reply.
    `expected` has the `custom_id` of the calls in the batch.
    """
    results = Results()
    said: dict[str, tuple[object, object]] = {}
    for line in (line for data in files for line in data.split(b"\n") if line.strip()):
        try:
            value, note = load_json(line)
        except Fault:
            results.unreadable += 1
            continue
        fields = cast("Mapping[str, Any]", value if isinstance(value, Mapping) else {})
        name = fields.get("custom_id")
        if not isinstance(name, str):
            results.unreadable += 1
        elif name not in expected:
            results.unknown += 1
        else:
            what = (fields.get("response"), fields.get("error"))
            if said.setdefault(name, what) == what:
                results.outcomes[name] = _outcome(*what, note)
            else:
                results.outcomes[name] = Fault(FaultKind.reply, "two results that differ")
    return results


def unanswered(batch: BatchState, results: Results) -> Fault:
    """Return the result of a call that is missing from the results of an ended batch."""
    if batch.status == "failed":
        code, message = batch.errors[0] if batch.errors else ("", "no reason given")
        status = _THROTTLED if code in _NO_ROOM else None
        return _unanswered("batch failed", f"{batch.batch_id}: {message}", code, status)
    found = f"{batch.batch_id} is {batch.status} and has no result of this call"
    if results.unreadable:  # it may be among those, and then was charged
        return Fault(FaultKind.reply, f"{found}, but {results.unreadable} that can't be read")
    return _unanswered("no result", found)


def _unanswered(word: str, detail: str, code: str = "", status: int | None = None) -> Fault:
    """Return the fault of a call that a batch did not answer. The provider does not charge for it."""
    return Fault(FaultKind.status, detail, status=status, code=code, word=word)


def _outcome(response: object, error: object, note: str) -> Reply | Fault:
    if isinstance(response, Mapping):
        fields = cast("Mapping[str, Any]", response)
        status, body = fields.get("status_code"), fields.get("body")
        if status == _OK:
            try:
                return read_completion(body, note)
            except Fault as fault:
                return fault.with_traceback(None)
        if isinstance(status, int):
            return error_fault(status, body, str(body))
    if isinstance(error, Mapping):
        fields = cast("Mapping[str, Any]", error)
        code = str(fields.get("code") or "")
        word = code.removeprefix("batch_").replace("_", " ") or "batch error"
        return _unanswered(word, str(fields.get("message") or code), code)
    return Fault(FaultKind.reply, "a result without a response and without an error")
