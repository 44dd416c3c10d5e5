"""Pages of a document as LibreOffice lays them out: how many, how they look, in which fonts."""

from flows.adapters.pages.convert import Rendered, find_converter, render, render_all
from flows.adapters.pages.fonts import Fonts

__all__ = ["Fonts", "Rendered", "find_converter", "render", "render_all"]
