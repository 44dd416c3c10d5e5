"""Reports that a model writes with tools: whole runs, with a scripted model behind an endpoint."""

import json
import sqlite3
from collections import Counter
from contextlib import closing

import docx
import pytest

from flows.adapters.screen import Screen
from flows.pipeline.commands.report import report
from tests.support.plain_flow import run_here
from tests.support.report_bench import CLOSED, project_here
from tests.support.report_endpoint import COUNTED, answer, calls, is_judge, reports, turn, verdicts, writes
from tests.support.scripted_server import Say, ScriptedServer

ONE = ["benchmark.scenarios=[memo-01]", "seeds=1"]
WRITES = writes("Route Amber is closed until 21 May.")
TEXT = "Route Amber is closed until 21 May."
REFUSED = Say("", finish="content_filter", usage=COUNTED)

REFUSALS = (
    "a text that its writer refused has no score (scoring.refusals=unscored); MA-Bench's paper counts "
    "refusals as outputs and does not say how they score"
)


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    return project_here(tmp_path, project / "conf", monkeypatch)


class Writer(ScriptedServer):
    """A writer that plays its `turns`, and a judge that finds the second criterion missed."""

    turns = WRITES

    def __init__(self):
        super().__init__(lambda call: verdicts(call, "C2") if is_judge(call) else turn(call, self.turns))

    @property
    def written(self):
        return [call for call in self.billed if not is_judge(call)]


@pytest.fixture
def endpoint():
    with Writer() as server:
        yield server


def one(bench, kind):
    (row,) = bench.rows(kind)
    return row


def bodies(server):
    return Counter(json.dumps(call.body, sort_keys=True) for call in server.billed)


def test_a_model_writes_every_task_and_is_judged_to_the_board(here, capsys):
    with ScriptedServer(answer) as server:
        assert run_here(here.folder, *reports(server, "seeds=2", "tracking=mlflow")) == 0
        # Five replies for each of four attempts, and a judging of each: no two reports are equal.
        assert len(server.billed) == 4 * 5 + 4
        assert set(bodies(server).values()) == {1}
        assert {call.body["seed"] for call in server.billed if not is_judge(call)} == {1, 2}
        offered = [tool["function"]["name"] for tool in server.calls[0].body["tools"]]
        assert "view_page" not in offered
        assert "fill" in offered
    (row,) = here.board()
    assert row["score"] == pytest.approx(3 / 5)
    assert json.loads((here.own / "leaderboard.json").read_text())["assumptions"] == [
        "harness.max_steps is 80",
        "harness.max_tokens is no limit",
        "harness.nudges is 1",
        "harness.page_chars is 20000",
        REFUSALS,
    ]
    assert (row["model"], row["harness"], row["n_scenarios"], row["n_briefs"]) == ("writer-1", "native", 2, 4)
    assert row["condition"].startswith("writer-1-default-none-report_v1-")
    for brief in here.rows("briefs"):
        text = f"{CLOSED[brief['scenario_id']]} is closed until 21 May. Attempt {brief['seed']}."
        assert (brief["status"], brief["text"], brief["words_raw"]) == ("written", text, 9)
        file = docx.Document(str(here.own / "reports" / "files" / f"{brief['report']}.docx"))
        assert [paragraph.text for paragraph in file.paragraphs] == [text]
    for facts in here.rows("reports"):
        assert (facts["harness"], facts["ended"], facts["n_calls"], facts["pages"]) == (
            "native",
            "finished",
            5,
            1,
        )
        assert (facts["words"], facts["word_limit"], facts["word_rule"]) == (9, 20, "r1/w1")
    events = here.rows("trajectories")
    assert [(row["scenario_id"], row["seed"], row["turn"]) for row in events] == [
        (name, seed, number) for name in ("memo-01", "memo-02") for seed in (1, 2) for number in range(1, 7)
    ]
    first = [json.loads(row["event"]) for row in events[:6]]
    assert [event["kind"] for event in first] == ["told", *["turn"] * 5]
    assert [call["name"] for event in first[1:] for call in event["tool_calls"]] == [
        "list_files", "read_file", "start_report", "fill", "delete",
    ]  # fmt: skip
    assert "Nobody knows why." in first[1]["answers"][1]["text"]
    assert first[-1]["text"] == "The report is written."
    with closing(sqlite3.connect(here.results / "mlflow.db")) as database:
        params = dict(database.execute("select key, value from params"))
        metrics = dict(database.execute("select key, value from latest_metrics"))
    assert (params["harness"], params["benchmark"], params["scoring"]) == (
        "native",
        "mission_report",
        "points",
    )
    assert (params["model_name"], params["word_cap"]) == ("writer-1", "none")
    assert (metrics["score"], metrics["n_briefs"]) == pytest.approx((3 / 5, 4))
    assert metrics["score.scenario/memo-02"] == pytest.approx(3 / 5)
    assert "no score on" not in capsys.readouterr().out
    assert report(here.folder, ["benchmark=mission_report"], Screen()) == 0
    site = here.own / "site"
    page = (site / "attempts" / row["condition"] / "memo-02-2.html").read_text()
    assert "Reply 5" in page
    assert "Nobody knows why." in page
    told = (site / row["condition"] / row["judge_id"] / "memo-02-2.html").read_text()
    assert f'<a href="../../attempts/{row["condition"]}/memo-02-2.html">calls of the model: 5</a>' in told


