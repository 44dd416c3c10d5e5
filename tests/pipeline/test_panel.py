"""Several judges as one: whole runs of panels."""

import re

import pytest

from flows.adapters.screen import Screen
from flows.pipeline.commands.agreement import agreement
from flows.pipeline.commands.planning.plan import plan
from flows.pipeline.commands.report import report
from tests.pipeline.panel_support import failing, verdicts
from tests.support.bench import Project, answer, remote
from tests.support.plain_flow import run_here, without_prefect
from tests.support.scripted_server import Say, ScriptedServer, Status


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    without_prefect(monkeypatch)
    monkeypatch.setenv("COLUMNS", "200")  # room for tables of long names of judges
    bench = Project(tmp_path, project / "conf", {})
    (tmp_path / "data" / "judge_pairs").symlink_to(project / "data" / "judge_pairs")
    return bench


def panel(server, *names, more=()):
    """Overrides for a writer and a panel of judges behind `server`."""
    places = ("first", "second", "third")
    own = [override for override in remote(server) if not override.startswith("judge")]
    own += ["judge=panel", "seeds=1", "benchmark.scenarios=[alder]"]
    for place, name in zip(places, names, strict=False):
        key = f"judge.members.{place}"
        if name == "offline":
            own.append(f"{key}=offline")
        else:
            own += [f"{key}=openai_compatible", f"{key}.name={name}", f"{key}.api_base={server.base}"]
    own += [f"~judge.members.{place}" for place in places[len(names) :]]
    return [*own, *more]


def rows_by_judge(project):
    return {row["judge"]: row for row in project.board()}


def test_a_panel_is_the_majority_and_each_member_has_rows_of_its_own(here, capsys):
    def script(call):
        if call.body["model"] == "judge-a":
            return failing(call, "bridge")
        if call.body["model"] == "judge-b":
            return failing(call, "strength", "cholera")
        return answer(call)  # states the strength and no more

    with ScriptedServer(script) as server:
        assert run_here(here.folder, *panel(server, "judge-a", "judge-b", "offline")) == 0
        assert len(server.billed) == 3  # a writer and two judges: the panel asks nobody again
    rows = rows_by_judge(here)
    assert {name: row["score"] for name, row in rows.items()} == pytest.approx({
        "judge-a": 9 / 14.5,
        "judge-b": (5.5 - 9) / 14.5,
        "offline": 9 / 14.5,
        "panel": 9 / 14.5,
    })  # fmt: skip
    passed, reasons = verdicts(here, "panel")
    assert passed == {"strength": True, "bridge": False, "cholera": True}
    assert rows["offline"]["wrong"] is None  # it judges no wrong move
    assert "no verdict from offline (abstained)" in reasons["cholera"]
    told = re.sub(r"-medium-failed_only-v1-\w{8}", "", reasons["bridge"])
    assert told.startswith("Passed by judge-b; failed by judge-a, offline. judge-a on bridge")
    assert rows["panel"]["judge_id"].startswith("panel-v1-")
    notes = (here.results / "ma_bench" / "leaderboard.md").read_text(encoding="utf-8")
    assert re.search(r"Judge panel-v1-\w{8} is the majority of judge-a\S+, judge-b\S+, offline\.", notes)
    assert report(here.folder, [], Screen()) == 0
    assert (here.results / "ma_bench" / "site" / "index.html").is_file()
    capsys.readouterr()
    assert agreement(here.folder, [], Screen()) == 0
    table = capsys.readouterr().out.replace("│", " ")
    # Of three items a and b agree on none: with 2 and 1 passed, p_o is 0, p_e is 2/3 * 1/3 + 1/3 * 2/3 = 4/9,
    # and kappa (0 - 4/9) / (1 - 4/9) = -0.8. The stand-in abstains from the wrong move; of the other two, b
    # and it pass one each and agree on none.
    numbers = r"(\d) +(\d) +(\S+) +(\S+)"
    found = re.findall(rf"(judge-\w|offline)\S* +(judge-\w|offline|panel)\S* +{numbers}", table)
    assert found == [
        ("judge-a", "judge-b", "3", "0", "0.00", "-0.80"),
        ("judge-a", "offline", "2", "1", "1.00", "1.00"),
        ("judge-a", "panel", "3", "0", "1.00", "1.00"),
        ("judge-b", "offline", "2", "1", "0.00", "-1.00"),
        ("judge-b", "panel", "3", "0", "0.00", "-0.80"),
        ("offline", "panel", "2", "1", "1.00", "1.00"),
    ]  # fmt: skip


def test_a_member_that_fails_is_left_out_and_asked_again(here):
    broken = True

    def script(call):
        if call.body["model"] == "judge-b" and broken:
            return Status(500)
        return answer(call)

    with ScriptedServer(script) as server:
        overrides = panel(server, "judge-a", "judge-b", "judge-c", more=["runner.max_attempts=2"])
        assert run_here(here.folder, *overrides) == 4  # the member's own row has no verdicts
        rows = rows_by_judge(here)
        assert (rows["judge-b"]["n_ungraded"], rows["panel"]["n_ungraded"]) == (3, 0)
        assert "no verdict from judge-b" in verdicts(here, "panel")[1]["bridge"]
        assert "(error)" in verdicts(here, "panel")[1]["bridge"]
        assert run_here(here.folder, *overrides, "judge.quorum=3") == 4
        strict = [row for row in here.board() if row["judge"] == "panel" and row["n_ungraded"] == 3]
        assert [row["score"] for row in strict] == [None]
        broken = False
        assert run_here(here.folder, *overrides) == 0
        assert "no verdict" not in verdicts(here, rows["panel"]["judge_id"])[1]["bridge"]


