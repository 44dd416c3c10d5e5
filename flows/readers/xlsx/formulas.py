"""Formulas of one sheet; shared ones are translated to each cell."""

from __future__ import annotations

import importlib
import re
from typing import Any

from flows.readers.markup import Element

MAX_MOVED = 500_000  # characters of shared formulas that are translated; each takes microseconds
_LATER = re.compile(r"_xl(?:fn|ws|pm|udf)\.")  # prefixes of newer functions; Excel hides them


class Formulas:
    """The shared formulas of a sheet."""

    def __init__(self) -> None:
        self._shared: dict[str, tuple[str, str]] = {}
        self._moved = 0

    def origin(self, element: Element, here: str) -> tuple[str, str] | None:
        """The formula of the cell `here` and the cell that it is written for; None where it has none."""
        text = _LATER.sub("", str(element.text or ""))
        key = element.get("si")
        written = (text, here) if text else None
        if key is None or element.get("t") != "shared":
            return written
        if written:
            self._shared[key] = written
        return self._shared.get(key)

    def at(self, origin: tuple[str, str], here: str) -> str:
        """A formula as it reads in the cell `here`."""
        text, first = origin
        self._moved += len(text)
        if here == first:
            return text
        if self._moved > MAX_MOVED:
            return f"as in {first}, moved to {here}"
        # Importing openpyxl takes a third of a second, and few files need it.
        translator: Any = importlib.import_module("openpyxl.formula.translate").Translator
        return str(translator("=" + text, origin=first).translate_formula(here))[1:]
