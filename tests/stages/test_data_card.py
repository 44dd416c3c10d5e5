"""The card and croissant.json describe every column, and name licences as their readers do."""

import json

import pytest
import yaml

from flows.adapters import tables
from flows.stages.data_card import (
    COLUMNS,
    TABLES,
    CardFacts,
    TableFile,
    croissant,
    data_card,
    licence_address,
)

FACTS = CardFacts(
    "my bench", ["CC-BY-4.0"], "staffbench canary 1", "0.1", (), 1, 2, creator="A", date="2026-12-01"
)
FILE = TableFile("items", "data/items.parquet", "ab", 3, [("item_id", "string"), ("tier", "int64")])


def facts(**changes):
    return CardFacts(**{**FACTS.__dict__, "tables": [FILE], **changes})


def test_every_column_of_an_export_has_a_meaning():
    names = {"SCENARIOS", "ITEMS", "EVIDENCE", "BRIEFS", "VERDICTS", "SCORES", "BLOCKS"}
    columns = {field.name for name in names for field in getattr(tables, name)}
    assert columns | {"canary"} == COLUMNS.keys()
    assert len(TABLES) == len(names)


@pytest.mark.parametrize(
    ("licences", "head"),
    [
        (["CC-BY-4.0"], {"license": "cc-by-4.0"}),
        (["Apache-2.0", "MIT"], {"license": ["apache-2.0", "mit"]}),
        (
            ["house: rules"],
            {"license": "other", "license_name": "house: rules", "license_link": "LICENSE"},
        ),
    ],
)
def test_front_matter_names_licence_and_tables(licences, head):
    card = data_card(facts(licences=licences))
    found = yaml.safe_load(card.split("---")[1])
    assert {key: value for key, value in found.items() if key.startswith("license")} == head
    assert found["configs"] == [
        {
            "config_name": "items",
            "data_files": [{"split": "test", "path": "data/items.parquet"}],
            "default": True,
        }
    ]
    assert "a benchmark of 2 scenarios with 3 items of rubrics." in card
    assert card.endswith("    staffbench canary 1\n")


def test_croissant_maps_each_column_to_its_file():
    described = json.loads(croissant(facts()))
    assert described["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert (described["name"], described["datePublished"]) == ("my_bench", "2026-12-01")
    assert "url" not in described
    assert described["license"] == ["https://spdx.org/licenses/CC-BY-4.0.html"]
    (record,) = described["recordSet"]
    assert [(one["@id"], one["dataType"]) for one in record["field"]] == [
        ("items/item_id", "sc:Text"),
        ("items/tier", "sc:Integer"),
    ]
    assert record["field"][0]["source"]["fileObject"]["@id"] == described["distribution"][0]["@id"]


@pytest.mark.parametrize(
    ("licence", "address"),
    [("MIT", "https://spdx.org/licenses/MIT.html"), ("ask us", "ask us"), ("not stated", "not stated")],
)
def test_only_identifiers_of_spdx_have_a_page(licence, address):
    assert licence_address(licence) == address
