"""Pages of a document in LibreOffice's layout: number, images and fonts."""

from flows.adapters.pages.convert import Rendered, find_converter, render
from flows.adapters.pages.fonts import Fonts

__all__ = ["Fonts", "Rendered", "find_converter", "render"]
