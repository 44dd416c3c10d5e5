"""What a table shows of its rows: the settings that differ, and what fits a terminal."""

from dataclasses import replace

import pytest

from flows.schema.leaderboard import JudgeNote, Leaderboard
from flows.stages.differing import RowSettings, changed_values, differing
from flows.stages.notes import main_notes
from flows.stages.table import screen_table, shown_rows, to_csv, to_markdown
from tests.stages.test_table import ROW

SETTINGS = {
    "benchmark": {"name": "b", "scenarios": None},
    "harness": {"name": "single_prompt"},
    "model": {
        "label": "m", "writer": "remote", "name": "m-1", "api_base": "http://a", "provider": "http://a",
        "price": {"input_usd": 1}, "note": "x", "parameters": {},
    },
    "prompt": {"version": "v1", "user": "long\ntext"},
    "judge": {"label": "j", "name": "j-1", "max_attempts": 3, "parameters": {}},
    "judge_prompt": {"version": "v1"},
}  # fmt: skip


def settings(**sections):
    return {name: {**section, **sections.get(name, {})} for name, section in SETTINGS.items()}


def row(number=0, *, changed=(), label="m", version="v1", mode="all_items", known=True, **sections):
    return RowSettings(
        (label, "default", "none", "single_prompt", "j"),
        version,
        ("j", "high", mode, "v1"),
        (f"c{number}" * 8, f"d{number}" * 8),
        settings(**sections) if known else None,
        changed,
    )


TEMPERATURE = "model.parameters.temperature"


def test_rows_of_one_model_are_told_apart_by_key_and_value():
    rows = [row(model={"parameters": {"temperature": value}}) for value in (0.2, 0.9)]
    assert differing(rows) == [(("temperature", "0.2"),), (("temperature", "0.9"),)]


def test_a_key_that_one_row_lacks_is_not_set_there():
    rows = [row(), row(judge={"parameters": {"top_p": 0.5}})]
    assert differing(rows) == [(("judge.top_p", "not set"),), (("judge.top_p", "0.5"),)]


def test_prompts_judge_modes_and_attempts_are_named():
    rows = [row(), row(version="v1_no_limit"), row(mode="per_item", judge={"max_attempts": 4})]
    assert differing(rows) == [
        (("judge.max_attempts", "3"), ("judge.mode", "all_items"), ("prompt", "v1")),
        (("judge.max_attempts", "3"), ("judge.mode", "all_items"), ("prompt", "v1_no_limit")),
        (("judge.max_attempts", "4"), ("judge.mode", "per_item"), ("prompt", "v1")),
    ]


def test_an_overridden_key_is_named_also_beside_other_models_and_not_where_all_rows_have_it():
    hot = {"label": "m", "parameters": {"temperature": 0.2}}
    cold = {"label": "other", "writer": "remote", "name": "o"}
    rows = [row(model=hot, changed=["model", TEMPERATURE]), row(model=cold)]
    assert differing(rows) == [(("temperature", "0.2"),), ()]
    both = [replace(one, settings=settings(model=hot), changed=[TEMPERATURE]) for one in rows]
    assert ("temperature", "0.2") not in differing(both)[0]


def test_what_changes_no_result_and_the_names_of_a_model_are_not_named():
    other = {"label": "n", "name": "n-1", "api_base": "http://b", "provider": "http://b"}
    rows = [row(), row(model=other, changed=["model.name", "model.label", "model.api_base"])]
    rows[1] = replace(rows[1], shown=("n", *rows[1].shown[1:]))
    assert differing(rows) == [(), ()]
    priced = [row(), row(model={"price": {"input_usd": 2}, "note": "y"})]
    assert differing(priced) == [(), ()]
    moved = [row(), row(1, model={"api_base": "http://b", "provider": "http://b"})]
    assert differing(moved) == [(("model.api_base", "http://a"),), (("model.api_base", "http://b"),)]


def test_an_overridden_key_that_changes_no_result_is_named_where_nothing_else_tells_rows_apart():
    team = row(1, model={"headers": {"X-Team": "MY_TEAM"}}, changed=["model", "model.headers"])
    assert differing([row(), team]) == [
        (("model.headers.X-Team", "not set"),), (("model.headers.X-Team", "MY_TEAM"),),
    ]  # fmt: skip
    hot = row(model={"parameters": {"temperature": 0.9}})
    assert [key for key, _ in differing([team, hot])[0]] == ["temperature"]
    assert changed_values(team.settings, team.changed) == {"model.headers.X-Team": "MY_TEAM"}


