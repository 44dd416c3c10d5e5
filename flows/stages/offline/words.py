"""Words with content, reduced to a stem."""

from __future__ import annotations

import re
from functools import lru_cache

_WORDS = """
    a about above advises after again all also although an and any are aren't as ascribes at be because
    been before being below between both brief but by calls can can't cannot challenges concludes connects
    correct correctly could couldn't d derives describe described describes did didn't do does doesn't
    doing don't down draws during each eg either else etc even ever every explain explained explains
    explicit explicitly fact facts fail fails few figure figures finds for from further give given gives
    giving had has have having he her here hers herself him himself his how i identified identifies
    identify identifying ie if in includes into is isn't it it's item items its itself just least less
    list listed lists ll made make makes making many may me mention mentioned mentions might more most
    much must mustn't my myself name named names naming neither never no none nor not note noted notes
    noting now of off on once one only onto or other our ours out over own pass passes per points present
    presented presents proposes put puts quantifies raises ranks rates rather re recognise recognises
    recognize recognizes report reported reporting reports restates right s said same say says sees
    separates sets she should shouldn't shows since so some state stated states stating still such t than
    that that's the their theirs them themselves then there these they this those through thus ties to too
    treat treated treating treats under until up upon us uses ve very via vs warns was wasn't we were
    weren't what when where whether which while who whom whose why will with within without won't words
    would x yet you your yours
"""
_STOP = frozenset(_WORDS.split())  # words without content, and verbs that items use about briefs
_LETTERS = 6  # of a stem


@lru_cache(maxsize=65_536)
def stems(word: str) -> tuple[str, ...]:
    """Return the stems of a lower-case word: none for one without content, several for a compound.

    A name with digits is joined: "ch-47" is ch47.
    """
    if word in _STOP:
        return ()
    if any(c.isdigit() for c in word):
        return (word if "+" in word else word.replace("-", ""),)
    parts = [part for part in re.split(r"[-/.&+']", word) if len(part) > 1 and part not in _STOP]
    return tuple(part[:_LETTERS] for part in parts)
