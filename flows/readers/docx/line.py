"""The text of a paragraph while it is built."""

from __future__ import annotations

from dataclasses import dataclass, field

from flows.readers.docx.context import After, Context
from flows.readers.emphasis import struck_out
from flows.readers.words import collapsed

MAX_ANCHOR = 500  # stretches of text that are kept of what a comment is about


@dataclass(slots=True)
class Line:
    """A paragraph under construction: pieces of text with their strike mark, and blocks that follow it."""

    segments: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    after: list[After] = field(default_factory=list[After])
    hidden: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def position(self) -> tuple[int, int]:
        """How many stretches of text, and how many things after it, there are so far."""
        return len(self.segments), len(self.after)

    def text(self) -> str:
        """The paragraph's text, white space collapsed, struck text between `~~`."""
        return collapsed(struck_out(self.segments))


def emit(line: Line, context: Context, text: str, *, strike: bool = False, hidden: str | None = None) -> None:
    """Append text, unless it is a field's code or invisible."""
    if not text or context.in_code():
        return
    if hidden and text.strip():
        line.hidden.append((hidden, text))
        return
    line.segments.append((text, strike))
    for anchor in context.open_comments.values():
        if len(anchor) < MAX_ANCHOR:
            anchor.append(text)
