# ruff: noqa: RUF001 -- signs that look alike are what this module is about
"""Signs of symbol fonts as Unicode, and numbers as Word writes them in lists and notes.

Symbol follows Adobe's Symbol encoding (PDF 32000-1, annex D.5). Of Wingdings and similar fonts only shapes
with a meaning in documents are listed: marks, boxes, numbers, arrows, bullets. Callers report the others.
"""

from collections.abc import Callable

_SYMBOL_ROWS = {
    0x20: " !∀#∃%&∋()∗+,−./0123456789:;<=>?",
    0x40: "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_",
    0x60: "\u203eαβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    0xA0: "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵",
    0xC0: "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓",
    0xE0: "◊〈®©™∑",
}
_SYMBOL = {start + at: sign for start, row in _SYMBOL_ROWS.items() for at, sign in enumerate(row)}
_SYMBOL.update({0xF1: "〉", 0xF2: "∫"})

_WINGDINGS = {
    0x20: " ", 0x21: "✏", 0x22: "✂", 0x28: "☎", 0x29: "✆", 0x2A: "✉", 0x36: "⌛", 0x3E: "✇", 0x3F: "✍",
    0x41: "✌", 0x45: "☜", 0x46: "☞", 0x47: "☝", 0x48: "☟", 0x4A: "☺", 0x4B: "😐", 0x4C: "☹", 0x4D: "💣",
    0x4E: "☠", 0x4F: "⚐", 0x51: "✈", 0x52: "☼", 0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "□", 0x71: "❑",
    0x72: "❒", 0x74: "⧫", 0x75: "◆", 0x76: "❖", 0x77: "⬥", 0x78: "⌧", 0x9F: "•", 0xA0: "▪", 0xA1: "○",
    0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xAF: "✶", 0xD5: "⌫", 0xD6: "⌦", 0xD8: "➢", 0xDC: "➲", 0xDF: "←",
    0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE3: "↖", 0xE4: "↗", 0xE5: "↙", 0xE6: "↘", 0xE8: "➔", 0xEF: "⇦",
    0xF0: "⇨", 0xF1: "⇧", 0xF2: "⇩", 0xF3: "⬄", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {
    0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x96: "●", 0x97: "●", 0x98: "●",
    0x9E: "·", 0x9F: "▪", 0xA0: "■", 0xA1: "■", 0xA2: "■", 0xA3: "□", 0xA4: "□", 0xA5: "□", 0xAE: "◆",
}  # fmt: skip
for _font, _start in ((_WINGDINGS, 0x80), (_WINGDINGS_2, 0x69)):
    _font.update(enumerate("⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿", _start))
_WINGDINGS_3 = {
    0x66: "←", 0x67: "→", 0x68: "↑", 0x69: "↓", 0x6A: "↖", 0x6B: "↗", 0x6C: "↙", 0x6D: "↘", 0x70: "▲",
    0x71: "▼", 0x72: "△", 0x73: "▽", 0x74: "◄", 0x75: "►", 0x76: "◁", 0x77: "▷", 0x7D: "▶", 0x7C: "◀",
}  # fmt: skip
_WEBDINGS = {
    0x33: "◀", 0x34: "▶", 0x35: "▲", 0x36: "▼", 0x3D: "■", 0x61: "✓", 0x63: "□", 0x67: "■", 0x6E: "●",
    0x72: "✗", 0x78: "☒",
}  # fmt: skip
_FONTS = {
    "symbol": _SYMBOL,
    "wingdings": _WINGDINGS,
    "wingdings 2": _WINGDINGS_2,
    "wingdings 3": _WINGDINGS_3,
    "webdings": _WEBDINGS,
}
_PRIVATE = 0xF000  # symbol fonts use the private use area from here

_ROMAN = [
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
]  # fmt: skip
_SMALL = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_IRREGULAR = {
    "one": "first", "two": "second", "three": "third", "five": "fifth",
    "eight": "eighth", "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
_CHICAGO = "*†‡§"
_LIMIT = 32767  # the largest start value that Word accepts; keeps hostile numerals short


def symbol(font: str, code: int) -> str | None:
    """Return the Unicode character at a symbol font's position; None if font or position is not listed."""
    if _PRIVATE <= code <= _PRIVATE + 0xFF:
        code -= _PRIVATE
    return _FONTS.get(font.lower(), {}).get(code)


def is_symbol_font(font: str | None) -> bool:
    """Whether this font shows symbols instead of letters."""
    return font is not None and font.lower() in _FONTS


def in_font(text: str, font: str | None) -> tuple[str, list[str]]:
    """Return text as its symbol font shows it.

    Returns:
        The text, and the positions that are not listed, as `Wingdings F0A3`; they stay as `[?]`.
    """
    unknown: list[str] = []
    signs: list[str] = []
    mapped = is_symbol_font(font)
    for sign in text:
        code = ord(sign)
        private = _PRIVATE <= code <= _PRIVATE + 0xFF
        if not (private or (mapped and code <= 0xFF)):  # noqa: PLR2004 -- symbol fonts have one byte
            signs.append(sign)
            continue
        # A private code without a symbol font mostly stems from Symbol (Word's own old conversion).
        found = symbol(font if font and mapped else "symbol", code)
        if found is None:
            unknown.append(f"{font or 'private use'} {code:04X}")
        signs.append(found or "[?]")
    return "".join(signs), unknown


def bullet(glyph: str, font: str) -> str:
    """Return a bullet as text: boxes and ticks as they are, every other glyph as `-`."""
    sign = glyph[:1]
    if sign and (is_symbol_font(font) or ord(sign) >= _PRIVATE):
        sign = symbol(font or "Symbol", ord(sign)) or ""
    return sign if sign and sign in "☐☑☒✓✗" else "-"


def _roman(count: int) -> str:
    text = ""
    for size, letters in _ROMAN:
        text += letters * (count // size)
        count %= size
    return text


def _letters(count: int) -> str:
    # Word repeats the letter: z, aa, bb - not aa, ab as a spreadsheet would.
    return chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)


def _cardinal(count: int) -> str:
    if count < len(_SMALL):
        return _SMALL[count]
    if count < 100:  # noqa: PLR2004 -- a hundred
        tens, rest = divmod(count, 10)
        return _TENS[tens] + (f"-{_SMALL[rest]}" if rest else "")
    size, name = (1000, "thousand") if count >= 1000 else (100, "hundred")  # noqa: PLR2004 -- a thousand
    many, rest = divmod(count, size)
    return f"{_cardinal(many)} {name}" + (f" {_cardinal(rest)}" if rest else "")


def _ordinal_text(count: int) -> str:
    head, mark, last = _cardinal(count).rpartition("-" if count % 100 > 20 and count % 10 else " ")  # noqa: PLR2004 -- twenty-first on
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    else:
        last = last.removesuffix("y") + "ieth" if last.endswith("y") else last + "th"
    return head + mark + last


def _ordinal(count: int) -> str:
    teen = 10 <= count % 100 <= 20  # noqa: PLR2004 -- eleventh to thirteenth take 'th'
    return f"{count}" + ("th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th"))


def numeral(count: int, form: str) -> str | None:
    """`count` in the number format `form`; None where the format is not known here.

    A format that is not known is reported by the caller and written in decimal. Counts outside
    0 to 32767 are written in decimal.
    """
    decimal = str(count)
    if form.startswith("decimalZero"):
        return decimal.zfill(2)
    if form in {"decimal", "decimalHalfWidth", ""} or not 0 < count <= _LIMIT:
        return decimal
    if form == "numberInDash":
        return f"- {decimal} -"
    writers: dict[str, Callable[[int], str]] = {
        "lowerRoman": _roman,
        "lowerLetter": _letters,
        "cardinalText": lambda n: _cardinal(n).capitalize(),
        "ordinalText": lambda n: _ordinal_text(n).capitalize(),
        "ordinal": _ordinal,
        "upperRoman": lambda n: _roman(n).upper(),
        "upperLetter": lambda n: _letters(n).upper(),
        "hex": lambda n: f"{n:X}",
        "chicago": lambda n: _CHICAGO[(n - 1) % 4] * ((n - 1) // 4 + 1),
        "decimalEnclosedParen": lambda n: f"({n})",
        "decimalEnclosedFullstop": lambda n: f"{n}.",
        "decimalEnclosedCircle": lambda n: chr(0x245F + n) if n <= 20 else f"({n})",  # noqa: PLR2004 -- the circled numbers end at 20
        "decimalFullWidth": lambda n: "".join(chr(0xFEE0 + ord(digit)) for digit in str(n)),
        "none": lambda _: "",
    }
    writer = writers.get(form)
    return None if writer is None else writer(count)


def padded(count: int, pattern: str) -> str:
    """`count` in a custom format: the first entry of `001, 002, ...` says how many digits."""
    return str(count).zfill(len(pattern.split(",", maxsplit=1)[0].strip()))
