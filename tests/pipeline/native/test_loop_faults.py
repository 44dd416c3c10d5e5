"""What goes wrong around an attempt: its files, the disk, our own code, a call that is cancelled."""

import asyncio
from dataclasses import replace

import pytest

from flows.common.errors import ReadError, ScenarioError, StoreError
from flows.common.gather import in_thread
from flows.schema.brief import BriefStatus
from flows.schema.report_task import Attachment
from tests.pipeline.native.helpers import FILES, WRITES, Played, a_task, run, says

STARTS = says("", ("start_report", {"template": "attachments/template.docx"}))


pytestmark = pytest.mark.usefixtures("office")


def test_files_that_can_not_be_laid_out_cost_nothing(tmp_path):
    task = a_task(tmp_path / "task", {})
    wrong = replace(task.steps[0], attachments=(Attachment("notes.txt", "steps/notes.txt"),))
    model = Played(says("x"))
    with pytest.raises(ScenarioError, match=r"outside the two folders"):
        run(model, tmp_path, task=replace(task, steps=(wrong,)))
    assert model.asked == []


def test_a_file_that_no_reader_takes_is_noted(tmp_path):
    task = a_task(tmp_path / "task", FILES | {"attachments/bad.docx": b"no zip"})
    reads = says("", ("read_file", {"path": "attachments/bad.docx"}))
    found = run(Played(reads, *WRITES[1:]), tmp_path, task=task)
    assert found.status is BriefStatus.written
    assert found.detail == "could not be read: attachments/bad.docx: no Office file inside"


def test_our_own_fault_ends_the_attempt_as_an_error(tmp_path, monkeypatch):
    def broken(path):
        raise ReadError(path, "python-docx opens it, and the reader fails")

    monkeypatch.setattr("flows.pipeline.native.tools.check_report", broken)
    model = Played(STARTS, says("", ("list_files", {}), ("check_report", {})))
    found = run(model, tmp_path)
    assert (found.status, found.report, found.ended) == (BriefStatus.error, None, "error")
    assert found.detail == (
        "outputs/report.docx: python-docx opens it, and the reader fails; "
        "a report was there and is not graded, since the attempt can go on"
    )
    assert [answer["call_id"] for answer in found.trajectory[-1]["answers"]] == ["c1"]


def test_a_disk_that_fails_ends_the_run(tmp_path, monkeypatch):
    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("flows.pipeline.native.writing.Folder.write", full)
    with pytest.raises(StoreError, match="No space left"):
        run(Played(STARTS), tmp_path)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_whatever_asking_raises_ends_the_attempt_and_leaves_nothing(tmp_path):
    async def ask(_messages, _tools, _waited):
        raise StoreError("store", "full")

    with pytest.raises(StoreError):
        run(ask, tmp_path)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_call_that_is_cancelled_waits_for_the_work_in_its_folder():
    done = []

    async def go():
        started = asyncio.Event()
        running = asyncio.get_running_loop()

        def work():
            running.call_soon_threadsafe(started.set)
            import time

            time.sleep(0.1)
            done.append(True)

        task = asyncio.ensure_future(in_thread(work))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert done == [True]
