"""Split a text into clean sentences, without citations and Markdown, and words into stems."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

# Vulgar fractions are replaced before NFKC, which would merge the 2 of "2\u00bd" into the fraction.
_FRACTIONS = str.maketrans({"\u00bc": ".25", "\u00bd": ".5", "\u00be": ".75"})
_PUNCTUATION = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
    | {"\u2014": " - ", "\u00d7": " x ", "\u2248": "~", "\u2265": " at least ", "\u2264": " at most "}
)
# 3 000 with a no-break space, 3'000 and 3_000 are 3,000. A plain space is not, as in "grid 123 456".
_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:([\u00a0\u2007\u2009\u202f'\u2019_])\d{3})(?:\1\d{3})*(?![\w'])")
# All other characters are irrelevant for a comparison. Format characters (Cf) include zero-width and
# bidirectional ones.
_DROPPED = ("Cf", "Cs", "Co", "Cn")


def plain(text: str) -> str:
    """Normalise `text` to NFKC with plain quotes and digits, without format and control characters."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_FRACTIONS)
    if not text.isascii():
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    text = _GROUPED.sub(lambda match: match.group().replace(match.group(1), ""), text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_PUNCTUATION)
        text = "".join(c for c in text if unicodedata.category(c) not in _DROPPED)
        # Accents are ignored: a brief may write Vasarhely for Vásárhely.
        text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    return "".join(c if c in "\n\t" or c.isprintable() else " " for c in text)


_SOURCE_NOUN = (
    r"(?:doc(?:ument)?|para(?:graph)?|annex|appendix|encl(?:osure)?|report|ref(?:erence)?|source|section|"
    r"page|pp?|item|tab|figure|table|sheet|row|line|slide|serial|sect|intsum|sitrep|opord|fragord|warno)"
)
_FILE = r"[\w.-]{1,80}\.(?:pdf|docx?|xlsx?|csv|md|txt|eml|msg|pptx?)"
_POINTER = rf"(?:{_SOURCE_NOUN}s?\b\.?\s*(?:no\.?\s*)?(?:[a-z]\b|\d[\w.]*)|{_FILE}|§)"
_BRACKETED = re.compile(
    rf"\[[^\[\]\n]{{0,300}}?(?:{_POINTER})[^\[\]\n]{{0,300}}\]|\[\^?[\d,;\s-]{{1,12}}\](?!\()", re.IGNORECASE
)
_EMPTY = re.compile(r"\((?:[\s,;-]|and|see)*\)")
_BARE_POINTER = re.compile(
    rf"\b(?:see|at|in|per|cf\.?|source:?|ref:?|described in|according to)?\s*"
    rf"(?:\b(?:doc(?:ument)?|report|annex|appendix|encl(?:osure)?)\s+(?:\d+|[A-Z])\b,?\s*)?"
    rf"(?:\bpara(?:graph)?s?\.?\s*\d+(?:\.\d+)*(?:\s*(?:-|to|and|,)\s*\d+(?:\.\d+)*)*|"
    rf"\bdoc(?:ument)?s?\.?\s+\d+(?:\s*(?:-|to|and|,)\s*\d+)*|{_FILE})",
    re.IGNORECASE,
)


def strip_citations(text: str) -> str:
    """Remove references to documents, paragraphs, pages and files from `text`.

    A brief must not gain words or numbers from its citations.
    """
    text = _BRACKETED.sub(" ", text)
    return _EMPTY.sub(" ", _BARE_POINTER.sub(" ", text))


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, table row or list item."""

    text: str  # plain text without citations and Markdown
    context: str  # headings above it and, for a table row, its column names; may be empty
    section: int  # number of its heading, from 0


_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*)")
_BOLD_LINE = re.compile(r"^\s*(?:\*\*|__)([^*_]{2,80}?):?(?:\*\*|__):?\s*$")
_BULLET = re.compile(
    r"^\s*(?:[-*+\u2022\u25cf>]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{2,4})[.)]|\d+(?:\.\d+)+\.?)\s+"
)
_RULE = frozenset(" \t:|-")
_MARKUP = re.compile(r"<!--.{0,2000}?-->|</?[a-zA-Z][^<>\n]{0,200}>|\*{1,3}|_{2,3}|~~|`+", re.DOTALL)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)")
_LONGEST = 60  # words; more without a full stop is a list, and taken apart
_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9])")


def sentences(text: str) -> list[Sentence]:
    """Split `text` into sentences in reading order, joining lines within a sentence."""
    found: list[Sentence] = []
    headings: list[tuple[int, str]] = []
    columns = ""
    section = 0
    paragraph: list[str] = []

    def close() -> None:
        joined = " ".join(paragraph)
        paragraph.clear()
        context = " ".join(title for _, title in headings[-2:])
        found.extend(Sentence(part, context, section) for part in _split(joined))

    for raw in strip_citations(_MARKUP.sub("", _LINK.sub(r"\1", plain(text)))).split("\n"):
        heading = _HEADING.match(raw) or _BOLD_LINE.match(raw)
        if not raw.strip() or heading:
            close()
            columns = ""
        if heading:
            section += 1
            level = len(heading.group(1)) if raw.lstrip().startswith("#") else 7
            headings = [(depth, title) for depth, title in headings if depth < level]
            headings.append((level, heading.group(heading.lastindex or 1).strip(" #")))
        elif raw.lstrip().startswith("|"):
            if _is_rule(raw):
                continue
            close()
            cells = [cell.strip() for cell in raw.strip().strip("|").split("|")]
            row = ", ".join(cell for cell in cells if cell)
            if columns:
                found.append(Sentence(row, columns, section))
            else:
                columns = row
                found.append(Sentence(row, "", section))
        elif not _is_rule(raw):
            bullet = _BULLET.match(raw)
            if bullet:
                close()
            paragraph.append(raw[bullet.end() if bullet else 0 :].strip())
    close()
    return [sentence for sentence in found if sentence.text]


def _is_rule(line: str) -> bool:
    """True for a line of dashes, as under a table header."""
    return "-" in line and _RULE.issuperset(line)


def _split(text: str) -> list[str]:
    """Split a paragraph into sentences, and one that is too long into pieces."""
    parts = [part.split() for part in _END.split(text)]
    return [" ".join(words[n : n + _LONGEST]) for words in parts for n in range(0, len(words), _LONGEST)]


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
