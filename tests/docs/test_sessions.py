"""What the pages show is what the commands print."""

import csv
from pathlib import Path

import pytest

from tests.docs.sessions import PROJECT, matches, read_sessions, run_page

PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
SESSIONS = {page.relative_to(PROJECT).as_posix(): read_sessions(page) for page in PAGES}
QUICK = ["README.md", "docs/reference/exit-codes.md"]
"""Run by `make test`; the others are marked slow."""

NOT_RUN = {
    "README.md": 1,  # a page that is served until Ctrl-C
    "docs/how-to/compare.md": 1,  # the same
    "docs/how-to/cluster.md": 2,  # servers and workers that stay
    "docs/how-to/data.md": 1,  # a worker that stays
    "docs/how-to/prefect.md": 3,  # a server and a worker that stay
    "docs/how-to/export.md": 1,  # a validator that make eee installs
    "docs/how-to/local.md": 2,  # a model that is downloaded
    "docs/how-to/mlflow.md": 1,  # a page that is served until Ctrl-C
    "docs/how-to/own.md": 1,  # the endpoint
    "docs/how-to/resume.md": 1,  # the endpoint
    "docs/how-to/store.md": 1,  # the same
    "docs/tutorial.md": 2,  # the environment, the endpoint
}
"""How many sessions of a page are shown only. Each gives its reason in the page."""


def _runs(page):
    return any(session.commands and not session.not_run for session in SESSIONS[page])


def _marked(page):
    return page if page in QUICK else pytest.param(page, marks=pytest.mark.slow)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", [_marked(page) for page in SESSIONS if _runs(page)])
def test_the_sessions_of_a_page_print_what_it_shows(page, tmp_path):
    differing = [
        f"{page}:{command.line}: $ {command.text}\n--- shown, ending with {command.code}\n"
        + "\n".join(command.shown)
        + f"\n--- printed, ending with {code}\n{printed}"
        for command, printed, code in run_page(PROJECT / page, tmp_path)
        if code != command.code or not matches(command.shown, printed)
    ]
    assert not differing, "\n\n".join(differing)
    if page == "README.md":
        _check_table(tmp_path / "copy0/results/ma_bench/leaderboard.csv")


def _check_table(board):
    """The first page's table holds the figures of the run that its sessions made."""
    with board.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["word_cap"] == "3000"]
    lines = [
        f"| {row['model']} | {float(row['score']):.3f}{'†' * (row['copied'] == 'True')} "
        f"| {float(row['ci_low']):.3f} to {float(row['ci_high']):.3f} |"
        for row in rows
    ]
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert "\n".join(lines) in text, "\n".join(["the table in README.md:", *lines])


def test_every_session_that_is_not_run_says_why_and_is_counted():
    reasons = {page: [one.not_run for one in sessions if one.not_run] for page, sessions in SESSIONS.items()}
    assert {page: len(found) for page, found in reasons.items() if found} == NOT_RUN
    assert all(len(reason.split()) > 1 for found in reasons.values() for reason in found)


def test_the_quick_pages_have_sessions():
    assert all(_runs(page) for page in QUICK)


@pytest.mark.parametrize(
    ("shown", "printed", "fits"),
    [
        (("a b",), "a   b\n", True),
        (("a",), "a\nb\n", False),
        (("a", "..."), "a\nb\nc\n", True),
        (("...", "c"), "a\nb\nc\n", True),
        (("...",), "", True),
        ((), "", True),
        ((), "a\n", False),
        (("score ... 0.731 ...",), "score | 0.731 | x\n", True),
        (("score ... 0.731",), "score | 0.732\n", False),
        (("100% (a)",), "100% [a]\n", False),
    ],
)
def test_what_is_shown_is_compared_with_what_is_printed(shown, printed, fits):
    assert matches(shown, printed) is fits


def test_a_page_is_read_block_by_block(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "text\n\n<!-- exits 2 -->\n```console\n$ one \\\n> two\nout\n$ three\n```\n\n"
        "<!-- not run: it takes a day -->\n```console\n$ four\n```\n\n"
        "<!-- fresh copy -->\n<!-- file: a/b.yaml -->\n```yaml\nx: 1\n```\n\n```sh\nfive\n```\n",
        encoding="utf-8",
    )
    first, second, third = read_sessions(page)
    assert [(c.text, c.shown, c.code) for c in first.commands] == [
        ("one \\\ntwo", ("out",), 0),
        ("three", (), 2),
    ]
    assert (second.not_run, third.file, third.is_fresh) == ("it takes a day", ("a/b.yaml", "x: 1\n"), True)


def test_an_unfinished_block_is_refused(tmp_path):
    page = Path(tmp_path / "page.md")
    page.write_text("```console\n$ one\n", encoding="utf-8")
    with pytest.raises(ValueError, match="without an end"):
        read_sessions(page)
