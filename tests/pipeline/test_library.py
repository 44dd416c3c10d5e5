"""The library: grades equal those of a run, calls are stored, and mistakes are named."""

import asyncio

import pytest

from flows import StaffbenchError, load_benchmark
from tests.support.bench import remote


def judge(endpoint):
    return [override for override in remote(endpoint) if override.startswith("judge")]


def test_a_grade_has_the_score_of_a_run(bench):
    assert bench("run", "-m", "model=strong,weak", "tracking=none", "seeds=1").code == 0
    loaded = load_benchmark("ma_bench", project=bench.folder)
    rows = loaded.table("scores").to_pylist()
    assert [row["condition"].partition("-")[0] for row in rows] == ["strong", "strong", "weak", "weak"]
    for row in rows:
        name = row["scenario_id"]
        text = loaded.scenario(name).controls[row["condition"].partition("-")[0]].text
        assert loaded.grade(text, name).score == row["score"]
    strong = loaded.scenario("alder").controls["strong"].text
    assert loaded.grade(strong, "alder", "word_cap.words=1").counts.passed == 0.0
    figure = loaded.plot("tier", judge="offline")
    assert ">strong<" in figure._repr_svg_()
    figure.save(bench.folder / "tier.svg")
    assert (bench.folder / "tier.svg").read_text() == figure.svg
    for name in ("tier.png", "tier"):
        with pytest.raises(StaffbenchError, match="a figure is saved as SVG"):
            figure.save(bench.folder / name)
        assert not (bench.folder / name).exists()
    with pytest.raises(StaffbenchError, match="no figure 'steps'; expected one of score, tier, step, mode"):
        loaded.plot("steps")
    rubric = bench.folder / "data/ma_bench/alder/rubric.yaml"
    rubric.write_text(rubric.read_text().replace("States the strength", "Says the strength"))
    with pytest.warns(UserWarning, match="left out"), pytest.raises(StaffbenchError, match="nothing graded"):
        loaded.table("scores")


def test_a_model_judges_and_its_replies_are_stored(bench, endpoint):
    loaded = load_benchmark("ma_bench", *judge(endpoint), project=bench.folder)

    async def in_a_notebook():
        return loaded.grade("The relief column has 412 soldiers.", "alder")

    first = asyncio.run(in_a_notebook())
    calls = len(endpoint.calls)
    assert (first.score, calls > 0) == (1.0, True)
    assert loaded.grade("The relief column has 412 soldiers.", "alder").verdicts == first.verdicts
    assert len(endpoint.calls) == calls
    assert sorted(path.name for path in bench.results.iterdir()) == ["completions"]


def test_what_can_not_be_asked_for_is_named(bench, project):
    loaded = load_benchmark("ma_bench", project=bench.folder)
    for ask, message in (
        (lambda: loaded.scenario("elm"), "no scenario elm; expected one of alder, birch"),
        (lambda: loaded.packet("../alder"), "no scenario ../alder"),
        (lambda: loaded.grade("x", "alder", "judge=gone"), "no option 'gone'"),
        (lambda: loaded.table("elms"), "no table 'elms'; expected one of items"),
        (lambda: loaded.table("scores"), "nothing graded here"),
        (lambda: load_benchmark("gone", project=bench.folder), "no option 'gone'"),
        (lambda: load_benchmark("ma_bench", project=bench.folder / "data"), "not there"),
        (
            lambda: load_benchmark("mission_report", project=project).grade("x", "sb-aar-01"),
            "reports are Word files",
        ),
    ):
        with pytest.raises(StaffbenchError, match=message):
            ask()


def test_what_is_no_text_is_named(bench):
    loaded = load_benchmark("ma_bench", project=bench.folder)
    for ask in (
        lambda: loaded.scenario(None),
        lambda: loaded.packet(None),
        lambda: loaded.grade("x", None),
    ):
        with pytest.raises(TypeError, match=r"scenario_id: expected a text \(str\), found NoneType"):
            ask()
    with pytest.raises(TypeError, match=r"override_1: expected a text \(str\), found list"):
        load_benchmark("ma_bench", ["seeds=1"], project=bench.folder)
    with pytest.raises(TypeError, match=r"text: expected a text \(str\), found float"):
        loaded.grade(float("nan"), "alder")  # an empty cell of a data frame
