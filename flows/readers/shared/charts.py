"""Text of charts, diagrams and drawings in Office files; a chart gives its title and its numbers."""

from flows.readers.markup import Element, walked
from flows.readers.shared.formats import format_number, is_date
from flows.readers.shared.notation import flat, pipe_table, shifted, struck_out

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
MAX_POINTS = 5000


def drawn_text(element: Element) -> str:
    """Return all DrawingML text below an element, on one line."""
    parts: list[tuple[str, bool]] = []
    for part in walked(element):
        if part.tag == f"{_A}br":
            parts.append((" ", False))
        elif part.tag == f"{_A}t":
            look = part.getparent().find(f"{_A}rPr")
            strike, shift = ("", "") if look is None else (look.get("strike"), look.get("baseline"))
            raised = -1 if str(shift).startswith("-") else 1
            text = shifted(str(part.text or ""), raised if str(shift or "0").strip("-0%") else 0)
            parts.append((text, (strike or "noStrike") != "noStrike"))
    return flat(struck_out(parts))


def diagram_text(root: Element) -> str:
    """Return the texts of a SmartArt diagram, one per line, from its data part (`dgm:dataModel`)."""
    lines = [
        drawn_text(paragraph)
        for point in root.iter(f"{_D}pt")
        if point.get("type", "node") not in {"pres", "parTrans", "sibTrans"}
        for paragraph in point.iter(f"{_A}p")
    ]
    return "\n".join(line for line in lines if line)


def chart_text(root: Element, fallback: str = "") -> str:
    """Format a chart part: its title on a line, then a row for each category and a column for each series.

    `root` is `c:chartSpace`, or `cx:chartSpace` of Office 2016 and later; `fallback` a title if it has none.
    """
    titles = list(root.iter(f"{_C}title"))
    title = flat(" ".join(drawn_text(part) for part in titles)) or fallback
    rows = _series(root) or _new_series(root)
    if not titles:
        title = flat(" ".join(drawn_text(part) for part in root.iter(f"{_CX}title"))) or title
    head = f"[Chart: {title}]" if title else "[Chart]"
    if rows:
        return f"{head}\n{pipe_table(rows)}"
    # Some programs store only references to cells, without their values.
    sources = list(dict.fromkeys(str(entry.text or "") for entry in root.iter(f"{_C}f")))
    return f"{head} drawn from {', '.join(sources)}" if sources else head


def _points(element: Element | None) -> dict[int, str]:
    points: dict[int, str] = {}
    if element is None:
        return points
    codes = [str(code.text or "") for code in element.iter(f"{_C}formatCode")]
    percent = any("%" in code for code in codes)
    date = next((code for code in codes if is_date(code)), "")
    marks = element.getroottree().iter(f"{_C}date1904")
    from_1904 = any(mark.get("val") in {"1", "true", None} for mark in marks)
    for point in element.iter(f"{_C}pt"):
        text = str(point.findtext(f"{_C}v") or "")
        try:
            if date:
                points[int(point.get("idx") or 0)] = format_number(float(text), date, from_1904=from_1904)
                continue
            # Charts cache binary fractions in full (4.2999999999999998); Excel shows 15 digits.
            text = format(float(text) * (100 if percent else 1), ".15g") + ("%" if percent else "")
        except ValueError:
            text = flat(text)
        _add(points, point, text)
        if len(points) > MAX_POINTS:
            break
    return points


def _add(points: dict[int, str], point: Element, text: str) -> None:
    """Add a value at the index of its point; levels of categories have several."""
    at = int(point.get("idx") or 0)
    points[at] = f"{points[at]} / {text}" if at in points else text


def _series(root: Element) -> list[list[str]]:
    names: list[str] = []
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for series in root.iter(f"{_C}ser"):
        name = series.find(f"{_C}tx")
        names.append("" if name is None else flat(" ".join(str(v.text or "") for v in name.iter(f"{_C}v"))))
        # Scatter charts have numbers on both axes.
        categories = categories or _points(next(series.iterchildren(f"{_C}cat", f"{_C}xVal"), None))
        columns.append(_points(next(series.iterchildren(f"{_C}val", f"{_C}yVal"), None)))
    return _rows(["", *names], [categories, *columns])


def _rows(head: list[str], columns: list[dict[int, str]]) -> list[list[str]]:
    at_all = sorted(set[int]().union(*columns))
    return [head] + [[column.get(at, "") for column in columns] for at in at_all] if at_all else []


def _new_series(root: Element) -> list[list[str]]:
    """Return the rows of a chart of Office 2016 (`cx`): a column for each dimension of each series."""
    names = {
        str(series.find(f"{_CX}dataId").get("val")): str(series.findtext(f".//{_CX}v") or "")
        for series in root.iter(f"{_CX}series")
        if series.find(f"{_CX}dataId") is not None
    }
    head: list[str] = []
    columns: list[dict[int, str]] = []
    for data in root.iter(f"{_CX}data"):
        for dimension in data:
            points: dict[int, str] = {}
            for point in list(dimension.iter(f"{_CX}pt"))[:MAX_POINTS]:
                _add(points, point, flat(str(point.text or "")))
            if points:
                is_text = str(dimension.tag) == f"{_CX}strDim"
                head.append("" if is_text else names.get(str(data.get("id")), ""))
                columns.append(points)
    return _rows(head, columns)
