"""The text of a brief as HTML: Markdown without HTML, links or pictures, with the judge's quotes marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from flows.schema.verdict import Verdict
from flows.stages.page.markup import attribute, own

_QUOTE = re.compile(r'["“]([^"“”]{12,})["”]')
_WORD = re.compile(r"[^\W_]+")
_OFF = ("link", "image", "autolink", "html_inline", "html_block", "reference", "entity")
"""Rules that are off: what a model wrote loads nothing, leads nowhere and hides nothing."""

Span = tuple[int, int, str]
"""Start and end in a text, and the anchor of the item whose verdict quotes it."""


def quotes_of(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """Return the passages in double quotes in each reason, by item."""
    found = {v.item_id: [_plain(quote) for quote in _QUOTE.findall(v.reason)] for v in verdicts}
    return {item: quotes for item, quotes in found.items() if quotes}


def rendered(text: str, quotes: Mapping[str, Sequence[str]], *, is_markdown: bool) -> tuple[Markup, set[str]]:
    """Render a text, with every quoted passage that stands in one paragraph marked.

    Args:
        text: untrusted.
        quotes: by item, from `quotes_of`.
        is_markdown: False to keep its lines as they are. A text of which Markdown would hide a word, such as
            a cell that its table has no column for, is kept as it is too.

    Returns:
        HTML, and the items with a marked passage; each has the anchor `quote-ITEM` at its first.
    """
    seen: set[str] = set()
    text = text.replace("\x00", "U+0000")  # the parser would replace it
    parser = _parser()
    tokens = parser.parse(text) if is_markdown else []
    if not is_markdown or _words(text) != Counter(word for token in tokens for word in _words_of(token)):
        return Markup('<pre class="own" dir="auto">\n{}</pre>').format(_with_marks(text, quotes, seen)), seen
    for token in tokens:
        if token.type == "inline":
            _mark(token.children or [], quotes, seen)
    html = parser.renderer.render(tokens, parser.options, {})
    return Markup('<div class="own text" dir="auto">{}</div>').format(Markup(html)), seen


@cache
def _parser() -> MarkdownIt:
    made = (
        MarkdownIt("commonmark", {"html": False, "linkify": False})
        .enable("table")
        .disable(_OFF, ignoreInvalid=True)
    )
    made.add_render_rule("text", _text)
    made.add_render_rule("code_inline", _code)
    made.add_render_rule("code_block", _block)
    made.add_render_rule("fence", _block)
    made.add_render_rule("html_inline", _kept)
    made.add_render_rule("list_item_open", _item)
    return made


def _text(_self: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    return own(tokens[place].content)


def _kept(_self: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    return tokens[place].content  # only `_mark` makes such tokens: the parser's rule is off


def _code(_self: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    return f"<code>{own(tokens[place].content)}</code>"


def _block(_self: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    token = tokens[place]
    info = f"{own(token.info)}\n" if token.info else ""
    return f"<pre>{info}{own(token.content)}</pre>"


def _item(_self: Any, tokens: Sequence[Token], place: int, *_: Any) -> str:
    number = tokens[place].info  # as it was written: Markdown would count by itself
    return f'<li value="{int(number)}">' if number.isdigit() else "<li>"


def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text))


def _words_of(token: Token) -> Iterator[str]:
    """Yield the words that a token shows."""
    for child in token.children or []:
        yield from _WORD.findall(child.content)
    if token.children is None:
        yield from _WORD.findall(f"{token.info} {token.content}")


def _mark(children: list[Token], quotes: Mapping[str, Sequence[str]], seen: set[str]) -> None:
    """Mark passages in the texts of one paragraph, which may run over emphasised parts."""
    texts = [" " if child.type == "softbreak" else child.content for child in children]
    spans = _spans("".join(texts), quotes)
    if not spans:
        return
    start = 0
    marked: list[Token] = []
    for child, text in zip(children, texts, strict=True):
        if child.type == "text":
            token = Token("html_inline", "", 0)
            token.content = _marked(text, start, spans, seen)
            marked.append(token)
        else:
            marked.append(child)
        start += len(text)
    children[:] = marked


def _with_marks(text: str, quotes: Mapping[str, Sequence[str]], seen: set[str]) -> Markup:
    return Markup(_marked(text, 0, _spans(text, quotes), seen))


def _marked(text: str, start: int, spans: Sequence[Span], seen: set[str]) -> str:
    """Return a text that begins at `start` of its paragraph, escaped, with its part of each span marked."""
    parts: list[str] = []
    done = 0
    for first, last, item in spans:
        low, high = max(first - start, done), min(last - start, len(text))
        if low >= high:
            continue
        anchor = "" if item in seen else f' id="quote-{attribute(item)}"'
        seen.add(item)
        parts.append(own(text[done:low]))
        parts.append(
            f'<mark{anchor} title="quoted by the judge on {attribute(item)}">{own(text[low:high])}</mark>'
        )
        done = high
    return "".join([*parts, own(text[done:])])


def _spans(text: str, quotes: Mapping[str, Sequence[str]]) -> list[Span]:
    """Find the quotes in a text, white space apart; of overlapping ones the first is kept."""
    plain = re.sub(r"\s", " ", text)
    found: list[Span] = []
    for item, passages in quotes.items():
        for passage in passages:
            pattern = re.escape(passage).replace(r"\ ", " +") + r"\w*"  # a reason may end within a word
            found += [(match.start(), match.end(), item) for match in re.finditer(pattern, plain)]
    kept: list[Span] = []
    for span in sorted(found):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _plain(quote: str) -> str:
    return " ".join(quote.removesuffix("...").removesuffix("…").split()).rstrip(".,;: ")
