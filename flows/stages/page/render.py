"""Jinja2 templates of the pages."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from flows.common.text import count_of, plural, words
from flows.stages.page.markup import address, attempt_path, attribute, plain, visible
from flows.stages.page.wording import anchor, cut_phrase, placing

TABLE_SCRIPTS = ("assets/tables.js", "assets/site.js")
"""Of a page with tables to sort and filter."""
CHART_SCRIPTS = ("assets/charts.js", *TABLE_SCRIPTS)
"""Of a page with charts too."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: the header, as printed.
        is_number: True to align and sort its cells as numbers.
        is_filter: True to offer its values as a choice of rows.
        is_shown: False for values that only sort or filter the rows.
    """

    name: str
    is_number: bool = False
    is_filter: bool = False
    is_shown: bool = True

    @property
    def css(self) -> Markup:
        """The class attribute of this column's cells."""
        names = {"number": self.is_number, "filter": self.is_filter, "off": not self.is_shown}
        found = " ".join(name for name, holds in names.items() if holds)
        return Markup(' class="{}"').format(found) if found else Markup()


def numbers(*names: str) -> list[Column]:
    """Return columns of numbers."""
    return [Column(name, is_number=True) for name in names]


def filters(*names: str) -> list[Column]:
    """Return hidden columns whose values choose rows."""
    return [Column(name, is_filter=True, is_shown=False) for name in names]


@dataclass(frozen=True, slots=True)
class Table:
    """A table for a template.

    Attributes:
        caption: what it shows.
        columns: its columns.
        rows: cells; text is escaped, `Markup` is not.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart for a template.

    Attributes:
        title: what it shows.
        specification: in Vega-Lite, with its data.
        picture: address of the same as SVG, from the folder of the page; None without one.
        others: addresses of further files, by format.
    """

    title: str
    specification: Mapping[str, Any]
    picture: Markup | None = None
    others: Mapping[str, Markup] = field(default_factory=dict[str, Markup])

    @property
    def attribute(self) -> Markup:
        """The specification as the value of an attribute."""
        return attribute(json.dumps(self.specification, ensure_ascii=False))


def render(
    template: str, title: str, *, depth: int | None, scripts: Sequence[str] = (), **values: Any
) -> str:
    """Render a page from its template.

    Text that is not `Markup` is escaped, with invisible characters made visible (`markup.visible`).

    Args:
        template: file name.
        title: of the page.
        depth: number of folders between the page and the site's; None for a page that stands alone.
        scripts: paths of the scripts that it loads, from the site's folder.
        values: of the template.

    Raises:
        UndefinedError: the template uses an undefined value.
    """
    root = None if depth is None else Markup("../" * depth)
    return _environment().get_template(template).render(title=title, root=root, scripts=scripts, **values)


def assets() -> dict[str, str]:
    """Return the site's own style and script, by file name."""
    return {name: _file(_environment(), name) for name in ("site.css", "site.js")}


def script_of(name: str, value: Any) -> str:
    """Return a script that sets `window.site.NAME`: pages on a disk can load a script, but no data.

    Invisible characters are made visible, since the page's script inserts texts as they are.
    """
    text = json.dumps(_shown(value), ensure_ascii=False, separators=(",", ":"))
    return f"(window.site ??= {{}}).{name} = {text};\n"


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {plain(str(key)): _shown(one) for key, one in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, Sequence):
        return [_shown(one) for one in cast("Sequence[Any]", value)]
    return value


@cache
def parts() -> Any:
    """Return the macros of `parts.html` as functions that return `Markup`."""
    return _environment().get_template("parts.html").module


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("flows.stages.page"),
        autoescape=True,
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = made.filters
    shared: dict[str, Any] = made.globals
    filters["attribute"] = attribute
    # Pages load nothing from a network, and run no script in themselves, even if escaping of untrusted text
    # failed: scripts are files beside them. A page that stands alone has none.
    beside = (
        "default-src 'none'; style-src 'unsafe-inline' 'self' file:; base-uri 'none'; form-action 'none'; "
    )
    policy = Markup(beside + "script-src 'self' file:; img-src 'self' file: data:")
    alone = Markup("default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'")
    shared.update({"style": _file(made, "site.css"), "policy": policy, "policy_alone": alone})
    functions = (address, anchor, attempt_path, count_of, cut_phrase, placing, plural, words)
    shared.update({function.__name__: function for function in functions})
    return made


def _file(environment: Environment, name: str) -> Markup:
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, name)[0])
