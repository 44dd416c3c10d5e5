"""Charts of Word and Excel files: their title and the numbers that they were drawn from."""

from __future__ import annotations

from flows.readers.ooxml import Element
from flows.readers.words import flat, pipe_table

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
MAX_POINTS = 5000


def drawn_text(element: Element) -> str:
    """All DrawingML text below an element, on one line."""
    return flat(" ".join(str(part.text or "") for part in element.iter(f"{_A}t")))


def chart_text(root: Element, fallback: str = "") -> str:
    """A chart part as text: its title on a line, then a row for each category, a column for each series.

    Args:
        root: root of the chart part (`c:chartSpace`, or `cx:chartSpace` of Office 2016 and later).
        fallback: title where the chart has none, such as its alternative text.
    """
    titles = list(root.iter(f"{_C}title"))
    title = flat(" ".join(drawn_text(part) for part in titles)) or fallback
    rows = _series(root)
    if not rows and not titles:
        title = drawn_text(root) or title
    head = f"[Chart: {title}]" if title else "[Chart]"
    if rows:
        return f"{head}\n{pipe_table(rows)}"
    # Some programs store no numbers, only where to find them.
    sources = list(dict.fromkeys(str(entry.text or "") for entry in root.iter(f"{_C}f")))
    return f"{head} drawn from {', '.join(sources)}" if sources else head


def _points(element: Element | None) -> dict[int, str]:
    points: dict[int, str] = {}
    if element is None:
        return points
    percent = any("%" in str(code.text or "") for code in element.iter(f"{_C}formatCode"))
    for point in element.iter(f"{_C}pt"):
        text = str(point.findtext(f"{_C}v") or "")
        try:
            # Charts cache binary fractions in full (4.2999999999999998); Excel shows 15 digits.
            text = format(float(text) * (100 if percent else 1), ".15g") + ("%" if percent else "")
        except ValueError:
            text = flat(text)
        at = int(point.get("idx") or 0)
        points[at] = f"{points[at]} / {text}" if at in points else text
        if len(points) > MAX_POINTS:
            break
    return points


def _either(series: Element, one: str, two: str) -> Element | None:
    found = series.find(_C + one)
    return series.find(_C + two) if found is None else found


def _series(root: Element) -> list[list[str]]:
    names: list[str] = []
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in root.iter(f"{_C}ser"):
        name = series.find(f"{_C}tx")
        names.append("" if name is None else flat(" ".join(str(v.text or "") for v in name.iter(f"{_C}v"))))
        categories = categories or _points(_either(series, "cat", "xVal"))
        columns.append(_points(_either(series, "val", "yVal")))
    at_all = sorted(set(categories).union(*columns))
    if not at_all:
        return []
    return [["", *names]] + [
        [categories.get(at, ""), *(column.get(at, "") for column in columns)] for at in at_all
    ]
