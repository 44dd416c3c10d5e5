"""A reply without a word: no judge is asked about it, it scores 0, and the table says so."""

import json

import pyarrow.parquet as pq
import pytest

from tests.support.bench import ITEM, Project, remote
from tests.support.plain_flow import run_here, without_prefect
from tests.support.scripted_server import Say, ScriptedServer

CUT = "empty brief: it was stopped at the output limit before a word was written"
SILENT = "empty brief: it has no word"
STOPPED = "stopped at the output limit before a word was written"


@pytest.fixture
def bench(tmp_path, project, monkeypatch):
    without_prefect(monkeypatch)
    return Project(tmp_path, project / "conf", {})


def answers(*writes):
    """Writes so in seed 1, 2, ...; a judge passes everything, which an empty text must not profit from."""

    def answer(call):
        if call.body["model"].startswith("judge"):
            items = ITEM.findall(call.prompt)
            return Say(json.dumps({"items": len(items), "failed": []}))
        return writes[call.body["seed"] - 1]

    return answer


def run(bench, *writes, more=()):
    with ScriptedServer(answers(*writes)) as server:
        chosen = ("benchmark.scenarios=[alder]", f"seeds={len(writes)}", *more)
        assert run_here(bench.folder, *remote(server, *chosen)) == 0
    return [call for call in server.billed if call.body["model"].startswith("judge")]


def verdicts(bench):
    return {
        path.parent.name + "/" + path.name: pq.read_table(path).to_pylist()
        for path in (bench.results / "ma_bench" / "verdicts").rglob("*.parquet")
    }


@pytest.mark.parametrize("text", [None, "", " \n", "---", "\u200b\u2060", "\ufe0f\u00ad"])
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_reply_without_a_word_is_graded_by_rule_and_named(bench, capsys, text, finish):
    assert run(bench, Say(text, finish=finish)) == []
    (found,) = verdicts(bench).values()
    reason = SILENT if finish == "stop" else CUT
    assert [(v["item_id"], v["status"], v["passed"], v["mode"], v["reason"]) for v in found] == [
        ("bridge", "graded", False, "omission", reason),
        ("cholera", "graded", True, None, reason),
        ("strength", "graded", False, "omission", reason),
    ]
    (row,) = bench.board()
    assert (row["score"], row["wrong"], row["n_empty"], row["n_ungraded"]) == (0, 0, 1, 0)
    assert row["n_cut_by_provider"] == (finish == "length")
    how = "" if finish == "stop" else f" (all {STOPPED})"
    note = f"Briefs without a word, which score 0: {row['condition']} 1 of 1{how}."
    assert note in (bench.results / "ma_bench" / "leaderboard.md").read_text()
    assert "1 empty" in capsys.readouterr().out


def test_only_what_has_a_word_is_asked_about(bench):
    asked = run(bench, Say("One word."), Say(None, finish="length"), Say("Cut", finish="length"))
    assert len(asked) == 2
    (row,) = bench.board()
    assert (row["n_empty"], row["n_cut_by_provider"]) == (1, 2)
    assert row["score"] == pytest.approx((1 + 0 + 1) / 3)


def test_neither_each_item_nor_each_repeat_nor_each_member_of_a_panel_is_asked(bench):
    assert run(bench, Say(""), more=("judge.mode=per_item", "judge.repeat=3")) == []
    place = "judge.members.first"
    with ScriptedServer(answers(Say(""))) as server:
        members = [f"{place}=openai_compatible", f"{place}.name=judge-1", f"{place}.api_base={server.base}"]
        chosen = [one for one in remote(server, "seeds=1") if not one.startswith("judge")]
        panel = ["judge=panel", *members, "judge.members.second=offline", "~judge.members.third"]
        assert run_here(bench.folder, *chosen, *panel) == 0
    assert {call.body["model"] for call in server.billed} == {"writer-1"}
    assert {row["judge"]: row["score"] for row in bench.board()} == {"judge-1": 0, "offline": 0, "panel": 0}


def test_the_control_that_writes_nothing_scores_0_under_every_judge_and_is_named_by_its_own_note(bench):
    with ScriptedServer(answers()) as server:
        judge = [one for one in remote(server) if not one.startswith("model")]
        assert run_here(bench.folder, "model=empty", *judge) == 0
        assert run_here(bench.folder, "model=empty") == 0
    assert server.billed == []
    assert {row["judge"]: row["score"] for row in bench.board()} == {"judge-1": 0, "offline": 0}
    board = (bench.results / "ma_bench" / "leaderboard.md").read_text()
    assert "without a word" not in board
    assert "- empty: a control that writes nothing." in board
    found = [[(v["item_id"], v["passed"]) for v in one] for one in verdicts(bench).values()]
    # The rule and the stand-in's rules come to the same, but that the stand-in judges no wrong move.
    first, second = sorted(found, key=lambda one: ("cholera", None) in one)
    assert second == [(name, None if name == "cholera" else passed) for name, passed in first]
