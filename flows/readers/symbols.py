# ruff: noqa: RUF001 -- signs that look alike are what this module is about
"""Map positions of symbol fonts, as Word stores them, to Unicode.

Symbol follows Adobe's Symbol encoding (PDF 32000-1, annex D.5). Of Wingdings and similar fonts only shapes
with a meaning in documents are listed: marks, boxes, numbers, arrows, bullets. Callers report the others.
"""

from __future__ import annotations

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
_WINGDINGS.update({0x80 + count: "⓪①②③④⑤⑥⑦⑧⑨⑩"[count] for count in range(11)})
_WINGDINGS.update({0x8B + count: "⓿❶❷❸❹❺❻❼❽❾❿"[count] for count in range(11)})
_WINGDINGS_2 = {
    0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x96: "●", 0x97: "●", 0x98: "●",
    0x9E: "·", 0x9F: "▪", 0xA0: "■", 0xA1: "■", 0xA2: "■", 0xA3: "□", 0xA4: "□", 0xA5: "□", 0xAE: "◆",
}  # fmt: skip
_WINGDINGS_2.update({0x69 + count: "⓪①②③④⑤⑥⑦⑧⑨⑩"[count] for count in range(11)})
_WINGDINGS_2.update({0x74 + count: "⓿❶❷❸❹❺❻❼❽❾❿"[count] for count in range(11)})
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