def test_the_judge_knows_nothing_of_the_writer(here, endpoint):
    assert run_here(here.folder, *reports(endpoint, *ONE)) == 0
    (judged,) = [call for call in endpoint.billed if is_judge(call)]
    sent = json.dumps(judged.body)
    assert TEXT in sent
    for kept_back in ("writer-1", "MARK", "Nobody knows", "memo-01", "read_file"):
        assert kept_back not in sent, kept_back


def test_the_writer_sees_its_files_and_no_rubric(here, endpoint):
    assert run_here(here.folder, *reports(endpoint, *ONE)) == 0
    sent = json.dumps([call.body for call in endpoint.written])
    assert "Say in at most 20 words whether Route Amber is closed." in sent
    for kept_back in ("MARK", "cause is not known", "another route", "golden", "criterion", str(here.folder)):
        assert kept_back not in sent, kept_back


def test_a_tool_error_is_an_answer_and_the_model_goes_on(here, endpoint):
    wrong = calls(
        ("read_file", {"path": "../../rubric.json"}), ("fill", '{"entries": ['), ("run", {"command": "ls"})
    )
    endpoint.turns = (wrong, *WRITES)
    assert run_here(here.folder, *reports(endpoint, *ONE)) == 0
    assert one(here, "briefs")["text"] == TEXT
    assert one(here, "reports")["n_calls"] == 6
    event = json.loads(here.rows("trajectories")[1]["event"])
    assert [entry["is_error"] for entry in event["answers"]] == [True, True, True]
    assert "MARK" not in event["answers"][0]["text"]


def test_a_refusal_is_no_zero_and_is_asked_again_when_told_to(here, endpoint):
    endpoint.turns = (WRITES[0], REFUSED)
    assert run_here(here.folder, *reports(endpoint, *ONE)) == 4
    brief = one(here, "briefs")
    assert (brief["status"], brief["text"], brief["report"]) == ("refused", None, None)
    assert "content filter" in brief["detail"]
    facts = one(here, "reports")
    assert (facts["status"], facts["ended"], facts["n_calls"], facts["words"]) == (
        "refused",
        "refused",
        2,
        None,
    )
    assert {(row["status"], row["passed"]) for row in here.rows("verdicts")} == {("refused", None)}
    score = one(here, "scores")
    assert (score["score"], score["score_clamped"], score["n_refused"]) == (None, None, 4)
    (row,) = here.board()
    assert (row["score"], row["n_refused"], row["n_ungraded"]) == (None, 1, 4)
    assert (row["score_low"], row["score_high"]) == (0, 1)
    assert len(endpoint.billed) == 2  # no judge is asked
    assert len(here.rows("trajectories")) == 3
    assert run_here(here.folder, *reports(endpoint, *ONE)) == 4
    assert len(endpoint.billed) == 2
    endpoint.turns = WRITES
    assert run_here(here.folder, *reports(endpoint, *ONE, "retry=refused")) == 0
    assert len(endpoint.billed) == 2 + 4 + 1  # the reply that was refused, those after it, the judge
    assert here.board()[0]["score"] == pytest.approx(3 / 5)


def test_a_report_that_is_there_when_the_model_refuses_is_graded(here, endpoint):
    endpoint.turns = (*WRITES[:4], REFUSED)
    assert run_here(here.folder, *reports(endpoint, *ONE)) == 0
    brief, facts = one(here, "briefs"), one(here, "reports")
    assert (brief["status"], brief["text"]) == ("written", TEXT)
    assert (facts["ended"], facts["n_calls"]) == ("refused", 5)
    (row,) = here.board()
    assert (row["score"], row["n_refused"], row["n_all_met"]) == (pytest.approx(3 / 5), 0, 0)
    endpoint.turns = WRITES
    paid = len(endpoint.billed)
    assert run_here(here.folder, *reports(endpoint, *ONE, "retry=refused")) == 0
    assert len(endpoint.billed) == paid + 1
    assert one(here, "reports")["ended"] == "finished"
