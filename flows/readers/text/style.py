"""The style of an element of an HTML mail: style sheets, its style attribute, older ones such as bgcolor.

Only properties that decide what can be read are used. An unknown colour counts as visible.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from flows.readers.markup import Element
from flows.readers.shared.contrast import invisible, rgb

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_DECLARATION = re.compile(r"(?:\([^()]*\)|[^;])+")
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([a-z%]*)")
_FONT_SIZE = re.compile(r"(?:^|\s)((?:\d+\.?\d*|\.\d+)(?:p[xtc]|r?em|%|ex|cm|mm|in)?)\s*(?:/|\s)")
_TOKEN = re.compile(r"[\w-]{1,30}\([^()]*\)|[^\s,]+")
_NO_COLOUR = frozenset([
    "none", "repeat", "no-repeat", "repeat-x", "repeat-y", "center", "top", "bottom", "left", "right",
    "scroll", "fixed", "local", "cover", "contain", "auto", "/", "border-box", "padding-box", "content-box",
    "initial", "inherit", "unset", "transparent",
])  # fmt: skip
# A shorthand resets earlier longhands.
_SHORT = {"background": ("background-color", "background-image"), "font": ("font-size",)}
_STRUCK = frozenset(["s", "strike", "del"])
_KEEPS_SPACE = frozenset(["pre", "textarea", "listing", "xmp"])
_SHIFTS = {"sup": 1, "super": 1, "sub": -1}
_LOOKS = _STRUCK | _KEEPS_SPACE | _SHIFTS.keys() | {"mark"}
_CELLS = frozenset(["td", "th", "tr", "table"])
_SIDES = ("height", "max-height", "width")
_OFF_PAGE = -900  # pixels, or larger units, to the left of the page or above it
_MAX_RULES = 1000
_MAX_WRITTEN = 20_000_000  # characters, into all style attributes together
_MAX_SELECTOR, _MAX_STEPS = 500, 10  # no person writes a longer one
_AT_RULE = re.compile(r"@([^{}@;]*+)(?:;|\{((?:[^{}]|\{[^{}]*+\})*+)\})")
_ATTRIBUTE = r"\[\s*([a-z][\w-]*)\s*(?:([~^*$|]?)=\s*[\"']?([^\"'\]]*)[\"']?)?\s*\]"
_SIMPLE = re.compile(rf"([a-z][\w-]*|\*)?((?:[.#][\w-]+|{_ATTRIBUTE})*)", re.IGNORECASE | re.ASCII)
_MARK = re.compile(rf"([.#])([\w-]+)|{_ATTRIBUTE}", re.IGNORECASE | re.ASCII)
_STEP = re.compile(r">|(?:\[[^\]]*\]|[^\s>\[])+")
_PSEUDO = re.compile(r":[\w-]+(?:\([^)]*\))?")
_ELSEWHERE = re.compile(r"::?(?:hover|active|focus|visited|before|after|selection|first-l\w+|placeholder)\b")


@dataclass(frozen=True, slots=True)
class Look:
    """Properties that decide whether and how text is visible."""

    colour: str = "000000"  # of the text, six hex digits; empty where unknown
    ground: str = "FFFFFF"  # what is behind it, in the same way
    hidden: bool = False  # by `visibility`
    tiny: bool = False  # too small to read
    struck: bool = False  # struck out
    shift: int = 0  # 1 superscript, -1 subscript, 0 on the baseline
    pre: bool = False  # white space is kept

    @property
    def visible(self) -> bool:
        """Whether a person sees text of this look."""
        return not (self.hidden or self.tiny or invisible(self.colour, self.ground))


@lru_cache(maxsize=256)
def declarations(style: str) -> Mapping[str, str]:
    """The properties of a style attribute; `!important` ones win, else later ones."""
    normal: dict[str, str] = {}
    important: dict[str, str] = {}
    for one in _DECLARATION.findall(COMMENT.sub("", style).lower()):
        name, _, value = (part.strip() for part in one.partition(":"))
        bare = value.replace("! important", "!important")
        said = important if "!important" in bare else normal
        for part in _SHORT.get(name, ()):
            said.pop(part, None)
        said[name] = bare.replace("!important", "").strip()
    for name in important:
        for part in _SHORT.get(name, ()):
            normal.pop(part, None)
    return {**normal, **important}


def seen(element: Element, look: Look) -> Look | None:
    """The look inside an element; `look` is that of what is around it.

    None where the element takes no place on the page or can't be seen whatever is in it.
    """
    name = str(element.tag)
    if not element.attrib and name not in _LOOKS:
        return look
    said = declarations(str(element.get("style") or ""))
    if _gone(said, name, hidden=element.get("hidden") is not None):
        return None
    ground = _ground(element, said, look.ground)
    colour = _colour(element, said, look, ground)
    decoration = said.get("text-decoration", "") + said.get("text-decoration-line", "")
    space = said.get("white-space", "pre" if name in _KEEPS_SPACE else "")
    visibility = said.get("visibility", "")
    return Look(
        colour,
        ground,
        look.hidden if visibility in {"", "inherit"} else visibility in {"hidden", "collapse"},
        _tiny(said, look),
        look.struck or ("line-through" in decoration if decoration else name in _STRUCK),
        _shift(said, name, look),
        space.startswith(("pre", "break-spaces")) if space and space != "inherit" else look.pre,
    )


def _number(value: str) -> float | None:
    found = _NUMBER.match(value)
    return float(found.group(1)) if found else None


def _gone(said: Mapping[str, str], name: str, *, hidden: bool) -> bool:
    opacity = _number(said.get("opacity", ""))
    # A cell grows with what is in it, whatever it says.
    flat = name not in _CELLS and any(_number(said.get(side, "")) == 0 for side in _SIDES)
    moved = ["text-indent", "margin-left", "margin-top"]
    if said.get("position") in {"absolute", "fixed"}:
        moved += ["left", "top"]
    return (
        said.get("display", "none" if hidden else "") == "none"
        or said.get("mso-hide") == "all"
        or (opacity is not None and opacity <= 0.01)  # noqa: PLR2004 -- a step of 255 is finer than the eye
        or (flat and said.get("overflow", "") == "hidden")
        or any((_number(said.get(way, "")) or 0) <= _OFF_PAGE for way in moved)
        or re.fullmatch(r"rect\((?:[01](?:px)?[\s,]*){4}\)", said.get("clip", "")) is not None
        or re.match(r"scale[xy]?\(0[,)]", said.get("transform", "")) is not None
    )


def _shift(said: Mapping[str, str], name: str, look: Look) -> int:
    align = said.get("vertical-align", name)
    if align == "baseline" or name in _CELLS:
        return 0 if align == "baseline" else look.shift
    if align in _SHIFTS:
        return _SHIFTS[align]
    by = _number(said.get("mso-text-raise", align)) or 0  # Outlook raises by a distance
    return (by > 0) - (by < 0) or look.shift


def _tiny(said: Mapping[str, str], look: Look) -> bool:
    size = said.get("font-size", "")
    if not size and (short := _FONT_SIZE.search(said.get("font", ""))):
        size = short.group(1)
    found = _NUMBER.match(size)
    if not found:
        return look.tiny and size in {"", "inherit", "smaller", "larger"}
    number, unit = float(found.group(1)), found.group(2)
    if unit in {"em", "%", "ex", "ch"}:
        return look.tiny or number <= (10 if unit == "%" else 0.1)
    return number < 2 if unit in {"px", "pt", ""} else number == 0  # noqa: PLR2004 -- one-point type


def _colour(element: Element, said: Mapping[str, str], look: Look, ground: str) -> str:
    if said.get("text-shadow", "none") != "none" or "-webkit-text-stroke" in said:
        return ""
    name = str(element.tag)
    given = said.get("-webkit-text-fill-color") or said.get("color") or ""
    given = given or str(element.get("text" if name == "body" else "color") or "")
    if not given:
        # A link has a colour of its own, a mark too.
        own = {"a": "0000EE" if element.get("href") else "", "mark": "000000"}.get(name)
        return own or look.colour
    if given in {"inherit", "currentcolor", "unset"}:
        return look.colour
    return "000000" if given == "initial" else rgb(given, ground)


def _ground(element: Element, said: Mapping[str, str], under: str) -> str:
    own = str(element.get("bgcolor") or "")
    ground = rgb(own, under) if own else "FFFF00" if element.tag == "mark" else under
    image = element.get("background") is not None
    for name in ("background", "background-color", "background-image"):
        value = said.get(name, "")
        if not value:
            continue
        image = "(" in re.sub(r"(?:rgb|hsl)a?\(", "", value) or (image and name == "background-color")
        for token in _TOKEN.findall(value):
            if token not in _NO_COLOUR and not (name == "background" and _NUMBER.fullmatch(token)):
                ground = rgb(token, under)
    return "" if image else ground


def apply_sheets(root: Element) -> int:
    """Copy rules into style attributes, weaker ones first; return how many are left out.

    Selectors of names, classes and ids are matched, descendants and children too. Of any other selector
    it is only known which elements it may mean: their colours are unknown.
    """
    rules: list[tuple[tuple[int, int, int], str, str]] = []
    for sheet in root.iter("style"):
        if _is_screen(str(sheet.get("media") or "")):
            text = COMMENT.sub("", str(sheet.text or ""))
            text = _AT_RULE.sub(_of_screen, text)
            for rule in text.split("}"):
                names, _, body = rule.partition("{")
                rules += _rules(names, body)
    rules.sort(key=lambda rule: rule[0])
    given: dict[Element, list[str]] = {}
    kept, written = 0, 0
    for _, path, body in rules[:_MAX_RULES]:
        elements = root.xpath(path)
        written += len(elements) * (len(body) + 1)
        if written > _MAX_WRITTEN:
            break
        kept += 1
        for element in elements:
            given.setdefault(element, []).append(body)
    for element, bodies in given.items():
        element.set("style", ";".join([*bodies, str(element.get("style") or "")]))
    return len(rules) - kept


def _is_screen(media: str) -> bool:
    return media.strip().lower() in {"", "all", "screen", "only screen"}


def _of_screen(rule: re.Match[str]) -> str:
    kind, _, media = rule.group(1).strip().partition(" ")
    return rule.group(2) or "" if kind.lower() == "media" and _is_screen(media) else ""


def _rules(names: str, body: str) -> list[tuple[tuple[int, int, int], str, str]]:
    found: list[tuple[tuple[int, int, int], str, str]] = []
    for selector in names.replace(":root", "html").replace(":link", "").split(","):
        if len(selector) > _MAX_SELECTOR or _ELSEWHERE.search(selector):
            continue
        simple, said = _PSEUDO.sub("", selector), body
        if simple != selector or re.search(r"[+~](?!=)", simple):
            simple = re.split(r"[+~](?!=)", simple)[-1].strip() or "*"
            colours = {name.partition("-")[0] for name in declarations(body)} & {"color", "background"}
            said = ";".join(f"{name}:unknown" for name in sorted(colours))
        path, weight = _path(simple)
        if path and said:
            found.append((weight, path, said))
    return found


def _path(selector: str) -> tuple[str, tuple[int, int, int]]:
    """A selector as XPath, and its weight: ids, classes and attributes, names; '' where it is not matched."""
    path, ids, others, names = "", 0, 0, 0
    steps = _STEP.findall(selector)
    if len(steps) > _MAX_STEPS:
        return "", (0, 0, 0)
    for step in steps:
        if step == ">":
            path += "/"
            continue
        part = _SIMPLE.fullmatch(step)
        if part is None:
            return "", (0, 0, 0)
        path += ("" if path.endswith("/") else "//") + (part.group(1) or "*").lower()
        names += part.group(1) not in {None, "*"}
        for kind, mark, attribute, how, value in _MARK.findall(part.group(2)):
            name = {".": "class", "#": "id"}.get(kind) or attribute.lower()
            ids, others = ids + (kind == "#"), others + (kind != "#")
            path += _condition(name, how if attribute else "~" if kind == "." else "=", mark or value)
    return path if path.startswith("//") and not path.endswith("/") else "", (ids, others, names)


def _condition(name: str, how: str, value: str) -> str:
    if how == "~":
        return f"[contains(concat(' ', normalize-space(@{name}), ' '), ' {value} ')]"
    if how in {"^", "*"}:
        return f"[{'starts-with' if how == '^' else 'contains'}(@{name}, '{value}')]"
    return f"[@{name}='{value}']" if value else f"[@{name}]"
