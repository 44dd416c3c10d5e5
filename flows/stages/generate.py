"""A packet to a request for a brief, and a reply to what was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flows.schema.brief import BriefStatus
from flows.schema.call import build_call, render
from flows.schema.completion import Completion, CompletionStatus, Message, Request
from flows.schema.document import Packet
from flows.schema.settings import Effort, ModelSettings, PromptSettings

GENERATE_VERSION = "2"
"""Raised when requests are built or replies are read in another way."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a writer gave for one seed, before the cut.

    Attributes:
        seed: number of the repeat.
        status: what became of the request.
        text: whole; None unless written or empty.
        cut_by_provider: True where the provider stopped at its output limit.
        completion: key of the stored reply; None where nobody was paid.
        detail: why there is no text, or what the reader of its file left out of it; else empty.
    """

    seed: int
    status: BriefStatus
    text: str | None
    cut_by_provider: bool = False
    completion: str | None = None
    detail: str = ""


def build_messages(assignment: str, packet: Packet, prompt: PromptSettings) -> tuple[Message, ...]:
    """One prompt with the whole packet; the same for every model and seed.

    Args:
        assignment: what the scenario asks for.
        packet: all documents.
        prompt: what the writer is told.

    Raises:
        ConfigError: the prompt names an unknown placeholder.
    """
    limit = "" if prompt.words is None else render(prompt.word_limit, {"words": f"{prompt.words:,}"})
    values = {"assignment": assignment, "packet": packet.text, "word_limit": limit}
    return Message("system", render(prompt.system, values)), Message("user", render(prompt.user, values))


def build_request(messages: Sequence[Message], model: ModelSettings, effort: Effort, seed: int) -> Request:
    """The request for one brief.

    Args:
        messages: as `build_messages` gives them.
        model: who writes.
        effort: how hard it is asked to reason.
        seed: number of the repeat, from 1.

    Raises:
        ConfigError: an effort that the model does not take.
    """
    return build_call(model, effort, messages, seed, output_tokens=model.output_tokens)


def read_written(completion: Completion, seed: int) -> Written:
    """What a stored reply says. A refusal and a failed call are not texts; an empty text is one.

    So is one that was stopped at the output limit before a word was written: the reply came whole, and the
    limit is part of the condition. It is marked `cut_by_provider`, and counted and named under the table.
    """
    match completion.status:
        case CompletionStatus.refused:
            return Written(
                seed, BriefStatus.refused, None, completion=completion.key, detail=completion.detail
            )
        case CompletionStatus.error | CompletionStatus.partial:
            return Written(seed, BriefStatus.error, None, completion=completion.key, detail=completion.detail)
        case CompletionStatus.complete | CompletionStatus.cut:
            return written(
                completion.text or "",
                seed,
                cut_by_provider=completion.status is CompletionStatus.cut,
                completion=completion.key,
            )


def written(text: str, seed: int, *, cut_by_provider: bool = False, completion: str | None = None) -> Written:
    """A text that somebody wrote, be it empty."""
    status = BriefStatus.written if text.strip() else BriefStatus.empty
    return Written(seed, status, text, cut_by_provider, completion)
