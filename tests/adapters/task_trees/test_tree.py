import pytest

from flows.adapters.task_trees.tree import read_task, task_ids, without_canary
from flows.common.errors import ConfigError
from flows.schema.report_task import Attachment, Polarity, RubricTotals
from tests.adapters.task_trees.tree_support import one_fault


def test_a_tree_is_read_whole(tree):
    task = read_task(tree.root)
    assert (task.task_id, task.schema_version, task.title) == ("memo-01", "1.3", "Pallet memo")
    assert (task.setting, task.reader) == ("Air Force", "the directorate head")
    assert (task.report_family, task.length_limit) == ("Weekly activity reports", "150 words")
    assert task.prompt == "Write a memo of at most 150 words."
    assert task.grading_guidance == "Be strict."
    assert task.judge == {"model": "m", "effort": "medium"}
    assert task.golden_path == "tests/golden/report.docx"
    assert task.oracle_path == "solution/solve.sh"
    assert task.rubric_path == "tests/fixtures/rubric.json"
    assert (task.steps[0].agent_seconds, task.steps[0].verifier_seconds) == (3600.0, 5100.0)
    assert task.attachments == (
        Attachment("attachments/figures v2.xlsx", "steps/answer/workdir/attachments/figures v2.xlsx"),
        Attachment("attachments/notes.docx", "steps/answer/workdir/attachments/notes.docx"),
    )
    assert [each.points for each in task.criteria] == [3.0, 2.0, -2.0]
    assert task.criteria[2].polarity is Polarity.negative
    assert task.totals == RubricTotals(criteria=3, penalties=1, positive_points=5.0, penalty_points=2.0)
    assert (task.unused, task.notes, task.mean_score_pct) == ({}, (), None)


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3", "1.4"])
def test_every_schema_is_read(tree, version):
    tree.edit("task.toml", 'schema_version = "1.3"', f'schema_version = "{version}"')
    task = read_task(tree.root)
    assert (task.schema_version, task.notes) == (version, ())


def test_the_first_schema_calls_its_version_version(tree):
    tree.edit("task.toml", 'schema_version = "1.3"', 'version = "1.0"')
    assert read_task(tree.root).schema_version == "1.0"


def test_a_newer_schema_is_read_and_named_and_a_foreign_one_refused(tree):
    tree.edit("task.toml", '"1.3"', '"1.7"')
    assert read_task(tree.root).notes == (
        "task.toml: schema_version 1.7 is newer than 1.4; read as far as known.",
    )
    tree.edit("task.toml", '"1.7"', '"2.0"')
    one_fault(tree, "task.toml", "'2.0'", "1.4")


def test_no_schema_version_is_taken_as_the_newest(tree):
    tree.edit("task.toml", 'schema_version = "1.3"', "")
    task = read_task(tree.root)
    assert task.schema_version == "1.4"
    assert task.notes == ("task.toml: no schema_version; read as 1.4, as Harbor does.",)


def test_unknown_keys_are_kept_and_named_and_never_fatal(tree):
    tree.edit("task.toml", "cpus = 2", 'cpus = 2\ncolour = "red"')
    tree.edit("task.toml", 'name = "answer"', 'name = "answer"\nmood = 1\n[steps.agent]\nwish = true')
    tree.edit("task.toml", "[metadata]", "later = 5\n[metadata]\ndifficulty = 3")
    tree.edit("tests/fixtures/config.json", '"prompt"', '"extra": [1], "prompt"')
    assert read_task(tree.root).unused == {
        "task.toml: later": 5,
        "task.toml: environment.colour": "red",
        "task.toml: steps[1].mood": 1,
        "task.toml: steps[1].agent.wish": True,
        "task.toml: metadata.difficulty": 3,
        "tests/fixtures/config.json: extra": [1],
    }


def test_with_steps_the_root_instruction_is_never_sent(tree):
    tree.write("instruction.md", "Do something else.")
    task = read_task(tree.root)
    assert task.steps[0].instruction_path == "steps/answer/instruction.md"
    assert "something else" not in task.steps[0].instruction
    assert task.notes == ("instruction.md differs from steps/answer/instruction.md, which is what is sent.",)
    (tree.root / "instruction.md").unlink()
    assert read_task(tree.root).notes == ()
    (tree.root / "steps/answer/instruction.md").unlink()
    one_fault(tree, "steps/answer/instruction.md", "not there")


