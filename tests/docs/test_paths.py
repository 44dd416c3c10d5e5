"""Paths and links in the documentation lead somewhere, and what it says of imports is so."""

import ast
import re
from pathlib import Path

import pytest

from tests.docs.sessions import PROJECT, read_sessions

DOCS = sorted((PROJECT / "docs").rglob("*.md"))
OUTSIDE = [PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "flows/README.md")]
PAGES = [*OUTSIDE, *DOCS]

_MODULE = re.compile(r"[\w./-]*\w\.py\b")
_CODE = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s#]+)")
_LAYERS = ("pipeline", "adapters", "stages", "readers", "schema", "common")
_ROOTS = ("flows", "conf", "tests", "docs", "data", ".ci")
_MADE = (
    "data/packets",
    "conf/benchmark/my_bench.yaml",
    "conf/benchmark/mybench.yaml",
    "conf/scoring/mybench.yaml",
    "data/mybench",
    "conf/model/my_model.yaml",
    "conf/judge/my_judge.yaml",
)
"""What runs make, and what a reader makes by a page."""


def _name(page):
    return page.relative_to(PROJECT).as_posix()


def _paths(page):
    text = page.read_text(encoding="utf-8")
    named = {
        found for found in _CODE.findall(text) if found.split("/")[0] in (*_ROOTS, *_LAYERS) and "/" in found
    }
    made = {session.file[0] for session in read_sessions(page) if session.file}
    return {
        path
        for path in named | set(_MODULE.findall(text))
        if not path.startswith((*_MADE, *made, "data/my_bench"))
    }


def _exists(path, page):
    if any((base / path).exists() for base in (PROJECT, PROJECT / "flows", page.parent)):
        return True
    # A module that a table names beside its folder.
    below = [PROJECT / "flows" / "pipeline", PROJECT / "tests", PROJECT / "data"]
    return any((base / path).is_file() for base in below) or (
        "/" not in path and any((PROJECT / "flows").rglob(path))
    )


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_path_that_is_named_exists(page):
    assert not {path for path in _paths(page) if not _exists(path, page)}


def test_paths_are_found_in_text_and_in_pictures():
    assert {"evaluate/flow.py", "pipeline/native/", "conf/prompt/v0.yaml"} <= _paths(
        PROJECT / "flows/README.md"
    )


@pytest.mark.parametrize("page", OUTSIDE, ids=_name)
def test_links_outside_the_site_lead_somewhere(page):
    assert not {
        link for link in _LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()
    }


def test_the_first_page_is_short():
    assert len((PROJECT / "README.md").read_text(encoding="utf-8").splitlines()) < 200


def test_every_room_and_layer_is_on_the_map():
    text = (PROJECT / "flows/README.md").read_text(encoding="utf-8")
    folders = [path for base in ("flows", "flows/pipeline") for path in (PROJECT / base).iterdir()]
    named = {
        path.relative_to(PROJECT / "flows").as_posix() for path in folders if (path / "__init__.py").is_file()
    }
    assert not {name for name in named if f"`{name}/`" not in text}
    modules = {path.name for path in (PROJECT / "flows/adapters").iterdir() if not path.name.startswith("_")}
    assert not {name for name in modules if f"adapters/{name}" not in text}


