"""Which GGUF file is meant, and what is said where there is none."""

import pytest

from flows.adapters.local_server.find import EngineError, find_file


def test_a_file_by_its_path(tmp_path):
    (tmp_path / "a.gguf").write_bytes(b"GGUF and more")
    assert find_file(str(tmp_path / "a.gguf")) == tmp_path / "a.gguf"


@pytest.mark.parametrize(("content", "says"), [(None, "No such file"), (b"PK\x03\x04", "not a GGUF file")])
def test_a_file_that_is_none(tmp_path, content, says):
    if content is not None:
        (tmp_path / "a.gguf").write_bytes(content)
    with pytest.raises(EngineError, match=says):
        find_file(str(tmp_path / "a.gguf"))


def test_the_file_in_a_package_without_importing_it(tmp_path, monkeypatch):
    (tmp_path / "holds_model").mkdir()
    (tmp_path / "holds_model" / "__init__.py").write_text("raise RuntimeError('imported')")
    (tmp_path / "holds_model" / "b.gguf").write_bytes(b"GGUF")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_file("package:holds_model") == tmp_path / "holds_model" / "b.gguf"
    (tmp_path / "holds_model" / "c.gguf").write_bytes(b"GGUF")
    with pytest.raises(EngineError, match="holds 2 GGUF files"):
        find_file("package:holds_model")


@pytest.mark.parametrize("name", ["no_such_package", "../etc", ""])
def test_a_package_that_is_not_installed(name):
    with pytest.raises(EngineError, match="make local"):
        find_file(f"package:{name}")
