"""The word rule `w1`, and the cut."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows.common.errors import ConfigError
from flows.schema.brief import BriefStatus
from flows.stages.truncate import WORD_COUNTER, count_words, truncate, without_text

ALPHABET = "ab1 \n\t-—/|#.,'(\u200b\u200d\u00ad\u0301漢か。「한\u3099\ufe0f_\u0646"
TEXTS = st.text(alphabet=ALPHABET, max_size=60) | st.text(max_size=60)


def cut_words(text, cap):
    return truncate("harbour", 1, text, cap).text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("   \n\t ", 0),
        ("one", 1),
        ("The brigade holds the ridge.", 5),
        ("costs 3,000 or 12.5 today", 5),
        ("2026-03-14 at 141200Z", 3),
        ("a well-known staff's don’t", 4),  # noqa: RUF001 -- the typographic apostrophe is the case
        ("# Heading", 1),
        ("| a | b |\n|---|---|\n|c|d|", 4),
        ("---", 0),
        ("- first\n- second", 2),
        ("**bold** _it_ `code`", 3),
        ("risk—high", 2),
        ("10–12 km", 3),  # noqa: RUF001 -- the en dash is the case
        ("risk -- high", 2),
        ("risk--high---now", 3),
        ("and/or", 2),
        ("one\u200btwo\u2060three\ufefffour", 4),
        ("one\u200etwo\u202ethree\u2066four", 4),
        ("one\U000e0041two", 2),
        ("one\u3164two\u2800three", 3),
        ("one\x00two\x1fthree", 3),
        ("one\u200dtwo\u200cthree", 3),
        ("می\u200cخواهم", 1),  # noqa: RUF001 -- Persian: one word with a non-joiner inside
        ("co\u00adoperate", 1),
        ("作戦計画", 4),
        ("作戦、計画。", 4),
        ("か\u3099き", 2),  # a combining voiced mark belongs to its kana
        ("カﾞ", 1),
        ("ｶﾞｷﾞ", 2),  # half-width voiced marks
        ("コーヒー", 4),
        ("第3軍団HQ", 5),
        ("3月14日", 4),
        ("대한민국 육군", 2),
        ("हिन्दी भाषा", 2),
        ("cafe\u0301 noir", 2),
        ("½ ²", 2),
        ("one\u00a0two\u2003three\u2028four\u0085five", 5),
        ("👍 ok", 1),
    ],
)
def test_count(text, words):
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "cap", "kept"),
    [
        ("one two three", 2, "one two"),
        ("one two  \n three", 2, "one two"),
        ("“one two.” three", 2, "“one two.”"),
        ("(one) [two]) three", 2, "(one) [two])"),
        ("# one\n\n- two\n- three", 2, "# one\n\n- two"),
        ("risk—high now", 1, "risk"),
        ("risk--high", 1, "risk"),
        ("well-known fact", 1, "well-known"),
        ("一「二」。三", 1, "一"),
        ("一「二」。三", 2, "一「二」。"),
        ("か\u3099き", 1, "か\u3099"),
        ("ガ3軍", 2, "ガ3"),
        ("one two three", 0, ""),
        ("one two ---\n", 2, "one two ---\n"),
        ("one two ---\n", 1, "one"),
        ("---", 0, "---"),
    ],
)
def test_cut(text, cap, kept):
    assert cut_words(text, cap) == kept


def test_a_negative_cap_is_refused():
    with pytest.raises(ConfigError, match=r"word_cap\.words: -1; expected a number of words from 0"):
        cut_words("one", -1)


@given(TEXTS, st.integers(0, 20))
@settings(deadline=None)  # the machine may be busy
def test_cut_keeps_just_the_first_words(text, cap):
    kept = cut_words(text, cap)
    assert count_words(kept) == min(cap, count_words(text))
    assert text.startswith(kept)
    assert cut_words(kept, cap) == kept
    assert kept in (text, kept.rstrip())


@given(TEXTS, st.integers(0, 20), st.integers(0, 20))
@settings(deadline=None)  # the machine may be busy
def test_a_larger_cap_keeps_no_less(text, first, second):
    low, high = sorted((first, second))
    assert cut_words(text, high).startswith(cut_words(text, low))


@given(TEXTS)
@settings(deadline=None)  # the machine may be busy
def test_no_cap_keeps_everything(text):
    assert cut_words(text, None) == text
    assert cut_words(text, count_words(text)) == text


@given(TEXTS, TEXTS)
@settings(deadline=None)  # the machine may be busy
def test_texts_with_a_space_between_add_up(first, second):
    assert count_words(f"{first} {second}") == count_words(first) + count_words(second)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("word " * 300_000, 300_000),
        ("word" * 300_000, 1),
        ("!" * 1_500_000, 0),
        ("-" * 1_500_000, 0),
        ("a-" * 500_000, 1),
        ("漢" * 300_000, 300_000),
        ("漢" + "。" * 1_000_000, 1),
        ("a\u200d" * 300_000, 300_000),
    ],
    ids=["words", "one-token", "punctuation", "hyphens", "hyphenated", "ideographs", "stops", "joiners"],
)
def test_time_is_linear(text, words):
    start = time.process_time()
    assert count_words(text) == words
    assert count_words(cut_words(text, 3000)) == min(3000, words)
    assert time.process_time() - start < 2  # a few tenths when measured; quadratic would be minutes


def test_a_written_brief():
    brief = truncate("harbour", 2, "one two three.\n", 2, completion="k", cut_by_provider=True)
    assert (brief.brief_id, brief.status, brief.text) == ("harbour/2", BriefStatus.written, "one two")
    assert (brief.words_raw, brief.words_kept, brief.cut) == (3, 2, True)
    assert (brief.cut_by_provider, brief.completion, brief.word_counter) == (True, "k", WORD_COUNTER)


def test_a_brief_within_the_cap_is_untouched():
    brief = truncate("harbour", 1, "one two\n", 2, completion=None, cut_by_provider=False)
    assert (brief.text, brief.words_raw, brief.words_kept, brief.cut) == ("one two\n", 2, 2, False)


@pytest.mark.parametrize("text", ["", " \n", "---"])
def test_a_brief_without_a_word_is_empty_and_gradable(text):
    brief = truncate("harbour", 1, text, 3000, completion="k", cut_by_provider=False)
    assert (brief.status, brief.text, brief.words_raw, brief.words_kept) == (BriefStatus.empty, text, 0, 0)
    assert brief.text is not None
    assert not brief.cut


def test_a_cap_of_zero_does_not_make_a_written_brief_empty():
    brief = truncate("harbour", 1, "one", 0, completion="k", cut_by_provider=False)
    assert (brief.status, brief.text, brief.words_raw, brief.words_kept) == (BriefStatus.written, "", 1, 0)


def test_a_brief_without_text_has_no_counts():
    brief = without_text("harbour", 1, BriefStatus.refused, "content filter", completion="k")
    assert (brief.text, brief.words_raw, brief.words_kept) == (None, None, None)
    assert (brief.status, brief.detail, brief.completion) == (BriefStatus.refused, "content filter", "k")
    assert brief.text is None


@pytest.mark.parametrize("status", [BriefStatus.written, BriefStatus.empty])
def test_a_brief_with_a_text_is_not_made_without_one(status):
    with pytest.raises(ValueError, match="without a text"):
        without_text("harbour", 1, status, "", completion=None)
