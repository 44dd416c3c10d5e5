"""Briefs are loaded without their texts, which are decoded when somebody asks for them."""

import pytest

from flows.adapters.tables import BRIEFS, read_table, write_table
from flows.common.errors import StoreError
from flows.pipeline.results.graded import Graded
from flows.pipeline.results.table_rows import BriefRows
from flows.schema.brief import Brief, BriefStatus
from flows.schema.rows import as_row

HEAD = {
    "condition": "c", "benchmark": "b", "model": "m", "effort": "default", "word_cap": 3000, "prompt": "v1",
    "harness": "single_prompt",
}  # fmt: skip
TEXTS = {("alder", 1): "one", ("alder", 2): "one", ("alder", 3): None, ("birch", 1): "drei \u00fcber"}


@pytest.fixture
def path(tmp_path):
    """A file of briefs that no model wrote."""
    rows = [
        {
            **HEAD,
            **as_row(
                Brief(
                    *place,
                    BriefStatus.error if text is None else BriefStatus.written,
                    text,
                    words_raw=None if text is None else 1,
                    words_kept=None if text is None else 1,
                    word_counter="w1",
                )
            ),
        }
        for place, text in TEXTS.items()
    ]
    write_table(tmp_path / "c.parquet", BRIEFS, rows, ("scenario_id", "seed"), {"a": 1})
    return tmp_path / "c.parquet"


def graded(briefs):
    return Graded({"condition": {"label": "c"}}, briefs, [])


def test_texts_are_those_of_the_file_that_was_read(path):
    expected, _ = read_table(path, BRIEFS)
    rows, about = BriefRows.read(path)
    path.unlink()
    assert about == {"a": 1}
    assert rows[0].keys() == HEAD.keys() | expected[0].keys() - {"text"}
    assert rows[1:3] == [{name: row[name] for name in rows[0]} for row in expected[1:3]]
    assert rows.whole() == expected
    assert graded(rows).texts == TEXTS


def test_equal_texts_of_seeds_are_copies_with_and_without_a_file(path):
    expected, _ = read_table(path, BRIEFS)
    assert graded(BriefRows.read(path)[0]).copies == graded(expected).copies == {("alder", 2)}


def test_no_text_is_decoded_for_what_a_model_wrote(path, monkeypatch):
    expected, _ = read_table(path, BRIEFS)
    asked = [{**row, "completion": f"k{row['scenario_id']}{row['seed']}"} for row in expected]
    write_table(path, BRIEFS, asked, ("scenario_id", "seed"), {})
    entry = graded(BriefRows.read(path)[0])
    monkeypatch.setattr(BriefRows, "whole", None)
    assert entry.copies == set()


def test_a_file_that_is_gone_or_damaged_is_an_error_with_a_remedy(path):
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(StoreError, match=r"not readable as Parquet.*run again"):
        BriefRows.read(path)
    path.unlink()
    with pytest.raises(StoreError, match=r"not readable as Parquet.*run again"):
        BriefRows.read(path)
