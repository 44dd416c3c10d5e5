"""The templates of all pages, and what they may use."""

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
    """A head of a table.

    Attributes:
        name: as printed.
        is_number: aligned and sorted as numbers.
    """

    name: str
    is_number: bool = False

    @property
    def css(self) -> Markup:
        """The attribute that cells of this column have."""
        return Markup(' class="number"' if self.is_number else "")


@dataclass(frozen=True, slots=True)
class Table:
    """A table as a template takes it.

    Attributes:
        caption: what it shows.
        columns: its heads.
        rows: cells; text is escaped, `Markup` stands as it is.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]


def render(template: str, title: str, **values: Any) -> str:
    """One page from its template.

    Every text is escaped, and what hides in it is shown (`markup.visible`), unless it is `Markup`.

    Raises:
        UndefinedError: the template uses a value that it was not given.
    """
    return _environment().get_template(template).render(title=title, **values)


def parts() -> Any:
    """The macros of `parts.html` as functions that give `Markup`."""
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
    # The page asks the network for nothing and runs no script but its own, even if something in it that
    # others wrote slipped through the escaping.
    policy = Markup(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        f"script-src 'sha256-{script_hash}'"
    )
    shared.update({"address": address, "style": style, "script": script, "policy": policy})
    return made


def _file(environment: Environment, name: str) -> Markup:
    assert environment.loader is not None
    return Markup(environment.loader.get_source(environment, name)[0])


def _pair(columns: Sequence[Column], row: Sequence[str]) -> list[tuple[Column, str]]:
    """Heads with the cells of a row; a row of another length is a fault."""
    return list(zip(columns, row, strict=True))
