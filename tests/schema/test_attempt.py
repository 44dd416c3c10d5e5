"""What an attempt counts as."""

import pytest

from flows.pipeline.native.chat import ERROR, FINISHED, REFUSED, UNANSWERABLE, end_of
from flows.schema.attempt import End, attempt_status


@pytest.mark.parametrize(
    ("ended", "with_report", "without"),
    [
        (FINISHED, "written", "missing"),
        ("limit: minutes", "written", "missing"),
        ("limit: context", "written", "missing"),
        (UNANSWERABLE, "written", "missing"),
        (REFUSED, "written", "refused"),
        (ERROR, "error", "error"),
    ],
)
def test_an_end_with_and_without_a_report(ended, with_report, without):
    end = end_of(ended)
    assert isinstance(end, End)
    assert attempt_status(end, has_report=True) == with_report
    assert attempt_status(end, has_report=False) == without
