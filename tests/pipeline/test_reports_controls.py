"""Reports that need no model: what each control scores, what its tables say, and that nobody is asked."""

import io
import zipfile

import pytest

from flows.adapters.pages import render
from flows.common.errors import StaffbenchError
from flows.pipeline.native import renders
from tests.support.plain_flow import run_here
from tests.support.report_bench import NO_OFFICE, a_report, expert, project_here, sweep_here, with_memory
from tests.support.report_endpoint import judged, verdicts
from tests.support.scripted_server import ScriptedServer

ONE = "benchmark=mission_report", "benchmark.scenarios=[memo-01]"


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    return project_here(tmp_path, project / "conf", monkeypatch)


def scores(bench, condition=""):
    """Score by model's condition, task and attempt: unclamped, and as it counts."""
    return {
        (row["condition"].partition("-")[0], row["scenario_id"], row["seed"]): (
            row["brief_status"],
            row["score"],
            row["score_clamped"],
        )
        for row in bench.rows("scores", condition)
    }


@pytest.mark.slow
def test_on_the_projects_own_tasks_the_expert_scores_one_and_nothing_scores_zero(tmp_path, project, here):
    (tmp_path / "own" / "data").mkdir(parents=True)
    (tmp_path / "own" / "conf").symlink_to(project / "conf")
    (tmp_path / "own" / "data" / "mission_report").symlink_to(project / "data" / "mission_report")
    models = "model=oracle,empty,absent,corrupt"
    assert sweep_here(tmp_path / "own", "benchmark=mission_report", "seeds=1", models) == 0
    here.own = tmp_path / "own" / "results" / "mission_report"
    tasks = [
        *("sb-aar-01", "sb-aar-04", "sb-ins-01", "sb-par-01", "sb-par-02"),
        *("sb-psr-01", "sb-psr-02", "sb-sit-01", "sb-war-02", "sb-war-08"),
    ]
    of = {
        "oracle": ("written", 1),
        "empty": ("empty", 0),
        "absent": ("missing", 0),
        "corrupt": ("corrupt", 0),
    }
    assert scores(here) == {
        (model, task, 1): (status, score, score) for model, (status, score) in of.items() for task in tasks
    }
    board = {row["model"]: row for row in here.board()}
    assert {model: row["score"] for model, row in board.items()} == {m: s for m, (_, s) in of.items()}
    assert {(r["n_scenarios"], r["n_briefs"], r["n_ungraded"], r["harness"]) for r in board.values()} == {
        (10, 10, 0, "native")
    }
    assert board["empty"]["n_empty"] == 10
    # By the specification's table, the criteria of its tasks' counterparts are 23, 18, 16, 27 and 13.
    per_task = {}
    for row in here.rows("verdicts", "oracle"):
        per_task.setdefault(row["scenario_id"], []).append(row["points"])
    assert {task: (len(points), sum(p < 0 for p in points)) for task, points in per_task.items()} == {
        "sb-aar-01": (16, 3),
        "sb-aar-04": (27, 3),
        "sb-ins-01": (23, 3),
        "sb-par-01": (24, 4),
        "sb-par-02": (24, 4),
        "sb-psr-01": (13, 2),
        "sb-psr-02": (24, 4),
        "sb-sit-01": (25, 3),
        "sb-war-02": (23, 4),
        "sb-war-08": (18, 2),
    }
    lines = (here.own / "tasks.md").read_text().splitlines()
    (war,) = [line for line in lines if line.startswith("| sb-war-02")]
    assert [cell.strip() for cell in war.strip("|").split("|")][5:8] == ["200 words", "1", "23 (4)"]
    assert lines[2].endswith("| published mean | oracle | absent | corrupt | empty |")
    assert war.endswith("| - | 1.000 | 0.000 | 0.000 | 0.000 |")


