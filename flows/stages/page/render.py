"""Jinja2 templates of the pages."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from flows.stages.page.markup import address, attribute, visible


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: the header, as printed.
        is_number: True to align and sort its cells as numbers.
    """

    name: str
    is_number: bool = False

    @property
    def css(self) -> Markup:
        """The class attribute of this column's cells."""
        return Markup(' class="number"' if self.is_number else "")


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


def render(template: str, title: str, **values: Any) -> str:
    """Render a page from its template.

    Text that is not `Markup` is escaped, with invisible characters made visible (`markup.visible`).

    Raises:
        UndefinedError: the template uses an undefined value.
    """
    return _environment().get_template(template).render(title=title, **values)


def parts() -> Any:
    """Return the macros of `parts.html` as functions that return `Markup`."""
    return _parts()


@cache
def _parts() -> Any:
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
    filters.update({"attribute": attribute, "pair": _pair})
    style, script = (_file(made, name) for name in ("site.css", "site.js"))
    script_hash = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    # The page loads nothing from the network and runs no script but its own, even if escaping of untrusted
    # text failed.
    policy = Markup(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        f"script-src 'sha256-{script_hash}'; img-src 'self' file:"
    )
    shared.update({"address": address, "style": style, "script": script, "policy": policy})
    return made


def _file(environment: Environment, name: str) -> Markup:
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, name)[0])


def _pair(columns: Sequence[Column], row: Sequence[str]) -> list[tuple[Column, str]]:
    """Pair columns with the cells of a row of equal length."""
    return list(zip(columns, row, strict=True))
