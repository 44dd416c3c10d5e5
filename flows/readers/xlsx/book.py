"""The parts that sheets share: their order, shared strings, styles."""

from dataclasses import dataclass
from pathlib import Path

from flows.common.errors import ReadError
from flows.readers.limits import MAX_TEXT
from flows.readers.markup import Element
from flows.readers.ooxml import Package, Relationship
from flows.readers.shared.notation import image
from flows.readers.xlsx.styles import Colours, Runs, S, Style, font_of, runs_of, styles_of, unescaped

_RD = "{http://schemas.microsoft.com/office/spreadsheetml/2017/richdata}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
MAX_STRINGS = 4_000_000


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet in the order of its tabs; `kind` is `worksheet`, `chartsheet`, `dialogsheet`, ..."""

    name: str
    part: str
    kind: str
    state: str


def too_much_text(path: Path) -> ReadError:
    """The error for a workbook that gives more than MAX_TEXT."""
    return ReadError(
        path,
        f"more than {MAX_TEXT:,} characters of text",
        "a workbook that a person could read",
        "leave out the sheets that the packet does not need",
    )


class Book:
    """The parts of a workbook that its sheets share.

    Raises:
        ReadError: a part is missing or damaged.
    """

    def __init__(self, package: Package) -> None:
        self.package = package
        root = package.xml(package.main)
        links = package.relationships(package.main)
        parts = {link.kind: link.target for link in links.values() if not link.external}
        properties = root.find(f"{S}workbookPr")
        self.from_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
        self.sheets: list[Sheet] = []
        taken: set[str] = set()
        for sheet in root.iterfind(f"{S}sheets/{S}sheet"):
            key = str(sheet.get(f"{R}id") or "")
            link = links.get(key) or Relationship("missing" if key else "", "", external=False)
            name, state = unescaped(sheet.get("name")), str(sheet.get("state", "visible"))
            if link.target in taken:
                raise ReadError(
                    package.path,
                    f"sheet {name!r} is made of the part of another sheet",
                    "a complete workbook",
                )
            taken |= {link.target} if link.target else set()
            self.sheets.append(Sheet(name, link.target, link.kind, state))
        theme, styles = package.root(links, "theme"), package.root(links, "styles")
        self.colours = Colours(theme, styles)
        has_boxes = any(name.startswith("xl/featurepropertybag/") for name in package.names())
        self.styles = [] if styles is None else styles_of(styles, self.colours, has_boxes=has_boxes)
        self.rich = _rich_values(package, links)
        self.chars = 0
        self.strings: list[str | Runs] = []
        strings = parts.get("sharedStrings", "")
        if package.has(strings):
            for entry in package.streamed(strings, ["si"]):
                text = self.text(entry)
                self.strings.append(text)
                self.spend(len(text) if isinstance(text, str) else sum(len(run) for run, _ in text))
                if len(self.strings) > MAX_STRINGS:
                    raise ReadError(package.path, f"more than {MAX_STRINGS:,} texts", "fewer", "split it")
        self.chars = 0  # counted again in each cell that shows them

    def text(self, element: Element) -> str | Runs:
        """A shared or inline string."""
        return runs_of(element, lambda run: font_of(run, self.colours))

    def rich_value(self, key: str, raw: str) -> str:
        """What Excel shows for a cell whose error value stands for more, such as an image."""
        at = int(key) - 1 if key.isdecimal() else -1
        return (self.rich[at] if 0 <= at < len(self.rich) else "") or raw

    def spend(self, chars: int) -> None:
        """Count characters of text; one short string in many cells can fill any memory.

        Raises:
            ReadError: the workbook gives more than MAX_TEXT.
        """
        self.chars += chars
        if self.chars > MAX_TEXT:
            raise too_much_text(self.package.path)

    def style(self, key: str | None) -> Style:
        """The style of a cell by its index; the default where the index is not there."""
        at = int(key) if key and key.isdecimal() else 0
        return self.styles[at] if at < len(self.styles) else Style()


def _rich_values(package: Package, links: dict[str, Relationship]) -> list[str]:
    """What Excel shows for each index of a cell's `vm`, counted from 1 there; '' for unknown.

    Such values (images in cells, linked data) are stored behind an error value for older programs.
    """
    metadata, values, structures = (
        package.root(links, kind) for kind in ("sheetMetadata", "rdRichValue", "rdRichValueStructure")
    )
    if metadata is None or values is None or structures is None:
        return []
    kinds = [
        (str(entry.get("t")), [str(key.get("n")) for key in entry.iterfind(f"{_RD}k")])
        for entry in structures.iterfind(f"{_RD}s")
    ]
    texts = [_shown(value, kinds) for value in values.iterfind(f"{_RD}rv")]
    held = [int(entry.get("i", -1)) for entry in metadata.iterfind(f".//{S}futureMetadata//{_RD}rvb")]
    found: list[str] = []
    for entry in metadata.iterfind(f"{S}valueMetadata/{S}bk/{S}rc"):
        at = int(entry.get("v", -1))
        value = held[at] if 0 <= at < len(held) else -1
        found.append(texts[value] if 0 <= value < len(texts) else "")
    return found


def _shown(value: Element, kinds: list[tuple[str, list[str]]]) -> str:
    at = int(value.get("s", -1))
    kind, keys = kinds[at] if 0 <= at < len(kinds) else ("", [])
    given = dict(zip(keys, (unescaped(entry.text) for entry in value.iterfind(f"{_RD}v")), strict=False))
    if kind.lower().endswith("image"):
        return image(given.get("Text") or "")
    return given.get("_DisplayString") or unescaped(value.findtext(f"{_RD}fb"))
