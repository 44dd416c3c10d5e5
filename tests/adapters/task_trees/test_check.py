import dataclasses
from pathlib import Path

import pytest

from flows.adapters.task_trees.check import HEAD, check_tasks, named_files
from flows.adapters.task_trees.index import index_row
from flows.adapters.task_trees.tree import read_task, task_ids


def lines(check):
    return [str(problem) for problem in check.problems]


def test_a_sound_tree_has_no_fault_and_its_line_in_the_table(tree):
    check = check_tasks([tree.root])
    assert lines(check) == []
    assert check.notes == []
    assert check.table() == [
        HEAD,
        (
            *(
                "memo-01",
                "Pallet memo",
                "Weekly activity reports",
                "Air Force",
                "the directorate head",
                "150 words",
            ),
            *("2", "3 (1)", "5 (-2)", "unknown"),
        ),
    ]
    assert check.totals() == (
        "1 task, 2 source files (1 Excel, 1 Word), 2 required criteria worth 5 points "
        "and 1 penalty worth 2 points."
    )


def test_a_file_that_the_instruction_names_and_that_is_not_there(tree):
    tree.edit("steps/answer/instruction.md", "- `notes.docx`", "- `notes.docx`\n- `roster.pdf`")
    (fault,) = lines(check_tasks([tree.root]))
    assert "steps/answer/instruction.md: names 'roster.pdf', which is not there" in fault


def test_a_file_that_the_instruction_does_not_name_is_noted(tree):
    tree.write("steps/answer/workdir/attachments/extra.pdf", b"x")
    check = check_tasks([tree.root])
    assert lines(check) == []
    assert check.notes == ["memo-01: given and not named in the instruction: attachments/extra.pdf"]


def test_a_golden_report_that_does_not_open(tree):
    tree.write("tests/golden/report.docx", b"PK nonsense")
    (fault,) = lines(check_tasks([tree.root]))
    assert "tests/golden/report.docx: python-docx can't open it (BadZipFile" in fault


def test_a_missing_oracle(tree):
    (tree.root / "solution/solve.sh").unlink()
    (fault,) = lines(check_tasks([tree.root]))
    assert "solution/solve.sh: not there" in fault


def test_the_expert_report_among_the_agents_files(tree):
    tree.write(
        "steps/answer/workdir/attachments/notes.docx", (tree.root / "tests/golden/report.docx").read_bytes()
    )
    (fault,) = lines(check_tasks([tree.root]))
    assert "attachments/notes.docx: is the expert's report" in fault


def test_what_is_missing_or_unused_is_noted_and_no_fault(tree):
    tree.edit("task.toml", 'reader = "the directorate head"\n', "colour = 1\n")
    tree.edit("tests/fixtures/config.json", "Write a memo of", "Write one page of")
    check = check_tasks([tree.root])
    assert lines(check) == []
    assert check.notes == [
        "memo-01: kept and not used: task.toml: metadata.colour",
        "memo-01: no reader",
        "memo-01: the instruction does not hold the prompt word for word",
    ]
    assert check.table()[1][4] == "unknown"
    (fault,) = lines(check_tasks([tree.root], strict=True))
    assert "not used: task.toml: metadata.colour" in fault


def test_a_tree_that_cannot_be_read_does_not_hide_the_others(tree, tmp_path):
    broken = tmp_path / "tasks" / "broken"
    broken.mkdir()
    check = check_tasks([broken, tree.root])
    assert [task.task_id for task in check.tasks] == ["memo-01"]
    assert len(check.problems) == 1
    assert "task.toml: not there" in lines(check)[0]


def test_an_index_that_agrees_and_one_that_does_not(tree):
    row = dataclasses.replace(index_row(read_task(tree.root), "tasks/memo-01"), file=Path("i.parquet"))
    assert lines(check_tasks([tree.root], [row])) == []
    inside = dataclasses.replace(
        row, golden_report_path="tests/golden/report.docx", instruction_path="tasks/memo-01/instruction.md"
    )
    assert lines(check_tasks([tree.root], [inside])) == []
    other = dataclasses.replace(
        row,
        title="Another",
        criteria=row.criteria[:2],
        attachments=row.attachments[:1],
        golden_report_path="tasks/memo-01/tests/golden/old.docx",
    )
    found = lines(check_tasks([tree.root], [other]))
    assert [fault.removeprefix(str(tree.root)).split(";")[0] for fault in found] == [
        ": title is 'Pallet memo'",
        "/tests/fixtures/rubric.json: P1 differ from i.parquet",
        "i.parquet: golden_report_path of memo-01 is tasks/memo-01/tests/golden/old.docx",
        "/steps/answer/workdir/attachments/notes.docx: is not in the index i.parquet",
    ]
    stranger = dataclasses.replace(row, task_id="memo-02", task_path="tasks/memo-02")
    assert "not in the index" in lines(check_tasks([tree.root], [stranger]))[0]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("See `/app/attachments/FM 6-0.pdf` and attachments/a.xlsx.", {"FM 6-0.pdf", "a.xlsx"}),
        (
            "- trip notes.docx\n* **B.pdf** - the order\n1. `c.XLSX`: figures",
            {"trip notes.docx", "B.pdf", "c.XLSX"},
        ),
        ("- pandoc notes.docx\n- `pdftotext -layout a.pdf`\n- python3 x.txt", set()),
        ("- `attachments/file.docx`\n- your_file.pdf", set()),
        ("Save it as `/app/outputs/report.docx`. Word files end in .docx.", set()),
        ("- read them all", set()),
        ("attachments/" * 20_000, set()),
        ("- " * 50_000 + "x", set()),
    ],
)
def test_names_of_files_in_an_instruction(text, names):
    assert named_files(text) == names


def test_the_committed_tasks_are_sound_and_add_up_to_the_specification(project):
    data = project / "data" / "mission_report" / "tasks"
    check = check_tasks([data / name for name in task_ids(data)])
    assert lines(check) == []
    assert check.totals().startswith(
        "10 tasks, 99 source files (10 .csv, 7 .eml, 6 .txt, 21 Excel, 24 PDF, 31 Word)"
    )
    counterparts = ("sb-aar-01", "sb-aar-04", "sb-psr-01", "sb-war-02", "sb-war-08")
    check = check_tasks([data / name for name in counterparts])
    assert [row[6:8] for row in check.table()[1:]] == [
        ("15", "16 (3)"),  # sb-aar-01
        ("9", "27 (3)"),  # sb-aar-04
        ("7", "13 (2)"),  # sb-psr-01
        ("1", "23 (4)"),  # sb-war-02
        ("10", "18 (2)"),  # sb-war-08
    ]
    assert "42 source files" in check.totals()
    assert "83 required criteria" in check.totals()
    assert "14 penalties" in check.totals()
