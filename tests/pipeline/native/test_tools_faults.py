"""Calls of tools that are wrong, tools that fail, and what of it a model is shown."""

import pytest

from flows.common.errors import ReadError, StoreError
from flows.pipeline.native import tools, writing
from flows.pipeline.native.toolbox import InternalFault, ToolFault
from tests.pipeline.native.helpers import FILES, a_pdf
from tests.pipeline.native.tools_support import (
    Kit,
)

pytestmark = pytest.mark.usefixtures("office")


@pytest.mark.parametrize(
    ("tool", "arguments", "found"),
    [
        ("fill", "{", "fill: the arguments are not JSON ("),
        ("fill", "[]", "fill: the arguments are a list; expected one JSON object. Call again"),
        ("fill", "null", "fill: the arguments are a NoneType; expected one JSON object"),
        ("fill", '{"entries": NaN}', "fill: the arguments are not JSON (the number NaN)"),
        (
            "fill",
            '{"entries": [], "entries": []}',
            "fill: the arguments are not JSON (a key given twice in one",
        ),
        ("fill", "[" * 100_000, "fill: the arguments are not JSON ("),
        ("fill", "", "fill: entries: field required; expected arguments entries. Call again"),
        ("fill", '{"entries": []}', "fill: entries: list should have at least 1 item"),
        ("fill", '{"entries": [{"place": "p1"}]}', "fill: entries.0.text: field required"),
        (
            "fill",
            '{"entries": [{"place": 1, "text": "x"}]}',
            "fill: entries.0.place: input should be a valid string",
        ),
        ("read_file", "{}", "read_file: path: field required; expected arguments path, offset (optional)"),
        ("read_file", '{"path": "a", "mode": "w"}', "read_file: mode: extra inputs are not permitted"),
        (
            "read_file",
            '{"path": "a", "offset": -1}',
            "read_file: offset: input should be greater than or equal to 0",
        ),
        ("view_page", '{"path": "a", "page": "x"}', "view_page: page: input should be a valid integer"),
        ("insert", '{"blocks": [{"kind": "list"}]}', "insert: blocks.0.kind: input should be 'heading', "),
        (
            "check_report",
            '{"deep": true}',
            "check_report: deep: extra inputs are not permitted; expected no arguments",
        ),
        (
            "bash",
            '{"command": "ls"}',
            "bash: no such tool; expected one of list_files, read_file, view_page, ",
        ),
        ("", "{}", "tool: no such tool"),
        ("rm\n-rf\ud800", "{}", "rm\ufffd-rf\ufffd: no such tool"),
    ],
)
def test_a_call_that_is_wrong_is_answered_in_words(kit, tool, arguments, found):
    said = kit().fails(tool, arguments)
    assert said.startswith(found)
    said.encode()


def test_many_faults_are_told_in_few_words(kit):
    said = kit().fails("fill", entries=[{} for _ in range(100)])
    assert said.count("field required") == 5
    assert "; and 195 more; expected arguments entries" in said


def test_a_number_written_as_text_is_taken_for_one(kit):
    assert "characters 2 to 3 of 3" in kit({"attachments/a.txt": b"abc"}).says(
        "read_file", path="attachments/a.txt", offset="2"
    )


def test_a_disk_that_fails_ends_the_run(kit, monkeypatch):
    made = kit()

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing.Folder, "write", full)
    with pytest.raises(StoreError, match="the disk fails"):
        made.call("start_report")


def test_a_tool_that_breaks_is_no_answer(kit, monkeypatch):
    made = kit()
    made.says("start_report")

    def broken(*_args):
        raise KeyError("no part in /tmp/report-x7/report.docx for <Part at 0x7f3a2b1c>")

    monkeypatch.setattr(writing, "_listed", broken)
    with pytest.raises(InternalFault) as fault:
        made.call("show_report")
    assert fault.value.found == "it failed (KeyError: 'no part in .../report.docx for <Part at 0x...>')"


def test_nor_is_a_reader_that_fails_on_our_own_report(kit, monkeypatch):
    made = kit()
    made.says("start_report")

    def broken(path):
        raise ReadError(path, "python-docx opens it, and the reader fails")

    monkeypatch.setattr(tools, "check_report", broken)
    with pytest.raises(InternalFault, match=r"outputs/report\.docx: python-docx opens it"):
        made.call("check_report")


def test_a_fault_of_a_store_is_not_told_to_the_model(kit, monkeypatch):
    def lost(*_args):
        raise StoreError("renders", "gone")

    monkeypatch.setattr(tools, "list_files", lost)
    with pytest.raises(StoreError, match="gone"):
        kit().call("list_files")


def test_addresses_in_memory_are_left_out(kit, monkeypatch):
    def broken(*_args):
        raise ToolFault("x", "<Thing at 0x7f3a2b1c>")

    monkeypatch.setattr(tools, "list_files", broken)
    assert kit().fails("list_files") == "x: <Thing at 0x...>"


def test_equal_calls_get_equal_answers_in_another_folder(kit, tmp_path):
    script = [
        ("list_files", {}),
        ("read_file", {"path": "attachments/log.pdf"}),
        ("start_report", {"template": "attachments/template.docx"}),
        ("fill", {"entries": [{"place": "p2", "text": "Closed."}]}),
        ("insert", {"after": "p2", "blocks": [{"kind": "bullet", "text": "one"}]}),
        ("check_report", {}),
        ("read_file", {"path": "attachments/gone"}),
    ]
    first = kit()
    answers = [first.call(*each) for each in script]
    (tmp_path / "elsewhere").mkdir()
    second = Kit(tmp_path / "elsewhere", FILES)
    assert [second.call(*each) for each in script] == answers
    assert second.folder.report() == first.folder.report()
    assert str(tmp_path) not in "".join(answer.text for answer in answers)
    second.folder.__exit__()


def test_a_pdf_of_many_pages_is_looked_at_beyond_the_twentieth(kit):
    made = kit({"attachments/manual.pdf": a_pdf(*map(str, range(25)))})
    assert made.call("view_page", path="attachments/manual.pdf", page=25).text.endswith("page 25 of 25:")
