"""What results and pages say of a judge that calls tools, beside one that is asked in one call."""

import json
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from flows.common.errors import StaffbenchError
from tests.pipeline.agent_judge_support import MINE, TABLE, TEXT, by_table, found, hand_in, judge
from tests.support.plain_flow import run_here
from tests.support.report_bench import expert, project_here
from tests.support.report_endpoint import (
    answer,
    decides,
    judged,
    reports,
    text_of,
    verdicts,
)
from tests.support.scripted_server import ScriptedServer


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    made = project_here(tmp_path, project / "conf", monkeypatch)
    hand_in(made, TEXT)
    return made


def test_both_forms_of_the_judges_call_give_the_same_rewards(here):
    for number, text in enumerate(TABLE, 1):
        hand_in(here, text, number)
    with ScriptedServer(by_table) as server:
        assert run_here(here.folder, *MINE, "seeds=4", *judge(server)) == 0
        assert run_here(here.folder, *MINE, "seeds=4", *judged(server)) == 0
        paid = len(server.billed)
        assert run_here(here.folder, *MINE, "seeds=4", *judge(server)) == 0
        # The four chats share their first two requests, before a report is read. Again costs nothing.
        assert len(server.billed) == paid == 2 + 4 + 4
    agent, single = sorted(here.board(), key=lambda row: row["judge_call"])
    assert (agent["judge_call"], single["judge_call"]) == ("agent", "single_call")
    assert agent["judge_digest"] != single["judge_digest"]
    assert agent["judge_id"] == "judge-1-medium-all_items-agent-report_v1" + agent["judge_id"][-9:]
    rewards = {
        name: [row["score_clamped"] for row in here.rows("scores", name)]
        for name in (agent["judge_id"], single["judge_id"])
    }
    assert rewards[agent["judge_id"]] == rewards[single["judge_id"]] == pytest.approx([0.2, 0.6, 0, 0.4])
    assert found(here, agent["judge_id"]) == found(here, single["judge_id"])
    told = (here.own / "leaderboard.md").read_text()
    assert f"- Judge call: {agent['judge_id']} agent; {single['judge_id']} single_call." in told
    assert "Judge call: " in (here.own / "tasks.md").read_text()


def test_a_panel_calls_each_member_in_the_form_that_it_can_take(here):
    with ScriptedServer(
        lambda call: decides(call, "C2") if "tools" in call.body else verdicts(call, "C2")
    ) as one:
        overrides = ["judge=panel", "~judge.members.third"]
        for name, tools in (("first", "true"), ("second", "false")):
            key = f"judge.members.{name}"
            overrides += [
                f"{key}=openai_compatible",
                f"{key}.name=judge-{name}",
                f"{key}.label=judge-{name}",
                f"{key}.api_base={one.base}",
                f"{key}.takes_tools={tools}",
            ]
        assert run_here(here.folder, *MINE, *overrides) == 0
    forms = {row["judge"]: row["judge_call"] for row in here.board()}
    assert forms == {"judge-first": "agent", "judge-second": "single_call", "panel": "agent, single_call"}


def test_a_tasks_own_mode_is_obeyed_or_refused(here):
    path = here.tasks / "memo-01" / "task.toml"
    plain = path.read_text()
    path.write_text(plain + '\n[judge]\nmode = "all_items"\n')
    with ScriptedServer(by_table) as server:
        assert run_here(here.folder, *MINE, *judged(server)) == 0
        assert run_here(here.folder, *MINE, *judged(server), "judge.mode=per_item") == 0
        with pytest.raises(
            StaffbenchError, match=r"task's judge mode: all_items, and judge.mode is failed_only"
        ):
            run_here(here.folder, *MINE, *judged(server), "judge.mode=failed_only")
        path.write_text(plain + '\n[judge]\nmode = "some_items"\n')
        with pytest.raises(StaffbenchError, match=r"'some_items'; expected all_items, the only one"):
            run_here(here.folder, *MINE, *judged(server))
        assert run_here(here.folder, *MINE, "judge=offline") == 0