PARTS = {
    "the local engine": (
        ["adapters.local_server", "adapters.completions.senders.send_gguf"],
        ["adapters/completions/client.py"],
    ),
    "batches": (
        ["adapters.completions.batches"],
        ["adapters/completions/client.py"],
    ),
    "Harbor": (
        ["pipeline.harbor", "adapters.harbor_jobs", "stages.harbor_summary"],
        [],
    ),
    "Inspect": (
        ["pipeline.inspect"],
        ["pipeline/commands/run.py"],
    ),
    "the cluster": (
        ["pipeline.orchestration.clusters", "pipeline.evaluate.crew", "pipeline.evaluate.worker"],
        ["pipeline/evaluate/session.py"],
    ),
    "the Word writer": (
        ["adapters.report_docx"],
        ["pipeline/native/writing.py"],
    ),
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_imported_only_where_the_map_says(part):
    modules, importers = PARTS[part]
    own = tuple(module.replace(".", "/") for module in modules)
    wanted = re.compile(
        rf"^\s*(?:from|import) flows\.(?:{'|'.join(map(re.escape, modules))})\b", re.MULTILINE
    )
    found = {
        name
        for path in (PROJECT / "flows").rglob("*.py")
        if wanted.search(path.read_text(encoding="utf-8"))
        and not (name := path.relative_to(PROJECT / "flows").as_posix()).startswith(own)
    }
    assert found == set(importers)
    text = (PROJECT / "flows/README.md").read_text(encoding="utf-8")
    section = text.partition("## Parts that could be taken out")[2].partition("\n## ")[0]
    assert not [name for name in importers if f"`{name}`" not in section]


# Who calls whom on the way of `word_cap`, in the order of the map.
WALK = {
    "__main__.py": [("main", "_dispatch"), ("_dispatch", "FUNCTIONS")],
    "pipeline/commands/run.py": [("run", "compose_points"), ("run", "run_points")],
    "adapters/config/compose.py": [("compose_points", "_compose_point"), ("_compose_point", "compose")],
    "pipeline/evaluate/flow.py": [
        ("run_points", "build_evaluations"),
        ("evaluate", "_evaluate_one"),
        ("_evaluate_one", "run"),
        ("run", "run_chain"),
        ("run_chain", "read"),
    ],
    "pipeline/work/evaluations.py": [("build_evaluations", "evaluation_of")],
    "pipeline/work/briefs.py": [("read", "truncate")],
    "stages/truncate.py": [],
}


def test_the_way_of_the_word_cap_is_the_one_in_the_map():
    section = (PROJECT / "flows/README.md").read_text(encoding="utf-8")
    section = section.partition("## The way of one option")[2].partition("\n## ")[0]
    named = re.findall(r"^\| `(\S+\.py)` \|", section, re.MULTILINE)
    assert list(dict.fromkeys(named)) == list(WALK)  # the flow's module twice: it builds, then runs
    assert "twelve calls in seven files" in section
    assert len(WALK) == 7
    assert [int(number) for number in re.findall(r"\((\d+)\)", section)] == list(range(1, 13))
    for name, calls in WALK.items():
        tree = ast.parse((PROJECT / "flows" / name).read_text(encoding="utf-8"))
        bodies = {
            node.name: {getattr(one, "id", getattr(one, "attr", "")) for one in ast.walk(node)}
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert not [f"{caller} calls {called}" for caller, called in calls if called not in bodies[caller]]


def test_no_module_of_the_pipeline_has_more_than_twelve_siblings():
    rooms = [path.parent for path in (PROJECT / "flows/pipeline").rglob("__init__.py")]
    modules = {
        room.relative_to(PROJECT).as_posix(): [
            path.name for path in room.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()
        ]
        for room in rooms
    }
    assert len(modules) > 10
    assert not {room: names for room, names in modules.items() if len(set(names) - {"__init__.py"}) > 13}


def test_every_decision_is_dated_and_listed():
    folder = PROJECT / "docs/decisions"
    pages = {path.name for path in folder.glob("*.md")} - {"index.md"}
    assert all(re.fullmatch(r"20\d\d-\d\d-\d\d-[a-z0-9-]+\.md", name) for name in pages)
    listed = re.findall(
        r"^\| (\S+) \| \[.+\]\((\S+)\) \|$", (folder / "index.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert {name for _, name in listed} == pages
    assert all(name.startswith(date) for date, name in listed)
    assert all("**Choice.**" in Path(folder / name).read_text(encoding="utf-8") for name in pages)
