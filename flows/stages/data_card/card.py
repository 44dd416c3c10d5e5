"""What describes an export: README.md with Hugging Face's front matter, and croissant.json."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from flows.common.text import plural
from flows.stages.data_card.columns import COLUMNS, TABLES

_HUB = frozenset(
    {
        *("apache-2.0", "bsd-3-clause", "cc0-1.0", "mit", "odbl", "pddl", "unlicense"),
        *("cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0", "cc-by-sa-4.0"),
        *("cc-by-nc-4.0", "cc-by-nc-nd-4.0", "cc-by-nc-sa-4.0", "cc-by-nd-4.0"),
    }
)
"""Licences that Hugging Face's hub knows by their SPDX identifier in lower case."""
_SPDX = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]*-[0-9.]+|MIT|Unlicense")
_TYPES = {"string": "sc:Text", "int64": "sc:Integer", "double": "sc:Float", "bool": "sc:Boolean"}
_PARQUET = "application/x-parquet"  # the one that readers of Croissant know
_CROISSANT = "http://mlcommons.org/croissant/"
_TEXTS = Environment(  # noqa: S701 -- Markdown, in which nothing is escaped
    loader=FileSystemLoader(Path(__file__).parent),
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
)


@dataclass(frozen=True)
class TableFile:
    """A table as it was written."""

    name: str  # of the table
    path: str  # of its file, relative to the folder
    sha256: str  # of its file
    n_rows: int
    columns: Sequence[tuple[str, str]]  # pairs of name and Arrow type


@dataclass(frozen=True)
class CardFacts:
    """What the card says."""

    name: str  # of the benchmark
    licences: Sequence[str]  # of the scenarios, each once
    canary: str
    version: str  # of staffbench
    tables: Sequence[TableFile]  # in the order of the card
    synthetic: int  # number of scenarios with invented events
    n_scenarios: int  # number of scenarios
    stand_ins: Sequence[str] = ()  # labels of judges that are rules instead of models
    # creator, url, date: of the publication, for Croissant; None where not given.
    creator: str | None = None
    url: str | None = None
    date: str | None = None
    # Findings of the check that were allowed, by kind.
    allowed: Mapping[str, int] = field(default_factory=dict[str, int])


def licence_address(licence: str) -> str:
    """Return SPDX's page of a licence, or its name if that is no identifier of SPDX."""
    return f"https://spdx.org/licenses/{licence}.html" if _SPDX.fullmatch(licence) else licence


def data_card(facts: CardFacts) -> str:
    """Return README.md; its front matter makes `datasets.load_dataset` find each table."""
    tables = [table for table in facts.tables if table.n_rows]
    columns: dict[str, list[str]] = {}
    for table in tables:
        for name, _ in table.columns:
            columns.setdefault(name, []).append(table.name)
    return _CARD.render(
        facts=facts,
        tables=tables,
        meanings=TABLES,
        columns=dict(sorted(columns.items())),
        column_meanings=COLUMNS,
        introduction=_introduction(facts),
        licence_lines=_licence_lines(facts.licences),
        real=facts.n_scenarios - facts.synthetic,
    )


def croissant(facts: CardFacts) -> str:
    """Return croissant.json, after version 1.0 of ML Commons' Croissant."""
    described: dict[str, Any] = {
        "@context": _context(),
        "@type": "sc:Dataset",
        "conformsTo": f"{_CROISSANT}1.0",
        "name": re.sub(r"[^A-Za-z0-9_-]", "_", facts.name),
        "description": f"{_introduction(facts)} {facts.canary}",
        "license": [licence_address(licence) for licence in facts.licences],
        "isLiveDataset": False,
        "keywords": ["benchmark", "rubric", "language model"],
    }
    if facts.creator is not None:
        described["creator"] = {"@type": "sc:Organization", "name": facts.creator}
    described |= {} if facts.url is None else {"url": facts.url}
    described |= {} if facts.date is None else {"datePublished": facts.date}
    described["distribution"] = [
        {
            "@type": "cr:FileObject",
            "@id": table.path,
            "name": table.name,
            "contentUrl": table.path,
            "encodingFormat": _PARQUET,
            "sha256": table.sha256,
        }
        for table in facts.tables
    ]
    described["recordSet"] = [
        {
            "@type": "cr:RecordSet",
            "@id": table.name,
            "name": table.name,
            "description": TABLES[table.name],
            "field": [_field(table, name, kind) for name, kind in table.columns],
        }
        for table in facts.tables
    ]
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


def _field(table: TableFile, name: str, kind: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{name}",
        "name": name,
        "description": COLUMNS[name],
        "dataType": _TYPES[kind],
        "source": {"fileObject": {"@id": table.path}, "extract": {"column": name}},
    }


def _context() -> dict[str, Any]:
    """Return the context that version 1.0 of the format prescribes."""
    own = (
        "citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes "
        "isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace "
        "samplingRate separator source subField transform"
    )
    return {
        "@language": "en",
        "@vocab": "https://schema.org/",
        "cr": _CROISSANT,
        "dct": "http://purl.org/dc/terms/",
        "rai": f"{_CROISSANT}RAI/",
        "sc": "https://schema.org/",
        "conformsTo": "dct:conformsTo",
        "data": {"@id": "cr:data", "@type": "@json"},
        "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        "examples": {"@id": "cr:examples", "@type": "@json"},
        **{name: f"cr:{name}" for name in own.split()},
    }


def _introduction(facts: CardFacts) -> str:
    n_items = sum(table.n_rows for table in facts.tables if table.name == "items")
    graded = any(table.name == "verdicts" and table.n_rows for table in facts.tables)
    more = ", with briefs, verdicts and scores" if graded else ""
    return (
        f"{facts.name}: a benchmark of {plural(facts.n_scenarios, 'scenario')} with "
        f"{plural(n_items, 'item')} of rubrics{more}. A writer turns a packet of documents into a brief, and "
        "each item of the rubric passes or fails in it. "
        f"Exported with staffbench {facts.version}."
    )


def _licence_lines(licences: Sequence[str]) -> list[str]:
    known = [licence.lower() for licence in licences]
    if licences and all(licence in _HUB for licence in known):
        return [f"license: {known[0]}"] if len(known) == 1 else ["license:", *(f"- {one}" for one in known)]
    return ["license: other", f"license_name: {_quoted(', '.join(licences))}", "license_link: LICENSE"]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # JSON's strings are YAML's too


_TEXTS.filters["quoted"] = _quoted
_CARD = _TEXTS.get_template("card.md.j2")
