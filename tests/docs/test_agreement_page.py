"""The agreement that a page shows is what the offline judge has with the labels."""

from dataclasses import replace

import pytest

from flows.adapters.config.compose import compose_points
from flows.adapters.objects import ObjectStore
from flows.common.text import number
from flows.pipeline.results.agreement.offline import offline_agreements, pairs_agreement
from flows.pipeline.results.agreement.text import figure
from flows.pipeline.results.stored import load_scenarios
from tests.docs.sessions import PROJECT

PAGE = PROJECT / "docs" / "explanation" / "offline-judge.md"


@pytest.fixture(scope="module")
def rows():
    """Cells of the page's table rows by their first two."""
    lines = PAGE.read_text(encoding="utf-8").replace("−", "-").splitlines()  # noqa: RUF001 -- a minus sign
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {(cells[0], cells[1]): cells[2:] for cells in found}


def measured(benchmark, objects, kept=None):
    """Agreement on the held-out and on the other scenarios, with the named controls or all."""
    settings = compose_points(PROJECT, [f"benchmark={benchmark}"], multirun=False)[0].settings
    scenarios, _ = load_scenarios(PROJECT, settings)
    if kept is not None:
        scenarios = {
            name: replace(one, controls={key: one.controls[key] for key in kept})
            for name, one in scenarios.items()
        }
    return offline_agreements(scenarios, objects)


def shown(found):
    return [
        figure(found.kappa, found.kappa_margin),
        figure(found.within, found.within_margin),
        *(number(kappa, 2) for _, kappa in found.baselines),
    ]


def test_the_figures_on_briefs(rows, tmp_path):
    held_out, tuned = measured("ma_bench", ObjectStore(tmp_path))
    assert rows["five scenarios, held out", f"{held_out.n:,}"] == shown(held_out)
    assert rows["five scenarios, chosen by", f"{tuned.n:,}"] == shown(tuned)
    pairs = {
        rows_of: [cell.partition("±")[0] for cell in shown(found)]
        for found in pairs_agreement(PROJECT / "data" / "judge_pairs")
        for rows_of in [
            next(name for name in rows if name[0].startswith("`data/") and name[1] == str(found.n))
        ]
    }
    assert len(pairs) == 2
    assert {name: rows[name] for name in pairs} == pairs


@pytest.mark.parametrize(
    ("kept", "what"), [(None, ""), (("fair", "weak"), "`fair` and `weak`"), (("hostile",), "`hostile`")]
)
def test_the_figures_on_reports(rows, tmp_path, kept, what):
    held_out, tuned = measured("mission_report", ObjectStore(tmp_path), kept)
    for found, name in (
        (held_out, f"seven tasks, {what or 'held out'}"),
        (tuned, f"three tasks, {what or 'chosen by'}"),
    ):
        accuracy = figure(found.accuracy, found.accuracy_margin)
        assert rows[name, str(found.n)] == [accuracy, *shown(found)]
