"""Shared parts of all figures: frame, colours, text and labels."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape

# No custom properties: viewers other than browsers don't support them.
_STYLE = (
    ".fig{font:13px system-ui,sans-serif}.fig text{fill:#1d2329}.fig .s{fill:#56616c;font-size:12px}"
    ".fig .t{font-size:10.5px}.fig .h{font-size:16px;font-weight:600}.fig .e{text-anchor:end}"
    ".fig .m{text-anchor:middle}.fig .back{fill:#fff}.fig .grid{stroke:#d3d9df}.fig .zero{stroke:#56616c}"
    ".fig .bar{stroke:#1f5f9e;stroke-width:2.5}.fig .dot,.fig .heat{fill:#1f5f9e}"
    ".fig .bound{stroke:#56616c;stroke-width:1.5;stroke-dasharray:2 3}"
    ".fig .none{fill:none;stroke:#d3d9df;stroke-dasharray:3 3}.fig .seg{stroke:#1d2329;stroke-width:.75}"
    ".fig .halo{paint-order:stroke;stroke:#fff;stroke-width:4px}"
    ".fig .f0{fill:#9fc3e6}.fig .f1{stroke:#8a5a00}.fig .f2{stroke:#a3333d}.fig .f3{fill:#3d7a4c}"
    ".fig .f4{stroke:#6b7480}.fig .f5{stroke:#6a4c93}"
    "@media(prefers-color-scheme:dark){.fig text{fill:#e6e9ed}.fig .s{fill:#a5afba}.fig .back{fill:#15191e}"
    ".fig .grid,.fig .none{stroke:#3b434c}.fig .zero,.fig .bound{stroke:#a5afba}.fig .bar{stroke:#7db4ea}"
    ".fig .dot,.fig .heat{fill:#7db4ea}.fig .seg{stroke:#e6e9ed}.fig .halo{stroke:#15191e}"
    ".fig .f0{fill:#2c5c8c}.fig .f1{stroke:#dcae5a}.fig .f2{stroke:#ef8d95}.fig .f3{fill:#8ccb9b}"
    ".fig .f4{stroke:#a5afba}.fig .f5{stroke:#bda2e0}}"
)
LABEL_WIDTH = 272.0
"""Left of every plot."""
AREA_WIDTH = 380.0
"""Of a plot with an axis."""
TOP = 96.0
"""Above every plot: title, two lines of subtitle, heads."""
ROW = 30.0
"""Height of a row."""
_LABEL_COLUMNS = 34
_JUDGE_COLUMNS = 48


def frame(
    name: str,
    title: str,
    *,
    subtitle: Sequence[str],
    size: tuple[float, float],
    body: Sequence[str],
    alt: Sequence[str],
) -> str:
    """Render one figure.

    Args:
        name: unique within a page; letters, digits and hyphens.
        title: also read by screen readers.
        subtitle: at most two lines.
        size: width and height in pixels.
        body: its elements.
        alt: text alternative, a sentence per row, without full stop.
    """
    width, height = size
    description = " ".join([*subtitle, *(f"{line}." for line in alt)])
    lines = [text(12, 46 + 16 * number, line, "s") for number, line in enumerate(subtitle)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="fig" role="img" '
        f'aria-labelledby="{name}-title {name}-desc" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">\n'
        f'<title id="{name}-title">{safe(title)}</title>\n'
        f'<desc id="{name}-desc">{safe(description)}</desc>\n'
        f'<style>{_STYLE}</style>\n<rect class="back" width="100%" height="100%"/>\n'
        + "\n".join([text(12, 24, title, "h"), *lines, *body])
        + "\n</svg>\n"
    )


def text(x: float, y: float, content: str, kind: str = "") -> str:
    """Render a text with its baseline at `y`; `kind` has CSS classes: `s`mall, `e`nd, `m`iddle, ..."""
    name = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.2f}" y="{y:.2f}"{name}>{safe(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Render a straight line with a CSS class."""
    return f'<line class="{kind}" x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}"/>'


def titled(title: str, drawn: str) -> str:
    """Group elements under a tooltip."""
    return f"<g><title>{safe(title)}</title>{drawn}</g>"


def row_label(label: str, y: float) -> str:
    """Render a condition's label left of its row, shortened, with the full label as tooltip."""
    return titled(label, text(LABEL_WIDTH - 12, y + 4, shortened(label, _LABEL_COLUMNS), "e"))


def by_judge(judge: str) -> str:
    """Return the start of every subtitle."""
    return f"Judge {shortened(judge, _JUDGE_COLUMNS)}."


def visible(content: str) -> str:
    """Replace invisible, bidirectional and invalid XML characters with their code points."""
    return "".join(c if c.isprintable() else f"[U+{ord(c):04X}]" for c in content)


def safe(content: str) -> str:
    """Escape a text for an element or an attribute."""
    return escape(visible(content))


def shortened(content: str, columns: int) -> str:
    """Shorten a text to `columns`, cutting its middle, as similar labels differ at their ends."""
    content = visible(content)
    if sum(map(_columns, content)) <= columns:
        return content
    head = _fitting(content, (columns - 1) // 2)
    return f"{head}…{_fitting(content[::-1], columns // 2)[::-1]}"


def wrapped(content: str, columns: int, lines: int) -> list[str]:
    """Wrap a text at spaces; words or a remainder that don't fit are shortened."""
    found = [""]
    for word in visible(content).split():
        joined = f"{found[-1]} {word}".strip()
        if found[-1] and len(joined) > columns and len(found) < lines:
            found.append(word)
        else:
            found[-1] = joined
    return [shortened(one, columns + 1) for one in found]


def _columns(character: str) -> int:
    """Return a character's terminal columns, which approximate its width in any font."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _fitting(content: str, columns: int) -> str:
    kept: list[str] = []
    for character in content[: 4 * columns]:  # a letter may have a thousand zero-width accents
        columns -= _columns(character)
        if columns < 0:
            break
        kept.append(character)
    return "".join(kept)