def test_each_control_leaves_its_status_and_why_in_every_table(here):
    assert sweep_here(here.folder, "benchmark=mission_report", "model=oracle,empty,absent,corrupt") == 0
    head = {"oracle": "oracle-default-none-report_v1"}
    briefs = {(row["model"], row["scenario_id"], row["seed"]): row for row in here.rows("briefs")}
    assert len(briefs) == 4 * 2 * 3
    found = {model: briefs[model, "memo-01", 2] for model in ("oracle", "empty", "absent", "corrupt")}
    assert found["oracle"]["condition"] == head["oracle"]
    assert {model: (row["status"], row["text"], row["words_raw"]) for model, row in found.items()} == {
        "oracle": ("written", expert("memo-01"), 12),
        "empty": ("empty", "", 0),
        "absent": ("missing", None, None),
        "corrupt": ("corrupt", None, None),
    }
    reasons = {model: row["detail"] for model, row in found.items()}
    assert reasons["oracle"] == ""
    assert reasons["empty"].startswith("no word in its body, tables, text boxes")
    assert reasons["absent"] == "nothing was handed in"
    assert reasons["corrupt"].startswith("the reader refuses it: ")
    facts = {row["condition"].partition("-")[0]: row for row in here.rows("reports", "") if row["seed"] == 2}
    keys = ("status", "ended", "n_calls", "words", "word_limit", "pages", "renderer")
    assert {model: tuple(row[key] for key in keys) for model, row in facts.items()} == {
        "oracle": ("written", "finished", 0, 12, 20, 1, "1 page (Office; None)"),
        "empty": ("empty", "finished", 0, None, 20, None, None),
        "absent": ("missing", "finished", 0, None, 20, None, None),
        "corrupt": ("corrupt", "finished", 0, None, 20, None, None),
    }
    assert {model: row["report"] is None for model, row in facts.items()} == {
        "oracle": False, "empty": False, "absent": True, "corrupt": False,
    }  # fmt: skip
    for model in ("empty", "absent", "corrupt"):
        of_one = [row for row in here.rows("verdicts", model) if row["seed"] == 1][:4]
        assert [
            (row["item_id"], row["points"], row["status"], row["passed"], row["mode"]) for row in of_one
        ] == [
            ("C1", 3, "graded", False, "omission"),
            ("C2", 2, "graded", False, "omission"),
            ("P1", -2, "abstained", None, None),  # the stand-in gives no verdict on penalties
            ("P2", -4, "abstained", None, None),
        ]
        status = found[model]["status"]
        assert {row["reason"] for row in of_one[:2]} == {f"{status} report: {reasons[model]}"}
    assert {key: value for key, value in scores(here).items() if key[1:] == ("memo-02", 3)} == {
        ("oracle", "memo-02", 3): ("written", 1, 1),
        ("empty", "memo-02", 3): ("empty", 0, 0),
        ("absent", "memo-02", 3): ("missing", 0, 0),
        ("corrupt", "memo-02", 3): ("corrupt", 0, 0),
    }


def test_nothing_is_paid_for_what_scores_zero_by_rule(here):
    with ScriptedServer(verdicts) as server:
        overrides = judged(server, "benchmark=mission_report")
        assert sweep_here(here.folder, *overrides, "model=empty,absent,corrupt") == 0
        assert server.calls == []
        assert {row["score"] for row in here.board()} == {0}
        assert sweep_here(here.folder, *overrides, "model=oracle,absent") == 0
        # Three attempts at each of two tasks are equal reports: each is asked about once.
        assert len(server.billed) == 2
    assert [row["score"] for row in here.board() if row["model"] == "oracle"] == [1]


def test_points_are_the_criterias_own_and_each_attempt_is_clamped(here):
    """Of five points: the first attempt keeps 3 - 2, the second loses 2 + 4, the third all of them."""
    failed = {"one": ["C2", "P1"], "two": ["C1", "C2", "P1", "P2"], "six": []}
    for number, word in enumerate(failed, 1):
        folder = here.folder / "mine" / "memo-01"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.docx").write_bytes(a_report(f"Report {word}."))

    def script(call):
        (word,) = [word for word in failed if f"Report {word}." in call.body["messages"][1]["content"]]
        return verdicts(call, *failed[word])

    with ScriptedServer(script) as server:
        overrides = [*ONE, *judged(server), "model=files", "model.folder=mine"]
        assert run_here(here.folder, *overrides) == 0
    rows = sorted(here.rows("scores"), key=lambda row: row["seed"])
    assert [row["score"] for row in rows] == pytest.approx([1 / 5, -6 / 5, 1])
    assert [row["score_clamped"] for row in rows] == pytest.approx([1 / 5, 0, 1])
    assert [row["wrong"] for row in rows] == [1, 2, 0]
    assert [(row["correct"], row["passed"]) for row in rows] == [(0.5, 0.5), (0, 0), (1, 1)]
    (row,) = here.board()
    assert row["score"] == pytest.approx((1 / 5 + 0 + 1) / 3)
    assert "| memo-01 |" in (here.own / "tasks.md").read_text()
    assert f"| {(1 / 5 + 1) / 3:.3f} |" in (here.own / "tasks.md").read_text()


def test_reports_that_lie_in_a_folder(here):
    folder = here.folder / "mine" / "memo-01"
    folder.mkdir(parents=True)
    (folder / "1.docx").write_bytes(a_report(expert("memo-01")))
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        with zipfile.ZipFile(io.BytesIO(a_report("x"))) as source:
            for name in source.namelist():
                if name != "word/document.xml":
                    archive.writestr(name, source.read(name))
        archive.writestr("word/document.xml", b" " * 100_000_000)
    (folder / "3.docx").write_bytes(bomb.getvalue())
    assert len(bomb.getvalue()) < 1_000_000
    assert run_here(here.folder, *ONE, "model=files", "model.folder=mine") == 0
    assert [(row["seed"], row["status"]) for row in here.rows("briefs")] == [
        (1, "written"),
        (2, "missing"),
        (3, "corrupt"),
    ]
    assert scores(here)["files", "memo-01", 1] == ("written", 1, 1)
    (row,) = here.board()
    assert row["score"] == pytest.approx(1 / 3)
    # The second task has no folder: that is no missing report, but a fault.
    before = here.tables()
    with pytest.raises(StaffbenchError, match=r"model\.folder: no folder .*memo-02"):
        run_here(here.folder, "benchmark=mission_report", "model=files", "model.folder=mine")
    assert here.tables() == before
    # Nor does it go by in silence.
    assert (row["n_missing"], row["n_corrupt"]) == (1, 1)