def test_a_panels_member_that_another_lacks_is_named_once():
    third = {"label": "j-3", "name": "x", "parameters": {"top_p": 0.5}}
    rows = [row(judge={"members": {"first": {"label": "j-1"}, **more}}) for more in ({}, {"third": third})]
    assert differing(rows) == [
        (("judge.members.third", "not set"),), (("judge.members.third", "j-3"),),
    ]  # fmt: skip
    own = ["judge", "judge.members", "judge.members.third", "judge.members.third.label"]
    rows[1] = replace(rows[1], changed=own)
    more = row(judge={"members": {"first": {"label": "j-1"}, "third": {**third, "repeat": 3}}})
    assert [dict(pairs) for pairs in differing([*rows, more])] == [
        {"judge.members.third": "not set"},
        {"judge.members.third": "j-3", "judge.members.third.repeat": "not set"},
        {"judge.members.third": "j-3", "judge.members.third.repeat": "3"},
    ]
    rows = [row(judge={"members": {"third": {**third, "effort": each}}}) for each in ("low", "high")]
    assert differing(rows) == [
        (("judge.members.third.effort", "low"),), (("judge.members.third.effort", "high"),),
    ]  # fmt: skip


def test_rows_that_are_still_alike_are_told_apart_by_their_digests():
    rows = [row(1, known=False), row(2, known=False)]
    assert differing(rows) == [
        (("condition", "c1c1c1c1"), ("judge digest", "d1d1d1d1")),
        (("condition", "c2c2c2c2"), ("judge digest", "d2d2d2d2")),
    ]
    assert differing([]) == []


def test_a_long_text_is_named_by_its_digest_and_a_prompt_is_none_of_a_control():
    found = differing(_texts())
    assert [key for key, _ in found[0]] == ["prompt.user"]
    assert all(value.startswith("text ") for pairs in found for _, value in pairs)
    control = row(model={"label": "strong", "writer": "control"})
    pairs = differing([control, row(), row(version="v2")])
    assert pairs[0] == ()
    assert pairs[2] == (("prompt", "v2"),)


def _texts():
    return [replace(row(), settings=settings(prompt={"user": f"{text}\nmore"})) for text in "ab"]


def test_overridden_values_have_the_names_that_tables_show():
    known = settings(model={"parameters": {"temperature": 0.2}}, judge={"max_attempts": 4})
    changed = ["model", TEMPERATURE, "judge.max_attempts", "judge.gone"]
    assert changed_values(known, changed) == {"judge.max_attempts": "4", "temperature": "0.2"}


# The table for a terminal

A = replace(ROW, condition="a", model="a", rank=1, score=0.5, differs=(("temperature", "0.2"),))
B = replace(
    ROW, condition="b", model="b", effort="high", score=0.25, n_ungraded=3, n_cut=1, n_cut_by_provider=1
)


def test_what_is_equal_goes_into_the_caption_and_what_is_zero_is_left_out():
    shown = screen_table([A, replace(A, condition="c", model="c", differs=())])
    assert shown.rows[0] == ("model", "differs in", "score", "interval")
    assert shown.rows[1][:3] == ("a", "temperature 0.2", "0.500")
    assert shown.caption.startswith(f"Same in all rows: effort {ROW.effort}, cap")
    assert f"judge {ROW.judge}" in shown.caption
    assert "refused" not in str(shown.rows)


def test_what_differs_and_what_is_not_zero_is_shown():
    shown = screen_table([A, B])
    assert "effort" in shown.rows[0]
    assert shown.rows[0][-1] == "counts"
    assert shown.rows[2][-1] == "3 items ungraded, 2 cut"
    assert shown.rows[1][-1] == ""


def test_rows_of_this_run_are_marked_among_others():
    new = {(B.condition, B.judge_id)}
    shown = screen_table([A, B], new)
    assert [cells[0] for cells in shown.rows[1:]] == ["a", "> b"]
    assert shown.caption.endswith("> marks rows of this run.")
    assert [cells[0] for cells in screen_table([B], new).rows[1:]] == ["b"]


def test_a_cost_is_shown_where_there_is_one_and_an_unknown_one_is_no_zero():
    paid = replace(A, usd=1.5, judge_usd=0.25)
    unknown = replace(B, usd=None, judge_usd=1.0)
    shown = screen_table([paid, unknown])
    place = shown.rows[0].index("cost")
    assert [cells[place] for cells in shown.rows[1:]] == ["$1.75", "-"]
    assert "cost" not in screen_table([replace(A, usd=0.0, judge_usd=0.0), B]).rows[0]


