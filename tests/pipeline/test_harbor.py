"""A job of Harbor as our tables, beside what is our own and never pooled with it."""

import hashlib

import docx
import pytest

from flows.adapters.pages import Rendered
from flows.adapters.screen import Screen
from flows.adapters.tables import BRIEFS, SCORES, VERDICTS, read_table, table_files
from flows.common.errors import ConfigError
from flows.pipeline.harbor.jobs.imported import import_job
from flows.pipeline.harbor.submitted import open_report
from flows.pipeline.native import renders
from flows.schema.report_task import ReportStatus
from tests.support.harbor_trees import FIXTURES, GOOD, REPORT, copy_job, edit

GOOD_TEXT = "Two pallets are delayed to 21 May; the cause is not yet known. Four of six pallets arrived."


@pytest.fixture(autouse=True)
def _one_page(monkeypatch):
    monkeypatch.setattr(renders, "render", lambda path, *, images=0: Rendered(1, (), None, "Office"))


@pytest.fixture
def job(tmp_path):
    return copy_job("0.25.0", tmp_path)


@pytest.fixture
def imported(project, tmp_path):
    """Imports a job and gives its exit code and its tables: kind to (rows, about)."""

    def run(job):
        results = tmp_path / "results"
        code = import_job(project, [f"results={results}"], job, Screen())
        schemas = {"briefs": BRIEFS, "verdicts": VERDICTS, "scores": SCORES}
        folder = results / "mission_report"
        tables = {
            kind: [read_table(path, schema) for path in table_files(folder / kind)]
            for kind, schema in schemas.items()
        }
        return code, tables

    return run


def test_attempts_become_briefs(imported, job):
    code, tables = imported(job)
    assert code == 4  # an attempt has no score
    ((rows, about),) = tables["briefs"]
    assert [(r["scenario_id"], r["seed"], r["status"], r["text"], r["words_raw"]) for r in rows] == [
        ("memo-01", 1, "written", GOOD_TEXT, 18),
        ("memo-01", 2, "corrupt", None, None),
        ("memo-01", 3, "missing", None, None),
        ("memo-01", 4, "written", "Two pallets are delayed. JUDGEDOWN", 5),
        (
            "memo-02",
            1,
            "written",
            "Four of six pallets arrived. Two pallets are delayed to 21 May. The team had lunch at noon.",
            18,
        ),
        ("memo-02", 2, "empty", "", 0),
        ("memo-02", 3, "missing", None, None),
        ("memo-02", 4, "written", GOOD_TEXT, 18),
    ]
    assert [r["detail"] for r in rows if r["text"] is None] == [
        "corrupt: PackageNotFoundError, by the verifier's check",
        "missing: by the verifier's check",
        "missing: Harbor could not collect report.docx (failed)",
    ]
    heads = {(r["harness"], r["model"], r["effort"], r["benchmark"], r["word_cap"]) for r in rows}
    assert heads == {("harbor", "fake/model-1", "default", "mission_report", None)}
    assert {r["word_counter"] for r in rows} == {"r1/w1"}
    assert about["condition"]["harness"] == "harbor"
    assert about["harbor"]["version"] == "0.25.0"
    assert about["harbor"]["means"]["job"] == 0.275
    assert about["harbor"]["tasks"]["memo-01"]["name"] == "demo/memo-01"
    assert about["harbor"]["criteria"]["memo-02"] == [
        ["c1", 3.0, False, ""],
        ["c2", 2.0, False, ""],
        ["p1", -2.0, True, ""],
    ]


def test_criteria_become_verdicts(imported, job):
    _, tables = imported(job)
    ((rows, about),) = tables["verdicts"]
    found = {(r["scenario_id"], r["seed"], r["item_id"]): (r["status"], r["passed"], r["mode"]) for r in rows}
    good = {"c1": ("graded", True, None), "c2": ("graded", True, None), "p1": ("graded", True, None)}
    partial = {
        "c1": ("graded", True, None),
        "c2": ("graded", False, None),
        "p1": ("graded", False, "committed"),
    }
    # The verifier failed on memo-01's fourth attempt: its items are errors, not failures.
    failed = dict.fromkeys(("c1", "c2", "p1"), ("error", None, None))
    assert found == {
        (task, seed, item): verdict
        for task, seed, verdicts in (
            ("memo-01", 1, good),
            ("memo-01", 4, failed),
            ("memo-02", 1, partial),
            ("memo-02", 4, good),
        )
        for item, verdict in verdicts.items()
    }
    assert {(r["step"], r["tier"], r["severity"]) for r in rows} == {(None, None, None)}
    assert {(r["item_id"], r["points"]) for r in rows} == {("c1", 3.0), ("c2", 2.0), ("p1", -2.0)}
    judge = about["judge"]
    assert (judge["name"], judge["is_stand_in"], about["rubrics"]) == ("offline/keyword", False, {})


def test_rewards_become_scores(imported, job):
    _, tables = imported(job)
    ((rows, _),) = tables["scores"]
    keys = ("score", "score_clamped", "score_low", "score_high", "correct", "passed", "wrong")
    counts = ("n_items", "n_graded", "n_error")
    unjudged_zero = (0.0, 0.0, 0.0, 0.0, None, None, None, 0, 0, 0)
    assert {(r["scenario_id"], r["seed"]): tuple(r[k] for k in (*keys, *counts)) for r in rows} == {
        ("memo-01", 1): (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0, 3, 3, 0),
        ("memo-01", 2): unjudged_zero,
        ("memo-01", 3): unjudged_zero,
        ("memo-01", 4): (None, None, 0.0, 1.0, None, None, None, 3, 0, 3),
        # One of three items, one of two requirements, one wrong move.
        ("memo-02", 1): (0.2, 0.2, 0.2, 0.2, 1 / 3, 0.5, 1, 3, 3, 0),
        ("memo-02", 2): unjudged_zero,
        ("memo-02", 3): unjudged_zero,
        ("memo-02", 4): (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0, 3, 3, 0),
    }
    assert {r["scoring"] for r in rows} == {"harbor_reward"}


