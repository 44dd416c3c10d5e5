"""Find doubt, denial and contrary words in a text."""

import re
from collections.abc import Sequence
from functools import lru_cache

from flows.stages.offline.passages import Passage, TextIndex, read
from flows.stages.offline.quantities import same

_OPEN = (
    r"unconfirmed|unverified|uncorroborated|disputed?|contested|unresolved|unsettled|undetermined"
    r"|not (?:yet |been |fully )*(?:confirmed|verified|corroborated|established|prove[dn]|settled|resolved)"
    r"|alleged(?:ly)?|under investigation|hypothes[ie]s|single[- ]sourced?"
    r"|(?:low|moderate|medium) confidence"
)
_ASKED = re.compile(
    rf"\b(?:{_OPEN}|possible or|as possible|possible cause|both accounts|as (?:an )?assess(?:ed|ment)"
    r"|as (?:a claim|an assumption|uncertain|an estimate)"
    r"|not (?:as )?(?:a |an )?(?:established |confirmed )?(?:fact|finding|certainty))\b"
)
_HEDGE = re.compile(
    rf"\b(?:{_OPEN}|to be (?:confirmed|verified)|tbc|possibl[ey]|possibilit\w+|suspect\w*|reported(?:ly)?"
    r"|claim\w*|appears?|apparently|seems?|(?:un)?likely|probabl[ey]|plausibl[ey]|(?<!\d )may(?! \d)"
    r"|might|could|assess\w*|estimate[sd]?|judged|believed|unclear|uncertain\w*|unknown|unexplained|inconclusive"
    r"|not (?:yet )?(?:known|clear|certain)|no (?:finding|evidence)|conflict\w*|contradict\w*|discrepan\w+"
    r"|inconsisten\w+|differ\w*|do(?:es)? not (?:match|agree|reconcile)|rumou?r\w*|doubt\w*|pending|assum\w+"
    r"|presum\w+|speculat\w+|indicat\w+|suggests?|cannot (?:yet )?be (?:confirmed|verified|ruled out)"
    r"|(?:one|lone|single|only) (?:source|report)|rests on one|nothing (?:\w+ )?(?:supports|confirms))\b"
)

_UNTRUE = r"(?:false|untrue|wrong|incorrect|mistaken|a myth|not (?:so|true|correct|right|accurate|the case))"
_THIS = r"(?:this|that|it|the above|the statement|all of (?:this|that|it))"
# "It is not the case that X": what is left of the sentence is denied.
_DENIAL = re.compile(
    rf"\b(?:it|that) (?:is|was) (?:\w+ly )?(?:{_UNTRUE}|never (?:so|true|the case)) (?:that|to say)\b"
    r"|\bit (?:isn't|wasn't) (?:so|true|correct|right|the case) that\b"
    r"|\b(?:nobody|no one) (?:should|can|may) (?:say|claim|believe) that\b"
    r"|\b(?:we|this brief|the staff) (?:deny|denies|rejects?|disputes?) (?:the claim )?that\b"
    r"|\bthere is no truth in\b"
    rf"|,? (?:(?:which|and this|and that|this|that) )?(?:is|are) {_UNTRUE}[.!]?$"
)
_DENIED_AFTER = re.compile(rf"^{_THIS} (?:is|was) {_UNTRUE}[.!]?$")
_DENIED_BEFORE = re.compile(
    rf"\b(?:following|below)\b.*\b{_UNTRUE}\b|^(?:false|untrue|not true|myths?)[.:]?$"
)
_ABOUT_IT = 0.6  # share of a denied sentence's words that the truth has
_NEGATIVE = re.compile(
    rf"\b(?:not?|never|none|nothing|neither|nor|cannot|\w+n't|without|{_UNTRUE}|outdated|out of date"
    r"|superseded|withdrawn)\b"
)

_SCALES = [
    [frozenset(value.split()) for value in line.split(";")]
    for line in """
    high; medium moderate; low
    red; amber; green; black
    north northern northward; south southern southward; east eastern eastward; west western westward
    rise rises rose rising increase increases increased; fall falls fell falling decrease decreases decreased
    accepted accepts approved agreed; rejected rejects refused denied declined
    permitted allowed authorised authorized; prohibited forbidden banned barred
    upstream; downstream
    maximum; minimum
    supporting; supported
    left; right
    """.strip().splitlines()
]
"""Values that exclude one another, a scale a line; the words of a value are equivalent."""


def asks_for_doubt(text: str) -> bool:
    """True if lower-case `text` of an item makes doubt itself the determination."""
    return _ASKED.search(text) is not None


def is_hedged(text: str) -> bool:
    """True if lower-case `text` expresses doubt about anything."""
    return _HEDGE.search(text) is not None


def contrary(truth: str, said: str) -> tuple[str, str] | None:
    """Return a value of the truth and the one said in its place; None if there is none. Both in lower case.

    A scale only counts if the truth has exactly one of its values and the text has others but not that one.
    """
    true, stated = (frozenset(re.findall(r"[a-z]+", text)) for text in (truth, said))
    for scale in _SCALES:
        values = [value for value in scale if value & true]
        if len(values) == 1 and not values[0] & stated:
            others = sorted(word for value in scale for word in value & stated)
            if others:
                return min(values[0] & true), others[0]
    return None


def denies(truth: str, text: TextIndex, passage: Passage) -> bool:
    """True if a sentence of the passage is denied and states what is true.

    A sentence is denied by its own words ("it is not the case that ..."), by the next one ("This is false.")
    or by what stands above it ("The following is not true:"). Of a denial and the closest sentence of the
    truth, exactly one has a negative where the denial is right: "it is not true that the ford is open" where
    the truth is that it is not.
    """
    for number in range(passage.first, passage.last + 1):
        claim = _denied(text, number)
        if claim is None:
            continue
        words, figures = frozenset(read(claim)[0]), read(claim)[1]
        if not all(any(same(one, true) for true in read(truth)[1]) for one in figures):
            continue  # another figure is denied than the true one
        shared, closest = max(
            ((len(words & frozenset(read(one)[0])), one.lower()) for one in _sentences(truth)),
            default=(0, ""),
        )
        same_polarity = bool(_NEGATIVE.search(claim)) == bool(_NEGATIVE.search(closest))
        if words and same_polarity and shared >= _ABOUT_IT * len(words):
            return True
    return False


@lru_cache(maxsize=4096)
def _sentences(text: str) -> Sequence[str]:
    return TextIndex(text).sentences


def _denied(text: TextIndex, number: int) -> str | None:
    """Return what a sentence denies, without the words of denial; None if it denies nothing."""
    sentence = text.sentences[number].lower()
    if (match := _DENIAL.search(sentence)) is not None:
        return sentence[: match.start()] + sentence[match.end() :]
    near = [n for n in (number - 1, number + 1) if 0 <= n < len(text.sentences)]
    before, after = (
        [text.sentences[n].lower() for n in near if n == other and text.sections[n] == text.sections[number]]
        for other in (number - 1, number + 1)
    )
    above = [text.contexts[number].lower(), *before]
    if any(map(_DENIED_BEFORE.search, above)) or any(map(_DENIED_AFTER.search, after)):
        return sentence
    return None
