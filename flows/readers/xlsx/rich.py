"""Rich values: images in cells and linked data, stored behind an error value for older programs."""

from __future__ import annotations

from flows.readers.markup import Element
from flows.readers.ooxml import Package, Relationship
from flows.readers.words import image
from flows.readers.xlsx.strings import S, unescaped

_RD = "{http://schemas.microsoft.com/office/spreadsheetml/2017/richdata}"


def rich_values(package: Package, links: dict[str, Relationship]) -> list[str]:
    """What Excel shows for each index of a cell's `vm` (from 1, so the first entry is for 1); '' for unknown.

    Args:
        package: of the workbook.
        links: of the workbook.
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
