"""Keys of the configuration: each is read somewhere, and none is a secret."""

import ast
import re
from dataclasses import fields, is_dataclass
from pathlib import Path

import yaml

from flows.schema import settings as schema

PROJECT = Path(__file__).parents[1]
CONF = PROJECT / "conf"


def test_no_file_holds_a_key():
    looks_like_one = re.compile(
        r"\bsk-|AKIA[0-9A-Z]{8}|AIza|xai-[A-Za-z0-9]{8}|gsk_|Bearer |[A-Za-z0-9]{32,}"
    )
    for path in CONF.rglob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        assert not looks_like_one.search(text), path
        for section in yaml.compose_all(text):
            for key, value in section.value if isinstance(section, yaml.MappingNode) else ():
                if key.value == "api_key_env":
                    assert value.tag.endswith("null") or re.fullmatch(r"[A-Z][A-Z0-9_]+", value.value), path


def read_attributes():
    """Names that are read: attributes in flows/, its checks of the configuration aside, and `${...}`."""
    names = set()
    for path in CONF.rglob("*.yaml"):
        names |= set(re.findall(r"\$\{\w+\.(\w+)\}", path.read_text(encoding="utf-8")))
    for path in (PROJECT / "flows").rglob("*.py"):
        if path.name == "settings.py" or path.parent.name == "config":
            continue  # where a value is declared or only checked, nothing is done with it
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                names.add(node.attr)
    return names


def test_every_key_of_the_configuration_is_read_somewhere():
    declared = {
        (kind.__name__, field.name)
        for kind in vars(schema).values()
        if isinstance(kind, type) and is_dataclass(kind) and kind.__module__.startswith("flows.schema.")
        for field in fields(kind)
    }
    assert len(declared) > 60
    read = read_attributes()
    assert "a_key_that_nothing_reads" not in read
    assert sorted(f"{kind}.{name}" for kind, name in declared if name not in read) == []
