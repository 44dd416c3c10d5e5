"""A judge that opens both reports by tools, and decides every criterion by one more tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flows.common.errors import ReadError
from flows.pipeline.native.chat import FINISHED, REFUSED, Chat
from flows.pipeline.native.contract import Ask, Limits
from flows.pipeline.native.folder import display_path
from flows.pipeline.native.offered import FilePage, Nothing, PageView, judge_tools
from flows.pipeline.native.reading import view_page
from flows.pipeline.native.renders import Renders
from flows.pipeline.native.toolbox import ToolAnswer, Toolbox, ToolFault, encodable, page_of, read_arguments
from flows.schema.completion import Completion, CompletionStatus, Message
from flows.schema.verdict import ItemVerdict, VerdictStatus
from flows.stages.judge import (
    JudgeCall,
    MissedCanary,
    RejectedReply,
    read_reply,
    reply_schema,
)

AGENT_VERSION = "1"
"""Raise when equal replies would lead to another verdict or request."""

REPORT = "report.docx"
EXPERT = "expert_report.docx"
FILES = f"- {REPORT}: the report handed in\n- {EXPERT}: the expert's report"
"""The list of files in the judge's prompt."""

_NO_DECISION = "Nothing is decided yet. Decide all criteria by one call of decide."


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A report as a judge opens it."""

    text: str  # shielded, as a judge with one call is shown it
    data: bytes | None  # the file, for pictures of its pages; None if it is not known


@dataclass(frozen=True, slots=True)
class Judgment:
    """Result of a judge's chat."""

    verdicts: tuple[ItemVerdict, ...]  # on each item, without canaries
    n_canary_missed: int  # decisions that were rejected because of a canary
    seconds: float  # recorded seconds of all calls, and of the tools before them
    events: Sequence[Mapping[str, Any]]  # of the chat, as `Chat.trajectory`


async def judge_by_tools(
    ask: Ask,
    call: JudgeCall,
    files: Mapping[str, OpenFile],
    renders: Renders,
    *,
    limits: Limits,
    seconds: float | None,
    max_attempts: int,
    may_go_on: Callable[[Sequence[Message]], bool],
) -> Judgment:
    """Let a judge read, look and decide.

    `call` is from `build_agent_call`, `seconds` the task's limit for its verifier. After `max_attempts`
    rejected decisions the items are `unparsed`, unless `may_go_on` with these messages.

    Raises:
        StoreError: the disk is full or fails.
        StaffbenchError: raised by `ask`.
    """
    tools = _Tools(call, files, renders, limits)
    chat = Chat(ask, tools, limits)
    chat.send(None, list(call.request.messages))

    def is_over(more: Sequence[Message] = ()) -> bool:
        used_up = tools.n_rejected > 0 and tools.n_rejected % max_attempts == 0
        return used_up and not may_go_on([*chat.messages, *more])

    async def remind(completion: Completion) -> str:
        cut = completion.status is CompletionStatus.cut
        tools.reject("it was cut at the output limit" if cut else "it calls no tool")
        return "" if is_over([Message("user", _NO_DECISION)]) else _NO_DECISION

    def done() -> bool:
        if tools.decision is not None:
            return True
        # Only a rejected decision can use up the attempts: reading goes on.
        fresh, tools.was_rejected = tools.was_rejected, False
        return fresh and is_over()

    ended = await chat.run(None, remind, seconds=seconds, done=done)
    found = tools.decision
    if found is None:
        found = _undecided(call, ended, chat.detail, tools, seconds)
    return Judgment(found, tools.n_canary_missed, round(chat.seconds, 3), chat.trajectory)


def _undecided(
    call: JudgeCall, ended: str, detail: str, tools: _Tools, seconds: float | None
) -> tuple[ItemVerdict, ...]:
    """Return a verdict on each item that says why there is none."""
    status, reason = VerdictStatus.error, detail or ended
    if ended == REFUSED:
        status, reason = VerdictStatus.refused, detail or "the judge was refused"
    elif ended == FINISHED:
        status = VerdictStatus.unparsed
        reason = f"no valid decision in {tools.n_rejected} attempts; the last: {tools.fault}"
    elif ended == "limit: minutes":
        reason = f"no decision within the task's verifier.timeout_sec, {seconds:g} s"
    elif ended.startswith("limit: "):
        status, reason = VerdictStatus.unparsed, f"no decision within the judge's {ended}"
    return tuple(ItemVerdict(item_id, status, None, reason=reason) for item_id in call.item_ids)


class _Tools(Toolbox):
    """The tools of one judgment.

    Attributes:
        decision: the accepted verdicts; None before.
        n_rejected: rejected decisions, and replies that decided nothing.
        was_rejected: True if the last reply held a rejected decision.
        fault: why the last one was rejected.
        n_canary_missed: as in `Judgment`.
    """

    def __init__(
        self, call: JudgeCall, files: Mapping[str, OpenFile], renders: Renders, limits: Limits
    ) -> None:
        super().__init__(judge_tools(reply_schema(call.mode), images=limits.images))
        self.decision: tuple[ItemVerdict, ...] | None = None
        self.n_rejected = self.n_canary_missed = 0
        self.was_rejected = False
        self.fault = ""
        self._call, self._files, self._renders = call, files, renders
        self._page_chars = limits.page_chars

    def reject(self, fault: str) -> None:
        """Count a reply that decided nothing."""
        self.n_rejected += 1
        self.was_rejected = True
        self.fault = fault

    async def carry_out(self, name: str, arguments: str, caller: str) -> ToolAnswer:
        """Carry out a call."""
        if name == "decide":
            return self._decide(arguments)
        if name == "list_files":
            read_arguments(name, arguments, Nothing)
            return ToolAnswer(FILES)
        if name == "read_file":
            wanted = read_arguments(name, arguments, FilePage)
            path, file = self._open(wanted.path)
            return ToolAnswer(encodable(page_of(file.text, wanted.offset, self._page_chars, path)))
        view = read_arguments(name, arguments, PageView)
        path, file = self._open(view.path)
        if file.data is None:
            raise ToolFault(path, "only its text is here", "read_file")
        return await view_page(self._renders, path, file.data, view, caller)

    def _open(self, path: str) -> tuple[str, OpenFile]:
        name = path.removeprefix("./")
        if name not in self._files:
            raise ReadError(display_path(path), "no such file", "one of " + ", ".join(self._files))
        return name, self._files[name]

    def _decide(self, arguments: str) -> ToolAnswer:
        if self.decision is not None:
            raise ToolFault("decide", "decided already", "one decision")
        try:
            self.decision = tuple(read_reply(self._call, arguments))
        except RejectedReply as rejected:
            self.n_canary_missed += isinstance(rejected, MissedCanary)
            self.reject(rejected.fault)
            return ToolAnswer(
                f"Error: the decision is rejected: {encodable(rejected.fault)}. Decide again, all criteria.",
                is_error=True,
            )
        return ToolAnswer("Decided.")
