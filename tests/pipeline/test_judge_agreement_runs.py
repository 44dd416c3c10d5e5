"""Whole runs of labelled controls: which of them a judge's figures count."""

import json
import shutil

import pytest

from flows.adapters.screen import Screen
from flows.pipeline.commands.report import report
from tests.support.bench import ITEM, Project, answer, remote
from tests.support.plain_flow import run_here, without_prefect
from tests.support.scripted_server import Say, ScriptedServer


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    """A project with presets of its own, which tests edit."""
    without_prefect(monkeypatch)
    bench = Project(tmp_path, project / "conf", {})
    (tmp_path / "conf").unlink()
    shutil.copytree(project / "conf", tmp_path / "conf")
    return bench


def judging(call):
    """A judge that sees through the weak control's strength and cholera, and never misses the bridge."""
    if not call.body["model"].startswith("judge"):
        return answer(call)
    modes = {"strength": "incorrect", "cholera": "committed"} if "99 soldiers" in call.prompt else {}
    failed = [{"id": name, "mode": mode, "reason": "r"} for name, mode in modes.items()]
    return Say(json.dumps({"items": len(ITEM.findall(call.prompt)), "failed": failed}))


def run_control(here, server, name, *more):
    writer = ("model=", "model.")
    own = [override for override in remote(server) if not override.startswith(writer)]
    assert run_here(here.folder, *own, f"model={name}", *more) == 0


def measured(here):
    """n, accuracy and kappa of each agreement under the leaderboard."""
    (note,) = json.loads((here.results / "ma_bench" / "leaderboard.json").read_text())["judges"]
    return [(one["n"], one["accuracy"], one["kappa"]) for one in note["agreements"]]


# Of weak, labelled failed throughout, the judge is right on two of three items in either scenario. Its
# labels never vary, so kappa is undefined.
ONLY_WEAK = [(6, pytest.approx(4 / 6), None)]

# With strong, right on all: labels pass 6 of 12, the judge 8. p_o is 10/12, p_e = 1/2 * 2/3 + 1/2 * 1/3
# = 1/2, kappa (10/12 - 1/2) / (1/2) = 2/3.
STRONG_AND_WEAK = [(12, pytest.approx(10 / 12), pytest.approx(2 / 3))]


def test_more_caps_of_the_controls_leave_a_judges_figures_as_they_are(here):
    with ScriptedServer(judging) as server:
        # Strong has 15 words and is cut, weak has 12 and is not.
        for name in ("strong", "weak"):
            run_control(here, server, name, "word_cap.words=12")
        assert measured(here) == ONLY_WEAK
        for cap in ("none", "250", "3000"):
            for name in ("strong", "weak"):
                run_control(here, server, name, f"word_cap={cap}")
            assert measured(here) == STRONG_AND_WEAK


def test_a_control_that_was_rewritten_counts_again_once_it_was_graded_again(here):
    with ScriptedServer(judging) as server:
        for name in ("strong", "weak"):
            run_control(here, server, name)
        assert measured(here) == STRONG_AND_WEAK
        for scenario, strength in (("alder", 412), ("birch", 730)):
            folder = here.folder / "data" / "ma_bench" / scenario / "controls"
            (folder / "strong.md").write_text(f"The relief column has {strength} soldiers.")
            labels = "item_id,strong,weak\nstrength,pass,fail\nbridge,fail,fail\ncholera,pass,fail\n"
            (folder / "labels.csv").write_text(labels)
        assert report(here.folder, [], Screen()) == 0
        assert measured(here) == ONLY_WEAK
        run_control(here, server, "strong")
    # It passes the bridge of strong, which no longer states it: right on two of three of either control.
    # Labels pass 4 of 12 and the judge 8, both pass 4: p_e = 1/3 * 2/3 + 2/3 * 1/3 = 4/9, kappa 2/5.
    assert measured(here) == [(12, pytest.approx(8 / 12), pytest.approx(2 / 5))]


def test_a_judge_whose_prompt_was_edited_is_told_from_the_one_before(here):
    conf = here.folder / "conf"
    with ScriptedServer(judging) as server:
        # A preset of one's own has the same label whatever its prompt says.
        preset = (conf / "judge" / "openai_compatible.yaml").read_text(encoding="utf-8")
        preset += f"label: mine\nname: judge-1\napi_base: {server.base}\n"
        (conf / "judge" / "mine.yaml").write_text(preset, encoding="utf-8")
        assert run_here(here.folder, "judge=mine", "model=strong") == 0
        path = conf / "judge_prompt" / "v1.yaml"
        text = path.read_text(encoding="utf-8")
        edited = text.replace("You grade a staff brief", "You grade one staff brief")
        assert edited != text
        path.write_text(edited, encoding="utf-8")
        assert run_here(here.folder, "judge=mine", "model=weak") == 0
    digests = {row["model"]: row["judge_digest"][:16] for row in here.board()}
    assert len(set(digests.values())) == 2
    assert {row["judge_id"] for row in here.board()} == {"mine-medium-failed_only-v1"}
    table = (here.results / "ma_bench" / "leaderboard.md").read_text(encoding="utf-8")
    for name, accuracy in (("strong", "1.00"), ("weak", "0.67")):
        phrase = (
            f"labelled controls (judge digest {digests[name]}): n 6, accuracy {accuracy}, kappa undefined"
        )
        assert phrase in table


def test_a_remote_writer_that_is_labelled_like_a_control_is_no_control(here):
    with ScriptedServer(judging) as server:
        assert run_here(here.folder, *remote(server, "model.label=strong", "seeds=1")) == 0
    assert {row["model"] for row in here.board()} == {"strong"}
    assert measured(here) == []
    table = (here.results / "ma_bench" / "leaderboard.md").read_text(encoding="utf-8")
    assert "Nobody has measured its agreement with labels." in table
