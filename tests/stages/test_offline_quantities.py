"""Numbers, measures, dates and times, across the ways of writing them."""

import pytest

from flows.stages.offline.quantities import Quantity, same, scan
from flows.stages.offline.text import plain


def quantities(text):
    return [token for token in scan(plain(text)) if isinstance(token, Quantity)]


def only(text):
    found = quantities(text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("0.6 m", "60 cm"),
        ("60cm", "600 mm"),
        ("1,200 trucks", "1200 trucks"),
        ("twelve hundred trucks", "1,200 trucks"),
        ("one thousand two hundred trucks", "1,200 trucks"),
        ("three hundred and forty people", "340 people"),
        ("thirty-one shelters", "31 shelters"),
        ("1.2 million litres", "1,200,000 litres"),
        ("1.2m people", "1.2 million people"),
        ("65k rations", "65,000 rations"),
        ("1.9 billion crowns", "1,900 million crowns"),
        ("40 per cent", "40%"),
        ("48 hours", "two days"),
        ("72-hour", "three days"),
        ("half an hour", "30 minutes"),
        ("two weeks", "a fortnight of 14 days"),
        ("24 t", "24,000 kg"),
        ("24 tonnes", "24 t"),
        ("10 km", "10,000 metres"),
        ("14 March", "2026-03-14"),
        ("14 March", "14 Mar"),
        ("14th of March 2026", "March 14, 2026"),
        ("14 March", "14-Mar-26"),
        ("0739", "07:39"),
        ("2½ t", "2.5 t"),
    ],
)
def test_equal_values(one, other):
    assert any(same(a, b) for a in quantities(one) for b in quantities(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("64 personnel", "46 personnel"),
        ("0.6 m", "6 cm"),
        ("14 March", "15 March"),
        ("14 March", "14 April"),
        ("0739", "0740"),
        ("40%", "60%"),
        ("1.2 million people", "1.3 million people"),
        ("30 t", "30 kg"),
        ("12 hours", "12 days"),
    ],
)
def test_unequal_values(one, other):
    assert not any(same(a, b) for a in quantities(one) for b in quantities(other))


def test_a_number_without_a_unit_equals_the_same_numeral_with_one():
    assert same(only("6.84"), only("6.84 m"))
    assert not same(only("684"), only("6.84 m"))


def test_only_a_text_that_rounds_is_compared_loosely():
    assert same(only("about 42 boats"), only("41 boats"))
    assert not same(only("42 boats"), only("41 boats"))
    assert not same(only("about 42 boats"), only("38 boats"))
    # 53 minutes is 11.7 % under an hour.
    assert same(only("just under an hour"), only("53 minutes"))
    assert not same(only("an hour"), only("53 minutes"))


def test_a_range_gives_both_ends_their_unit():
    assert [(q.dimension, q.value) for q in quantities("30 to 45 cm")] == [("length", 0.3), ("length", 0.45)]
    assert [(q.dimension, q.value) for q in quantities("2-9 November")] == [("date", 1102), ("date", 1109)]
    assert [(q.dimension, q.value) for q in quantities("3-5 days")] == [
        ("duration", 4320),
        ("duration", 7200),
    ]


def test_a_date_time_group_gives_day_and_time():
    found = quantities("by 141200Z MAR 26 at the latest")
    assert [(q.dimension, q.value) for q in found] == [("date", 314), ("clock", 720)]
    assert same(found[0], only("14 March"))
    assert [(q.dimension, q.value) for q in quantities("141200Z")] == [("day", 14), ("clock", 720)]
    assert same(quantities("141200Z")[0], only("14 March"))
    assert not same(quantities("141200Z")[0], only("15 March"))


def test_a_bare_four_digit_numeral_may_be_a_time_or_a_count():
    assert same(only("at 1120"), only("11:20"))
    assert same(only("1120"), only("1,120 residents"))


@pytest.mark.parametrize("text", ["CH-47", "LP4", "3rd", "third", "D+3", "H-hour", "one", "T-72B"])
def test_names_and_ordinals_are_words(text):
    assert quantities(text) == []


def test_one_alone_is_a_pronoun_and_twenty_one_a_number():
    assert scan("one of three") == ["one", "of", only("3")] or quantities("one of three")[0].value == 3
    assert only("twenty-one trucks").value == 21


def test_spoken_digits_stay_apart():
    assert [q.value for q in quantities("five six")] == [5, 6]
