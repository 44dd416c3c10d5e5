"""The task sb-psr-01: figures, the decision and the traps of the expert's read-ahead."""

import datetime as dt
import math
from collections import Counter

import openpyxl

from flows.readers import read_document
from flows.schema.document import BlockKind
from tests.data.staffing_support import PSR, attachments, book, report
from tests.support.report_tasks import golden, squeeze


def hiring():
    """On board, funded, firm and cleared entries, losses and the waiver's hires, from the workbooks."""
    as_of, end = dt.date(2031, 4, 30), dt.date(2031, 9, 30)
    lines = [row for row in book(PSR, "04-manning-document.xlsx", "Authorizations", 3) if row[0] != "Total"]
    losses = book(PSR, "03-hiring-tracker.xlsx", "Losses", 3)
    gone = Counter(branch for branch, day, _ in losses if day.date() <= as_of)
    funded = {row[0]: row[2] for row in lines if row[4] == "In force"}
    board = {row[0]: row[3] - gone[row[0]] for row in lines if row[4] == "In force"}
    path = attachments(PSR) / "03-hiring-tracker.xlsx"
    branch, actions = None, []
    for row in openpyxl.load_workbook(path, data_only=True)["Pipeline"].iter_rows(4, 29, values_only=True):
        branch = row[1] or branch
        actions.append((branch, row[3], row[5], row[6]))
    median = dt.timedelta(days=148)
    firm = sum(stage == "Firm" and entry.date() <= end for _, stage, _, entry in actions)
    clear = sum(
        stage == "Tentative" and packet is not None and (packet + median).date() <= end
        for _, stage, packet, _ in actions
    )
    waiting = [place for place, stage, packet, _ in actions if stage == "Tentative" and packet is None]
    leaving = sum(as_of < day.date() <= end for _, day, _ in losses)
    return funded, board, actions, firm, clear, waiting, leaving


def test_fill_rate_is_126_of_152_and_one_branch_holds_the_gap():
    funded, board, actions, *_ = hiring()
    assert (sum(funded.values()), sum(board.values())) == (152, 126)
    assert {name: round(100 * board[name] / funded[name]) for name in funded} == {
        "Survey Operations": 90, "Hydrographic Analysis": 65, "Charting": 91, "Data and Standards": 93,
    }  # fmt: skip
    others = [name for name in funded if name != "Hydrographic Analysis"]
    assert round(100 * sum(board[n] for n in others) / sum(funded[n] for n in others)) == 91
    assert Counter(branch for branch, *_ in actions) == {name: funded[name] - board[name] for name in funded}
    assert round(100 * 126 / 152) == 83
    assert "126 of 152 funded positions are filled" in report(PSR)


def test_september_comes_to_135_without_the_waiver_and_141_with_it():
    funded, board, _, firm, clear, waiting, leaving = hiring()
    assert (firm, clear, leaving, len(waiting)) == (8, 5, 4, 9)
    without = sum(board.values()) + firm + clear - leaving
    covered = waiting.count("Hydrographic Analysis")
    target = math.ceil(0.9 * sum(funded.values()))
    assert (without, covered, without + covered, target) == (135, 6, 141, 137)
    assert [round(100 * n / 152) for n in (135, 141)] == [89, 93]
    text = report(PSR)
    assert "Without the waiver: 135 on 30 September (89 percent)" in text
    assert "With the waiver: 141 (93 percent)" in text


def test_read_ahead_leads_with_the_decision_and_springs_none_of_its_traps():
    blocks = [block for block in read_document(golden(PSR)).blocks if block.kind is BlockKind.paragraph]
    assert blocks[0].text.replace("*", "").startswith("Please sign by 23 May the waiver")
    text = report(PSR)
    for words in ("freeze", "Varga", "Teel", "in-laws", "harbor", "131", "160", "129"):
        assert words not in text
    notes = squeeze(read_document(attachments(PSR) / "07-weekly-sync-notes.docx").text)
    assert all(words in notes for words in ("hiring freeze", "Varga", "Teel", "in-laws", "harbor authority"))
