"""A store whose files were cut, edited or removed."""

import fcntl
import hashlib
import io
import logging
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from flows.adapters.completions.stores.folder import CompletionStore
from flows.common.digests import sha256_text
from flows.common.errors import StoreError
from tests.adapters.completions.helpers import (
    a_completion,
    a_request,
    a_stored,
    put,
)


def test_a_record_cut_at_any_byte_counts_as_absent_and_leaves_the_others(tmp_path):
    segment = a_stored(tmp_path / "whole", "first", "second")
    data = segment.read_bytes()
    first, second = a_request("first"), a_request("second")
    start = data.rindex(b'{"checksum"')
    folder = tmp_path / "cut"
    folder.mkdir()
    for end in range(start, len(data)):
        (folder / "a.jsonl").write_bytes(data[:end])
        opened = CompletionStore(folder)
        assert opened.get(first.key) == a_completion(first, "answer to first")
        if end == len(data) - 1:  # only the newline is missing: nothing is lost
            assert opened.get(second.key) == a_completion(second, "answer to second")
        else:
            assert opened.get(second.key) is None
        problems = [str(problem) for problem in opened.problems]
        cut = f"a.jsonl at byte {start}: the last record is cut. "
        expected = (
            []
            if end in (start, len(data) - 1)
            else [cut + "Its content counts as missing and is requested again"]
        )
        assert problems == expected


class Growing(io.RawIOBase):
    """A file that ends at `end` when it is first read to its end, and is whole from then on."""

    def __init__(self, data, end):
        super().__init__()
        self._data, self._end, self._place = data, end, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def seek(self, offset, whence=os.SEEK_SET):
        assert whence == os.SEEK_SET
        self._place = offset
        return offset

    def readinto(self, buffer):
        part = self._data[self._place : self._end][: len(buffer)]
        if not part:
            self._end = len(self._data)
        buffer[: len(part)] = part
        self._place += len(part)
        return len(part)


def test_a_record_that_is_being_written_while_it_is_read_is_found_by_the_next_refresh(
    tmp_path, caplog, monkeypatch
):
    folder = tmp_path / "two"
    segment = a_stored(folder, "first", "second")
    data = segment.read_bytes()
    start = data.rindex(b'{"checksum"')
    cut = start + 40
    opening, scans = Path.open, [io.BufferedReader(Growing(data, cut))]

    def open_growing(path, mode="r", **options):
        return scans.pop() if path == segment and scans else opening(path, mode, **options)

    first, second = a_request("first"), a_request("second")
    with segment.open("r+b") as writer, caplog.at_level(logging.WARNING):
        fcntl.flock(writer, fcntl.LOCK_EX)  # as the process does that writes it
        writer.truncate(cut)
        with monkeypatch.context() as patched:
            patched.setattr(Path, "open", open_growing)
            opened = CompletionStore(folder)
        assert not scans
        assert opened.get(first.key) == a_completion(first, "answer to first")
        writer.seek(cut)
        writer.write(data[cut:])
        writer.flush()
        opened.refresh()
        assert opened.get(second.key) == a_completion(second, "answer to second")
        assert opened.problems == ()
    assert caplog.records == []


def test_any_flipped_byte_is_noticed_and_costs_one_record(tmp_path):
    segment = a_stored(tmp_path / "whole", "first", "second", "third")
    data = segment.read_bytes()
    requests = [a_request(prompt) for prompt in ("first", "second", "third")]
    answers = [a_completion(request, f"answer to {request.messages[1].content}") for request in requests]
    start = data.rindex(b"\n", 0, data.index(requests[1].key.encode())) + 1
    end = data.index(b"\n", start) + 1
    folder = tmp_path / "flipped"
    folder.mkdir()
    for place in range(start, end):
        flipped = bytearray(data)
        flipped[place] ^= 0x15
        (folder / "a.jsonl").write_bytes(flipped)
        opened = CompletionStore(folder)
        assert opened.get(requests[0].key) == answers[0]
        assert opened.get(requests[1].key) is None, f"byte {place} of {start}..{end}"
        assert opened.get(requests[2].key) == answers[2], f"byte {place} of {start}..{end}"
        assert opened.problems


def test_a_flipped_newline_costs_the_record_before_it_only(tmp_path):
    segment = a_stored(tmp_path, "first", "second")
    data = bytearray(segment.read_bytes())
    first, second = a_request("first"), a_request("second")
    newline = data.index(b"\n", data.index(first.key.encode()))
    data[newline] = ord("x")
    segment.write_bytes(data)
    opened = CompletionStore(tmp_path)
    assert opened.get(first.key) is None
    assert opened.get(second.key) == a_completion(second, "answer to second")


