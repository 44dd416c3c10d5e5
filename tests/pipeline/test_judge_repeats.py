"""One judge asked several times, and items with a known verdict: whole runs."""

import json
import re

import pyarrow.parquet as pq
import pytest

from flows.adapters.screen import Screen
from flows.pipeline.commands.agreement import agreement
from tests.pipeline.panel_support import failing, verdicts
from tests.support.bench import ITEM, Project, answer, remote
from tests.support.plain_flow import run_here, without_prefect
from tests.support.scripted_server import Say, ScriptedServer


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    without_prefect(monkeypatch)
    monkeypatch.setenv("COLUMNS", "200")  # room for tables of long names of judges
    bench = Project(tmp_path, project / "conf", {})
    (tmp_path / "data" / "judge_pairs").symlink_to(project / "data" / "judge_pairs")
    return bench


def test_a_judge_asked_three_times_gives_the_majority_and_its_own_noise(here, capsys):
    said = {1: ["bridge"], 2: [], 3: ["bridge", "strength"]}

    def script(call):
        if call.body["model"].startswith("judge"):
            return failing(call, *said[call.body["seed"]])
        return answer(call)

    with ScriptedServer(script) as server:
        overrides = remote(server, "seeds=2", "benchmark.scenarios=[alder]", "judge.repeat=3")
        assert run_here(here.folder, *overrides) == 0
        assert len(server.billed) == 2 + 2 * 3
    passed, reasons = verdicts(here, "judge-1")
    assert passed == {"strength": True, "bridge": False, "cholera": True}
    assert reasons["bridge"].startswith("Passed by repeat 2; failed by repeat 1, repeat 3. ")
    (path,) = (here.results / "ma_bench" / "repeats").rglob("*.parquet")
    kept = pq.read_table(path).to_pylist()
    assert len(kept) == 2 * 3 * 3
    assert [r["repeat"] for r in kept if r["item_id"] == "bridge" and r["passed"]] == [2, 2]
    # Of 6 items the repeats agree on the two of cholera: 1/3. Of each pair of repeats, by hand:
    # 1 and 2 differ on bridge: 4 of 6 agree, and repeat 2 never varies, so kappa is undefined.
    # 1 and 3: strength differs; p_o 4/6, p_e = 2/3 * 1/3 + 1/3 * 2/3 = 4/9, kappa = (2/9) / (5/9) = 0.4.
    (note,) = json.loads((here.results / "ma_bench" / "leaderboard.json").read_text())["judges"]
    own = note["self_agreement"]
    assert (own["n_repeats"], own["n"], own["n_ungraded"]) == (3, 6, 0)
    assert own["unanimous"] == pytest.approx(1 / 3)
    assert [pair["accuracy"] for pair in own["pairs"]] == pytest.approx([4 / 6, 4 / 6, 2 / 6])
    assert [pair["kappa"] for pair in own["pairs"]] == [None, pytest.approx(0.4), None]
    assert "Asked 3 times, of which the majority counts; every time the same verdict on 33.3% of 6 items" in (
        (here.results / "ma_bench" / "leaderboard.md").read_text(encoding="utf-8")
    )
    assert agreement(here.folder, [], Screen()) == 0
    assert re.search(
        r"repeat 1 against repeat 3 +6 +0 +0\.67 +0\.40", capsys.readouterr().out.replace("│", " ")
    )


def test_a_repeat_that_fails_is_no_vote(here):
    def script(call):
        if call.body["model"].startswith("judge") and call.body["seed"] != 2:
            return Say("no JSON")
        return answer(call)

    with ScriptedServer(script) as server:
        overrides = remote(server, "seeds=1", "benchmark.scenarios=[alder]", "judge.max_attempts=1")
        assert run_here(here.folder, *overrides, "judge.repeat=3") == 4
    passed, reasons = verdicts(here, "judge-1")
    assert set(passed.values()) == {None}
    assert reasons["cholera"] == (
        "fewer than 2 verdicts. Passed by repeat 2; no verdict from repeat 1 (unparsed), repeat 3 (unparsed)."
    )


@pytest.mark.parametrize(("misses", "paid", "code"), [(0, 2, 0), (1, 3, 0), (9, 4, 4)])
def test_a_reply_that_misses_a_canary_is_asked_again_and_counted(here, misses, paid, code):
    """The judge passes every requirement, the impossible one too, at its first `misses` replies."""
    asked = []

    def script(call):
        if not call.body["model"].startswith("judge"):
            return answer(call)
        asked.append(call.prompt)
        items = [item_id for item_id, _ in ITEM.findall(call.prompt)]
        assert len(items) == 5
        (impossible,) = re.findall(r'<item id="([^"]+)" kind="requirement">\n[^\n]*below 12 km', call.prompt)
        return failing(call) if len(asked) <= misses else failing(call, impossible)

    with ScriptedServer(script) as server:
        overrides = remote(server, "seeds=1", "benchmark.scenarios=[alder]", "judge.canaries=true")
        assert run_here(here.folder, *overrides) == code
        assert len(server.billed) == paid
    missed = min(misses, 3)
    if misses:
        assert (
            asked[1].removeprefix(asked[0]).count("go against the items' own pass and fail conditions") == 1
        )
    passed, _ = verdicts(here, "judge-1")
    assert passed == dict.fromkeys(["strength", "bridge", "cholera"], None if code else True)
    (path,) = (here.results / "ma_bench" / "verdicts").rglob("*.parquet")
    assert json.loads(pq.read_schema(path).metadata[b"staffbench"])["n_canary_missed"] == missed
    notes = (here.results / "ma_bench" / "leaderboard.md").read_text(encoding="utf-8")
    assert f"Replies rejected because of an item with a known verdict: {missed}." in notes