def test_a_table_with_a_published_mean_says_how_ours_differs(here):
    path = here.tasks / "memo-01" / "task.toml"
    path.write_text(path.read_text().replace("synthetic = true", "synthetic = true\nmean_score_pct = 40.5"))
    with ScriptedServer(by_table) as server:
        assert run_here(here.folder, *MINE, *judged(server)) == 0
    told = (here.own / "tasks.md").read_text()
    assert "| 0.405 |" in told
    assert "Published means are of nine models in the harness OpenCode, judged by Claude Opus 5.5" in told
    assert "of harness native, judged by judge-1, medium effort, judge call single_call" in told


def test_reports_that_meet_every_criterion_are_counted_on_the_board(here):
    hand_in(here, TEXT, 1)
    hand_in(here, "Route Amber is closed until 21 May. The cause is not known.", 2)

    def script(call):
        return verdicts(call, *(TABLE[TEXT] if TEXT in text_of(call) else ()))

    with ScriptedServer(script) as server:
        assert run_here(here.folder, *MINE, *judged(server), "seeds=2") == 0
    (row,) = here.board()
    assert row["n_all_met"] == 1
    told = (here.own / "leaderboard.md").read_text()
    assert f"Reports that meet every criterion: {row['condition']} 1 of 2." in told


def test_another_model_that_judges_or_writes_is_named(here):
    def script(call):
        reply = answer(call) if text_of(call) and "judge" not in call.body["model"] else decides(call, "C2")
        turns = sum(message["role"] == "assistant" for message in call.body["messages"])
        return renamed(reply, "other-9" if turns == 1 else call.body["model"])

    with ScriptedServer(script) as server:
        overrides = [word for word in reports(server) if not word.startswith("judge.harness")]
        assert run_here(here.folder, *overrides, "benchmark.scenarios=[memo-01]", "seeds=1") == 0
    told = (here.own / "leaderboard.md").read_text()
    assert "asked for writer-1, and 1 of 5 calls came from other-9" in told
    assert "Another model judged, by the endpoint's own word: " in told
    assert "asked for judge-1, and 1 of 3 replies came from other-9" in told


def renamed(say, model):
    """The same reply from an endpoint that names another model."""
    return replace(say, model=model)


def test_its_chat_is_kept_and_shown_as_the_writers_is(here):
    hand_in(here, "A second report.", 2)
    with ScriptedServer(lambda call: decides(call, "C2")) as server:
        assert run_here(here.folder, *MINE, "seeds=2", *judge(server, "judge.repeat=2")) == 0
        (row,) = here.board()
        place = here.own / "judge_chats" / row["condition"] / f"{row['judge_id']}.parquet"
        first = place.read_bytes()
        assert run_here(here.folder, *MINE, "seeds=2", *judge(server, "judge.repeat=2")) == 0
        assert place.read_bytes() == first
    rows = pq.read_table(place).to_pylist()
    kinds = [json.loads(row["event"])["kind"] for row in rows if (row["seed"], row["repeat"]) == (2, 1)]
    assert kinds == ["told", "turn", "turn", "turn"]
    assert here("report", "benchmark=mission_report").code == 0
    site = here.own / "site"
    (brief,) = (site / row["condition"] / row["judge_id"]).glob("memo-01-2.html")
    assert (
        f'attempts/{row["condition"]}/memo-01-2.html#{row["judge_id"]}-1">its chat</a>' in brief.read_text()
    )
    page = (site / "attempts" / row["condition"] / "memo-01-2.html").read_text()
    for number in (1, 2):
        assert f'id="{row["judge_id"]}-{number}"' in page
    assert page.count("<b>decide</b>") == 2
    assert "<h3>Reply 3 of 3</h3>" in page
    assert "A second report." in page
    assert expert("memo-01")[:20] in page
