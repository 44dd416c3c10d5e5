"""Numbers as Word writes them in lists and notes (ST_NumberFormat of ISO/IEC 29500-1, 17.18.59)."""

from __future__ import annotations

from collections.abc import Callable

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
