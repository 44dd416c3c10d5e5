"""Tables as Parquet, CSV, Markdown and LaTeX."""

import io

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from flows.stages.paper import Column, Table, render
from flows.stages.paper.table import TABLE_ENDINGS, slug

COLUMNS = (
    Column("name", "model", "text"),
    Column("n", "briefs", "count"),
    Column("share", "passed", "share"),
    Column("score", "score"),
    Column("shift", "shift", "signed"),
    Column("p", "p", "p"),
    Column("key", "", "text"),
)
FRAME = pd.DataFrame(
    {
        "name": ["a_b & 50% | <b>$x</b>", None],
        "n": [1234, np.nan],
        "share": [0.5, np.nan],
        "score": [1 / 3, np.inf],
        "shift": [0.01, -0.5],
        "p": [0.00195, np.nan],
        "key": ["k1", "k2"],
        "unused": [1, 2],
    }
)
TABLE = Table("Main & more", COLUMNS, FRAME, ("Note: 5% of *all*.",))


def test_markdown_escapes_and_shows_a_dash_for_unknown():
    assert render(TABLE)["md"].decode() == (
        "# Main & more\n\n"
        "| model | briefs | passed | score | shift | p |\n"
        "| :-- | --: | --: | --: | --: | --: |\n"
        "| a\\_b & 50% \\| \\<b\\>$x\\</b\\> | 1,234 | 50.0% | 0.333 | +0.010 | 0.0019 |\n"
        "| - | - | - | - | -0.500 | - |\n"
        "\n- Note: 5% of \\*all\\*.\n"
    )


def test_names_are_printed_as_words_and_kept_as_data():
    columns = (
        Column("step", "step", "name"),
        Column("cap", "cap", "count", unknown="none"),
        Column("p", "p", "p"),
    )
    frame = pd.DataFrame({"step": ["ccir", "higher_guidance"], "cap": [3000, np.nan], "p": [0.00001, 0.5]})
    made = render(Table("Steps", columns, frame))
    assert "| CCIR | 3,000 | \\<0.0001 |\n| higher guidance | none | 0.5000 |" in made["md"].decode()
    assert made["csv"].decode() == "step,cap,p\nccir,3000,1e-05\nhigher_guidance,,0.5\n"


def test_latex_escapes():
    text = render(TABLE)["tex"].decode()
    assert r"a\_b \& 50\% $|$ $<$b$>$\$x$<$/b$>$ & 1,234 & 50.0\% & 0.333 & +0.010 & 0.0019 \\" in text
    assert r"\caption{Main \& more. Note: 5\% of *all*.} \\" in text
    assert r"\begin{longtable}{lrrrrr}" in text


def test_parquet_has_nulls_and_full_precision():
    table = pq.read_table(io.BytesIO(render(TABLE)["parquet"]))
    assert table.column_names == [column.name for column in COLUMNS]
    assert table.to_pylist()[0]["score"] == 1 / 3
    assert table.to_pylist()[1] == {
        "name": None, "n": None, "share": None, "score": None, "shift": -0.5, "p": None, "key": "k2",
    }  # fmt: skip


def test_csv_has_empty_cells():
    assert render(TABLE)["csv"].decode().splitlines()[2] == ",,,,-0.5,,k2"


def test_equal_tables_are_equal_bytes():
    again = Table("Main & more", COLUMNS, FRAME.copy(), TABLE.notes)
    assert render(again) == render(TABLE)
    assert tuple(render(TABLE)) == TABLE_ENDINGS


def test_an_empty_table_and_a_long_text():
    empty = render(Table("None", COLUMNS, FRAME.head(0)))
    assert empty["md"].decode().count("\n|") == 2
    long = Table("Long", COLUMNS[:1], pd.DataFrame({"name": ["word\n" * 1000]}))
    assert render(long)["md"].decode().splitlines()[4].endswith("... |")
    assert pq.read_table(io.BytesIO(render(long)["parquet"])).to_pylist()[0]["name"] == "word\n" * 1000


def test_a_missing_column_is_an_error():
    with pytest.raises(ValueError, match="no column n, p"):
        Table("t", COLUMNS, FRAME.drop(columns=["n", "p"]))


def test_names_of_columns():
    assert slug("gpt-6.1-sol · v1") == "gpt_6_1_sol___v1"
