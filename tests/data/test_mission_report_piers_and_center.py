"""What the tasks sb-psr-02 and sb-par-02 have in common: tree, evidence, form and pages."""

import pytest

from flows.adapters.pages import find_converter
from tests.data import test_mission_report_center as center
from tests.data import test_mission_report_piers as piers
from tests.support.rendered import render_all
from tests.support.report_tasks import (
    FOLDER,
    assert_form_filled,
    build_check,
    criterion_points,
    golden,
    ordered,
    unmarked,
    unsupported,
)

# family, setting, length limit; source files, criteria, penalties, points, penalty points
ORDERED = {
    piers.TASK: ("Program status reports", "Navy", "one page, 480 words", (11, 24, 4, 50, -10)),
    center.TASK: (
        "Performance and accomplishment reports",
        "Marine Corps",
        "two pages, 650 words",
        (12, 24, 4, 52, -10),
    ),
}
FORMS = {piers.TASK: piers.FORM, center.TASK: center.FORM}
PAGES = {piers.TASK: 1, center.TASK: 2}
every_task = pytest.mark.parametrize("task_id", ORDERED)


@every_task
def test_committed_tree_matches_its_sources(task_id):
    assert build_check(task_id) == (0, f"{task_id}: the tree matches its sources\n")


@every_task
def test_family_setting_limit_counts_and_points(task_id):
    assert ordered(task_id) == ORDERED[task_id]
    points = criterion_points(task_id)
    assert {p for p in points if p > 0} == {1, 2, 3, 4}
    assert {p for p in points if p < 0} == {-2, -3}


@every_task
def test_every_criterion_rests_on_a_line_of_a_named_file(task_id):
    assert unsupported(task_id) == []


@every_task
def test_every_file_says_that_it_is_synthetic(task_id):
    assert unmarked(task_id) == []


@every_task
def test_expert_fills_the_form_within_its_limit(task_id):
    assert_form_filled(task_id, FORMS[task_id])


@every_task
@pytest.mark.skipif(find_converter() is None, reason="pages are counted by LibreOffice")
def test_reports_keep_their_limit_of_pages(task_id):
    fair = FOLDER / "controls" / task_id / "fair.docx"
    assert [pages.pages for pages in render_all([golden(task_id), fair])] == [PAGES[task_id]] * 2
