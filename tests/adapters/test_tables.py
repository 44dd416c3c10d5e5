"""Strict on write, equal bytes for equal rows, whole or not at all."""

import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from flows.adapters.tables import SCORES, read_table, table_files, write_table
from flows.common.errors import StoreError

ROW = {
    "condition": "c",
    "judge": "j",
    "scoring": "severity",
    "scenario_id": "s",
    "seed": 1,
    "brief_status": "written",
    "score": None,
    "score_clamped": None,
    "score_low": -0.5,
    "score_high": 1.0,
    "correct": None,
    "passed": None,
    "wrong": None,
    "n_items": 3,
    "n_graded": 2,
    "n_refused": 0,
    "n_unparsed": 1,
    "n_error": 0,
}


def write(path, rows):
    write_table(path, SCORES, rows, ["scenario_id", "seed"], {"a": 1})


def test_rows_come_back_sorted_and_unknown_stays_null(tmp_path):
    write(tmp_path / "t.parquet", [{**ROW, "seed": 2}, ROW])
    rows, about = read_table(tmp_path / "t.parquet", SCORES)
    assert [row["seed"] for row in rows] == [1, 2]
    assert rows[0]["score"] is None
    assert rows[0]["wrong"] is None
    assert about == {"a": 1}


def test_equal_rows_are_equal_bytes_in_any_order(tmp_path):
    write(tmp_path / "a.parquet", [ROW, {**ROW, "seed": 2}])
    write(tmp_path / "b.parquet", [{**ROW, "seed": 2}, ROW])
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


@pytest.mark.parametrize(
    "row",
    [
        {**ROW, "extra": 1},
        {key: value for key, value in ROW.items() if key != "score"},
        {**ROW, "seed": "one"},
        {**ROW, "score": "high"},
        {**ROW, "score_low": None},
    ],
)
def test_a_row_that_does_not_fit_is_refused_and_nothing_is_written(tmp_path, row):
    with pytest.raises(StoreError):
        write(tmp_path / "t.parquet", [row])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all"])
def test_a_damaged_file_is_an_error_with_a_remedy(tmp_path, content):
    path = tmp_path / "t.parquet"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="run again"):
        read_table(path, SCORES)


def test_a_file_of_another_schema_is_refused(tmp_path):
    write(tmp_path / "t.parquet", [ROW])
    table = pq.read_table(tmp_path / "t.parquet").drop_columns(["score"])
    pq.write_table(table, tmp_path / "u.parquet")
    with pytest.raises(StoreError, match="schema"):
        read_table(tmp_path / "u.parquet", SCORES)


def test_half_written_files_are_not_listed(tmp_path):
    write(tmp_path / "t.parquet", [ROW])
    (tmp_path / ".t.parquet.123").write_bytes(b"half")
    (tmp_path / ".u.parquet").write_bytes(b"half")
    assert [path.name for path in table_files(tmp_path)] == ["t.parquet"]


READ = """
import sys
from contextlib import suppress
from pathlib import Path
import psutil
from flows.adapters.rubrics.published import _records
from flows.adapters.tables import SCORES, read_column, read_parquet, read_table
from flows.adapters.task_trees.index import read_index
from flows.common.errors import Problems
from flows.pipeline.results.table_rows import VerdictRows
threads = psutil.Process().num_threads
path, before = Path(sys.argv[1]), threads()
rows, _ = read_table(path, SCORES)
assert read_column(read_parquet(path), "seed") == [1]
assert _records(path) == rows
with suppress(Problems):  # of other columns, which is found once the rows are read
    read_index(path)
VerdictRows.of([]).frame()
print(threads() - before)
"""


def test_no_thread_of_pyarrow_is_left_to_abort_the_process_at_its_end(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, [ROW])
    command = [sys.executable, "-c", READ, str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("0\n", 0), done.stderr
