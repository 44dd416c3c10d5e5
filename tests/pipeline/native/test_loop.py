"""The loop with a model that plays a script in this process; with an endpoint: test_loop_endpoint.py."""

import json
from dataclasses import replace

import pytest

from flows.common.digests import sha256_text
from flows.common.errors import ConfigError
from flows.pipeline.native import chat, loop
from flows.pipeline.native.contract import Limits, Prompt
from flows.schema.brief import BriefStatus
from flows.schema.completion import CompletionStatus, Message, ToolCall
from flows.schema.report_task import Attachment
from tests.pipeline.native.helpers import FILES, PROMPT, WRITES, Played, a_task, run, says, texts

LISTS = says("", ("list_files", {}))

STARTS = says("", ("start_report", {"template": "attachments/template.docx"}))


pytestmark = pytest.mark.usefixtures("office")


def test_a_report_is_written(tmp_path):
    model = Played(*WRITES)
    found = run(model, tmp_path)
    assert (found.status, found.ended, found.detail) == (BriefStatus.written, "finished", "")
    assert texts(found.report) == ["Weekly report", "The visit is on Monday."]
    assert found.completions == ("key-1", "key-2", "key-3", "key-4")
    assert (found.tokens, found.uncounted, found.seconds) == (440, 0, 6.0)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_what_the_model_is_told(tmp_path):
    model = Played(*WRITES)
    run(model, tmp_path)
    assert model.asked[0] == (
        Message("system", "You are on a staff."),
        Message(
            "user",
            "Write the report.\n\nFiles:\n- attachments/template.docx\n- attachments/log.pdf\n"
            "- attachments/notes.txt\n\nLimit: 20 words",
        ),
    )
    assert model.asked[1][2:] == (
        Message("assistant", "", tool_calls=WRITES[0].tool_calls),
        Message(
            "tool",
            "\n".join(f"{name} ({len(FILES[name]):,} bytes)" for name in sorted(FILES)),
            tool_call_id="c1",
        ),
        Message(
            "tool",
            "attachments/notes.txt, 23 characters, whole:\n\nThe visit is on Monday.",
            tool_call_id="c2",
        ),
    )
    assert [tool["function"]["name"] for tool in model.offered][:2] == ["list_files", "read_file"]


def test_no_files_no_limit_and_no_system_turn(tmp_path):
    model = Played(says("No."))
    run(model, tmp_path, task=a_task(tmp_path / "task", {}, limit=None), prompt=Prompt(" ", PROMPT.user))
    assert model.asked[0] == (
        Message("user", "Write the report.\n\nFiles:\n(no files)\n\nLimit: none stated"),
    )


def test_a_prompt_with_an_unknown_placeholder(tmp_path):
    with pytest.raises(ConfigError, match=r"unknown placeholder \{\{packet\}\}"):
        run(Played(says("x")), tmp_path, prompt=Prompt("", "{{packet}}"))


def test_a_tool_error_is_answered_and_the_model_goes_on(tmp_path):
    model = Played(
        says(
            "", ("read_file", "{bad"), ("run", {}), ("read_file", {"path": "/etc/passwd"}), ("list_files", {})
        ),
        *WRITES[1:],
    )
    found = run(model, tmp_path)
    assert found.status is BriefStatus.written
    assert [answer.partition(":")[0] for answer in model.answers[:3]] == ["Error"] * 3
    assert [answer["is_error"] for answer in found.trajectory[1]["answers"]] == [True, True, True, False]
    assert [answer["call_id"] for answer in found.trajectory[1]["answers"]] == ["c1", "c2", "c3", "c4"]


def test_what_the_provider_wants_back_goes_back(tmp_path):
    carried = {"thinking_blocks": [{"type": "thinking", "signature": "abc"}]}
    model = Played(replace(WRITES[0], carried=carried), *WRITES[1:])
    run(model, tmp_path)
    assert model.asked[1][2].carried == carried


def test_a_model_that_stops_without_a_report_is_told_once(tmp_path):
    model = Played(says("I have read it."), *WRITES[1:])
    found = run(model, tmp_path)
    assert found.status is BriefStatus.written
    assert model.asked[1][2:] == (
        Message("assistant", "I have read it."),
        Message("user", loop._NO_REPORT),
    )
    assert found.trajectory[2] == {
        "kind": "told",
        "step": "step-1",
        "messages": [{"role": "user", "text": loop._NO_REPORT}],
    }


def test_a_refusal_in_words_is_a_missing_report(tmp_path):
    found = run(Played(says("I can't help with that.")), tmp_path)
    assert (found.status, found.report, found.ended) == (BriefStatus.missing, None, "finished")
    assert found.detail == "no report (outputs/report.docx: no such file)"
    assert len(found.completions) == 2


