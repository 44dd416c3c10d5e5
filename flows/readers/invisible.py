"""Remove invisible characters from text, and report what they encode.

A model reads them, so they can carry instructions to it. One is kept only where it changes how its neighbours
are drawn: a joiner in a joining script or an emoji, a selector after a character with variants, the tags of a
flag. Removed ones are reported, except hints for line breaks: a soft hyphen, a zero-width space in a script
without spaces, a byte order mark at the beginning.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_JOINING = "\u0600-\u1cff\ua800-\uabff\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00011fff"
_SYMBOL = "\u00a9\u00ae\u203c-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_IDEOGRAPH = "\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\U00020000-\U0003ffff"
_JAMO = "\u1100-\u115e\u1161-\u11ff\ua960-\ua97f\ud7b0-\ud7ff"

# Before, <the character>, after; "before" holds what was kept of the same run.
_DRAWN = re.compile(
    rf"[{_JOINING}]<[\u200c\u200d]>.?|[{_SYMBOL}]\ufe0f?<\u200d>[{_SYMBOL}]"
    rf"|[{_SYMBOL}{_IDEOGRAPH}\u1000-\u109f\ua840-\ua87f]<[\ufe00-\ufe0f]>.?|[0-9#*]<\ufe0f>\u20e3"
    rf"|[{_IDEOGRAPH}]<[\U000e0100-\U000e01ef]>.?|[\u1800-\u180a\u1810-\u18af]<[\u180b-\u180f]>.?"
    rf"|[{_JAMO}]<[\u115f\u1160]>.?|.?<[\u115f\u1160]>[{_JAMO}]",
    re.DOTALL,
)
_BREAKS = re.compile(
    rf".?<\u00ad>.?|<\ufeff>.?|[{_WITHOUT_SPACES}]<\u200b>.?|.?<\u200b>[{_WITHOUT_SPACES}]", re.DOTALL
)
_FLAG = re.compile("\U0001f3f4<[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f>.?", re.DOTALL)
_TAGS = range(0xE0020, 0xE007F)
_SELECTORS = (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))  # 256, used to stand for bytes
_BYTES = {code: number for number, code in enumerate(_SELECTORS)}


@dataclass(slots=True)
class Unseen:
    """What was removed from a text."""

    message: str = ""  # the decoded text that invisible characters carried
    others: Counter[str] = field(default_factory=Counter[str])  # names of the rest, with their counts


def without_invisible(text: str) -> tuple[str, Unseen]:
    """Return the text without invisible characters, and what was removed."""
    if text.isascii():
        return text, Unseen()
    out: list[str] = []

    def kept(match: re.Match[str]) -> str:
        run, start, end = match.group(), match.start(), match.end()
        before, after = text[max(start - 1, 0) : start], text[end : end + 1]
        if _FLAG.fullmatch(f"{before}<{run}>{after}"):
            return run
        left = ""
        for character in run:
            if _DRAWN.fullmatch(f"{before}{left}<{character}>{after}"):
                left += character
            elif not _BREAKS.fullmatch(f"{before}<{run}>{after}"):
                out.append(character)
        return left

    text = _INVISIBLE.sub(kept, text)
    codes = [ord(character) for character in out]
    tags = "".join(chr(code - 0xE0000) for code in codes if code in _TAGS)
    carried = [_BYTES[code] for code in codes if code in _BYTES]
    # One selector is an accident; several in places without a variant encode a message.
    hidden = bytes(carried).decode("utf-8", "replace") if len(carried) > 1 else ""
    rest = [code for code in codes if code not in _TAGS and not (hidden and code in _BYTES)]
    names = (unicodedata.name(chr(code), f"U+{code:04X}") for code in rest)
    return text, Unseen(" ".join(filter(None, (tags, hidden))), Counter(names))
