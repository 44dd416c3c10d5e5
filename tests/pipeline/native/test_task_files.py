"""Files of a task laid out in the folder of a model: odd names, links, later steps."""

import sys
from dataclasses import replace

import pytest

from flows.common.errors import ScenarioError
from flows.pipeline.native.folder import Entry, Folder, check_layout
from flows.schema.report_task import Attachment
from tests.pipeline.native.helpers import a_task
from tests.pipeline.native.test_folder import REPORT, refusal
from tests.pipeline.native.test_folder import root as _root
from tests.pipeline.native.test_folder import secret as _secret

root, secret = _root, _secret

NAMES = {
    "attachments/Lagebericht Nr. 7 \u2013 Öl & Gas (\u03b1).txt": b"1",
    "attachments/e\u0301tat.txt": b"2",  # decomposed, as a Mac writes it
    "attachments/日本語/😀 .txt": b"3",
    "attachments/-rf.txt": b"4",
    "attachments/%2e%2e%2fsecret.txt": b"5",
    "attachments/C:.txt": b"6",
    "attachments/.hidden": b"7",
    "attachments/" + "n" * 251 + ".txt": b"8",
    "attachments/" + "/".join("d" * 200 for _ in range(15)) + "/deep.txt": b"9",
}


def laid_out(tmp_path, root, files):
    task = a_task(tmp_path / "task", files)
    folder = Folder(root)
    check_layout(task)
    folder.lay_out(tmp_path / "task", task.steps[0].attachments)
    return folder


def test_odd_names_from_an_archive_are_laid_out_listed_and_read(tmp_path, root):
    with laid_out(tmp_path, root, NAMES) as folder:
        assert [entry.path for entry in folder.entries()] == sorted(NAMES)
        for name, data in NAMES.items():
            assert folder.read(name) == (name, data)


def test_a_model_may_write_an_accent_as_one_character(tmp_path, root):
    with laid_out(tmp_path, root, {"attachments/e\u0301tat/e\u0301.txt": b"2"}) as folder:
        assert folder.read("attachments/\u00e9tat/\u00e9.txt") == ("attachments/\u00e9tat/e\u0301.txt", b"2")


def test_but_not_where_two_names_are_composed_alike(tmp_path, root):
    files = {"attachments/e\u0301.txt": b"1", "attachments/\u00e9.txt": b"2"}
    with laid_out(tmp_path, root, files) as folder:
        assert folder.read("attachments/\u00e9.txt")[1] == b"2"
        assert folder.read("attachments/e\u0301.txt")[1] == b"1"


@pytest.mark.skipif(sys.platform == "darwin", reason="this disk may hold only one of the two")
def test_names_that_differ_only_in_case_stay_apart(tmp_path, root):
    files = {"attachments/Notes.txt": b"upper", "attachments/notes.txt": b"lower"}
    with laid_out(tmp_path, root, files) as folder:
        assert folder.read("attachments/Notes.txt")[1] == b"upper"
        assert folder.read("attachments/notes.txt")[1] == b"lower"
        assert refusal(folder.read, "attachments/NOTES.txt") == "no such file"


def test_a_disk_that_can_hold_only_one_of_them_is_told_of(tmp_path, root, monkeypatch):
    files = {"attachments/Notes.txt": b"upper", "attachments/notes.txt": b"lower"}
    task = a_task(tmp_path / "task", files)
    with Folder(root) as folder:
        monkeypatch.setattr(Folder, "entries", lambda self: [Entry("attachments/notes.txt", 5)])
        with pytest.raises(
            ScenarioError, match=r"attachments/Notes.txt: the name collides with another file"
        ):
            folder.lay_out(tmp_path / "task", task.steps[0].attachments)


def test_a_later_step_lays_its_files_over_the_earlier_ones(tmp_path, root):
    with laid_out(tmp_path, root, {"attachments/a.txt": b"old, longer", "attachments/b.txt": b"b"}) as folder:
        folder.write(REPORT, b"x")
        task = a_task(tmp_path / "task2", {"attachments/a.txt": b"new"})
        folder.lay_out(tmp_path / "task2", task.steps[0].attachments)
        assert [folder.read(f"attachments/{name}.txt")[1] for name in "ab"] == [b"new", b"b"]
        assert folder.report()[0] == b"x"


def test_a_link_in_the_task_is_not_copied(tmp_path, root, secret):
    task = a_task(tmp_path / "task", {"attachments/a.txt": b"a"})
    (tmp_path / "task/steps/attachments/a.txt").unlink()
    (tmp_path / "task/steps/attachments/a.txt").symlink_to(secret)
    with Folder(root) as folder, pytest.raises(ScenarioError, match="a link, which is not opened"):
        folder.lay_out(tmp_path / "task", task.steps[0].attachments)


def test_a_task_whose_file_is_gone(tmp_path, root):
    with Folder(root) as folder, pytest.raises(ScenarioError, match="can't be read"):
        folder.lay_out(tmp_path, [Attachment("attachments/a.txt", "steps/a.txt")])


def test_a_task_that_is_gone(tmp_path, root):
    with Folder(root) as folder, pytest.raises(ScenarioError, match="can't be opened"):
        folder.lay_out(tmp_path / "nowhere", [])


@pytest.mark.parametrize(
    "name", ["notes.txt", "outputs/report.docx", "attachments/../x", "/etc/x", "attachments//x"]
)
def test_files_that_belong_elsewhere_are_refused_before_anything_is_paid(tmp_path, name):
    task = a_task(tmp_path / "task", {})
    step = replace(task.steps[0], attachments=(Attachment(name, "steps/answer/workdir/x"),))
    with pytest.raises(ScenarioError):
        check_layout(replace(task, steps=(step,)))