def test_a_report_in_another_format_is_no_missing_one(here, capsys):
    folder = here.folder / "mine" / "memo-01"
    folder.mkdir(parents=True)
    (folder / "1.pdf").write_bytes(b"%PDF-1.4")
    assert run_here(here.folder, *ONE, "seeds=1", "model=files", "model.folder=mine") == 1
    assert "1.pdf" in capsys.readouterr().err


def test_a_control_is_asked_for_by_name(here):
    assert run_here(here.folder, *ONE, "seeds=1", "model=fair") == 0
    (brief,) = here.rows("briefs")
    assert brief["text"] == "Route Amber is closed until 21 May."
    with pytest.raises(StaffbenchError, match="strong"):
        run_here(here.folder, *ONE, "model=strong")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["benchmark=mission_report", "scoring=severity"], r"scoring=severity: .*points"),
        (["benchmark=mission_report", "scoring=unweighted"], r"scoring=unweighted: .*points"),
        (["benchmark=mission_report", "word_cap=500"], r"word_cap=500: reports are judged whole.*none"),
        (["benchmark=mission_report", "harness=single_prompt"], r"harness=single_prompt: .*native"),
        (["scoring=points"], r"scoring=points: .*weights by severity"),
        (["harness=native"], r"harness=native: .*single_prompt"),
        (["model=absent"], r"model=absent: .*benchmark=mission_report"),
        (["model=corrupt"], r"model=corrupt: .*benchmark=mission_report"),
        (["model=oracle"], r"model=oracle: \S+ and \d others? have no such control; expected one of"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_sentence(here, overrides, said):
    with pytest.raises(StaffbenchError, match=said):
        run_here(here.folder, *overrides)
    assert not here.own.exists()
    assert not (here.results / "ma_bench").exists()


def test_weights_and_clamping_rerun_what_hangs_on_them_and_no_more(here, monkeypatch):
    """The first attempt loses four points of five, the other two are the expert's."""
    for number, text in enumerate([expert("memo-02"), *[expert("memo-01")] * 2], 1):
        folder = here.folder / "mine" / "memo-01"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.docx").write_bytes(a_report(text))
    made = with_memory(monkeypatch)

    def script(call):
        other = "Route Birch" in call.body["messages"][1]["content"]
        return verdicts(call, *(["C1", "C2", "P2"] if other else []))

    with ScriptedServer(script) as server:
        overrides = [*ONE, *judged(server), "model=files", "model.folder=mine"]
        assert run_here(here.folder, *overrides) == 0
        assert here.board()[0]["score"] == pytest.approx(2 / 3)
        made.clear()
        assert run_here(here.folder, *overrides, "scoring.clamped=false") == 0
        assert made == ["aggregate"]
        # Under a name of its own: it must not take the published scoring's place.
        (own,) = (path.stem for path in here.own.glob("leaderboard.points-*.json"))
        assert here.board(own)[0]["score"] == pytest.approx((-4 / 5 + 1 + 1) / 3)
        assert here.board()[0]["score"] == pytest.approx(2 / 3)
        made.clear()
        assert run_here(here.folder, *overrides, "scoring=equal_points") == 0
        assert made == ["score", "aggregate"]
        # One penalty of two triggered, nothing earned of two: below 0 either way.
        assert here.board("leaderboard.equal_points")[0]["score"] == pytest.approx(2 / 3)
        scores = here.rows("scores", "equal_points")
        assert [row["score"] for row in scores] == pytest.approx([-1 / 2, 1, 1])
        assert len(server.billed) == 2


def test_without_libreoffice_pages_are_unknown_and_not_zero(here, monkeypatch):
    monkeypatch.setattr(renders, "render", render)
    monkeypatch.setenv("PATH", NO_OFFICE["PATH"])
    assert run_here(here.folder, *ONE, "seeds=1", "model=oracle") == 0
    (facts,) = here.rows("reports")
    assert (facts["pages"], facts["renderer"]) == (
        None,
        "pages are not measured here: LibreOffice is not installed",
    )
    assert (facts["words"], facts["words_body"], facts["words_tables"], facts["page_limit"]) == (
        12,
        12,
        0,
        None,
    )
    assert here.board()[0]["score"] == 1
