"""Colours as six hex digits, and whether text of one can be seen on another."""

import colorsys
import re

from PIL import ImageColor

_HEX = re.compile(r"[0-9A-Fa-f]{6}")
OFFICE = {
    "black": "000000", "blue": "0000FF", "cyan": "00FFFF", "green": "00FF00", "magenta": "FF00FF",
    "red": "FF0000", "white": "FFFFFF", "yellow": "FFFF00",
}  # fmt: skip
"""Colours by Office's names; green differs from the web's."""

_FLOAT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")
_ROUNDING = 3  # of 255: programs round colours when converting them


def invisible(colour: str, ground: str) -> bool:
    """Whether text of a colour is invisible on a ground: equal within rounding.

    What is not six hex digits is unknown, and the text visible.
    """
    if not (_HEX.fullmatch(colour) and _HEX.fullmatch(ground)):
        return False
    return all(
        abs(a - b) <= _ROUNDING for a, b in zip(bytes.fromhex(colour), bytes.fromhex(ground), strict=True)
    )


def lit(colour: str, times: float, plus: float) -> str:
    """Scale and shift the lightness (HSL, 0 to 1) of a colour; empty if it is unknown."""
    if not _HEX.fullmatch(colour):
        return ""
    hue, light, strength = colorsys.rgb_to_hls(*(part / 255 for part in bytes.fromhex(colour)))
    parts = colorsys.hls_to_rgb(hue, min(max(light * times + plus, 0), 1), strength)
    return bytes(round(part * 255) for part in parts).hex().upper()


def _float(value: str) -> float:
    found = _FLOAT.match(value)
    return float(found.group()) if found else 0.0


def rgb(value: str, under: str = "") -> str:
    """Convert a CSS or HTML colour to six hex digits; empty if it is unknown.

    `under` is the colour behind a translucent one, as six hex digits; empty if unknown.
    """
    value = value.strip().lower()
    alpha = 1.0
    call = re.fullmatch(r"(rgb|hsl)a?\(([^)]*)\)", value)
    if value == "transparent":
        return under
    if call:
        parts = re.split(r"[\s,/]+", call.group(2).replace("deg", "").strip())
        if len(parts) == 4:  # noqa: PLR2004 -- the fourth is alpha
            alpha = _float(parts[3]) / (100 if parts[3].endswith("%") else 1)
        if call.group(1) == "rgb":
            scaled = [_float(part) * (2.55 if part.endswith("%") else 1) for part in parts]
            parts = [str(max(0, min(255, round(number)))) for number in scaled]
        value = f"{call.group(1)}({','.join(parts[:3])})"
    elif re.fullmatch(r"[0-9a-f]{6}", value):
        value = f"#{value}"
    try:
        red, green, blue, *cover = ImageColor.getrgb(value)
    except ValueError:
        return ""
    if cover:
        alpha = cover[0] / 255
    if alpha >= 1:
        return f"{red:02X}{green:02X}{blue:02X}"
    mixed = zip((red, green, blue), bytes.fromhex(under), strict=False)  # nothing where it is unknown
    return "".join(f"{round(alpha * over + (1 - alpha) * below):02X}" for over, below in mixed)
