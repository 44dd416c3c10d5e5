"""Find the visible characters of a page: those whose removal changes its image."""

from typing import Any

import numpy as np

from flows.readers.pdf.paint.chars import Char
from flows.readers.pdf.paint.ink import Box, Cover, Ink, in_frame, pdfium

SAME = 3  # of 255; colours that differ by no more in any channel are one to the eye
SCALE = 1.5  # pixels a point
THIN = 2.0  # points
MAX_PIXELS = 4_000_000
_WHITE = (255, 255, 255)
_INVISIBLE = 3  # text rendering mode


def hidden_reasons(page: Any, chars: list[Char], ink: Ink, *, layers_off: bool, patterns: bool) -> list[str]:
    """Return why each character is invisible; empty for visible ones.

    The page is drawn with and without its text. A character that leaves no trace is hidden if there is
    also a cause for it in the file: a glyph that this machine has no font for leaves no trace either.
    `layers_off` says whether layers are switched off, `patterns` whether the page may fill with patterns,
    which pdfium gives as white.
    """
    # What is thinner, as a rule is, neither hides a character nor is its ground.
    covers = [c for c in ink.covers if min(c.box[2] - c.box[0], c.box[3] - c.box[1]) >= THIN]
    solid = np.array([(cover.order, *cover.box) for cover in covers if cover.solid and not layers_off])
    reasons = [_unpainted(char, solid) if char.size and char.text.strip() else "" for char in chars]
    light = {id(char.run) for char in chars if char.run.colour is None or min(char.run.colour) >= 255 - SAME}
    if not covers and not layers_off and not light and not any(char.run.clips for char in chars):
        return reasons
    scale = min(SCALE, (MAX_PIXELS / max(page.get_width() * page.get_height(), 1.0)) ** 0.5)
    full = _picture(page, scale)
    for handle in ink.texts:
        pdfium.FPDFPageObj_SetIsActive(handle, 0)
    bare = _picture(page, scale)
    for handle in ink.texts:
        pdfium.FPDFPageObj_SetIsActive(handle, 1)
    change = np.maximum(full, bare) - np.minimum(full, bare)
    trace = np.maximum(np.maximum(change[:, :, 0], change[:, :, 1]), change[:, :, 2])
    crop, turn = page.get_bbox(), page.get_rotation()
    high, wide = trace.shape
    for at, char in enumerate(chars):
        if reasons[at] or not char.size or not char.text.strip():
            continue
        x0, top, x1, bottom = in_frame(char.place, crop, turn)
        left, right = max(int(x0 * scale), 0), min(int(x1 * scale) + 1, wide)
        upper, lower = max(int(top * scale), 0), min(int(bottom * scale) + 1, high)
        if left >= right or upper >= lower:
            continue  # off the page: the caller's business
        part = (slice(upper, lower), slice(left, right))
        most = trace[part].max()
        if most <= SAME:
            colour = None if patterns and char.run.colour == _WHITE else char.run.colour
            if colour is not None and abs(bare[part].astype("int16") - colour).max() <= SAME:
                reasons[at] = "the colour of its ground"
            elif most == 0:
                reasons[at] = _cause(char, covers, layers_off=layers_off)
    return reasons


def _unpainted(char: Char, solid: Any) -> str:
    """Why a character can't leave a trace, whatever else is painted at its place."""
    run, (x0, y0, x1, y1) = char.run, char.place
    if run.mode == _INVISIBLE or not run.opaque:
        return "invisible"
    for clip in run.clips:
        if x1 <= clip[0] or x0 >= clip[2] or y1 <= clip[1] or y0 >= clip[3]:
            return "outside its clip"
    if len(solid) and 0 <= run.order < solid[-1, 0]:
        x, y = (x1 - x0) / 8, (y1 - y0) / 4  # the ink of a glyph is smaller than its box
        inside = (
            (solid[:, 1] <= x0 + x)
            & (solid[:, 3] >= x1 - x)
            & (solid[:, 2] <= y0 + y)
            & (solid[:, 4] >= y1 - y)
        )
        if (inside & (solid[:, 0] > run.order)).any():
            return "covered"
    return ""


def _cause(char: Char, covers: list[Cover], *, layers_off: bool) -> str:
    run = char.run
    x, y = (char.place[0] + char.place[2]) / 2, (char.place[1] + char.place[3]) / 2
    if run.order < 0:
        return ""
    if any(not _inside(x, y, clip) for clip in run.clips):
        return "outside its clip"
    if any(cover.order > run.order and _inside(x, y, cover.box) for cover in covers):
        return "covered"
    return "a layer that is switched off" if layers_off else ""


def _inside(x: float, y: float, box: Box) -> bool:
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


def _picture(page: Any, scale: float) -> Any:
    drawn = page.render(scale=scale, may_draw_forms=False, draw_annots=False, rev_byteorder=True)
    return drawn.to_numpy()[:, :, :3].copy()
