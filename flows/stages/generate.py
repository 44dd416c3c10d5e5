"""Build prompts for briefs from packets, and read briefs from replies."""

from dataclasses import dataclass

from flows.schema.brief import BriefStatus
from flows.schema.call import render
from flows.schema.completion import Completion, CompletionStatus, Message
from flows.schema.document import Packet
from flows.schema.settings import PromptSettings

GENERATE_VERSION = "2"
"""Increment when requests are built or replies are read differently."""


@dataclass(frozen=True, slots=True)
class Written:
    """A writer's output for one seed, before the cut."""

    seed: int  # number of the repeat
    status: BriefStatus
    text: str | None  # the complete text; None unless written or empty
    cut_by_provider: bool = False  # True if the provider stopped at its output limit
    completion: str | None = None  # key of the stored reply; None without a model
    detail: str = ""  # why there is no text, or what the reader left out of the file; may be empty


def build_messages(assignment: str, packet: Packet, prompt: PromptSettings) -> tuple[Message, ...]:
    """Build one prompt with the whole packet, the same for every model and seed.

    Raises:
        ConfigError: the prompt has an unknown placeholder.
    """
    limit = "" if prompt.words is None else render(prompt.word_limit, {"words": f"{prompt.words:,}"})
    values = {"assignment": assignment, "packet": packet.text, "word_limit": limit}
    return Message("system", render(prompt.system, values)), Message("user", render(prompt.user, values))


def read_written(completion: Completion, seed: int) -> Written:
    """Read the brief from a stored reply. Refusals and failed calls have no text; an empty text is one.

    A reply that reached the output limit before the first word is an empty text: the limit is part of the
    condition. It is marked `cut_by_provider` and reported under the table.
    """
    match completion.status:
        case CompletionStatus.complete | CompletionStatus.cut:
            cut = completion.status is CompletionStatus.cut
            return written(completion.text or "", seed, cut_by_provider=cut, completion=completion.key)
        case CompletionStatus.refused:
            status = BriefStatus.refused
        case CompletionStatus.error | CompletionStatus.partial:
            status = BriefStatus.error
    return Written(seed, status, None, completion=completion.key, detail=completion.detail)


def written(text: str, seed: int, *, cut_by_provider: bool = False, completion: str | None = None) -> Written:
    """Return a written text, which may be empty."""
    status = BriefStatus.written if text.strip() else BriefStatus.empty
    return Written(seed, status, text, cut_by_provider, completion)