@pytest.mark.parametrize("damage", ["emptied", "removed", "garbage", "edited", "cut"])
def test_damage_behind_the_back_of_an_open_store_is_noticed_when_it_is_read(tmp_path, damage):
    segment = a_stored(tmp_path, "first", "second")
    opened = CompletionStore(tmp_path)
    first, second = a_request("first"), a_request("second")
    data = segment.read_bytes()
    if damage == "emptied":
        segment.write_bytes(b"")
    elif damage == "removed":
        segment.unlink()
    elif damage == "garbage":
        segment.write_bytes(os.urandom(len(data)))
    elif damage == "edited":
        segment.write_bytes(data.replace(b"answer to", b"ANSWER to"))
    else:
        segment.write_bytes(data[:-1000])
    assert opened.get(second.key) is None
    assert (opened.get(first.key) is None) == (damage != "cut")
    assert len(opened) == (1 if damage == "cut" else 0)

    # Asked again, and stored again.
    put(opened, (second, a_completion(second, "again")))
    assert opened.get(second.key) == a_completion(second, "again")
    assert CompletionStore(tmp_path).get(second.key) == a_completion(second, "again")
    assert CompletionStore(tmp_path).request(second.key) == second
    opened.close()


def test_an_edited_answer_is_reported_once_and_another_copy_is_used(tmp_path, caplog):
    segment = a_stored(tmp_path, "first")
    copy = tmp_path / "zz.jsonl"
    copy.write_bytes(segment.read_bytes())
    segment.write_bytes(segment.read_bytes().replace(b"answer to first", b"answer to worst"))
    with caplog.at_level(logging.WARNING):
        opened = CompletionStore(tmp_path)
        request = a_request("first")
        assert opened.get(request.key) == a_completion(request, "answer to first")
        opened.refresh()
        assert opened.get(request.key) == a_completion(request, "answer to first")
    assert [problem.found for problem in opened.problems] == ["a damaged record"]
    assert len(caplog.records) == 1


def test_a_record_with_a_right_checksum_and_wrong_fields_is_damaged(tmp_path):
    segment = a_stored(tmp_path, "first")
    request = a_request("first")
    text, system, _ = segment.read_bytes().splitlines(keepends=True)
    covered = b'"format":1,"kind":"completion","id":"%b","status":"complete","body":{"completion":{}}}' % (
        request.key.encode()
    )
    bad = b'{"checksum":"%b",%b\n' % (hashlib.sha256(covered).hexdigest().encode(), covered)
    segment.write_bytes(text + system + bad)
    opened = CompletionStore(tmp_path)
    assert opened.get(request.key) is None
    assert [problem.found for problem in opened.problems] == ["not the fields of such a record"]
    put(opened, (request, a_completion(request, "again")))
    assert opened.get(request.key).text == "again"
    opened.close()


def test_a_blank_line_an_empty_file_and_other_files_do_no_harm(tmp_path):
    segment = a_stored(tmp_path, "first")
    segment.write_bytes(b"\n" + segment.read_bytes())
    (tmp_path / "20200101T000000Z-1-00000000.jsonl").touch()
    (tmp_path / "notes.txt").write_text("not a segment")
    opened = CompletionStore(tmp_path)
    assert opened.get(a_request("first").key).text == "answer to first"
    assert sorted(problem.found for problem in opened.problems) == ["a blank line", "the file is empty"]


def test_a_lost_text_loses_the_request_and_not_the_answer(tmp_path):
    segment = a_stored(tmp_path, "first")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(line for line in lines if sha256_text("first").encode() not in line[:200]))
    request = a_request("first")
    opened = CompletionStore(tmp_path)
    assert opened.get(request.key).text == "answer to first"
    assert opened.request(request.key) is None

    # Whoever sends the text again stores it again.
    other = a_request("first", seed=2)
    put(opened, (other, a_completion(other)))
    assert opened.request(request.key) == request
    opened.close()


def test_a_later_format_is_an_error_and_not_absent(tmp_path):
    segment = a_stored(tmp_path, "first")
    covered = b'"format":3,"kind":"verdict","where":{}}'
    line = b'{"checksum":"%b",%b\n' % (hashlib.sha256(covered).hexdigest().encode(), covered)
    segment.write_bytes(segment.read_bytes() + line)
    with pytest.raises(StoreError, match="a record of format 3; expected format 2 or below"):
        CompletionStore(tmp_path)


def test_the_record_that_another_process_is_writing_is_no_problem(tmp_path):
    script = textwrap.dedent("""
        import asyncio, sys
        from pathlib import Path
        from flows.adapters.completions.stores.folder import CompletionStore
        from tests.adapters.completions.helpers import a_completion, a_request
        store = CompletionStore(Path(sys.argv[1]))
        request = a_request("first")
        asyncio.run(store.put(request, a_completion(request)))
        segment = store._journal._segment
        with segment.open("ab") as file:
            file.write(b'{"checksum":"half')
        print("written", flush=True)
        sys.stdin.readline()
    """)
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        writer.stdout.readline()
        opened = CompletionStore(tmp_path)
        assert len(opened) == 1
        assert opened.problems == ()
        writer.kill()
        writer.wait()
        assert [problem.found for problem in opened.problems] == ["the last record is cut"]
