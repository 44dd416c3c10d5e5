"""Judging by a remote model: building requests and reading replies.

`build_requests` makes the calls, the pipeline sends them, and `judge_outcome` turns a completion into
verdicts or into the same question with the fault named. An error, a refusal or a malformed reply never
becomes a verdict. `majority` combines the verdicts of a panel's members or of a judge's repeats.
"""

from flows.stages.judge.canary import N_CANARIES, with_canaries
from flows.stages.judge.order import place_effect, shown_order
from flows.stages.judge.quotes import is_quoted
from flows.stages.judge.reply import (
    ItemVerdict,
    MissedCanary,
    RejectedReply,
    judge_outcome,
    misses_canary,
    read_reply,
    reject_if_cut,
)
from flows.stages.judge.request import (
    JudgeCall,
    build_agent_call,
    build_requests,
    output_room,
    render_items,
    reply_schema,
    with_fault,
)
from flows.stages.judge.shield import shield
from flows.stages.judge.verdicts import verdicts_for_brief, verdicts_for_missing, verdicts_for_no_report
from flows.stages.judge.vote import VOTE_VERSION, majority

JUDGE_VERSION = "4"
"""Increment when the shield, the rendering or order of items, the canaries or how replies are read change."""

__all__ = [
    "JUDGE_VERSION",
    "N_CANARIES",
    "VOTE_VERSION",
    "ItemVerdict",
    "JudgeCall",
    "MissedCanary",
    "RejectedReply",
    "build_agent_call",
    "build_requests",
    "is_quoted",
    "judge_outcome",
    "majority",
    "misses_canary",
    "output_room",
    "place_effect",
    "read_reply",
    "reject_if_cut",
    "render_items",
    "reply_schema",
    "shield",
    "shown_order",
    "verdicts_for_brief",
    "verdicts_for_missing",
    "verdicts_for_no_report",
    "with_canaries",
    "with_fault",
]
