"""One attempt at a task: a model calls tools until its report is written or a limit is reached.

Requests depend only on the task's files, the settings and the replies so far. So an interrupted attempt is
resumed by running it again: stored replies are replayed, the tools repeat their work on the same files, and
the first missing call is the next one paid for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flows.pipeline.native.answers import InternalFault, ToolAnswer
from flows.pipeline.native.contract import Ask, Limits, Prompt, Trial
from flows.pipeline.native.folder import Folder, check_layout, scratch_folder
from flows.pipeline.native.paths import REPORT
from flows.pipeline.native.renders import Renders
from flows.pipeline.native.threads import in_thread
from flows.pipeline.native.tools import Tools
from flows.pipeline.native.trajectory import prompt_event, seconds_of, turn
from flows.schema.brief import BriefStatus
from flows.schema.call import render
from flows.schema.completion import Completion, CompletionStatus, Message, ToolCall
from flows.schema.fence import fenced
from flows.schema.report_task import ReportTask, TaskStep

MAX_CALLS = 40
"""Maximum number of tool calls carried out per reply; further ones are answered with an error."""

_REPORT = "/".join(REPORT)
_NO_REPORT = (
    f"There is no {_REPORT} yet, and nothing else is read. Begin it with start_report, fill it, check it, "
    "and end without a tool call when it is done."
)
_CUT = "Your reply was cut off at the limit of its length, and nothing was done. Go on in shorter steps."
_CUT_CALLS = "It may have been cut off at the limit of your reply's length: call again, with less at a time."
_TOO_MANY = f"Error: not carried out: at most {MAX_CALLS} calls in one reply. Call again."

# Providers' messages for a full context; they share only HTTP status 400 or 413.
_OVERFLOW = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|(?:prompt|input)[\w\s]{0,20} (?:is )?too long"
    r"|too many (?:input |prompt )?tokens|exceeds? (?:the )?(?:max\w* )?(?:number of )?(?:input |prompt )?"
    r"tokens|max(?:imum)?[ _](?:prompt|input)[ _](?:length|tokens)|request_too_large",
    re.IGNORECASE,
)


async def attempt(
    ask: Ask,
    task: ReportTask,
    task_folder: Path,
    *,
    prompt: Prompt,
    limits: Limits,
    renders: Renders,
    scratch_root: Path,
) -> Trial:
    """Let a model work on a task in a temporary scratch folder.

    Args:
        ask: completes a chat.
        task: the task.
        task_folder: the task's tree.
        prompt: templates of the first messages.
        limits: of this attempt.
        renders: store of page counts and images, shared by all attempts.
        scratch_root: parent of the scratch folder; created if it is missing.

    Returns:
        The report, or the reason why there is none.

    Raises:
        ScenarioError: the task's files can't be copied.
        ConfigError: the prompt names an unknown placeholder.
        StoreError: the disk is full or fails.
        StaffbenchError: raised by `ask`.
    """
    check_layout(task)
    with scratch_folder(scratch_root) as folder:
        tools = Tools(
            folder,
            renders,
            limit=task.length_limit,
            page_chars=limits.page_chars,
            images=limits.images,
        )
        run = _Run(ask, task, folder, tools, limits)
        for step in task.steps:
            await in_thread(folder.lay_out, task_folder, step.attachments)
            run.begin(prompt, step)
            ended = await run.step(step, last=step is task.steps[-1])
            if ended != _FINISHED:
                break
        else:
            ended = _FINISHED
        return await run.result(ended)


_FINISHED, _REFUSED, _ERROR = "finished", "refused", "error"


@dataclass(slots=True)
class _Run:
    """State of one attempt, determined by the replies."""

    ask: Ask
    task: ReportTask
    folder: Folder
    tools: Tools
    limits: Limits
    messages: list[Message] = field(default_factory=list[Message])
    trajectory: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    completions: list[str] = field(default_factory=list[str])
    tokens: int = 0
    uncounted: int = 0
    seconds: float = 0.0
    nudged: int = 0
    detail: str = ""

    def begin(self, prompt: Prompt, step: TaskStep) -> None:
        """Send the prompt of a step."""
        values = {
            "assignment": step.instruction.strip(),
            "files": fenced("\n".join(f"- {each.name}" for each in step.attachments), "files", "assignment")
            or "(no files)",
            "limit": self.task.length_limit or "none stated",
        }
        messages = [Message("user", render(prompt.user, values))]
        if not self.messages and prompt.system.strip():
            messages.insert(0, Message("system", render(prompt.system, values)))
        self._send(step, messages)

    async def step(self, step: TaskStep, *, last: bool) -> str:
        """Run one step of the task; return how it ended."""
        begun = self.seconds
        while True:
            limit = self._limit(step, begun)
            if limit:
                return f"limit: {limit}"
            completion = await self.ask(tuple(self.messages), self.tools.offered)
            self._count(completion)
            text = completion.text or ""
            if completion.status not in (CompletionStatus.complete, CompletionStatus.cut):
                self._record(step, completion, [])
                return self._without_reply(completion)
            if text or completion.tool_calls or completion.carried:
                self.messages.append(
                    Message("assistant", text, tool_calls=completion.tool_calls, carried=completion.carried)
                )
            try:
                await self._answer(step, completion)
            except InternalFault as error:
                self.detail = str(error)
                return _ERROR
            if completion.tool_calls:
                continue
            nudge = await self._nudge(completion, last=last)
            if not nudge:
                return _FINISHED
            self._send(step, [Message("user", nudge)])

    async def result(self, ended: str) -> Trial:
        """Build the result of the attempt."""
        report, why = await in_thread(self.folder.report)
        status = {_REFUSED: BriefStatus.refused, _ERROR: BriefStatus.error}.get(ended)
        details = [self.detail] if self.detail else []
        if status is None:
            status = BriefStatus.missing if report is None else BriefStatus.written
            details += [] if report is not None else [f"no report ({why})"]
        elif report is not None:
            details.append("a report lay there and is not counted")
            report = None
        if self.uncounted:
            uncounted = f"tokens of {self.uncounted} of {len(self.completions)} calls are not known"
            unlimited = self.limits.max_tokens is None
            details.append(uncounted if unlimited else f"{uncounted}: the limit of tokens could not be held")
        details += [f"could not be read: {line}" for line in self.tools.unread]
        return Trial(
            status=status,
            report=report,
            ended=ended,
            detail="; ".join(details),
            completions=tuple(self.completions),
            trajectory=self.trajectory,
            tokens=self.tokens,
            uncounted=self.uncounted,
            seconds=round(self.seconds, 3),
        )

    def _limit(self, step: TaskStep, begun: float) -> str:
        """Name the limit that is reached; empty if none is."""
        limits = self.limits
        if limits.max_steps is not None and len(self.completions) >= limits.max_steps:
            return "steps"
        if limits.max_tokens is not None and self.tokens >= limits.max_tokens:
            return "tokens"
        if limits.max_minutes is not None and self.seconds >= limits.max_minutes * 60:
            return "minutes"
        if step.agent_seconds is not None and self.seconds - begun >= step.agent_seconds:
            return "minutes"
        return ""

    def _count(self, completion: Completion) -> None:
        self.completions.append(completion.key)
        self.seconds += seconds_of(completion)
        if completion.status is CompletionStatus.error:
            return  # failed calls have no token count
        counts = (completion.usage.input_tokens, completion.usage.output_tokens)
        self.tokens += sum(count or 0 for count in counts)
        self.uncounted += None in counts

    def _without_reply(self, completion: Completion) -> str:
        self.detail = completion.detail
        if completion.status is CompletionStatus.refused:
            return _REFUSED
        if _OVERFLOW.search(completion.detail):
            return "limit: context"
        return _ERROR

    async def _answer(self, step: TaskStep, completion: Completion) -> None:
        """Carry out and answer the calls of a reply, in order."""
        answers: list[tuple[ToolCall, ToolAnswer]] = []
        try:
            for number, call in enumerate(completion.tool_calls, 1):
                if number > MAX_CALLS:
                    answer = ToolAnswer(_TOO_MANY, is_error=True)
                else:
                    caller = f"{completion.key} {number}"
                    answer = await self.tools.call(call.name, call.arguments, caller=caller)
                    if answer.is_error and completion.status is CompletionStatus.cut:
                        answer = ToolAnswer(f"{answer.text}\n{_CUT_CALLS}", is_error=True)
                answers.append((call, answer))
                self.messages.append(
                    Message("tool", answer.text, images=answer.images, tool_call_id=call.call_id)
                )
        finally:
            self._record(step, completion, answers)

    async def _nudge(self, completion: Completion, *, last: bool) -> str:
        """Return the reminder for a model that called no tool; empty if its step is done."""
        if self.nudged >= self.limits.nudges:
            return ""
        missing = last and (await in_thread(self.folder.report))[0] is None
        cut = completion.status is CompletionStatus.cut
        if not (missing or cut):
            return ""
        self.nudged += 1
        return _CUT if cut else _NO_REPORT

    def _send(self, step: TaskStep, messages: list[Message]) -> None:
        self.messages += messages
        self.trajectory.append(prompt_event(step.name, messages))

    def _record(
        self, step: TaskStep, completion: Completion, answers: list[tuple[ToolCall, ToolAnswer]]
    ) -> None:
        self.trajectory.append(turn(len(self.completions), step.name, completion, answers))
