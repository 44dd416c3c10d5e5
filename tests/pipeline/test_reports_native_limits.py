"""Reports by a model that meets a limit, a fault or a budget, and settings that can not be run."""

import pytest

from flows.adapters.screen import Screen
from flows.common.errors import ReadError, StaffbenchError
from flows.pipeline.commands.report import report
from flows.pipeline.inputs.submission_check import check_report
from flows.pipeline.work import reports as reports_module
from tests.pipeline.test_reports_native import ONE, TEXT, WRITES, bodies, one
from tests.pipeline.test_reports_native import endpoint as _endpoint
from tests.pipeline.test_reports_native import here as _here
from tests.support.plain_flow import run_here
from tests.support.report_bench import with_memory
from tests.support.report_endpoint import COUNTED, answer, reports
from tests.support.scripted_server import Say, ScriptedServer, Status

endpoint, here = _endpoint, _here


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("harness.max_steps=3", ("limit: steps", 3, f"{TEXT}\n\nEnd of report", 10, 3 / 5)),
        ("harness.max_tokens=330", ("limit: tokens", 3, f"{TEXT}\n\nEnd of report", 10, 3 / 5)),
        ("harness.max_steps=1", ("limit: steps", 1, None, None, 0)),
    ],
)
def test_what_is_there_when_a_limit_is_reached_counts(here, endpoint, limit, expected):
    ended, n_calls, text, words, score = expected
    assert run_here(here.folder, *reports(endpoint, *ONE, limit)) == 0
    brief, facts = one(here, "briefs"), one(here, "reports")
    status = "missing" if text is None else "written"
    assert (brief["status"], brief["text"], brief["words_raw"]) == (status, text, words)
    assert (facts["ended"], facts["n_calls"], facts["words"]) == (ended, n_calls, words)
    assert len(endpoint.written) == n_calls
    assert len(endpoint.billed) == n_calls + (text is not None)
    (row,) = here.board()
    assert row["score"] == pytest.approx(score)
    assert row["n_at_limit"] == 1


def test_a_model_that_stops_without_a_report_is_told_once_and_scores_zero(here, endpoint):
    endpoint.turns = (Say("I would rather not.", usage=COUNTED),)
    assert run_here(here.folder, *reports(endpoint, *ONE)) == 0
    assert len(endpoint.billed) == 2
    assert "There is no outputs/report.docx yet" in endpoint.calls[1].body["messages"][-1]["content"]
    assert one(here, "briefs")["status"] == "missing"
    assert one(here, "scores")["score"] == 0
    assert here.board()[0]["n_refused"] == 0
    # What it said instead is what one wants to read.
    assert report(here.folder, ["benchmark=mission_report"], Screen()) == 0
    (page,) = (here.own / "site" / "attempts").rglob("*.html")
    assert "I would rather not." in page.read_text()
    (brief,) = (here.own / "site").glob("writer-1-*/judge-*/memo-01-1.html")
    assert "calls of the model: 2" in brief.read_text()


def test_an_endpoint_that_breaks_is_an_error_and_the_same_command_goes_on(here, endpoint, monkeypatch):
    made = with_memory(monkeypatch)
    endpoint.turns = (*WRITES[:3], Status(500, "broken"))
    overrides = reports(endpoint, *ONE, "runner.max_attempts=2")
    assert run_here(here.folder, *overrides) == 4
    assert (len(endpoint.billed), len(endpoint.calls)) == (3, 5)
    brief = one(here, "briefs")
    assert (brief["status"], brief["text"]) == ("error", None)
    assert brief["detail"].startswith("http 500: broken")
    assert {(row["status"], row["passed"]) for row in here.rows("verdicts")} == {("error", None)}
    (row,) = here.board()
    assert (row["score"], row["n_error"], row["n_ungraded"], row["n_briefs"]) == (None, 1, 4, 0)
    endpoint.turns = WRITES
    made.clear()
    assert run_here(here.folder, *overrides) == 0
    assert made == ["generate", "truncate", "judge", "score", "aggregate"]
    assert len(endpoint.billed) == 3 + 2 + 1
    assert here.board()[0]["score"] == pytest.approx(3 / 5)
    made.clear()
    assert run_here(here.folder, *overrides) == 0
    assert (made, len(endpoint.billed)) == ([], 6)