def test_importing_again_writes_the_same_bytes(imported, job, tmp_path):
    def digests():
        return {
            path.relative_to(tmp_path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in table_files(tmp_path / "results")
        }

    imported(job)
    first = digests()
    assert len(first) == 4  # briefs, reports, verdicts, scores
    moved = tmp_path / "elsewhere" / job.name
    moved.parent.mkdir()
    job.rename(moved)
    imported(moved)
    assert digests() == first


def test_two_jobs_are_two_conditions(imported, job, tmp_path):
    imported(job)
    _, tables = imported(copy_job("0.26.0", tmp_path))
    conditions = [about["condition"] for _, about in tables["briefs"]]
    assert [c["label"].rsplit("-", 1)[0] for c in conditions] == [
        "harbor-0.25.0-scripted-fake_model-1-default",
        "harbor-0.26.0-scripted-fake_model-1-default",
    ]
    assert len({c["digest"] for c in conditions}) == 2


def test_the_same_job_again_under_another_id_is_another_condition(imported, job):
    imported(job)
    edit(job / "result.json", lambda result: result.update(id="00000000-0000-0000-0000-000000000000"))
    _, tables = imported(job)
    assert len(tables["scores"]) == 2


def test_a_verdict_without_yes_or_no_is_unparsed(imported, job):
    def undecide(judgment):
        judgment["criteria"][0]["met"] = None
        del judgment["criteria"][2]["points"]

    edit(job / GOOD / "verifier" / "judgment.json", undecide)
    _, tables = imported(job)
    rows = [r for r in tables["verdicts"][0][0] if (r["scenario_id"], r["seed"]) == ("memo-02", 4)]
    assert [(r["item_id"], r["status"], r["passed"], r["reason"]) for r in rows] == [
        ("c1", "unparsed", None, "met is None"),
        ("c2", "graded", True, "keyword judge"),
        ("p1", "unparsed", None, "met is False; keyword judge"),
    ]
    score = next(r for r in tables["scores"][0][0] if (r["scenario_id"], r["seed"]) == ("memo-02", 4))
    assert (score["score"], score["correct"], score["n_unparsed"]) == (1.0, None, 2)


def test_a_refusal_is_a_refused_brief(imported, job):
    def refuse(result):
        result["exception_info"].update(exception_type="AgentSafetyRefusalError", exception_message="no")

    edit(job / "memo-02__MrbpFSY" / "result.json", refuse)
    _, tables = imported(job)
    brief = next(r for r in tables["briefs"][0][0] if (r["scenario_id"], r["seed"]) == ("memo-02", 3))
    assert (brief["status"], brief["text"]) == ("refused", None)
    assert brief["detail"].startswith("AgentSafetyRefusalError: no; missing: ")
    # As an attempt of our own: no score, and no zero.
    score = next(r for r in tables["scores"][0][0] if (r["scenario_id"], r["seed"]) == ("memo-02", 3))
    assert (score["score"], score["brief_status"]) == (None, "refused")
    assert score["n_refused"] == score["n_items"] > 0


def test_what_was_handed_in_is_opened(tmp_path):
    source = FIXTURES / "scripted-0.25.0"
    good = open_report("memo-02", 4, source / GOOD / REPORT)
    assert (good.brief.text, good.brief.words_raw, good.brief.brief_id) == (GOOD_TEXT, 18, "memo-02/4")
    empty = open_report("memo-02", 2, source / "memo-02__VaipWbk" / REPORT)
    assert (empty.status, empty.brief) == (ReportStatus.empty, None)
    corrupt = open_report("memo-01", 2, source / "memo-01__Z43SFr4" / "steps/answer" / REPORT)
    assert (corrupt.status, corrupt.brief) == (ReportStatus.corrupt, None)
    assert corrupt.detail == "the reader refuses it: no Office file inside (File is not a zip file)"
    only_a_table = docx.Document()
    only_a_table.add_table(1, 1).cell(0, 0).text = "Four of six"
    only_a_table.save(str(tmp_path / "report.docx"))
    table = open_report("memo-01", 1, tmp_path / "report.docx")
    assert (table.status, table.brief.words_raw) == (ReportStatus.readable, 3)


def test_another_benchmark_than_the_jobs_is_refused(project, job, tmp_path):
    words = ["benchmark=smoke", f"results={tmp_path / 'results'}"]
    with pytest.raises(ConfigError, match="benchmark=smoke: the job's attempts are of mission_report"):
        import_job(project, words, job, Screen())
    assert not (tmp_path / "results").exists()


def test_an_unknown_override_is_refused_and_nothing_is_written(project, job, tmp_path):
    with pytest.raises(ConfigError):
        import_job(project, [f"results={tmp_path / 'results'}", "no_such_key=1"], job, Screen())
    assert not (tmp_path / "results").exists()


def test_a_fault_of_the_project_is_named_before_anything_is_read(project, tmp_path):
    with pytest.raises(ConfigError, match="no_such_key"):
        import_job(project, ["no_such_key=1"], tmp_path / "nowhere", Screen())