def test_of_two_members_that_differ_neither_requirement_nor_error_is_found(here):
    def script(call):
        return failing(call, "strength", "cholera") if call.body["model"] == "judge-b" else answer(call)

    with ScriptedServer(script) as server:
        assert run_here(here.folder, *panel(server, "judge-a", "judge-b")) == 0
    passed, reasons = verdicts(here, "panel")
    assert passed == {"strength": False, "bridge": True, "cholera": True}
    assert reasons["cholera"].startswith("Tied. ")
    assert rows_by_judge(here)["panel"]["score"] == pytest.approx(5.5 / 14.5)


def test_a_panel_with_the_writer_in_it_needs_leave_and_is_marked(here):
    with ScriptedServer(answer) as server:
        overrides = panel(server, "judge-a", "writer-1")
        with pytest.raises(Exception, match="writer-1 would grade its own briefs"):
            run_here(here.folder, *overrides)
        assert server.calls == []

        def script(call):
            return answer(call) if "<brief>" not in call.prompt else failing(call)

        server.script = script
        assert run_here(here.folder, *overrides, "judge.allow_self=true") == 0
    marked = {name: row["self_judged"] for name, row in rows_by_judge(here).items()}
    assert marked == {"judge-a": False, "writer-1": True, "panel": True}


def test_a_plan_counts_the_calls_of_members_and_repeats_once(here, capsys):
    with ScriptedServer(answer) as server:
        overrides = panel(server, "judge-a", "judge-b", "offline", more=["model=strong", "judge.repeat=3"])
        overrides = [word for word in overrides if not word.startswith(("model.", "model=openai"))]
        assert plan(here.folder, overrides, multirun=False, screen=Screen()) == 0
        before = capsys.readouterr().out.replace("│", " ")
        assert run_here(here.folder, *overrides) == 0
        assert len(server.billed) == 2 * 3
        capsys.readouterr()
        assert plan(here.folder, overrides, multirun=False, screen=Screen()) == 0
        after = capsys.readouterr().out.replace("│", " ")
    # Members first, then the panel, which asks nobody itself; the last row sums them up, with the brief once.
    row = r"1 +none +(none|\d of \d) "
    assert re.findall(row, before) == ["3 of 3", "3 of 3", "none", "none", "6 of 6"]
    assert re.findall(row, after) == ["0 of 3", "0 of 3", "none", "none", "0 of 6"]


def test_prefect_skips_a_panel_that_is_done_and_not_one_with_a_failed_member(bench):
    broken = True

    def script(call):
        return Status(500) if call.body["model"] == "judge-b" and broken else answer(call)

    with ScriptedServer(script) as server:
        overrides = panel(server, "judge-a", "judge-b", "offline", more=["runner.max_attempts=2"])
        first = bench("run", *overrides)
        assert first.code == 4, first.err
        assert rows_by_judge(bench)["panel"]["n_ungraded"] == 1  # the stand-in abstains from a wrong move
        broken = False
        again = bench("run", *overrides)
        assert (again.code, again.paid) == (0, 1), again.err
        assert "no verdict" not in verdicts(bench, "panel")[1]["bridge"]
        third = bench("run", *overrides)
        assert (third.code, third.paid, third.replayed) == (0, 0, 0)
        assert third.stages[0] == third.stages[1]


def test_a_member_and_its_panel_ask_again_together_for_what_was_unparsed(tmp_path, project, monkeypatch):
    without_prefect(monkeypatch)
    here, broken = Project(tmp_path, project / "conf", {}), True

    def script(call):
        return Say("hm") if broken and call.body["model"] == "judge-1" else answer(call)

    def paid():
        before = len(server.billed)
        code = run_here(tmp_path, *words)
        return code, len(server.billed) - before, {row["judge"]: row["n_ungraded"] for row in here.board()}

    with ScriptedServer(script) as server:
        words = ["model=strong", "judge=panel", "judge.members.third=offline", "seeds=2", "tracking=none"]
        for place, name in (("first", "judge-1"), ("second", "judge-2")):
            member = f"judge.members.{place}"
            words += [f"{member}=openai_compatible", f"{member}.name={name}"]
            words += [f"{member}.api_base={server.base}", f"{member}.max_attempts=2"]
        none = {"judge-2": 0, "offline": 0, "panel": 0}
        # Two of three are a majority, but on the wrong moves of four briefs the stand-in abstains.
        assert paid() == (4, 2 * 2 + 2, {**none, "judge-1": 12, "panel": 4})
        assert paid() == (4, 2 * 2, {**none, "judge-1": 12, "panel": 4})
        broken = False
        assert paid() == (0, 2, {**none, "judge-1": 0})
        assert paid() == (0, 0, {**none, "judge-1": 0})
