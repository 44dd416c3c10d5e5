"""Judging by a remote model: building requests and reading replies.

`build_requests` makes the calls, the pipeline sends them, and `judge_outcome` turns a completion into
verdicts or into the same question with the fault named. An error, a refusal or a malformed reply never
becomes a verdict. `majority` combines the verdicts of a panel's members or of a judge's repeats.
"""

from flows.stages.judge.items import N_CANARIES, place_effect, shown_order
from flows.stages.judge.reply import (
    MissedCanary,
    RejectedReply,
    judge_outcome,
    misses_canary,
    read_reply,
)
from flows.stages.judge.request import JudgeCall, build_agent_call, build_requests, output_room, reply_schema
from flows.stages.judge.text import shield
from flows.stages.judge.verdicts import (
    VOTE_VERSION,
    majority,
    verdicts_for_brief,
    verdicts_for_missing,
    verdicts_for_no_report,
)

JUDGE_VERSION = "4"
"""Increment when the shield, the rendering or order of items, the canaries or how replies are read change."""

__all__ = [
    "JUDGE_VERSION",
    "N_CANARIES",
    "VOTE_VERSION",
    "JudgeCall",
    "MissedCanary",
    "RejectedReply",
    "build_agent_call",
    "build_requests",
    "judge_outcome",
    "majority",
    "misses_canary",
    "output_room",
    "place_effect",
    "read_reply",
    "reply_schema",
    "shield",
    "shown_order",
    "verdicts_for_brief",
    "verdicts_for_missing",
    "verdicts_for_no_report",
]
