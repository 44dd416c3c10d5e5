"""How an attempt ends: refused, without a reply, at a limit."""

from dataclasses import replace

import pytest

from flows.pipeline.native import chat
from flows.pipeline.native.contract import TOOL_SECONDS, Limits
from flows.schema.brief import BriefStatus
from flows.schema.completion import CompletionStatus, Usage
from tests.pipeline.native.helpers import WRITES, Played, a_task, run, says, texts

LISTS = says("", ("list_files", {}))
STARTS = says("", ("start_report", {"template": "attachments/template.docx"}))

pytestmark = pytest.mark.usefixtures("office")


def test_refused_by_the_provider(tmp_path):
    refused = says("", status=CompletionStatus.refused, detail="stopped by the content filter")
    found = run(Played(refused), tmp_path)
    assert (found.status, found.report, found.ended) == (BriefStatus.refused, None, "refused")
    assert found.detail == "stopped by the content filter; no report (outputs/report.docx: no such file)"
    found = run(Played(STARTS, refused), tmp_path)
    assert (found.status, found.ended) == (BriefStatus.written, "refused")
    assert texts(found.report) == ["Weekly report", "[Bottom line]"]
    assert found.detail == "stopped by the content filter"
    assert found.completions == ("key-1", "key-2")


def test_calls_that_nobody_can_answer_end_the_attempt_as_the_models_own_doing(tmp_path):
    broken = says("", status=CompletionStatus.error, detail="bad reply: a tool call without a name")
    found = run(Played(broken), tmp_path)
    assert (found.status, found.ended) == (BriefStatus.missing, "calls that can't be answered")
    found = run(Played(STARTS, broken), tmp_path)
    assert (found.status, texts(found.report)) == (BriefStatus.written, ["Weekly report", "[Bottom line]"])


def test_no_reply_after_every_attempt(tmp_path):
    error = says("", status=CompletionStatus.error, detail="http 500: scripted", usage=Usage())
    found = run(Played(STARTS, error), tmp_path)
    assert (found.status, found.report, found.ended) == (BriefStatus.error, None, "error")
    assert (
        found.detail
        == "http 500: scripted; a report was there and is not graded, since the attempt can go on"
    )
    assert found.uncounted == 0


@pytest.mark.parametrize(
    "detail",
    [
        "http 400: This model's maximum context length is 128000 tokens. However, you requested 130000",
        "http 400: prompt is too long: 210000 tokens > 200000 maximum",
        "http 400: input length and `max_tokens` exceed context limit: 1 + 2 > 3; context window",
        "http 400: The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "http 400: the request exceeds the available context size, try increasing it",
        "http 400: context_length_exceeded",
        "http 400: Input is too long for requested model.",
    ],
)
def test_a_chat_that_fits_no_more_ends_at_a_limit_with_its_report(tmp_path, detail):
    found = run(Played(STARTS, says("", status=CompletionStatus.error, detail=detail)), tmp_path)
    assert (found.status, found.ended) == (BriefStatus.written, "limit: context")
    assert texts(found.report) == ["Weekly report", "[Bottom line]"]
    assert found.detail == detail


@pytest.mark.parametrize(
    "detail",
    ["http 400: bad request", "http 429: rate limit on tokens per minute", "timeout", "bad reply: not JSON"],
)
def test_other_faults_are_no_limit(tmp_path, detail):
    found = run(Played(says("", status=CompletionStatus.error, detail=detail)), tmp_path)
    assert (found.status, found.ended) == (BriefStatus.error, "error")


@pytest.mark.parametrize(
    ("limits", "name", "calls"),
    [
        (Limits(max_steps=3), "steps", 3),
        (Limits(max_tokens=330), "tokens", 3),
        (Limits(max_tokens=331), "tokens", 4),
        (Limits(max_minutes=0.1), "minutes", 4),  # 6 s, of 1.5 s a call
        (Limits(max_minutes=0.101), "minutes", 5),  # of which the last came too late
    ],
)
def test_at_a_limit_the_report_as_it_lies_there_is_handed_in(tmp_path, limits, name, calls):
    found = run(Played(STARTS, LISTS), tmp_path, limits=limits)
    assert (found.status, found.ended, len(found.completions)) == (
        BriefStatus.written,
        f"limit: {name}",
        calls,
    )
    assert texts(found.report) == ["Weekly report", "[Bottom line]"]


def test_the_calls_of_the_last_reply_are_still_carried_out(tmp_path):
    found = run(Played(*WRITES), tmp_path, limits=Limits(max_steps=3))
    assert texts(found.report) == ["Weekly report", "The visit is on Monday."]
    assert found.ended == "limit: steps"


def test_a_limit_without_a_report(tmp_path):
    found = run(Played(LISTS), tmp_path, limits=Limits(max_steps=2))
    assert (found.status, found.ended) == (BriefStatus.missing, "limit: steps")
    assert found.detail == "no report (outputs/report.docx: no such file)"


def test_a_step_ends_at_the_tasks_own_limit(tmp_path):
    task = a_task(tmp_path / "task")
    task = replace(task, steps=(replace(task.steps[0], agent_seconds=4.0),))
    found = run(Played(LISTS), tmp_path, task=task)
    assert (found.ended, found.seconds) == ("limit: minutes", 4.5)


def test_what_is_asked_for_after_the_limit_of_time_is_not_done(tmp_path):
    found = run(Played(STARTS, WRITES[2]), tmp_path, limits=Limits(max_minutes=0.04))
    assert (found.ended, len(found.completions)) == ("limit: minutes", 2)
    assert texts(found.report) == ["Weekly report", "[Bottom line]"]
    assert found.trajectory[-1]["answers"] == []


@pytest.mark.parametrize(("counted", "calls", "seconds"), [(True, 2, 63.0), (False, 4, 6.0)])
def test_the_time_of_tools_counts_as_it_was_recorded_with_the_next_call(tmp_path, counted, calls, seconds):
    slow = replace(LISTS, asked={TOOL_SECONDS: 60.0})
    model = Played(LISTS, slow, LISTS, says("No."))
    limits = Limits(max_minutes=1.0, nudges=0, count_tools=counted)
    found = run(model, tmp_path, limits=limits)
    assert (len(found.completions), found.seconds) == (calls, seconds)
    assert found.ended == ("limit: minutes" if counted else "finished")
    assert model.waited[0] == 0
    assert all(waited >= 0 for waited in model.waited[1:])
    assert found.trajectory[2]["tool_seconds"] == 60.0


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=5), Usage(output_tokens=5)])
def test_tokens_that_nobody_counted_are_said_to_be_unknown(tmp_path, usage):
    model = Played(replace(WRITES[0], usage=usage), *WRITES[1:])
    found = run(model, tmp_path)
    assert (found.tokens, found.uncounted) == (330 + (usage.input_tokens or usage.output_tokens or 0), 1)
    assert found.detail == "tokens of 1 of 4 calls are not known"
    found = run(Played(replace(LISTS, usage=Usage())), tmp_path, limits=Limits(max_tokens=10, max_steps=2))
    assert found.ended == "limit: steps"
    assert found.detail.endswith("calls are not known: the limit of tokens could not be held")


def test_more_calls_than_are_carried_out_are_all_answered(tmp_path):
    model = Played(says("", *(("list_files", {}) for _ in range(chat.MAX_CALLS + 2))), says("No."))
    run(model, tmp_path, limits=Limits(nudges=0))
    assert model.answers[-3:] == [model.answers[0], chat._TOO_MANY, chat._TOO_MANY]
