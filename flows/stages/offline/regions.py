"""Find a report's beginning: its first paragraph of prose, or the one below a named heading."""

from __future__ import annotations

import re

from flows.stages.offline.criteria import Place
from flows.stages.offline.text import plain, sentences

_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+)$")
_LABEL = re.compile(
    r"^(?:from|to|for|date|dated|subject|subj|re|cc|thru|through|via|reference|ref|memorandum|classification)\b"
    r"[^.]{0,20}[:;]|^memorandum\b[^.]*$|^\[(?:header|footer|text box)\]",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+\u2022]|\(?\d{1,2}[.)])\s+")
_LEAST_WORDS = 6  # fewer words are a label or a title
_SENTENCES = 4  # of a first paragraph
_BEGINNING = 6  # minimum words of an opening: "No." needs the next sentence


def opening(text: str, place: Place, heading: str) -> str:
    """Return the beginning of a report.

    Args:
        text: the report.
        place: how much of it; the whole text for `anywhere`.
        heading: in lower case; if the report has a similar one, the text below it is used.

    Returns:
        At most four sentences for the first paragraph; for the first sentence, as many as needed for
        six words. Headings, tables, page headers and lines such as "Subject: ..." are skipped. The
        items of a list count as one paragraph.
    """
    if place is Place.anywhere:
        return text
    lines = plain(text).split("\n")
    titles = [(n, match[1].lower()) for n, line in enumerate(lines) if (match := _HEADING.match(line))]
    start = next((n + 1 for n, title in titles if heading and heading in title), 0)
    found: list[str] = []
    for line in lines[start:]:
        if not line.strip():
            if found and not _BULLET.match(found[-1]):
                break
            continue
        skipped = _HEADING.match(line) or line.lstrip().startswith("|") or _LABEL.match(line.strip())
        if skipped or (not found and len(line.split()) < _LEAST_WORDS):
            if found:
                break
            continue
        if found and _BULLET.match(found[-1]) and not _BULLET.match(line):
            break
        found.append(line)
    kept: list[str] = []
    for sentence in sentences("\n".join(found))[:_SENTENCES]:
        if place is Place.sentence and len(" ".join(kept).split()) >= _BEGINNING:
            break
        kept.append(sentence.text)
    return "\n\n".join(kept)
