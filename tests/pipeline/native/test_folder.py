"""Links are made before a call and during one: by whoever else may write to this machine's disk."""

import contextlib
import errno
import os
from pathlib import Path

import pytest

from flows.common import untrusted
from flows.common.errors import StoreError
from flows.common.untrusted import PathRefused
from flows.pipeline.native import folder as folder_module
from flows.pipeline.native.folder import Entry, Folder, scratch_folder

REPORT = "outputs/report.docx"


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text("the key")
    return path


@pytest.fixture
def root(tmp_path):
    path = tmp_path / "scratch"
    path.mkdir()
    return path


@pytest.fixture
def folder(root):
    with Folder(root) as made:
        (root / "attachments" / "notes.txt").write_text("The visit is on Monday.")
        yield made


def refusal(work, *args):
    with pytest.raises(PathRefused) as refused:
        work(*args)
    return refused.value.found


def test_it_holds_two_folders_and_reads_what_lies_in_them(root, folder):
    assert sorted(path.name for path in root.iterdir()) == ["attachments", "outputs"]
    assert folder.read("/app/attachments/notes.txt") == ("attachments/notes.txt", b"The visit is on Monday.")
    assert folder.report() == (None, f"{REPORT}: no such file")
    folder.write("/app/outputs/report.docx", b"first, longer")
    folder.write(REPORT, b"second")
    assert folder.report() == (b"second", "")
    assert folder.entries() == [Entry("attachments/notes.txt", 23), Entry(REPORT, 6)]


@pytest.mark.parametrize(
    "name", ["attachments/other.txt", "attachments/notes.txt/x", "attachments/" + "a" * 300]
)
def test_what_is_not_there(folder, name):
    assert refusal(folder.read, name) == "no such file"


def test_a_folder_is_no_file(root, folder):
    (root / "attachments" / "more").mkdir()
    assert refusal(folder.read, "attachments/more") == "a folder"


def test_nothing_but_the_report_is_written(root, folder):
    for name in (
        "outputs/other.docx",
        "outputs/.report.docx.tmp",
        "attachments/report.docx",
        "../report.docx",
    ):
        refusal(folder.write, name, b"x")
    assert [path.name for path in (root / "outputs").iterdir()] == []


def test_a_link_to_a_file_outside_is_not_opened(root, folder, secret):
    (root / "attachments" / "link.txt").symlink_to(secret)
    assert refusal(folder.read, "attachments/link.txt") == "a link, which is not opened"
    assert Entry("attachments/link.txt", None) in folder.entries()


def test_nor_one_to_a_file_inside(root, folder):
    (root / "attachments" / "link.txt").symlink_to("notes.txt")
    assert refusal(folder.read, "attachments/link.txt") == "a link, which is not opened"


def test_nor_one_on_the_way(root, folder, secret):
    (root / "attachments" / "more").symlink_to(secret.parent)
    assert refusal(folder.read, "attachments/more/secret.txt") == "a link, device or pipe"


def test_nor_a_hard_link(root, folder, secret):
    (root / "attachments" / "hard.txt").hardlink_to(secret)
    assert refusal(folder.read, "attachments/hard.txt") == "linked from elsewhere, and not opened"


def test_the_two_folders_may_not_be_links_either(root, folder, secret):
    (root / "outputs").rmdir()
    (root / "outputs").symlink_to(secret.parent)
    assert refusal(folder.read, "outputs/secret.txt") == "a link, device or pipe"
    assert refusal(folder.write, REPORT, b"x") == "a link, device or pipe"
    assert refusal(folder.entries) == "a link, device or pipe"
    assert not (secret.parent / "report.docx").exists()


def test_the_root_stays_what_it_was_when_another_folder_takes_its_name(root, folder, secret):
    root.rename(root.parent / "moved")
    root.symlink_to(secret.parent)
    assert folder.read("attachments/notes.txt")[1] == b"The visit is on Monday."
    folder.write(REPORT, b"x")
    assert (root.parent / "moved" / REPORT).read_bytes() == b"x"


@pytest.mark.parametrize("kind", ["symlink_to", "hardlink_to"])
def test_a_report_that_is_a_link_is_neither_written_nor_handed_in(root, folder, secret, kind):
    getattr(root / REPORT, kind)(secret)
    refusal(folder.write, REPORT, b"overwritten")
    assert secret.read_text() == "the key"
    assert folder.report()[0] is None