def board(*rows, **more):
    return Leaderboard("b", "severity", rows, more.pop("judges", ()), more.pop("assumptions", ()), **more)


def test_differences_and_costs_stand_in_the_files():
    paid = replace(A, calls=2, tokens_in=10, tokens_out=5, usd=1.5, seconds=3.0)
    paid = replace(
        paid, judge_calls=1, judge_tokens_in=4, judge_tokens_out=1, judge_usd=0.25, judge_seconds=1.0
    )
    head, first, second = shown_rows(board(paid, B))
    assert first[head.index("differs in")] == "temperature 0.2"
    assert second[head.index("differs in")] == "-"
    assert first[-3:] == ("$1.75", "20", "4")
    assert second[-3:] == ("-", "-", "-")
    assert "| temperature 0.2 |" in to_markdown(board(paid, B), [])
    csv = to_csv(board(paid, B)).splitlines()
    assert ",temperature 0.2," in csv[1]
    assert "differs in" not in shown_rows(board(B))[0]


def test_a_row_of_other_coverage_has_bounds_and_no_rank():
    partial = replace(B, score_low=0.2, score_high=0.6)
    for rows in (shown_rows(board(A, partial)), screen_table([A, partial]).rows):
        head, first, second = rows
        assert (first[head.index("rank")], second[head.index("rank")]) == ("1", "-")
        assert second[head.index("bounds")] == "0.200 to 0.600"
    assert "rank" not in shown_rows(board(A))[0]


@pytest.mark.parametrize(("n_scenarios", "is_said"), [(3, True), (10, False)])
def test_main_notes_are_short_and_begin_with_what_matters_most(n_scenarios, is_said):
    judges = (JudgeNote(ROW.judge_id, is_stand_in=True, agreements=()),)
    one = replace(B, n_scenarios=n_scenarios, ci_low=0.1, ci_high=0.4, ci_level=0.95 if not is_said else None)
    found = main_notes(board(one, judges=judges, model_notes=(("b", "a control that x"), ("z", "a model"))))
    assert "stand-in" in found[0]
    assert found[1].startswith("3 items have no verdict")
    assert any(note.startswith("Ranges are of the scenarios") for note in found) == is_said
    assert "Controls and baselines, no models: b." in found
    assert not any(note.startswith("z") for note in found)
    assert all(len(note) < 200 for note in found)


def test_hidden_characters_are_among_the_first_notes_and_count_a_brief_once():
    one = replace(A, n_hidden=1, n_noticed=2)
    found = main_notes(board(one, replace(one, judge_id="other")))
    assert found[:2] == [
        "1 brief held characters that a reader does not see.",
        "2 briefs came from a file of which the reader left something out or repaired it.",
    ]


def test_a_folder_is_named_without_its_place_on_this_machine_and_all_scenarios_need_no_name():
    rows = [
        row(
            1,
            benchmark={"scenarios": None},
            model={"label": "m", "folder": "/home/me/" + "deep/" * 20 + "briefs one"},
        ),
        row(2, benchmark={"scenarios": ["alder"]}, model={"label": "m", "folder": "/home/me/two/"}),
    ]
    assert [dict(pairs) for pairs in differing(rows)] == [
        {"model.folder": "briefs one"},
        {"benchmark.scenarios": "alder", "model.folder": "two"},
    ]


def test_a_long_list_is_named_by_its_first_entry_and_length():
    names = [f"scenario_of_some_length_{number}" for number in range(5)]
    rows = [row(number, benchmark={"scenarios": names[: number + 3]}) for number in (0, 1)]
    shown = [dict(pairs)["benchmark.scenarios"] for pairs in differing(rows)]
    assert [text[:-11] for text in shown] == [f"{names[0]} and 2 more", f"{names[0]} and 3 more"]
    assert shown[0][-11:] != shown[1][-11:]  # the digest of each list


def test_a_setting_above_a_table_of_reports_keeps_its_key():
    one = replace(ROW, harness="native", differs=(("benchmark.scenarios", "x_brief"),))
    caption = screen_table([one]).caption
    assert "benchmark.scenarios x_brief" in caption
    assert "tasks" in caption or "reports" in caption
    assert "scenarios" not in caption.replace("benchmark.scenarios", "")
