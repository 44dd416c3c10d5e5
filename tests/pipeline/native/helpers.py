"""A small task, and models that play a script: in this process, or behind an endpoint."""

import asyncio
import io
import json
from dataclasses import replace

import docx
from reportlab.pdfgen.canvas import Canvas

from flows.pipeline.native.contract import Limits, Prompt
from flows.pipeline.native.loop import attempt
from flows.pipeline.native.renders import Renders
from flows.schema.completion import Completion, CompletionStatus, Message, ToolCall, Try, Usage
from flows.schema.report_task import Attachment, Criterion, Polarity, ReportTask, TaskStep

PROMPT = Prompt("You are on a staff.", "{{assignment}}\n\nFiles:\n{{files}}\n\nLimit: {{limit}}")
LIMITS = Limits()
COUNTED = Usage(100, 10)


def a_docx(*paragraphs):
    """A Word file of these paragraphs."""
    document = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def a_pdf(*pages):
    """A PDF with a line on each page."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=True)
    for text in pages:
        canvas.drawString(72, 720, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


FILES = {
    "attachments/template.docx": a_docx("Weekly report", "[Bottom line]"),
    "attachments/log.pdf": a_pdf("Range 7 closed on 9 June.", "Range 9 open."),
    "attachments/notes.txt": b"The visit is on Monday.\n",
}


def a_task(folder, files=None, *, limit="20 words", steps=("Write the report.",)):
    """A task whose files are written to `folder`; each step brings its own, the first one `files`."""
    made = []
    folder.mkdir(parents=True, exist_ok=True)
    for number, instruction in enumerate(steps, 1):
        given = (FILES if files is None else files) if number == 1 else {}
        attachments = []
        for name, data in given.items():
            path = folder / "steps" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            attachments.append(Attachment(name, f"steps/{name}"))
        made.append(TaskStep(f"step-{number}", instruction, "instruction.md", tuple(attachments), None, None))
    return ReportTask(
        task_id="t-01",
        schema_version="1.4",
        title=None,
        report_family=None,
        setting=None,
        reader=None,
        length_limit=limit,
        prompt=None,
        steps=tuple(made),
        criteria=(Criterion("c1", 2.0, Polarity.positive, "Names the visit.", None, None),),
        grading_guidance=None,
        golden_path="tests/golden/report.docx",
        oracle_path=None,
        rubric_path="tests/fixtures/rubric.json",
    )


def calls(*wanted):
    """Tool calls: (name, arguments) each, arguments as an object or as raw text."""
    return tuple(
        ToolCall(f"c{number}", name, given if isinstance(given, str) else json.dumps(given))
        for number, (name, given) in enumerate(wanted, 1)
    )


def says(text="", *wanted, status=CompletionStatus.complete, usage=COUNTED, seconds=1.5, detail=""):
    """A reply of the model, without its key."""
    kept = status in (CompletionStatus.complete, CompletionStatus.cut)
    return Completion(
        key="",
        status=status,
        text=text if kept else None,
        finish_reason="tool_calls" if wanted else "stop",
        provider_model="writer-1",
        usage=usage,
        price_usd=None,
        attempts=(Try("2026-11-29T10:00:00.000+00:00", seconds, "ok"),),
        detail=detail,
        tool_calls=calls(*wanted),
    )


WRITES = (
    says("", ("list_files", {}), ("read_file", {"path": "attachments/notes.txt"})),
    says("", ("start_report", {"template": "attachments/template.docx"})),
    says("", ("fill", {"entries": [{"place": "p2", "text": "The visit is on Monday."}]})),
    says("Done."),
)
"""A model that writes a report from the template."""


class Played:
    """A model that answers by a script.

    Attributes:
        asked: the chats that it was sent.
        offered: the tools of the last of them.
        waited: seconds that the tools took before each.
    """

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []
        self.offered = []
        self.waited = []

    async def __call__(self, messages, tools, waited):
        self.waited.append(waited)
        assert all(isinstance(message, Message) for message in messages)
        self.asked.append(messages)
        self.offered = tools
        reply = self.replies[min(len(self.asked), len(self.replies)) - 1]
        return replace(reply, key=f"key-{len(self.asked)}")

    @property
    def answers(self):
        """Texts of all tools' turns of the last chat."""
        return [message.content for message in self.asked[-1] if message.role == "tool"]


def run(ask, tmp_path, *, task=None, limits=LIMITS, prompt=PROMPT):
    """An attempt in folders below `tmp_path`."""
    folder = tmp_path / "task"

    async def go():
        return await attempt(
            ask,
            task if task is not None else a_task(folder),
            folder,
            prompt=prompt,
            limits=limits,
            renders=Renders(tmp_path / "renders"),
            scratch_root=tmp_path / "scratch",
        )

    return asyncio.run(go())


def texts(report):
    """Paragraphs of a report."""
    return [paragraph.text for paragraph in docx.Document(io.BytesIO(report)).paragraphs]
