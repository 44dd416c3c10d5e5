"""Judging by a remote model: the questions, and what may pass for an answer.

`build_requests` makes the calls, the pipeline sends them, `judge_outcome` says what follows from
what came back: verdicts, or the same question again with the fault named. An error, a refusal or a
reply that breaks the format never becomes a verdict, for requirements as for wrong moves.
"""

from flows.stages.judge.reply import (
    ItemVerdict,
    RejectedReply,
    judge_outcome,
    read_reply,
    reject_if_cut,
    verdicts_for_brief,
    verdicts_for_missing,
)
from flows.stages.judge.request import JudgeCall, build_requests, output_room, render_items, with_fault
from flows.stages.judge.shield import shield

JUDGE_VERSION = "1"
"""Raised when the shield, the rendering of items or the reading of replies changes."""

__all__ = [
    "JUDGE_VERSION",
    "ItemVerdict",
    "JudgeCall",
    "RejectedReply",
    "build_requests",
    "judge_outcome",
    "output_room",
    "read_reply",
    "reject_if_cut",
    "render_items",
    "shield",
    "verdicts_for_brief",
    "verdicts_for_missing",
    "with_fault",
]
