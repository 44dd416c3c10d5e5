"""The shell of a page, and the tables that pages share."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from flows.stages.page.markup import attribute, own
from flows.stages.page.style import SCRIPT, STYLE

_SCRIPT_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
# The page asks the network for nothing and runs no script but its own, even if something in it that
# others wrote slipped through the escaping.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    f"script-src 'sha256-{_SCRIPT_HASH}'"
)


@dataclass(frozen=True, slots=True)
class Column:
    """A head of a table.

    Attributes:
        name: as printed.
        is_number: aligned and sorted as numbers.
    """

    name: str
    is_number: bool = False


def document(title: str, body: Sequence[str], *, with_script: bool = False) -> str:
    """A whole page; `body` is HTML."""
    script = f"<script>{SCRIPT}</script>\n" if with_script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{attribute(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + f"\n{script}</body>\n</html>\n"
    )


def table(caption: str, columns: Sequence[Column], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """A table that scrolls sideways where it is too wide; the first cell of a row is its head.

    Args:
        caption: what it shows.
        columns: its heads.
        rows: cells as HTML.
        kind: classes; `sortable` for the script.
    """
    classes = [' class="number"' if column.is_number else "" for column in columns]
    heads = [
        f'<th scope="col"{name}>{own(column.name)}</th>'
        for column, name in zip(columns, classes, strict=True)
    ]
    lines: list[str] = []
    for row in rows:
        head, *cells = (f"{name}>{cell}" for cell, name in zip(row, classes, strict=True))
        lines.append(f'<tr><th scope="row"{head}</th>{"".join(f"<td{cell}</td>" for cell in cells)}</tr>')
    name = f' class="{kind}"' if kind else ""
    return scroll(
        caption,
        f"<table{name}>\n<caption><span>{own(caption)}</span></caption>\n<thead><tr>{''.join(heads)}</tr></thead>\n"
        "<tbody>\n" + "\n".join(lines) + "\n</tbody>\n</table>",
    )


def scroll(label: str, content: str) -> str:
    """Content that scrolls sideways by pointer and by keys where it is too wide."""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{attribute(label)}">\n{content}\n</div>'
    )


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Names and values; the values are HTML."""
    return (
        '<dl class="facts">\n'
        + "\n".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in pairs)
        + "\n</dl>"
    )


def stand_in_notice(judge: str) -> str:
    """What stands at the top of every page with numbers of a stand-in."""
    return (
        f'<p class="notice" role="note">Judge <b>{own(judge)}</b> is a deterministic stand-in, no language '
        "model and no person. Its numbers show that everything works; they measure no model and are none to "
        "publish.</p>"
    )
