"""What is refused of a task tree: paths, links, names, types and sizes."""

import json
import os

import pytest

from tests.adapters.task_trees.tree_support import faults, one_fault


@pytest.mark.parametrize(
    "path", ["../../../../etc/passwd", "/etc/passwd", "C:\\x.docx", "a\x00b", "../../../x.docx"]
)
def test_no_path_of_the_config_leads_out(tree, path):
    tree.write("x.docx", b"not it")
    (tree.root.parent / "x.docx").write_bytes(b"outside")
    tree.write("tests/fixtures/config.json", {"golden": path})
    one_fault(tree, "config.json", "the expert's report", "leads out of the task")


@pytest.mark.parametrize("name", ["../evil", "a/b", "..", ".", "", "C:evil", "x.", 'a"b', "a\\b"])
def test_names_of_steps_that_are_no_folder_are_refused(tree, name):
    tree.edit("task.toml", 'name = "answer"', f"name = {json.dumps(name)}")
    one_fault(tree, "task.toml", "steps[1]: name")


def test_a_step_named_twice_is_refused_whatever_its_case(tree):
    tree.edit("task.toml", 'name = "answer"', 'name = "answer"\n[[steps]]\nname = "ANSWER"')
    one_fault(tree, "'ANSWER' twice")


@pytest.mark.parametrize(
    "name",
    [
        "steps/answer/workdir/attachments/notes.docx",
        "tests/golden/report.docx",
        "tests/fixtures/rubric.json",
        "steps/answer/instruction.md",
    ],
)
def test_links_are_refused_even_within_the_tree(tree, name):
    path = tree.root / name
    kept = path.with_name("kept")
    path.rename(kept)
    path.symlink_to(kept)
    if "workdir" in name or "instruction" in name:
        assert any("a link" in line for line in faults(tree))
    else:
        assert faults(tree)


def test_a_linked_folder_is_refused(tree, tmp_path):
    outside = tmp_path / "outside"
    (outside / "attachments").mkdir(parents=True)
    (outside / "attachments" / "secret.txt").write_text("x")
    workdir = tree.root / "steps/answer/workdir"
    workdir.rename(tree.root / "moved")
    workdir.symlink_to(outside)
    one_fault(tree, "steps/answer/workdir", "a link")


def test_a_pipe_among_the_files_does_not_hang(tree):
    os.mkfifo(tree.root / "steps/answer/workdir/attachments/pipe")
    one_fault(tree, "pipe", "a device, pipe or socket")


def test_a_pipe_as_the_rubric_does_not_hang(tree):
    path = tree.root / "tests/fixtures/rubric.json"
    path.unlink()
    os.mkfifo(path)
    one_fault(tree, "rubric.json", "not there")


def test_names_with_control_characters_are_refused(tree):
    tree.write("steps/answer/workdir/attachments/a\nb.docx", b"x")
    one_fault(tree, "'a\\nb.docx'")


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("steps = 5", ("steps is 5",)),
        ("steps = [1]", ("steps is [1]",)),
        ("agent = 5", ("agent is a int",)),
        ("[agent]\ntimeout_sec = 'x'", ("agent.timeout_sec is 'x'",)),
        ("[verifier]\ntimeout_sec = inf", ("verifier.timeout_sec is inf",)),
        ("[agent]\ntimeout_sec = -1", ("agent.timeout_sec is -1",)),
        ("metadata = []", ("metadata is a list",)),
        ("[metadata]\ntitle = 5", ("metadata.title is 5",)),
        ("a = [", ("not TOML",)),
    ],
)
def test_wrong_types_in_the_settings_are_named(tree, toml, words):
    tree.write("task.toml", toml + "\n")
    one_fault(tree, "task.toml", *words)


def test_a_large_or_deep_or_torn_file_is_refused(tree):
    tree.write("tests/fixtures/rubric.json", "[" + " " * (4 * 1024 * 1024) + "]")
    one_fault(tree, "rubric.json", "over 4,194,304 bytes")
    tree.write("tests/fixtures/rubric.json", "[" * 100_000)
    one_fault(tree, "rubric.json", "nested too deeply")
    tree.write("tests/fixtures/rubric.json", "[" * 80 + "]" * 80)
    one_fault(tree, "rubric.json", "nested too deeply")
    tree.write("tests/fixtures/rubric.json", '[{"id": ')
    one_fault(tree, "rubric.json", "not JSON")
    tree.write("tests/fixtures/rubric.json", b"\xff\xfe[]")
    one_fault(tree, "rubric.json", "not UTF-8 at byte 0")


def test_all_faults_come_together(tree):
    tree.criteria(points="3")
    (tree.root / "tests/golden/report.docx").unlink()
    tree.write("tests/fixtures/config.json", "[]")
    lines = faults(tree)
    assert [line.split(": ")[1] for line in lines] == [
        "a list; expected an object",
        "criterion 'C1'",
        "no expert's report; expected one .docx file, and no link",
    ]
