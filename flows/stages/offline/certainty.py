"""Detect hedges, denials and conditions in a text."""

from __future__ import annotations

import re


def _any(alternatives: str) -> re.Pattern[str]:
    """Compile a pattern for whole words from one alternative per line."""
    return re.compile(rf"\b(?:{'|'.join(line.strip() for line in alternatives.strip().splitlines())})\b")


_KEPT_OPEN = r"""
    unconfirmed
    unverified
    uncorroborated
    not (?:yet |been |fully )*(?:confirmed|verified|corroborated)
    not (?:yet |been |fully )*(?:established|prove[nd]|settled|resolved)
    disputed?
    contested
    unresolved
    unsettled
    undetermined
    under investigation
    hypothes[ie]s
    alleged(?:ly)?
    single[- ]sourced?
    (?:low|moderate|medium) confidence
    do(?:es)? not (?:reconcile|agree)
    irreconcilable
    conflicting
"""
# Doubt as the determination itself: an item that requires a brief to leave something open.
_DOUBT = _any(
    _KEPT_OPEN.rstrip()
    + r"""
    does not pick
    both accounts
    possible or
    as possible
    possible cause
    as (?:an )?assess(?:ed|ment)
    as (?:a claim|an assumption|uncertain|an estimate)
    not (?:as )?(?:a |an )?(?:established |confirmed )?(?:fact|finding|certainty)
    """
)
# Any expression of doubt with which a brief may leave something open.
_HEDGE = _any(
    _KEPT_OPEN.rstrip()
    + r"""
    (?:yet|remains?|still) to be \w+ed
    (?:to be|if|to) confirm(?:ed)?
    tbc
    cannot (?:yet )?be (?:confirmed|verified|established|excluded|ruled out|relied)
    one (?:source|report)
    possibl[ey]
    possibilit(?:y|ies)
    suspect(?:ed|s)?
    reportedly
    claim(?:s|ed)?
    appears?
    apparently
    seems?
    (?:un)?likely
    probabl[ey]
    plausibl[ey]
    potential(?:ly)?
    (?<!\d )may(?! \d)
    might
    could
    assess(?:ed|es|ment)
    estimate[sd]?
    judged
    believed
    disputes
    contests
    unclear
    uncertain(?:ty)?
    unknown
    not (?:yet )?(?:known|clear|certain)
    unexplained
    inconclusive
    no (?:finding|evidence)
    conflicts?
    contradict(?:s|ed|ory|ion)?
    discrepanc(?:y|ies)
    inconsisten(?:t|cy)
    differ(?:s|ing)?
    do(?:es)? not match
    rumou?r(?:s|ed)?
    question(?:ed|able)
    doubt(?:s|ful|ed)?
    pending
    awaited
    assum(?:e[sd]?|ing|ptions?)
    presum(?:ed|ably|ption)
    speculat(?:ive|ion)
    indicat(?:es?|ions?)
    suggests?
    verify
    corroborate
    (?:nothing|no other|no one|nobody) (?:\w+ )?(?:supports?|confirms?|tried|checked)
    (?:nothing|no other|no one|nobody) (?:\w+ )?(?:knows?|agree[sd]?|has|have)
    confidence is (?:low|moderate|medium)
    (?:lone|ungraded|unrated|unsampled|untested|unproved|undefined|unnamed|unsure)
    (?:guess|reckon|consider)(?:s|ed)?
    (?:can't|cannot|can not) be (?:closed|reconciled|settled|known|said)
    (?:has|have) no name
    whatever it is
    open question
    rests? on one
    told by
    only told
    two (?:figures|numbers|readings|accounts)
    """
)
_FIRM = _any(
    r"""
    as (?:a |an )?(?:established |confirmed |settled |known )?(?:fact|certainty|finding)
    as (?:certain|confirmed|proven|settled|established)
    as if (?:it were )?(?:confirmed|fact|certain)
    is confirmed
    without (?:caveat|qualification|hedging|noting)
    """
)
_CONDITION = _any(
    r"""
    only (?:if|after|when|once|with|where)
    unless
    until
    subject to
    provided that
    conditional (?:on|upon)
    contingent (?:on|upon)
    pending
    before any
    if (?:and only if|approved|authori[sz]ed|confirmed)
    """
)
_CORRECTION = _any(
    r"""
    withdrawn
    withdrew
    taken back
    superseded
    replaced by
    outdated
    obsolete
    (?:older|earlier|previous) (?:figure|number|report|estimate|count)
    no longer
    up from
    double[- ](?:count\w*)
    counted twice
    corrected
    revised
    (?:is|was|are|were|as|by survey) (?:wrong|false|mistaken|incorrect)
    overstate[sd]?
    understate[sd]?
    contradicted
    """
)
_DENIAL = _any(
    r"""
    not(?! only\b)
    \w+n't
    no(?! (?:more|less|fewer|later|earlier|sooner|longer) than\b)
    never
    neither
    nor
    without
    cannot
    avoid(?:s|ed|ing)?
    refus(?:e|es|ed|ing)
    prohibit(?:s|ed|ion)?
    forbid(?:s|den)?
    forbade
    barred
    bars
    preclude[sd]?
    exclud(?:e|es|ed|ing)
    reject(?:s|ed|ing)?
    den(?:y|ies|ied)
    prevent(?:s|ed|ing)?
    rather than
    instead of
    refrain
    restraint
    contrary to
    wrong to
    (?:outside|beyond) (?:the |our )?(?:mandate|authority|scope)
    superseded
    withheld
    rescinded
    mistaken
    misread
    """
)
_CLAUSE = re.compile(
    r"[;:()]\s|\s-\s|,?\s+(?:but|however|yet|whereas|although|though)\b|,\s+(?:and|so|which|while)\b"
)


def is_hedged(text: str) -> bool:
    """True if lower-case `text` expresses doubt about anything."""
    return _HEDGE.search(text) is not None


def asks_for_doubt(text: str) -> bool:
    """True if lower-case `text` of an item makes doubt itself the determination."""
    return _DOUBT.search(text) is not None


def asks_for_firmness(text: str) -> bool:
    """True if a wrong move, in lower case, is to state something as certain."""
    return _FIRM.search(text) is not None


def is_conditional(text: str) -> bool:
    """True if lower-case `text` is conditional."""
    return _CONDITION.search(text) is not None


def denies(text: str) -> bool:
    """True if lower-case `text` denies anything."""
    return _DENIAL.search(text) is not None


def is_corrected(text: str) -> bool:
    """True if lower-case `text` calls something outdated or wrong."""
    return _CORRECTION.search(text) is not None


def clauses(text: str) -> list[tuple[str, str]]:
    """Split lower-case `text` into clauses with (affirmed, denied) parts, either possibly empty.

    A denial reaches to the end of its clause: "we do not cross the bridge, but hold the ford" denies
    the bridge alone.
    """
    parts: list[tuple[str, str]] = []
    for clause in _CLAUSE.split(text):
        cue = _DENIAL.search(clause)
        cut = cue.start() if cue else len(clause)
        parts.append((clause[:cut], clause[cut:]))
    return parts
