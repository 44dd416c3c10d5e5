"""JavaScript libraries that a site holds: DataTables and Vega, from the packages that ship them."""

import re
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from flows.common.errors import StoreError

_END = "})();\n"
_EXPORT = re.compile(r"export\s*\{([^{}]*)\};")


@cache
def table_library() -> dict[str, str]:
    """Return script and style of DataTables by file name; the script sets `window.DataTable`.

    itables ships it as a module, and browsers load no module from a disk. So its export becomes a global.

    Raises:
        StoreError: the package has no such file.
    """
    found = find_spec("itables")  # importing it would load pandas
    folder = Path(next(iter(found.submodule_search_locations or ()), "")) if found else Path()
    try:
        script = (folder / "html" / "dt_bundle.js").read_text(encoding="utf-8")
        style = (folder / "html" / "dt_bundle.css").read_text(encoding="utf-8")
    except OSError as error:
        raise StoreError(folder, f"DataTables can't be read: {error}", "an installed itables") from error
    exported = _EXPORT.search(script)
    name = re.search(r"(\w+) as default", exported[1]) if exported else None
    if exported is None or name is None:
        raise StoreError(folder, "its DataTables exports no default", "another version of itables")
    whole = f"{script[: exported.start()]}window.DataTable={name[1]};{script[exported.end() :]}"
    return {"tables.js": _alone(whole), "tables.css": style}


def chart_library(folder: Path) -> dict[str, str]:
    """Return the script of Vega, Vega-Lite and Vega-Embed by file name; it sets `window.vegaEmbed`.

    It may be in `folder` already, since it takes seconds to put together.
    """
    name = "charts.js"
    maker = f"vl-convert {version('vl-convert-python')}"
    head = f"// Vega, Vega-Lite and Vega-Embed (BSD-3-Clause), put together by {maker}\n"
    try:
        known = (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        known = ""
    is_whole = known.startswith(head) and known.endswith(_END)
    return {name: known if is_whole else head + _chart_bundle()}


@cache
def _chart_bundle() -> str:
    import vl_convert

    return _alone(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def _alone(script: str) -> str:
    """Return a script whose names don't meet those of other scripts."""
    return f"(() => {{\n{script}\n{_END}"
