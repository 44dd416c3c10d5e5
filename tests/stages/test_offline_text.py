"""Plain text, citations, sentences and the common form of words."""

import pytest

from flows.stages.offline.text import plain, sentences, stems, strip_citations


def test_zero_width_and_bidirectional_characters_go_and_full_width_ones_are_narrowed():
    assert plain("thr\u200bee \u202ekil\u202cled") == "three killed"
    assert plain("\uff16\uff14 personnel") == "64 personnel"
    assert plain("10\u201312\u00a0t \u2018x\u2019 V\u00e1s\u00e1rhely") == "10-12 t 'x' Vasarhely"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Three were killed (Doc 3 para 16).", "Three were killed  ."),
        ("It peaked at 6.84 m [Report A, para 2.1].", "It peaked at 6.84 m  ."),
        ("The port is closed [03-intsum.pdf, para 4].", "The port is closed  ."),
        ("The port is closed [4].", "The port is closed  ."),
        ("The port is closed (see 03-intsum.pdf, paras 4 and 5).", "The port is closed  ."),
        ("The waiver is addressed at Doc 8 para 6.", "The waiver is addressed  ."),
        ("As stated in Report E, para 5.3.", "As stated  ."),
    ],
)
def test_citations_go(text, kept):
    assert strip_citations(text) == kept


@pytest.mark.parametrize(
    "text", ["The force (12 boats) is short.", "It fell (from 40 to 20 t) again.", "[Annex left open]"]
)
def test_remarks_in_brackets_stay(text):
    assert strip_citations(text) == text


def texts(text):
    return [(s.text, s.context) for s in sentences(text)]


def test_headings_give_context_and_no_sentence():
    assert texts("# Limits\n\nNo heavy trucks. Stay west.\n\n## Time\nBy noon.") == [
        ("No heavy trucks.", "Limits"),
        ("Stay west.", "Limits"),
        ("By noon.", "Limits Time"),
    ]


def test_wrapped_lines_are_one_sentence_and_list_items_are_their_own():
    assert [t for t, _ in texts("The bridge\nholds 30 t.\n- **one** lane\n- 2. two\n  lanes")] == [
        "The bridge holds 30 t.",
        "one lane",
        "2. two lanes",
    ]


def test_a_table_row_is_a_sentence_under_its_columns():
    assert texts("| Unit | Trucks |\n|---|---|\n| 3 Coy | 12 |") == [
        ("Unit, Trucks", ""),
        ("3 Coy, 12", "Unit, Trucks"),
    ]


def test_empty_and_blank_texts_have_no_sentences():
    assert sentences("") == []
    assert sentences(" \n\u200b\n---\n") == []


@pytest.mark.parametrize(
    "forms",
    [
        ("deliver", "delivery", "deliveries", "delivered"),
        ("withdraw", "withdrawal", "withdrawn"),
        ("evacuate", "evacuation", "evacuated"),
        ("assess", "assessed", "assessment"),
    ],
)
def test_inflections_share_a_stem(forms):
    assert len({stems(form) for form in forms}) == 1


def test_a_compound_is_split_and_a_name_joined():
    assert stems("counter-battery") == ("counte", "batter")
    assert stems("ch-47") == ("ch47",)
    assert stems("the") == ()


@pytest.mark.parametrize("between", ["\u00a0", "\u2007", "\u2009", "\u202f", "'", "\u2019", "_"])
def test_thousands_are_read_however_they_are_set_apart(between):
    assert plain(f"3{between}000 tonnes") == "3000 tonnes"
    assert plain(f"1{between}234{between}567") == "1234567"


@pytest.mark.parametrize(
    "text",
    ["grid 123 456", "at 0600 120 men", "file_3_000", "the '40s", "3'00", "1.234'567", "'300' and '400'"],
)
def test_other_numbers_side_by_side_stay_two(text):
    assert plain(text) == text


def test_digits_of_other_scripts_are_digits():
    assert plain("\u0663\u0660\u0660\u0660 tonnes") == "3000 tonnes"
