"""The shapes of a page for pdfplumber, which finds ruled tables among them."""

from collections.abc import Callable
from typing import Any

from pdfminer.utils import get_bound
from pdfplumber.page import Page

from flows.readers.pdf.paint.ink import Box, Shape


class Drawing(Page):
    """A pdfplumber page with the shapes that pdfium finds, so that the page is interpreted once.

    Its extent is in points; `framed` puts a box of the page's own space into the frame that it is read in.
    """

    def __init__(
        self, number: int, extent: tuple[float, float], shapes: list[Shape], framed: Callable[[Box], Box]
    ) -> None:
        self.page_number = number
        self.root_page = self
        self.rotation = self.initial_doctop = 0
        self.bbox = self.mediabox = self.cropbox = (0, 0, *extent)
        objects = [_object(shape, number, extent[1], framed) for shape in shapes]
        kinds = ("char", "line", "rect", "curve", "image", "annot")
        self._objects = {kind: [found for found in objects if found["object_type"] == kind] for kind in kinds}

    def close(self) -> None:
        """Release the shapes."""
        self._objects = {}

    def rules(self) -> list[Box]:
        """Boxes of the shapes that are wider than high."""
        return [
            (found["x0"], found["top"], found["x1"], found["bottom"])
            for group in self._objects.values()
            for found in group
            if found["height"] < found["width"]
        ]


def _object(shape: Shape, number: int, high: float, framed: Callable[[Box], Box]) -> dict[str, Any]:
    points = [framed((x, y, x, y))[:2] for x, y in shape.points]
    x0, top, x1, bottom = get_bound(points)
    return {
        "object_type": shape.kind,
        "page_number": number,
        "pts": points,
        "x0": x0,
        "x1": x1,
        "top": top,
        "bottom": bottom,
        "doctop": top,
        "y0": high - bottom,
        "y1": high - top,
        "width": x1 - x0,
        "height": bottom - top,
        "linewidth": shape.width,
        "fill": shape.filled,
        "stroke": shape.stroked,
        "non_stroking_color": shape.fill and tuple(part / 255 for part in shape.fill),
        "stroking_color": shape.stroke and tuple(part / 255 for part in shape.stroke),
    }
