import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.adapters.task_trees.index import index_row, read_index, rubric_json, write_index
from flows.adapters.task_trees.tree import read_task
from flows.common.errors import Problems, StoreError

COLUMNS = [
    *("task_id", "title", "report_family", "setting", "reader", "length_limit", "prompt", "attachments"),
    *("num_attachments", "rubric_count", "penalty_count", "positive_points", "penalty_points", "rubric"),
    *(
        "grading_guidance",
        "mean_score_pct",
        "golden_report_path",
        "instruction_path",
        "rubric_path",
        "task_path",
    ),
]


@pytest.fixture
def index(tree):
    path = tree.root.parents[1] / "tasks.parquet"
    write_index(path, [index_row(read_task(tree.root), "tasks/memo-01")])
    return path


def altered(path, **changes):
    """The index written anew by pandas-like means, with columns changed; None takes one out."""
    (row,) = pq.read_table(path).to_pylist()
    row = {key: value for key, value in {**row, **changes}.items() if value is not ...}
    pq.write_table(pa.Table.from_pylist([row]), path)
    return path


def faults(path):
    with pytest.raises(Problems) as caught:
        read_index(path)
    return caught.value.lines


def test_a_tree_goes_in_and_comes_out(tree, index):
    assert read_index(index) == (index_row(read_task(tree.root), "tasks/memo-01"),)


def test_the_columns_are_those_of_the_specification(index):
    table = pq.read_table(index)
    assert table.column_names == COLUMNS
    (row,) = table.to_pylist()
    assert row["attachments"] == [
        "tasks/memo-01/steps/answer/workdir/attachments/figures v2.xlsx",
        "tasks/memo-01/steps/answer/workdir/attachments/notes.docx",
    ]
    assert (row["num_attachments"], row["rubric_count"], row["penalty_count"]) == (2, 3, 1)
    assert (row["positive_points"], row["penalty_points"], row["mean_score_pct"]) == (5.0, 2.0, None)
    assert row["instruction_path"] == "tasks/memo-01/steps/answer/instruction.md"
    assert row["golden_report_path"] == "tasks/memo-01/tests/golden/report.docx"
    assert [each["points"] for each in json.loads(row["rubric"])] == [3, 2, -2]
    assert list(json.loads(row["rubric"])[0]) == [
        *("criterion_id", "points", "polarity", "criterion", "source", "justification"),
    ]


def test_equal_tasks_give_equal_bytes(tree, index):
    before = index.read_bytes()
    write_index(index, [index_row(read_task(tree.root), "tasks/memo-01")])
    assert index.read_bytes() == before


def test_other_types_of_the_same_values_are_read(tree, index):
    expected = read_index(index)
    (row,) = pq.read_table(index).to_pylist()
    altered(
        index,
        attachments=json.dumps(row["attachments"]),
        rubric_count=2,  # without the penalty
        penalty_points=-2,
        positive_points=5,
        mean_score_pct=60.9,
        further="kept",
    )
    (found,) = read_index(index)
    assert found.criteria == expected[0].criteria
    assert found.attachments == expected[0].attachments
    assert (found.mean_score_pct, found.unused) == (60.9, {"further": "kept"})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rubric_count": 4}, "row 1: rubric_count is 4; expected 3"),
        ({"penalty_count": None}, "row 1: penalty_count is None; expected 1"),
        ({"positive_points": 6}, "row 1: positive_points is 6; expected 5"),
        ({"penalty_points": 1}, "row 1: penalty_points is 1; expected 2"),
        ({"num_attachments": 3}, "row 1: num_attachments is 3; expected 2"),
        ({"task_id": None}, "row 1: task_id is missing"),
        ({"title": 5}, "row 1: title is a int"),
        ({"mean_score_pct": 101.0}, "row 1: mean_score_pct is 101.0"),
        ({"mean_score_pct": float("nan")}, "row 1: mean_score_pct is nan"),
        ({"task_path": "../out"}, "row 1: task_path is '../out'"),
        ({"golden_report_path": "/etc/passwd"}, "row 1: golden_report_path is '/etc/passwd'"),
        ({"attachments": ["a/../../b"], "num_attachments": 1}, "row 1: attachments name 'a/../../b'"),
        ({"rubric": "[{"}, "row 1: rubric is not JSON"),
        ({"rubric": None}, "row 1: rubric is missing"),
    ],
)
def test_faults_are_named_by_row_and_column(index, changes, said):
    lines = faults(altered(index, **changes))
    assert any(said in line for line in lines), lines


def test_a_fault_of_a_criterion_is_named(index):
    lines = faults(altered(index, rubric='[{"id": "C1", "points": "1", "criterion": "x"}]'))
    assert any("row 1: rubric: criterion 'C1': points is '1'" in line for line in lines)


def test_a_missing_column_and_what_is_no_parquet(index):
    assert "no column grading_guidance" in faults(altered(index, grading_guidance=...))[0]
    index.write_bytes(b"PAR1 nonsense")
    assert "not readable as Parquet" in faults(index)[0]
    index.unlink()
    assert "not readable as Parquet" in faults(index)[0]


def test_an_index_that_unpacks_without_end(index, monkeypatch):
    monkeypatch.setattr("flows.adapters.task_trees.index.MAX_BYTES", 1_000_000)
    (row,) = pq.read_table(index).to_pylist()
    rows = [{**row, "prompt": "x" * 50_000}] * 100  # 5 MB in a few kilobytes
    pq.write_table(pa.Table.from_pylist(rows), index)
    assert index.stat().st_size < 100_000
    assert "unpacks to over 1,000,000 bytes" in faults(index)[0]


def test_a_task_twice(index):
    table = pq.read_table(index)
    pq.write_table(pa.concat_tables([table, table]), index)
    assert faults(index) == (f"{index}: task 'memo-01' twice; expected each task once",)


def test_what_cannot_be_written_is_said(tree, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="can't be written"):
        write_index(tmp_path / "file" / "tasks.parquet", [])


def test_points_are_written_whole_where_they_are(tree):
    tree.criteria(points=1.5)
    written = json.loads(rubric_json(read_task(tree.root).criteria))
    assert [repr(each["points"]) for each in written] == ["1.5", "2", "-2"]
