"""One attempt at a task: a model calls tools until its report is written or a limit is reached."""

from dataclasses import dataclass
from pathlib import Path

from flows.common.gather import in_thread
from flows.pipeline.native.chat import FINISHED, Chat, end_of
from flows.pipeline.native.contract import Ask, Limits, Prompt, Trial
from flows.pipeline.native.folder import REPORT, Folder, check_layout, scratch_folder
from flows.pipeline.native.renders import Renders
from flows.pipeline.native.tools import Tools
from flows.schema.attempt import attempt_status
from flows.schema.brief import BriefStatus
from flows.schema.call import render
from flows.schema.completion import Completion, CompletionStatus, Message
from flows.schema.fence import fenced
from flows.schema.report_task import ReportTask, TaskStep

_REPORT = "/".join(REPORT)
_NO_REPORT = (
    f"There is no {_REPORT} yet, and nothing else is read. Begin it with start_report, fill it, check it, "
    "and end without a tool call when it is done."
)
_CUT = "Your reply was cut off at the limit of its length, and nothing was done. Go on in shorter steps."


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

    The scratch folder is made in `scratch_root`, which is created if it is missing. All attempts share
    `renders`.

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
        run = _Run(Chat(ask, tools, limits), task, folder, tools)
        ended = FINISHED
        for step in task.steps:
            await in_thread(folder.lay_out, task_folder, step.attachments)
            run.begin(prompt, step)
            ended = await run.step(step, last=step is task.steps[-1])
            if ended != FINISHED:
                break
        return await run.result(ended)


@dataclass(slots=True)
class _Run:
    """An attempt: its chat, and what the chat works on."""

    chat: Chat
    task: ReportTask
    folder: Folder
    tools: Tools
    nudged: int = 0

    def begin(self, prompt: Prompt, step: TaskStep) -> None:
        """Send the prompt of a step."""
        values = {
            "assignment": step.instruction.strip(),
            "files": fenced("\n".join(f"- {each.name}" for each in step.attachments), "files", "assignment")
            or "(no files)",
            "limit": self.task.length_limit or "none stated",
        }
        messages = [Message("user", render(prompt.user, values))]
        if not self.chat.messages and prompt.system.strip():
            messages.insert(0, Message("system", render(prompt.system, values)))
        self.chat.send(step.name, messages)

    async def step(self, step: TaskStep, *, last: bool) -> str:
        """Run one step of the task; return how it ended."""

        async def remind(completion: Completion) -> str:
            if self.nudged >= self.chat.limits.nudges:
                return ""
            missing = last and (await in_thread(self.folder.report))[0] is None
            cut = completion.status is CompletionStatus.cut
            if not (missing or cut):
                return ""
            self.nudged += 1
            return _CUT if cut else _NO_REPORT

        return await self.chat.run(step.name, remind, seconds=step.agent_seconds)

    async def result(self, ended: str) -> Trial:
        """Build the result of the attempt."""
        chat = self.chat
        report, why = await in_thread(self.folder.report)
        status = attempt_status(end_of(ended), has_report=report is not None)
        details = [chat.detail] if chat.detail else []
        if report is None:
            details.append(f"no report ({why})")
        elif status is not BriefStatus.written:
            details.append("a report was there and is not graded, since the attempt can go on")
            report = None
        if chat.uncounted:
            uncounted = f"tokens of {chat.uncounted} of {len(chat.completions)} calls are not known"
            unlimited = chat.limits.max_tokens is None
            details.append(uncounted if unlimited else f"{uncounted}: the limit of tokens could not be held")
        details += [f"could not be read: {line}" for line in self.tools.unread]
        return Trial(
            status=status,
            report=report,
            ended=ended,
            detail="; ".join(details),
            completions=tuple(chat.completions),
            trajectory=chat.trajectory,
            tokens=chat.tokens,
            uncounted=chat.uncounted,
            seconds=round(chat.seconds, 3),
        )