def test_without_nudges_it_ends_at_once(tmp_path):
    found = run(Played(says("No.")), tmp_path, limits=Limits(nudges=0))
    assert (found.status, len(found.completions)) == (BriefStatus.missing, 1)


def test_an_empty_reply_is_not_sent_back(tmp_path):
    model = Played(says(""), *WRITES[1:])
    run(model, tmp_path)
    assert model.asked[1][2:] == (Message("user", loop._NO_REPORT),)


def test_a_reply_that_is_cut_off_is_told_so(tmp_path):
    model = Played(STARTS, says("First I will", status=CompletionStatus.cut), says("Done."))
    found = run(model, tmp_path)
    assert model.asked[2][-2:] == (Message("assistant", "First I will"), Message("user", loop._CUT))
    assert (found.status, found.ended) == (BriefStatus.written, "finished")


def test_calls_of_a_reply_that_is_cut_off(tmp_path):
    cut = says("", ("list_files", {}), ("fill", '{"entries": [{"pl'), status=CompletionStatus.cut)
    model = Played(cut, *WRITES[1:])
    assert run(model, tmp_path).status is BriefStatus.written
    assert not model.answers[0].startswith("Error")
    assert model.answers[1].startswith("Error: fill: the arguments are not JSON")
    assert model.answers[1].endswith(chat._CUT_CALLS)


def test_steps_follow_one_another_in_one_chat_and_one_folder(tmp_path):
    task = a_task(tmp_path / "task", steps=("Read the files.", "Now write."))
    (tmp_path / "task/steps/attachments/late.txt").write_bytes(b"Late.")
    late = Attachment("attachments/late.txt", "steps/attachments/late.txt")
    task = replace(task, steps=(task.steps[0], replace(task.steps[1], attachments=(late,))))
    model = Played(LISTS, says("I have read them."), LISTS, *WRITES[1:])
    found = run(model, tmp_path, task=task)
    assert found.status is BriefStatus.written
    # No nudge after the first: only the last step must leave a report.
    assert model.asked[2][-2:] == (
        Message("assistant", "I have read them."),
        Message("user", "Now write.\n\nFiles:\n- attachments/late.txt\n\nLimit: 20 words"),
    )
    assert "late.txt" not in model.answers[0]
    assert "attachments/late.txt (5 bytes)" in model.answers[1]
    assert "attachments/notes.txt (24 bytes)" in model.answers[1]
    assert [entry["step"] for entry in found.trajectory] == ["step-1"] * 3 + ["step-2"] * 5


def test_the_trajectory_tells_what_happened(tmp_path):
    long = b"x" * 3_000
    task = a_task(tmp_path / "task", FILES | {"attachments/long.txt": long})
    model = Played(
        says(
            "I look.",
            ("read_file", {"path": "attachments/long.txt"}),
            ("view_page", {"path": "attachments/log.pdf"}),
        ),
        *WRITES[1:],
    )
    found = run(model, tmp_path, task=task, limits=Limits(images=True))
    told, first = found.trajectory[:2]
    assert [message["role"] for message in told["messages"]] == ["system", "user"]
    answer = model.asked[1][3]
    assert first == {
        "kind": "turn",
        "turn": 1,
        "step": "step-1",
        "completion": "key-1",
        "model": "writer-1",
        "status": "complete",
        "finish_reason": "tool_calls",
        "detail": "",
        "text": "I look.",
        "tool_calls": [
            {"call_id": "c1", "name": "read_file", "arguments": '{"path": "attachments/long.txt"}'},
            {"call_id": "c2", "name": "view_page", "arguments": '{"path": "attachments/log.pdf"}'},
        ],
        "answers": [
            {
                "call_id": "c1",
                "is_error": False,
                "text": answer.content[:2_000],
                "images": [],
                "characters": len(answer.content),
                "sha256": sha256_text(answer.content),
            },
            {
                "call_id": "c2",
                "is_error": False,
                "text": "attachments/log.pdf, page 1 of 2:",
                "images": [model.asked[1][4].images[0].sha256],
            },
        ],
        "usage": {"input_tokens": 100, "output_tokens": 10, "reasoning_tokens": None, "cached_tokens": None},
        "seconds": 1.5,
        "tool_seconds": 0.0,
    }
    assert str(tmp_path) not in json.dumps(found.trajectory)


def test_an_attempt_run_again_is_the_same(tmp_path):
    first = run(Played(*WRITES), tmp_path)
    second = run(Played(*WRITES), tmp_path / "elsewhere")
    assert first == second


def test_ids_are_the_providers(tmp_path):
    reply = replace(
        LISTS, tool_calls=(ToolCall("call_A", "list_files", "{}"), ToolCall("7", "list_files", "{}"))
    )
    model = Played(reply, says("No."))
    run(model, tmp_path, limits=Limits(nudges=0))
    assert [message.tool_call_id for message in model.asked[1][3:]] == ["call_A", "7"]