def test_without_steps_the_root_instruction_and_the_environment_count(tree):
    tree.edit("task.toml", '[[steps]]\nname = "answer"\n', "")
    tree.write("environment/attachments/map.pdf", b"%PDF")
    tree.write("environment/docker-compose.yaml", "services: {}\n")
    task = read_task(tree.root)
    assert (task.steps[0].name, task.steps[0].instruction_path) == (None, "instruction.md")
    assert task.attachments == (Attachment("attachments/map.pdf", "environment/attachments/map.pdf"),)


def test_with_a_workdir_the_files_of_the_image_are_named_and_not_given(tree):
    tree.write("environment/fonts/a.ttf", b"x")
    tree.write("steps/answer/workdir/setup.sh", "true\n")
    task = read_task(tree.root)
    assert len(task.attachments) == 2
    assert task.notes == (
        "steps/answer/workdir/setup.sh: Harbor runs it before the step; it is not run here.",
        "environment/fonts/a.ttf: built into Harbor's sandbox; not among the files that are given here.",
    )


def test_several_steps_in_order_with_limits_of_their_own(tree):
    tree.edit(
        "task.toml",
        'name = "answer"',
        'name = "read"\n[steps.agent]\ntimeout_sec = 60\n[[steps]]\nname = "answer"',
    )
    tree.write("steps/read/instruction.md", "Read first.")
    task = read_task(tree.root)
    assert [(step.name, step.agent_seconds) for step in task.steps] == [("read", 60.0), ("answer", 3600.0)]
    assert [len(step.attachments) for step in task.steps] == [0, 2]


def test_files_of_a_step_come_before_those_of_the_task(tree):
    tree.write("steps/answer/solution/solve.sh", "true\n")
    tree.write("steps/answer/tests/golden/report.docx", b"x")
    task = read_task(tree.root)
    assert task.oracle_path == "steps/answer/solution/solve.sh"
    assert task.golden_path == "steps/answer/tests/golden/report.docx"


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tree):
    before = read_task(tree.root)
    for name in ("task.toml", "steps/answer/instruction.md", "tests/fixtures/rubric.json"):
        path = tree.root / name
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_task(tree.root) == before


def test_canary_lines_are_not_sent():
    text = "<!-- canary GUID 1 -->\n# canary 2\n\nWrite.\n<!-- canary 3 -->\n"
    assert without_canary(text) == "Write.\n<!-- canary 3 -->\n"
    assert without_canary("# Title\nWrite.") == "# Title\nWrite."


def test_droppings_of_file_managers_are_no_files(tree):
    tree.write("steps/answer/workdir/attachments/.DS_Store", b"x")
    tree.write("steps/answer/workdir/__MACOSX/._notes.docx", b"x")
    assert len(read_task(tree.root).attachments) == 2


def test_paths_of_the_sandbox_and_of_the_fixtures_are_followed(tree):
    (tree.root / "tests/golden/report.docx").rename(tree.root / "tests/golden/expert.docx")
    for golden in ("/tests/golden/expert.docx", "../golden/expert.docx", "golden/expert.docx"):
        tree.write("tests/fixtures/config.json", {"golden": golden, "rubric": "rubric.json"})
        assert read_task(tree.root).golden_path == "tests/golden/expert.docx"
    tree.write("tests/fixtures/config.json", {})
    assert read_task(tree.root).golden_path == "tests/golden/expert.docx"  # the only one there
    tree.write("tests/golden/second.docx", b"x")
    one_fault(tree, "2 reports")


def test_another_id_in_the_task_is_noted(tree):
    tree.edit("task.toml", '"memo-01"', '"MEMO-01"')
    assert read_task(tree.root).notes == ()
    tree.edit("task.toml", '"MEMO-01"', '"other"')
    task = read_task(tree.root)
    assert task.task_id == "memo-01"
    assert task.notes == ("the task calls itself 'other'; its folder's name, 'memo-01', is its id.",)


def test_tasks_are_found_by_their_settings(tree):
    data = tree.root.parent
    (data / "no-task").mkdir()
    (data / "linked").symlink_to(tree.root)
    assert task_ids(data) == ["memo-01"]
    assert task_ids(data, ["memo-01", "memo-01"]) == ["memo-01"]
    with pytest.raises(ConfigError, match="no task nope"):
        task_ids(data, ["nope"])
    with pytest.raises(ConfigError, match="no such folder"):
        task_ids(data / "gone")
