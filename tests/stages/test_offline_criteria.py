"""How the offline judge for reports reads a criterion, and the parts of a report that it looks at."""

import pytest

from flows.stages.offline.asked_numbers import bounds, number_groups
from flows.stages.offline.criteria import Kind, Place, read_criterion
from flows.stages.offline.forms import missing_headings, word_count
from flows.stages.offline.index import Target
from flows.stages.offline.penalties import as_the_expert
from flows.stages.offline.regions import opening
from flows.stages.offline.report_index import ReportIndex, Stretch, denied, refuted, with_names


def asked(words, *, is_error=False):
    return read_criterion(words, is_error=is_error)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Says that four loaders are serviceable.", Kind.statement),
        ("The report says that the eight posts are left out.", Kind.statement),
        ("Says that the annex has at most 10 pages.", Kind.statement),
        ("Leaves out the rumor.", Kind.absence),
        ("The report does not name any applicant.", Kind.absence),
        ("Names no person.", Kind.absence),
        ("The hiring freeze is not mentioned.", Kind.absence),
        ("The memo is at most 350 words long.", Kind.length),
        ("Fits on one page.", Kind.length),
        ("The headings of the template are kept.", Kind.headings),
        ("Follows the template.", Kind.headings),
    ],
)
def test_kinds_of_criteria(words, kind):
    assert asked(words).kind is kind


def test_a_penalty_is_never_read_as_a_criterion_of_form():
    assert asked("Leaves out the risk.", is_error=True).kind is Kind.statement


@pytest.mark.parametrize(
    ("words", "place", "heading"),
    [
        ("The bottom line opens with the answer.", Place.sentence, "bottom line"),
        ("Leads with the recommendation.", Place.sentence, ""),
        ("The first paragraph asks for a decision.", Place.paragraph, ""),
        ("The decision stands in the first lines.", Place.paragraph, ""),
        ("Says that the exercise starts on Monday.", Place.anywhere, ""),
    ],
)
def test_places_that_criteria_name(words, place, heading):
    read = asked(words)
    assert (read.place, read.heading) == (place, heading)


def test_limits_in_digits_and_in_words():
    assert (asked("At most 1,200 words.").limit, asked("At most 1,200 words.").unit) == (1200, "words")
    assert (asked("Fits on a single page.").limit, asked("No longer than two pages.").limit) == (1, 2)
    assert asked("No longer than two pages.").unit == "pages"


@pytest.mark.parametrize(
    ("words", "groups"),
    [
        ("four of the nine 60k loaders are serviceable", [[(4, 9)]]),
        ("given as 126 of 152 positions, or 83 percent", [[(126, 152), (83,)]]),
        ("not met, operational after 69 minutes (0921)", [[(69,), (561,)]]),  # 09:21 is minute 561 of the day
        ("in one branch (30 of 46, 65 percent, or 16 of 26 vacancies)", [[(30, 46), (65,), (16, 26)]]),
        ("reaches 20 sorties, or has the second loader, on 11 april", [[(411,)]]),
        ("135 on board, two fewer than the 137 of the target", [[(135,)], [(2, 137)]]),
        ("confirm or refute the closure by 12 march", [[(312,)]]),
        ("the others are at or above 90 percent", []),
        ("no later than 24 march", [[(324,)]]),
        ("the convoy waits", []),
    ],
)
def test_the_numbers_that_a_criterion_asks_for(words, groups):
    read = [[tuple(q.value for q in alternative) for alternative in group] for group in number_groups(words)]
    assert read == groups


def test_bounds_have_a_direction():
    found = bounds("at least 30 spares, below 12 percent, 7 crews and over 90 percent")
    assert [(q.value, sign) for q, sign in found] == [(30, 1), (12, -1), (90, 1)]


def test_the_alternatives_and_examples_of_a_penalty():
    read = asked("Says that seven of nine loaders run, or that Halvard is ready.", is_error=True)
    assert [[q.value for q in move.target.quantities] for move in read.moves] == [[7, 9], []]
    assert not read.by_mention
    read = asked(
        "Reports favors, such as the dinner, 1,200 flowers or \u201cwarm thanks\u201d.", is_error=True
    )
    examples = [move.target for move in read.moves if move.example]
    assert [len(target.quantities) for target in examples] == [0, 0, 1]
    assert [sorted(target.keys) for target in examples][1] == list(Target.of("dinner").keys)
    assert read.by_mention


