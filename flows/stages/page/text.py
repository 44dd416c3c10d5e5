"""The text of a brief as HTML: Markdown without HTML, links or pictures, with the judge's quotes marked."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from flows.schema.verdict import Verdict
from flows.stages.page.markup import attribute, own

_SHORTEST = 12  # characters of a quote that is looked for
_QUOTE = re.compile(rf'["“]([^"“”]{{{_SHORTEST},}})["”]')
_PART = re.compile(r"(?<=[.!?:\])])\s+|;\s+")
"""Where a quote is cut that runs over several paragraphs, items of a list or cells of a table."""
_SHORTEST_PART = 20  # characters of such a part; shorter ones stand in too many places
_WORD = re.compile(r"[^\W_]+")
_REST_OF_WORD = re.compile(r"\w*")  # a quote may end within a word
_OFF = ("link", "image", "autolink", "html_inline", "html_block", "reference", "entity")
"""Rules that are off: what a model wrote loads nothing, leads nowhere and hides nothing."""

_OFF_IN_READ = ("blockquote", "code", "fence", "hr", "lheading", "backticks", "emphasis", "escape")
"""Rules that are off for what our readers make of a file: headings, lists, tables and line breaks."""

Form = Literal["markdown", "read", "plain"]
"""What a text is in: Markdown, the notation of our readers (`flows/readers/README.md`), or plain lines."""

Span = tuple[int, int, tuple[str, ...]]
"""Start and end in a text, and the items for which it is quoted."""


def quotes_of(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """Return the passages in double quotes in each reason, by item."""
    found = {v.item_id: [_plain(quote) for quote in _QUOTE.findall(v.reason)] for v in verdicts}
    return {item: quotes for item, quotes in found.items() if quotes}


def rendered(
    text: str, quotes: Mapping[str, Sequence[str]], *, form: Form, kind: str = "quote"
) -> tuple[Markup, set[str]]:
    """Render a text, with every quoted passage marked.

    Of a quote that no single paragraph, item of a list or cell of a table holds, the sentences that one holds
    are marked.

    Args:
        text: untrusted.
        quotes: by item, as from `quotes_of`.
        form: what it is in. A text of which its form would hide a word, such as a cell that its table has no
            column for, keeps its lines as they are, as a plain one.
        kind: start of the anchors; `evidence` for quotes by the rubric, compared without white space.

    Returns:
        HTML, and the items with a marked passage; each has the anchor `KIND-ITEM` at its first.
    """
    marks = _Marks(quotes, kind)
    text = text.replace("\x00", "U+0000")  # the parser would replace it
    parser = _parser(is_read=form == "read")
    tokens = [] if form == "plain" else parser.parse(text)
    if form == "plain" or _words(text) != Counter(word for token in tokens for word in _words_of(token)):
        marked = Markup(marks.marked(text, 0, marks.spans(text)))
        return Markup('<pre class="own" dir="auto">\n{}</pre>').format(marked), marks.seen
    marks.divide([_line(token.children or []) for token in tokens if token.type == "inline"])
    for token in tokens:
        if token.type == "inline":
            _mark(token.children or [], marks)
        elif token.type.startswith("heading"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 2)}"  # below the headings of the page
    html = parser.renderer.render(tokens, parser.options, {})
    return Markup('<div class="own text" dir="auto">{}</div>').format(Markup(html)), marks.seen


@cache
def _parser(*, is_read: bool) -> MarkdownIt:
    made = (
        MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": is_read, "xhtmlOut": False})
        .enable("table")
        .disable((*_OFF, *(_OFF_IN_READ if is_read else ())), ignoreInvalid=True)
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
    for child in token.children or []:
        yield from _WORD.findall(child.content)
    if token.children is None:
        yield from _WORD.findall(f"{token.info} {token.content}")


def _texts(children: Sequence[Token]) -> list[str]:
    return [" " if child.type == "softbreak" else child.content for child in children]


def _line(children: Sequence[Token]) -> str:
    """Return the text of one paragraph, without its emphasis."""
    return "".join(_texts(children))


def _mark(children: list[Token], marks: _Marks) -> None:
    """Mark passages in the texts of one paragraph, which may run over emphasised parts."""
    texts = _texts(children)
    spans = marks.spans("".join(texts))
    if not spans:
        return
    start = 0
    marked: list[Token] = []
    for child, text in zip(children, texts, strict=True):
        if child.type == "text":
            token = Token("html_inline", "", 0)
            token.content = marks.marked(text, start, spans)
            marked.append(token)
        else:
            marked.append(child)
        start += len(text)
    children[:] = marked


class _Marks:
    """The quotes of one text, and the items that were marked."""

    def __init__(self, quotes: Mapping[str, Sequence[str]], kind: str) -> None:
        self.kind = kind
        self.seen: set[str] = set()
        self._is_loose = kind == "evidence"
        self._passages = [(self._key(one), item) for item, several in quotes.items() for one in several]

    def _key(self, text: str) -> str:
        return re.sub(r"\s+", "" if self._is_loose else " ", text)

    def divide(self, paragraphs: Sequence[str]) -> None:
        """Replace each quote that no paragraph holds by its parts."""
        squeezed = [self._key(text) for text in paragraphs]
        whole = "\n".join(squeezed)
        found: list[tuple[str, str]] = []
        for key, item in self._passages:
            parts = (
                [key] if key in whole else [part for part in _PART.split(key) if len(part) >= _SHORTEST_PART]
            )
            found += [(part, item) for part in parts]
        self._passages = found

    def spans(self, text: str) -> list[Span]:
        """Find the quotes in a text, white space apart; overlapping ones become one span."""
        squeezed = self._key(text)
        passages = [(key, item) for key, item in self._passages if key and key in squeezed]
        if not passages:
            return []
        # The place in the text of each character of the squeezed one.
        places = [match.start() for match in re.finditer(r"\S" if self._is_loose else r"\S|\s+", text)]
        found: list[Span] = []
        for key, item in passages:
            at = squeezed.find(key)
            while at >= 0:
                first, last = places[at], places[at + len(key) - 1] + 1
                if not self._is_loose and (rest := _REST_OF_WORD.match(text, last)):
                    last = rest.end()
                found.append((first, last, (item,)))
                at = squeezed.find(key, max(at + len(key), bisect_left(places, last)))
        joined: list[Span] = []
        for first, last, items in sorted(found):
            if joined and first < joined[-1][1]:
                low, high, known = joined[-1]
                joined[-1] = (low, max(high, last), tuple(dict.fromkeys((*known, *items))))
            else:
                joined.append((first, last, items))
        return joined

    def marked(self, text: str, start: int, spans: Sequence[Span]) -> str:
        """Return a text that begins at `start` of its paragraph, escaped, with its parts of spans marked."""
        parts: list[str] = []
        done = 0
        for first, last, items in spans:
            low, high = max(first - start, done), min(last - start, len(text))
            if low >= high:
                continue
            fresh = [item for item in items if item not in self.seen]
            self.seen.update(fresh)
            anchors = "".join(f'<a id="{self.kind}-{attribute(item)}"></a>' for item in fresh)
            title = attribute(f"quoted {'for' if self._is_loose else 'by the judge on'} {', '.join(items)}")
            parts.append(own(text[done:low]))
            parts.append(f'<mark title="{title}">{anchors}{own(text[low:high])}</mark>')
            done = high
        return "".join([*parts, own(text[done:])])


def _plain(quote: str) -> str:
    return " ".join(quote.removesuffix("...").removesuffix("…").split()).rstrip(".,;: ")