def test_a_link_to_nowhere_is_not_made_a_file(root, folder, tmp_path):
    (root / REPORT).symlink_to(tmp_path / "new.txt")
    assert refusal(folder.write, REPORT, b"x") == "a link, which is not opened"
    assert not (tmp_path / "new.txt").exists()


def test_pipes_and_devices_do_not_hang(root, folder):
    os.mkfifo(root / "attachments" / "pipe.txt")
    os.mkfifo(root / REPORT)
    assert refusal(folder.read, "attachments/pipe.txt") == "a device, pipe or socket, which is not opened"
    assert refusal(folder.write, REPORT, b"x") == "a device, pipe or socket, which is not opened"


def test_a_link_made_between_the_look_and_the_opening_is_not_followed(root, folder, secret, monkeypatch):
    real = untrusted._check_regular

    def swap(kind, path, *, own):
        real(kind, path, own=own)
        (root / "attachments" / "notes.txt").unlink()
        (root / "attachments" / "notes.txt").symlink_to(secret)

    monkeypatch.setattr(untrusted, "_check_regular", swap)
    assert refusal(folder.read, "attachments/notes.txt") == "a link, device or pipe"


def test_nor_a_pipe_put_there_in_between(root, folder, monkeypatch):
    real, seen = untrusted._check_regular, []

    def swap(kind, path, *, own):
        real(kind, path, own=own)
        if not seen:
            seen.append(path)
            (root / "attachments" / "notes.txt").unlink()
            os.mkfifo(root / "attachments" / "notes.txt")

    monkeypatch.setattr(untrusted, "_check_regular", swap)
    assert refusal(folder.read, "attachments/notes.txt") == "a device, pipe or socket, which is not opened"


def test_a_folder_swapped_for_a_link_on_the_way_is_not_followed(root, folder, secret, monkeypatch):
    (root / "attachments" / "more").mkdir()
    real = untrusted.actual_name

    def swap(inner, name):
        if name == "more":
            (root / "attachments" / "more").rmdir()
            (root / "attachments" / "more").symlink_to(secret.parent)
        return real(inner, name)

    monkeypatch.setattr(untrusted, "actual_name", swap)
    assert refusal(folder.read, "attachments/more/secret.txt") == "a link, device or pipe"


def test_a_report_swapped_for_a_link_while_it_is_written(root, folder, secret, monkeypatch):
    real = folder_module.open_regular

    def swap(inner, name, flags, path, *, own):
        (root / REPORT).unlink()
        (root / REPORT).symlink_to(secret)
        return real(inner, name, flags, path, own=own)

    monkeypatch.setattr(folder_module, "open_regular", swap)
    assert refusal(folder.write, REPORT, b"overwritten") == "a link, which is not opened"
    assert secret.read_text() == "the key"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="no list of descriptors on this system")
def test_no_descriptor_is_left_open(root, folder, secret):
    (root / "attachments" / "link.txt").symlink_to(secret)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for name in ("attachments/notes.txt", "attachments/link.txt", "attachments/no/way", "attachments"):
        with contextlib.suppress(PathRefused):
            folder.read(name)
    folder.write(REPORT, b"x")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_full_disk_is_no_answer_to_the_model(folder, monkeypatch):
    def full(_descriptor, _length):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "ftruncate", full)
    with pytest.raises(StoreError, match="the scratch folder fails"):
        folder.write(REPORT, b"x")


def test_a_file_over_the_readers_bound_is_refused(folder, monkeypatch):
    monkeypatch.setattr(folder_module, "MAX_BYTES", 22)
    assert refusal(folder.read, "attachments/notes.txt") == "over 22 bytes"


def test_a_scratch_folder_is_gone_afterwards_whatever_happens(tmp_path):
    def fail():
        with scratch_folder(tmp_path / "a/b") as folder:
            folder.write(REPORT, b"x")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert list((tmp_path / "a/b").iterdir()) == []


def test_where_no_scratch_folder_can_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="the scratch folder fails"), scratch_folder(tmp_path / "file"):
        pass
    monkeypatch.setattr(os, "mkdir", lambda *_, **__: _full())
    with pytest.raises(StoreError, match="No space left"), scratch_folder(tmp_path):
        pass


def _full():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
