"""Tables for stems and stop words."""

STOP_WORDS = """
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
"""Words without content, and verbs that items use about briefs."""

IRREGULAR = """
    children:child men:man women:woman lost:lose left:leave sent:send fell:fall rose:rise broke:break
    broken:break began:begin begun:begin drew:draw withdrew:withdraw withdrawn:withdraw struck:strike
    fought:fight thought:think brought:bring taken:take took:take died:die dying:die dies:die
    chosen:choose chose:choose fed:feed met:meet paid:pay ran:run laid:lay borne:bear built:build
    lives:life criteria:criterion
"""
"""Inflected and base forms."""

SUFFIXES = """
    3: s es e ed ing y
    4: ings ies ied ly ally ness able ible ment ments ise ises ised ising isation
    4: ize izes ized izing ization ities
    5: er or ers ors al ant ent ive ion ions ance ence ity ation ations
    5: ate ates ated ator ating ative atory ees
"""
"""Minimum remaining letters and the suffixes to strip.

The last lines have suffixes that are often part of the word: "restore" is not "rest".
"""

DOUBT_WORDS = """
    unconfirmed unverified uncorroborated confirmed verified corroborated disputed contested unresolved
    resolved unsettled settled undetermined unclear uncertain possible possibly possibility suspected
    alleged allegedly reportedly likely probable assessed assessment hypothesis hypotheses claim claimed
    confidence moderate single rests attribution treated assumption assumed estimate estimated
"""
"""Words of certainty. The rule for certainty uses them; they don't count in the share of words."""
