"""Dates as people write them and as Word's date formats show them."""

from datetime import date

import pytest

from flows.adapters.report_docx.filling import read_date, show_date

DAY = date(2031, 4, 30)  # a Wednesday


@pytest.mark.parametrize(
    "text",
    [
        "2031-04-30",
        "2031-04-30T00:00:00Z",
        "20310430",
        "30 April 2031",
        "30 Apr 2031",
        "30 Apr 31",
        "30Apr31",
        "30-Apr-2031",
        "30th April, 2031",
        "April 30, 2031",
        "Apr. 30 2031",
        "Wednesday, 30 April 2031",
        "Wed, April 30, 2031",
        " 30  APRIL 2031 ",
    ],
)
def test_one_day_in_many_forms(text):
    assert read_date(text) == DAY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "TBD",
        "April 2031",
        "31 April 2031",
        "2031-13-01",
        "30 Apples 2031",
        "04/30/2031",
        "30.4.2031",
        "30",
    ],
)
def test_no_day_or_two(text):
    assert read_date(text) is None


def test_figures_only_in_the_order_of_the_control():
    assert read_date("04/30/2031", "M/d/yyyy") == DAY
    assert read_date("30/04/2031", "dd/MM/yy") == DAY
    assert read_date("30.04.31", "dd.MM.yyyy") == DAY
    assert read_date("04/30/2031", "dd/MM/yyyy") is None
    assert read_date("04/05/2031", "d MMMM yyyy") == date(2031, 5, 4)
    assert read_date("04/05/2031", "yyyy-MM-dd") is None
    assert read_date("30 Sept 2031") == date(2031, 9, 30)


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("d MMMM yyyy", "30 April 2031"),
        ("dd MMM yy", "30 Apr 31"),
        ("M/d/yyyy", "4/30/2031"),
        ("dddd, MMMM dd, yyyy", "Wednesday, April 30, 2031"),
        ("ddd d.M.", "Wed 30.4."),
        ("yyyy-MM-dd", "2031-04-30"),
        ("'as of' dd MMM yyyy", "as of 30 Apr 2031"),
        ("h:mm", None),
    ],
)
def test_formats_of_word(form, shown):
    assert show_date(DAY, form) == shown
