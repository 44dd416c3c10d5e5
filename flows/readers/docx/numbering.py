"""Numbers of list paragraphs as Word shows them (ISO/IEC 29500-1, 17.9)."""

import re
from dataclasses import dataclass, field, replace

from flows.common.word_xml import Element, attribute, child, number, qn, switch, tag, val
from flows.readers.shared.signs import numeral, padded

_PLACEHOLDER = re.compile(r"%([1-9])")
_LEVELS = 9


@dataclass(slots=True)
class Level:
    """One level of a list definition: its count and the format of its number."""

    start: int = 1
    form: str = "decimal"
    pattern: str = ""
    text: str = ""
    style: str = ""
    font: str = ""
    legal: bool = False
    restart_after: int | None = None  # w:lvlRestart: 0 never, n after a paragraph of level n


@dataclass(frozen=True, slots=True)
class Label:
    """The label of a list paragraph."""

    text: str  # as printed, such as `(2)`; the glyph for a bullet
    citation: str  # how an order cites it, such as `3.b.(2)`; '' for a bullet
    bullet: bool  # whether it is a bullet
    font: str  # font of a bullet's glyph
    level: int  # depth, from 1
    unknown: str = ""  # the number format where it is not known and decimal was written instead


@dataclass(slots=True)
class _List:
    levels: list[Level]
    counts: list[int | None] = field(default_factory=lambda: [None] * _LEVELS)
    labels: list[str] = field(default_factory=lambda: [""] * _LEVELS)
    started: dict[str, list[Level]] = field(default_factory=dict[str, list[Level]])


def _level(element: Element) -> Level:  # noqa: C901 -- one case a property
    level = Level()
    for part in element:
        match tag(part):
            case "w:start":
                level.start = number(val(part)) or 0
            case "w:numFmt":
                level.form = val(part, default="decimal")
                level.pattern = attribute(part, "w:format")
            case "w:lvlText":
                level.text = val(part)
            case "w:pStyle":
                level.style = val(part)
            case "w:isLgl":
                level.legal = switch(part) is not False
            case "w:lvlRestart":
                level.restart_after = number(val(part))
            case "w:rPr":
                level.font = attribute(child(part, "w:rFonts"), "w:ascii")
            case "mc:AlternateContent":
                # Custom formats come as a choice with a plain fallback.
                patterns = (attribute(custom, "w:format") for custom in part.iter(qn("w:numFmt")))
                if pattern := next(filter(None, patterns), ""):
                    level.form, level.pattern = "custom", pattern
            case _:
                pass
    return level


class Numbering:
    """The lists of one document, with their counters."""

    def __init__(self, root: Element | None, style_lists: dict[str, str]) -> None:
        """Read `numbering.xml`; `style_lists` has the numId of each numbering style, for `w:numStyleLink`."""
        self._definitions: dict[str, Element] = {}
        self._abstract_of: dict[str, str] = {}
        self._overrides: dict[str, dict[int, Element]] = {}
        self._lists: dict[str, _List] = {}
        self._style_lists = style_lists
        for entry in () if root is None else root:
            if tag(entry) == "w:abstractNum":
                self._definitions[attribute(entry, "w:abstractNumId")] = entry
            elif tag(entry) == "w:num":
                key = attribute(entry, "w:numId")
                self._abstract_of[key] = val(entry, "w:abstractNumId")
                self._overrides[key] = {
                    number(attribute(change, "w:ilvl")) or 0: change
                    for change in entry.iterfind(qn("w:lvlOverride"))
                }

    def _list(self, num: str) -> _List | None:
        key = self._abstract_of.get(num, "")
        for _ in range(_LEVELS):  # through links of styles; a circle of them ends
            link = val(self._definitions.get(key), "w:numStyleLink")
            if not link:
                break
            key = self._abstract_of.get(self._style_lists.get(link, ""), "")
        if key not in self._definitions:
            return None
        if key not in self._lists:
            levels = [Level() for _ in range(_LEVELS)]
            for element in self._definitions[key].iterfind(qn("w:lvl")):
                at = number(attribute(element, "w:ilvl"))
                if at is not None and 0 <= at < _LEVELS:
                    levels[at] = _level(element)
            self._lists[key] = _List(levels)
        return self._lists[key]

    def level_of_style(self, num: str, style: str) -> int | None:
        """The level that a list ties to a paragraph style, from 0; None where it ties none."""
        found = self._list(num)
        if found is None:
            return None
        return next((at for at, level in enumerate(found.levels) if level.style == style), None)

    def advance(self, num: str, at: int) -> Label | None:
        """Count one paragraph of list `num` at level `at` (from 0) and return its label.

        Lists that share a definition go on counting together; a list with a start override starts
        again on its first use, as Word does. None if there is no such list.
        """
        found = self._list(num)
        if found is None or not 0 <= at < _LEVELS:
            return None
        if num not in found.started:
            found.started[num] = self._changed(num, found)
        levels = found.started[num]
        level = levels[at]
        before = found.counts[at]
        found.counts[at] = level.start if before is None else before + 1
        for depth in range(at):
            if found.counts[depth] is None:  # a level that was skipped shows its first number
                found.counts[depth] = levels[depth].start
        for depth in range(at + 1, _LEVELS):
            after = levels[depth].restart_after
            if after is None or (after != 0 and at < after):
                found.counts[depth] = None
        return self._label(found, levels, at)

    def _changed(self, num: str, found: _List) -> list[Level]:
        """Return the levels of a list with its overrides; counts with a start override restart."""
        levels = list(found.levels)
        for depth, change in self._overrides.get(num, {}).items():
            if not 0 <= depth < _LEVELS:
                continue
            if child(change, "w:lvl") is not None:
                levels[depth] = _level(child(change, "w:lvl"))
            start = number(val(change, "w:startOverride"))
            if start is not None:
                levels[depth] = replace(levels[depth], start=start)
                found.counts[depth] = None
        return levels

    def _label(self, found: _List, levels: list[Level], at: int) -> Label:
        level = levels[at]
        if level.form == "bullet":
            found.labels[at] = ""
            return Label(level.text, "", bullet=True, font=level.font, level=at + 1)
        unknown: list[str] = []

        def count(match: re.Match[str]) -> str:
            depth = int(match.group(1)) - 1
            shown = found.counts[depth]
            if shown is None:
                shown = levels[depth].start
            form = levels[depth].form
            if level.legal and form != "decimalZero":
                form = "decimal"
            if form == "bullet":
                return ""
            text = padded(shown, levels[depth].pattern) if form == "custom" else numeral(shown, form)
            unknown.extend([form] * (text is None))
            return str(shown) if text is None else text

        text = "" if level.form == "none" and not level.text else _PLACEHOLDER.sub(count, level.text)
        text = text.strip()
        if {int(match) - 1 for match in _PLACEHOLDER.findall(level.text)} - {at}:
            # A label such as 1.2.3 already names what stands above it.
            found.labels[:at] = [""] * at
        found.labels[at:] = [text] + [""] * (_LEVELS - at - 1)
        citation = "".join(found.labels) if text else ""
        return Label(text, citation, bullet=False, font="", level=at + 1, unknown="".join(unknown[-1:]))
