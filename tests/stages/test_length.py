import pytest

from flows.schema.length import LengthLimit, LengthMeasure, LengthUnit
from flows.stages.length import length_text, parse_length_limit


@pytest.mark.parametrize(
    ("text", "words", "pages"),
    [
        # The five limits of the specification's table.
        ("200 words", 200, None),
        ("150 words", 150, None),
        ("one full page", None, 1),
        ("1,500 words", 1500, None),
        ("two pages, 350 words", 350, 2),
        # The same in other plain words.
        ("350 words,2 pages", 350, 2),
        ("Two pages and 350 words.", 350, 2),
        ("1500 words; 3 pages", 1500, 3),
        ("at most 1,500 words", 1500, None),
        ("Maximum of 2 pages", None, 2),
        ("No more than 200 words in total", 200, None),
        ("not to exceed one (1) page", None, 1),
        ("a 250-word limit", 250, None),
        ("one-page", None, 1),
        ("1 page or less", None, 1),
        ("350 words, 300 words", 300, None),
        ("2,000 words (tables included)", 2000, None),
    ],
)
def test_plain_limits_are_read(text, words, pages):
    assert parse_length_limit(text) == LengthLimit(text, words, pages)


@pytest.mark.parametrize(
    ("text", "words", "pages", "unread"),
    [
        ("about 200 words", None, None, ("about 200 words",)),
        ("200 to 300 words", None, None, ("200 to 300 words",)),
        ("half a page", None, None, ("half a page",)),
        ("two pages or 350 words", None, None, ("two pages or 350 words",)),
        ("two (3) pages", None, None, ("two (3) pages",)),
        ("0 words", None, None, ("0 words",)),
        ("one page, Arial 11", None, 1, ("Arial 11",)),
        ("15,00 words", None, None, ("15", "00 words")),
        ("", None, None, ()),
    ],
)
def test_what_needs_judgment_is_kept_and_not_guessed(text, words, pages, unread):
    assert parse_length_limit(text) == LengthLimit(text, words, pages, unread)


def test_every_limit_has_a_measure_and_a_count_that_is_missing_is_none():
    limit = parse_length_limit("two pages, 350 words")
    measures = limit.measures(words=351, pages=None)
    assert measures == (
        LengthMeasure(LengthUnit.words, 350, 351),
        LengthMeasure(LengthUnit.pages, 2, None),
    )
    assert [measure.within for measure in measures] == [False, None]
    assert (
        length_text(limit, words=351, pages=None) == "351 of 350 words, 1 over; pages not measured (limit 2)"
    )


def test_the_limit_itself_is_within():
    limit = parse_length_limit("one full page")
    (measure,) = limit.measures(words=9_999, pages=1)
    assert measure.within is True
    assert length_text(limit, words=9_999, pages=1) == "1 of 1 page"


def test_a_text_without_a_limit_says_so():
    assert length_text(parse_length_limit(""), words=1, pages=1) == "no limit"
    odd = parse_length_limit("brief")
    assert odd.measures(words=1, pages=1) == ()
    assert length_text(odd, words=1, pages=1) == "'brief' is no limit that can be measured"


@pytest.mark.parametrize("text", ["max  " * 99, "at most : " * 49 + "x", " " * 499 + "x", "1,000" * 99])
def test_no_text_takes_long(text):
    assert parse_length_limit(text).words is None


def test_prose_is_unread():
    text = "At most 200 words. " * 30
    assert parse_length_limit(text) == LengthLimit(text, None, None, (text,))
