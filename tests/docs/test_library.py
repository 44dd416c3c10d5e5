"""The examples of the library's page, and that it shows every public name."""

import doctest
import re
import subprocess
import sys

import pytest

import flows
from tests.docs.sessions import PROJECT

PAGE = PROJECT / "docs/reference/library.md"


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A project with the scenario of the page, in which the control has run."""
    (tmp_path / "conf").symlink_to(PROJECT / "conf")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "smoke").symlink_to(PROJECT / "data" / "smoke")
    words = ["run", "benchmark=smoke", "model=strong", "seeds=1", "tracking=none"]
    command = [sys.executable, "-m", "flows", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_examples_print_what_the_page_shows(clone):
    text = "\n".join(
        re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    )
    examples = doctest.DocTestParser().get_doctest(text, {}, "library.md", str(PAGE), 0)
    said = []
    found = doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert found.attempted > 30
    assert found.failed == 0, "".join(said)
    assert (clone / "score.svg").read_text(encoding="utf-8").startswith("<svg")


def test_the_page_names_every_public_name():
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("| name |")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`(\w+)`", table.replace("`flows`", ""))) == sorted(flows.__all__)
    assert all(getattr(flows, name) is not None for name in flows.__all__)
    assert {*flows.__all__} <= {*dir(flows)}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'gone'"):
        _ = flows.gone


def test_the_package_imports_nothing_heavy():
    heavy = ["hydra", "prefect", "pyarrow", "pydantic", "yaml"]
    code = f"import flows, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
