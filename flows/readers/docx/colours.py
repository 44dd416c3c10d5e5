"""Colours of a Word file as six hex digits: of its theme, shading, highlights and fills of shapes."""

from flows.common.word_xml import NAMESPACES, Element, attribute, child, qn, tag, val
from flows.readers.shared.contrast import OFFICE, lit, rgb

UNKNOWN = "unknown"  # a gradient, picture, pattern or mixture: text on it counts as visible

WHITE = "FFFFFF"
HIGHLIGHTS = OFFICE | {
    "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000", "darkMagenta": "800080",
    "darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "C0C0C0",
}  # fmt: skip
_OF_WINDOWS = {"window": WHITE, "windowtext": "000000"}
_MAPPED = {"bg1": "light1", "t1": "dark1", "bg2": "light2", "t2": "dark2"}
_ALIASES = {
    "background1": "bg1", "text1": "t1", "background2": "bg2", "text2": "t2", "tx1": "t1", "tx2": "t2",
}  # fmt: skip
_SCHEME = {
    "dark1": "dk1", "light1": "lt1", "dark2": "dk2", "light2": "lt2",
    "hyperlink": "hlink", "followedHyperlink": "folHlink",
}  # fmt: skip


def _share(text: str, base: int, whole: int) -> float:
    try:
        return int(text, base) / whole
    except ValueError:
        return 1


class Palette:
    """Look up colours in the theme of one document; its settings say what `text1` and others stand for."""

    def __init__(self, theme: Element | None, settings: Element | None) -> None:
        self._scheme: dict[str, str] = {}
        for entry in () if theme is None else theme.iterfind("a:themeElements/a:clrScheme/*", NAMESPACES):
            self._scheme[tag(entry)[2:]] = self.drawn(entry)
        mapping = None if settings is None else child(settings, "w:clrSchemeMapping")
        self._mapped = {key: attribute(mapping, f"w:{key}", usual) for key, usual in _MAPPED.items()}

    def _themed(self, name: str) -> str:
        name = _ALIASES.get(name, name)
        name = self._mapped.get(name, name)
        return self._scheme.get(_SCHEME.get(name, name), "")

    def said(self, element: Element, name: str, theme: str, prefix: str) -> str:
        """Return a colour of WordprocessingML; `auto` if it is that or missing.

        `name` is the attribute with the colour itself, `theme` the one that names a colour of the theme
        (`w:fill`, `w:themeFill`); `prefix` stands before `Tint` and `Shade`.
        """
        colour = self._themed(attribute(element, theme))
        if not colour:
            return attribute(element, name, "auto")
        tint = _share(attribute(element, f"{prefix}Tint", "FF"), 16, 255)
        shade = _share(attribute(element, f"{prefix}Shade", "FF"), 16, 255)
        return colour if tint == shade == 1 else lit(lit(colour, shade, 0), tint, 1 - tint) or UNKNOWN

    def drawn(self, fill: Element) -> str:
        """The colour inside a DrawingML element such as `a:solidFill`."""
        for colour in fill:
            match tag(colour):
                case "a:srgbClr":
                    found = str(colour.get("val"))
                case "a:sysClr":
                    found = str(colour.get("lastClr") or _named(str(colour.get("val"))))
                case "a:prstClr":
                    found = _named(str(colour.get("val")))
                case "a:schemeClr":
                    found = self._themed(str(colour.get("val"))) or UNKNOWN
                case _:
                    return UNKNOWN
            for change in colour:
                share = _share(str(change.get("val")), 10, 100_000)
                if tag(change) == "a:lumMod":
                    found = lit(found, share, 0)
                elif tag(change) == "a:lumOff":
                    found = lit(found, 1, share)
                else:
                    return UNKNOWN
            return found or UNKNOWN
        return UNKNOWN

    def shading(self, properties: Element | None) -> str | None:
        """Return the fill of `w:shd` in a property element; `auto` is transparent; None if there is none."""
        shd = child(properties, "w:shd")
        if shd is None or val(shd) == "nil":
            return None
        if val(shd, default="clear") == "clear":
            return self.said(shd, "w:fill", "w:themeFill", "w:themeFill")
        if val(shd) == "solid":
            return self.said(shd, "w:color", "w:themeColor", "w:theme").replace("auto", "000000")
        return UNKNOWN

    def page(self, root: Element, *, displayed: bool) -> str:
        """The colour of the pages of a document whose settings display it, white otherwise."""
        ground = child(root, "w:background")
        if ground is None or not displayed:
            return WHITE
        if next(ground.iter(qn("v:fill"), qn("a:gradFill"), qn("a:blipFill")), None) is not None:
            return UNKNOWN
        return self.said(ground, "w:color", "w:themeColor", "w:theme").replace("auto", WHITE)

    def box(self, shape: Element) -> str:
        """The fill of a shape (DrawingML or VML); '' where it has none."""
        properties = shape.find("wps:spPr", NAMESPACES)
        if properties is None:
            return _old_fill(shape)
        solid = child(properties, "a:solidFill")
        if solid is not None:
            return self.drawn(solid)
        if child(properties, "a:noFill") is not None:
            return ""
        if any(child(properties, f"a:{kind}Fill") is not None for kind in ("grad", "blip", "patt", "grp")):
            return UNKNOWN
        style = shape.find("wps:style/a:fillRef", NAMESPACES)
        return UNKNOWN if style is not None and style.get("idx") != "0" else ""


def _old_fill(shape: Element) -> str:
    fill = child(shape, "v:fill")
    if "f" in {str(shape.get("filled"))[:1], "" if fill is None else str(fill.get("on"))[:1]}:
        return ""
    if fill is not None and (fill.get("type", "solid") != "solid" or fill.get("opacity")):
        return UNKNOWN
    name = next(iter(str(shape.get("fillcolor") or "").lower().split()), "")
    if not name:
        return WHITE if fill is None else UNKNOWN
    return _named(name)


def _named(name: str) -> str:
    return _OF_WINDOWS.get(name.lower()) or rgb(name) or UNKNOWN
