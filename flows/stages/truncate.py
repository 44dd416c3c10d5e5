"""Cut a brief at the word cap. The only definition of a word.

The rule, version `w1`. A word is a stretch between white space that contains at least one letter or digit.
So `#`, `|` and `---` are not words, and `3,000`, `12.5`, `2026-03-14`, `well-known` and `staff's` are one
each. A word processor counts the first three, too: on the control briefs the rule counts 4% fewer words than
LibreOffice, on tables a third as many, and Korean by words and not by syllables
(`docs/explanation/scoring.md`). In addition:

- Invisible characters separate words, or they could join words unnoticed:
  control characters, zero-width spaces and joiners, marks of direction, blank fillers, tags. The
  zero-width joiner and non-joiner separate only after Latin, Greek and Cyrillic letters and ASCII;
  Persian and the scripts of India write them within a word. A soft hyphen joins, as a hyphen does.
- Dashes (en, em and longer, and two or more hyphens in a row), slashes and bars separate, with or
  without spaces around them. A single hyphen joins.
- Each ideograph or kana is a word. Hangul counts by white space.

Closing punctuation belongs to the word.
"""

import re

from flows.common.errors import ConfigError
from flows.schema.brief import Brief, BriefStatus

WORD_COUNTER = "w1"
"""Version of the rule above; increment when any text is counted or cut differently."""

_SEPARATORS = (
    r"\s\x00-\x20\x7f-\xa0"  # white space, controls
    r"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"  # fillers that print as a blank or as nothing
    r"\u061c\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # no width
    r"\U000e0000-\U000e007f"  # tags: invisible copies of ASCII
    r"\u2012-\u2015\u2212\u2e3a\u2e3b\u301c\ufe31\ufe32\ufe58"  # dashes
    r"/\\\u2044\u2215\uff0f\uff3c|\u2223\uff5c"  # slashes, bars
)
_IDEOGRAPHS = (
    r"\u2e80-\u2fd5\u3005\u3007\u3021-\u3029\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff"  # planes 2 and 3 are reserved for ideographs
    r"\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d\U0001aff0-\U0001b16f"
)
_JOINERS = r"\u200c\u200d"
# Opening brackets and quotation marks, which don't belong to the ideograph before them.
_OPENING = (
    r"(\[{\u2018\u201c\u00ab\u3008\u300a\u300c\u300e\u3010\u3014\u3016\u3018\u301d\uff08\uff3b\uff5b\uff62"
)
_INSIDE = rf"[^{_SEPARATORS}{_IDEOGRAPHS}{_JOINERS}\-]*+"

# A match starts at the first letter or digit of a word and ends at the word's end. Starting at the
# letter, not at the punctuation before it, and never giving back what was taken (`*+`) keep the
# search linear on any text, a megabyte of punctuation included.
_WORD = re.compile(
    rf"([{_IDEOGRAPHS}](?:(?![^\W_])[^{_SEPARATORS}{_IDEOGRAPHS}{_JOINERS}{_OPENING}\-]|[\uff9e\uff9f])*+"
    rf"|(?![{_SEPARATORS}{_IDEOGRAPHS}])[^\W_]{_INSIDE}"
    rf"(?:(?:-(?!-)|(?<![\x00-\u058f])[{_JOINERS}]){_INSIDE})*+)"
)


def count_words(text: str) -> int:
    """Count the words in `text` under rule `w1`, in linear time."""
    return len(_WORD.findall(text))


def has_words(text: str) -> bool:
    """True if `text` has a word."""
    return _WORD.search(text) is not None


def truncate(
    scenario_id: str,
    seed: int,
    text: str,
    cap: int | None,
    *,
    completion: str | None = None,
    cut_by_provider: bool = False,
    detail: str = "",
) -> Brief:
    """Build the graded brief from the written text: its longest prefix with at most `cap` words.

    A text within the cap is unchanged; otherwise the brief ends with the last kept word and its closing
    punctuation, without trailing white space: cutting again changes nothing. A text without words makes an
    `empty` brief, which is graded like any other.

    `seed` and `cap` count from 1 and from 0; without a cap everything is kept. `completion` is the key of the
    stored reply, None for a brief written elsewhere.

    Raises:
        ConfigError: `cap` is negative.
    """
    if cap is not None and cap < 0:
        raise ConfigError("word_cap.words", str(cap), "a number of words from 0, or null for no cap")
    parts = _WORD.split(text)  # in turn what is before a word, and the word
    words_raw = len(parts) // 2
    kept = text if cap is None or words_raw <= cap else "".join(parts[: 2 * cap])
    return Brief(
        scenario_id=scenario_id,
        seed=seed,
        status=BriefStatus.written if words_raw else BriefStatus.empty,
        text=kept,
        words_raw=words_raw,
        words_kept=words_raw if cap is None else min(words_raw, cap),
        cut=kept != text,
        cut_by_provider=cut_by_provider,
        word_counter=WORD_COUNTER,
        completion=completion,
        detail=detail,
    )


def without_text(
    scenario_id: str, seed: int, status: BriefStatus, detail: str, *, completion: str | None
) -> Brief:
    """Build the brief of a request without a text: its counts are null, not 0.

    Raises:
        ValueError: `status` is one that has a text.
    """
    if status not in (BriefStatus.refused, BriefStatus.error):
        raise ValueError(f"{scenario_id}/{seed}: a brief without a text can't be {status}")
    return Brief(
        scenario_id=scenario_id,
        seed=seed,
        status=status,
        text=None,
        words_raw=None,
        words_kept=None,
        word_counter=WORD_COUNTER,
        completion=completion,
        detail=detail,
    )