def test_a_rate_in_another_form_goes_on_speaking_of_the_same_rate():
    first, second = asked("Gives the fill rate as 129 of 160, or 81 percent.", is_error=True).moves
    assert [q.value for q in second.target.quantities] == [81]
    assert set(Target.of("fill").keys) <= set(first.target.keys) & set(second.target.keys)


def test_naming_people_is_looked_for_by_names_and_not_by_the_word():
    read = asked("Names an applicant or employee.", is_error=True)
    assert read.persons
    assert read.moves == ()


def test_names_with_numbers_are_kept_whole_and_ranges_and_dates_are_not():
    assert with_names("item 31-1-03 of 31-1") == "item n31-1-03 of n31-1"
    assert with_names("10-12 days, 2031-06-11, 3-6 March") == "10-12 days, 2031-06-11, 3-6 March"
    assert with_names("25,000 lb at Halvard AB") == "25,000 pounds at Halvard Air Base"


def test_the_reach_of_a_plain_denial():
    assert denied("halvard cannot support convoys today") == set(Target.of("support convoys").keys)
    assert denied("it cannot take more than ten sorties") == set(Target.of("take").keys)
    assert denied("not only loaders") == denied("no later than noon") == denied("a yes or no on it") == set()
    assert denied("without a test") == set()
    assert denied("without a test", without=True) == set(Target.of("test").keys)
    assert refuted("not met by crews") == set(Target.of("met").keys)
    assert refuted("nobody at the depot knows") == frozenset()


TABLE = """# Objectives

| Objective | Rating |
| --- | --- |
| Evacuation | Not met |
| Warning | Met |

# Findings

The roster is short. It holds two names.
"""


def test_a_row_stands_alone_and_sentences_of_a_section_go_together():
    report = ReportIndex(TABLE)
    found = {
        (s.first, s.last) for s in report.stretches(Target.of("evacuation warning roster names"), longest=3)
    }
    rows = [report.sentences.index(row) for row in ("evacuation, not met", "warning, met")]
    with_rows = {(first, last) for first, last in found if rows[0] <= last and first <= rows[1]}
    assert with_rows == {(rows[0], rows[0]), (rows[1], rows[1])}
    roster = report.sentences.index("the roster is short.")
    assert (roster, roster + 1) in found


def test_a_row_is_below_its_heading_and_its_columns():
    report = ReportIndex(TABLE)
    number = report.sentences.index("evacuation, not met")
    assert report.contexts[number] == "objectives . objective, rating"
    met = Target.of("met").keys[0]
    assert report.only_denied(met, Stretch(number, number, 0)) is True
    assert report.only_denied(met, Stretch(number + 1, number + 1, 0)) is False
    assert report.only_denied("roster", Stretch(number, number, 0)) is None


MEMO = """[Header] SYNTHETIC

# Memorandum

| For | Director |
| --- | --- |

Subject: hiring

# Background

No. We cannot hire six people this spring. The board knows. It met. It met again. It was cold.

# Decision and bottom line

1. Sign the waiver by noon today.

2. Tell the board by May.
"""


def test_where_a_report_begins():
    assert opening(MEMO, Place.anywhere, "") == MEMO
    first = "No. We cannot hire six people this spring."
    assert opening(MEMO, Place.sentence, "") == first
    assert opening(MEMO, Place.paragraph, "") == f"{first}\n\nThe board knows.\n\nIt met.\n\nIt met again."
    listed = "Sign the waiver by noon today.\n\nTell the board by May."
    assert opening(MEMO, Place.paragraph, "bottom line") == listed
    assert opening("# Title\n\n| a | b |", Place.paragraph, "") == ""


def test_words_and_headings_of_a_form():
    assert word_count("[Header] A B\n\n# One two\n\nthree - four") == 4
    assert missing_headings("# T\n\n# Findings and gaps", "# Title\n\n# Findings\n\n# Risk") == ["Risk"]
    assert missing_headings("", "# Risk") == ["Risk"]


def test_a_sentence_is_the_experts_where_its_words_numbers_and_denials_are():
    expert = ReportIndex("The bay repairs one loader in five working days. The tower has no date.")
    report = ReportIndex(
        "In five working days the bay repairs one loader. The bay repairs one loader in six working days. "
        "The tower has a date. The embassy gave a dinner."
    )
    assert as_the_expert(report, expert) == [True, False, False, False]
