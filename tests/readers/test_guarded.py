"""Reading in a process that can be ended: its limits, its deaths, what is left behind."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from flows.common.errors import ReadError, StaffbenchError
from flows.readers import guarded, read_document
from flows.readers.guarded import read_guarded
from flows.readers.limits import Limits, progress
from flows.readers.read import read_bytes

ROOM = Limits(seconds=120, memory=2**30)


# Called by name in the reading process: stand-ins for what a hostile document makes a library do.
def forever(_data, _path):
    while True:
        pass


def forever_deaf(_data, _path):
    signal.pthread_sigmask(signal.SIG_BLOCK, set(range(1, signal.NSIG)))
    forever(_data, _path)


def greedy(_data, _path):
    held = []
    while True:
        held.append(bytearray(2**22))


def killed(_data, _path):
    os.kill(os.getpid(), signal.SIGKILL)  # as the kernel does when memory runs out


def crashed(_data, _path):
    os.kill(os.getpid(), signal.SIGSEGV)


def left(_data, _path):
    os._exit(3)


def noisy(data, path):
    os.write(1, b"a library that prints")
    return read_bytes(data, path, "txt")


def raised(_data, _path):
    raise ValueError


def slow(data, path):
    for page in range(1, 4):
        progress(page, 3)
    return read_bytes(data, path, "txt")


def process_id():
    return guarded._reader._process.pid


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("some words")
    return path


@pytest.mark.parametrize("name", ["marked.docx", "marked.pdf", "marked.xlsx"])
def test_it_gives_what_reading_here_gives(fixture_path, fixture, name):
    assert read_guarded(fixture_path(name)) == fixture(name)


def test_one_process_reads_many_documents(text):
    read_guarded(text)
    before = process_id()
    with pytest.raises(ReadError, match="the file is empty"):
        guarded.read_guarded_bytes(b"", text, "txt")
    read_guarded(text)
    assert process_id() == before


def test_a_name_that_is_no_text_comes_back_as_it_is(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))
    path.write_text("x")
    assert read_guarded(path) == read_document(path)


@pytest.mark.parametrize(
    ("function", "limits", "said"),
    [
        (forever, Limits(0.2, 2**30), "reading it takes over 0.2 seconds"),
        (forever_deaf, Limits(0.2, 2**30), "reading it takes over 0.2 seconds"),
        (greedy, Limits(120, 64 * 2**20), "reading it takes over 64 MB of memory"),
        (killed, ROOM, r"the process that reads it ended \(signal SIGKILL\)"),
        (crashed, ROOM, r"the process that reads it ended \(signal SIGSEGV\)"),
        (left, ROOM, r"the process that reads it ended \(exit code 3\)"),
        (raised, ROOM, r"the process that reads it ended \(exit code 1\)"),
    ],
)
def test_every_bad_end_is_one_error_and_the_next_document_is_read(text, function, limits, said):
    with pytest.raises(ReadError, match=said) as caught:
        guarded.guarded(function, b"x", text, limits=limits)
    assert str(caught.value).startswith(f"{text}: ")
    assert "split it" in caught.value.remedy
    assert read_guarded(text).text == "some words"


def test_what_a_library_prints_is_no_answer(text):
    assert guarded.document_of(guarded.guarded(noisy, b"words", text)).text == "words"


def test_a_process_that_died_while_idle_is_replaced(text):
    read_guarded(text)
    os.kill(process_id(), signal.SIGKILL)
    guarded._reader._process.wait()
    assert read_guarded(text).text == "some words"


def test_a_process_that_does_not_start_is_said(text, monkeypatch):
    guarded._reader.close()
    monkeypatch.setattr(guarded, "_CHILD", "raise SystemExit(7)")
    with pytest.raises(StaffbenchError, match=r"did not start \(exit code 7\)") as caught:
        read_guarded(text)
    assert not isinstance(caught.value, ReadError)


def slow_and_stuck(data, path):
    slow(data, path)
    forever(data, path)


def test_pages_give_time_so_a_long_document_is_read_and_a_stuck_one_ended(text, monkeypatch):
    clock = [0.0]

    def told(_line):
        clock[0] += 10

    monkeypatch.setattr(guarded, "_PATIENCE", 0)
    monkeypatch.setattr(guarded, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    paced = Limits(15, 2**30, page_seconds=10)
    assert guarded.guarded(slow, b"words", text, limits=paced, on_progress=told)["blocks"]
    assert clock == [30.0]
    with pytest.raises(ReadError, match=r"over 1[78] seconds at page [23]"):
        guarded.guarded(
            slow_and_stuck, b"x", text, limits=Limits(15, 2**30, page_seconds=1), on_progress=told
        )


def test_progress_is_told(text, monkeypatch):
    monkeypatch.setattr(guarded, "_PATIENCE", 0)
    lines = []
    guarded.guarded(slow, b"words", text, on_progress=lines.append)
    assert lines == [f"a.txt: {page} of 3 pages read" for page in (1, 2, 3)]


def test_ctrl_c_ends_the_process_and_the_next_document_is_read(text):
    read_guarded(text)
    pid = process_id()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        guarded.guarded(forever, b"x", text, limits=ROOM)
    assert not is_alive(pid)
    assert read_guarded(text).text == "some words"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
def test_no_process_is_left_when_its_parent_is_killed(text):
    code = (
        "import sys, threading, time\n"
        "sys.path[:] = __import__('json').loads(sys.argv[1])\n"
        "from pathlib import Path\n"
        "from flows.readers import guarded\n"
        "from test_guarded import forever\n"
        "guarded.read_guarded(Path(sys.argv[2]))\n"
        "threading.Timer(0.2, lambda: print(guarded._reader._process.pid, flush=True)).start()\n"
        "guarded.guarded(forever, b'x', Path(sys.argv[2]))\n"
    )
    paths = [str(Path(__file__).parent), *sys.path]
    with subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(paths), str(text)], stdout=subprocess.PIPE
    ) as parent:
        pid = int(parent.stdout.readline())
        assert is_alive(pid)
        parent.kill()
    until = time.monotonic() + 60
    while is_alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_alive(pid)


def test_the_folder_where_a_command_is_typed_has_no_part_in_reading(text, tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(guarded, "_reader", type(guarded._reader)())
    assert read_guarded(text, ROOM)
    guarded._reader.close()