def test_a_report_on_which_our_reader_fails_is_no_zero_and_stops_no_other(here, monkeypatch):
    made = with_memory(monkeypatch)

    def failing(path):
        read = check_report(path)
        if "Attempt 1" in read.text:
            raise ReadError(path, "the reader fails (KeyError: 'w')", "a file that both read")
        return read

    with ScriptedServer(answer) as server:
        overrides = reports(server, "benchmark.scenarios=[memo-01]", "seeds=2")
        monkeypatch.setattr(reports_module, "check_report", failing)
        assert run_here(here.folder, *overrides) == 4
        assert [(row["status"], row["text"] is None) for row in here.rows("briefs")] == [
            ("error", True),
            ("written", False),
        ]
        first, _ = here.rows("reports")
        assert first["detail"] == "the report can't be read here: the reader fails (KeyError: 'w')"
        assert (first["report"] is None, first["words"], first["pages"]) == (False, None, None)
        assert [row["score"] for row in here.rows("scores")] == [None, pytest.approx(3 / 5)]
        (row,) = here.board()
        assert (row["score"], row["n_error"], row["n_ungraded"]) == (pytest.approx(3 / 5), 1, 4)
        monkeypatch.setattr(reports_module, "check_report", check_report)
        made.clear()
        assert run_here(here.folder, *overrides) == 0
        assert made[0] == "truncate"
        assert set(bodies(server).values()) == {1}
        assert here.board()[0]["n_error"] == 0


def test_a_budget_stops_an_attempt_and_the_rest_is_paid_later(here, endpoint):
    assert run_here(here.folder, *reports(endpoint, *ONE, "budget.max_calls=3")) == 3
    assert len(endpoint.billed) == 3
    assert not here.rows("briefs")
    assert run_here(here.folder, *reports(endpoint, *ONE)) == 0
    assert len(endpoint.billed) == 6
    assert set(bodies(endpoint).values()) == {1}


def test_another_limit_is_another_condition(here, endpoint):
    for limit in ("harness.max_steps=3", "harness.max_steps=4", "model.takes_images=true"):
        assert run_here(here.folder, *reports(endpoint, *ONE, limit)) == 0
    assert len({row["condition"] for row in here.board()}) == 3
    offered = [tool["function"]["name"] for tool in endpoint.written[-1].body["tools"]]
    assert "view_page" in offered
    # Four of the second condition's replies are the first one's, or one more; with images each is another.
    assert len(endpoint.written) == 3 + 1 + 5


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("model.takes_tools=false", "takes no tools"),
        ("runner=batch", r"runner.batch: .*each waiting"),
        ("harness.max_steps=0", "more than 0"),
        ("harness.max_steps=null", "a number"),
    ],
)
def test_what_can_not_be_run_is_said_before_anybody_is_called(here, endpoint, override, said):
    with pytest.raises(StaffbenchError, match=said):
        run_here(here.folder, *reports(endpoint, *ONE, override))
    assert endpoint.calls == []


def test_a_prompt_of_the_other_protocol_is_refused_before_anybody_is_called(here, endpoint):
    with pytest.raises(StaffbenchError, match=r"prompt=v0: says nothing .*report_v1"):
        run_here(here.folder, *reports(endpoint, *ONE, "prompt=v0"))
    with pytest.raises(StaffbenchError, match=r"judge_prompt=v1: .*expert's report.*report_v1"):
        run_here(here.folder, *reports(endpoint, *ONE, "judge_prompt=v1"))
    with pytest.raises(StaffbenchError, match=r"judge_prompt=report_v1: .*v1"):
        run_here(here.folder, *reports(endpoint)[1:], "judge_prompt=report_v1")
    assert endpoint.calls == []
