"""Which two conditions are compared, and what is said of their difference."""

from dataclasses import replace

import pytest

from flows.adapters.screen import Screen
from flows.common.errors import ConfigError
from flows.pipeline.commands import remove
from flows.pipeline.commands.compare import compare
from flows.pipeline.commands.report import note_unused
from flows.pipeline.results.pages.comparison import difference_text, pair
from flows.schema.condition import file_name
from flows.stages.aggregate import Difference
from tests.pipeline.graded_support import Brief, everywhere, graded
from tests.support.bench import Project, answer, remote
from tests.support.plain_flow import run_here, without_prefect
from tests.support.scripted_server import ScriptedServer


def row(name, judge="offline"):
    return graded(name, everywhere(Brief(), 1), judge=judge)


GRADED = [row("a-default-3000-v0-12ab"), row("a-default-500-v0"), row("ab-default-3000-v0", "j")]


def test_the_beginning_of_a_name_is_enough_where_it_fits_one():
    assert pair(GRADED, "a-default-3000", "ab") == (GRADED[0], GRADED[2])
    assert pair(GRADED, "a-default-3000-v0/offline", "a-default-500-v0") == (GRADED[0], GRADED[1])
    with pytest.raises(ConfigError, match="a-default-30: no such condition"):  # not up to a hyphen
        pair(GRADED, "a-default-30", "ab")
    with pytest.raises(ConfigError, match="no two conditions"):
        pair(GRADED, "a-default-500", "a-default-500")


@pytest.mark.parametrize("model", ["été", "my briefs", "org/one", "a/offline"])
def test_a_model_is_found_by_its_name_as_the_table_shows_it(tmp_path, model):
    label = f"{file_name([model])}-default-3000-v0-12ab"
    about = {"condition": {"label": label, "model": model}, "judge": {"label": "offline"}}
    named = replace(GRADED[0], about={**GRADED[0].about, **about})
    assert pair([*GRADED, named], model, "ab-default-3000-v0/j") == (named, GRADED[2])
    for each in (label, "other-default-3000-v0"):
        (tmp_path / "verdicts" / each).mkdir(parents=True)
        (tmp_path / "verdicts" / each / "offline.parquet").touch()
    wanted = [tmp_path / "verdicts" / label / "offline.parquet"]
    assert [remove._paths(tmp_path, name) for name in (model, label, f"{label}/offline")] == [wanted] * 3


def test_two_conditions_that_no_judge_shares_are_said_to_be_that():
    with pytest.raises(ConfigError) as error:
        pair(GRADED, "a", "ab")
    assert str(error.value) == (
        "a, ab: no judge has graded both; expected one of a-default-3000-v0-12ab/offline, "
        "a-default-500-v0/offline and one of ab-default-3000-v0/j"
    )


def test_no_difference_is_given_where_condition_and_judge_both_differ(tmp_path, project, monkeypatch, capsys):
    without_prefect(monkeypatch)
    with ScriptedServer(answer) as server:
        assert run_here(Project(tmp_path, project / "conf", {}).folder, "model=strong") == 0
        assert run_here(tmp_path, *remote(server)) == 0
    assert compare(tmp_path, [], Screen(), first="strong", second="writer-1", every=False) == 0
    said = capsys.readouterr().out
    assert "A - B: not computed, since condition and judge both differ." in said
    assert "interval" not in said.partition("A - B: not")[2]


def test_why_there_is_no_interval_is_said():
    text = difference_text(Difference(0.5, None, 1, 1), 0.95)
    assert text == "+0.500, without an interval, which one scenario does not have: 1 of 1 scenarios"


@pytest.mark.parametrize(
    ("overrides", "used", "named"),
    [
        (["benchmark=smoke", "model=x", "judge.effort=high"], (), ["model=x judge.effort=high"]),
        (["judge=offline", "+word_cap=500", "scoring=severity"], ("judge", "word_cap"), []),
    ],
)
def test_overrides_that_choose_nothing_are_named(overrides, used, named):
    class Heard(list):
        note = list.append

    heard = Heard()
    note_unused(overrides, heard, "All is shown", used)
    assert heard == [f"All is shown; not used: {words}." for words in named]
