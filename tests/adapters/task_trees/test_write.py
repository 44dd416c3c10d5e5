"""Trees onto the disk, and the parts of a Dockerfile and a TOML file that are easy to get wrong."""

import os
import stat
import tomllib

import pytest

from flows.adapters.task_trees.write import TreeFile, copied, tree_files, write_folder
from flows.adapters.task_trees.write_text import Install, task_toml, with_staffbench
from flows.common.errors import ConfigError, Problems, ScenarioError


def test_files_come_with_their_modes_and_folders(tmp_path):
    source = tmp_path / "notes.txt"
    source.write_text("notes")
    files = {"a/b/c.sh": TreeFile(b"#!/bin/sh\n", executable=True), "d.txt": TreeFile(source)}
    write_folder(tmp_path / "new" / "out", files)
    out = tmp_path / "new" / "out"
    assert (out / "d.txt").read_text() == "notes"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (out, *out.rglob("*"))}
    assert modes == {"out": 0o755, "a": 0o755, "b": 0o755, "c.sh": 0o755, "d.txt": 0o644}
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "a//b", "a\nb"])
def test_a_name_that_leads_elsewhere_writes_nothing(tmp_path, name):
    with pytest.raises(ValueError, match="leads out of the folder"):
        write_folder(tmp_path / "out", {name: TreeFile(b"x")})
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_target(tmp_path):
    (tmp_path / "out").write_text("kept")
    with pytest.raises(ConfigError, match="a file"):
        write_folder(tmp_path / "out", {"x": TreeFile(b"x")})
    assert (tmp_path / "out").read_text() == "kept"


def test_a_link_or_a_pipe_put_in_the_place_of_a_listed_file_is_not_followed(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "secret").write_text("secret")
    path = tmp_path / "source" / "x"
    path.write_text("x")
    files = tree_files(tmp_path / "source")
    path.unlink()
    path.symlink_to(tmp_path / "secret")
    with pytest.raises(ScenarioError, match="a link"):
        write_folder(tmp_path / "out", files)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ScenarioError, match="a device, pipe or socket"):
        write_folder(tmp_path / "out", files)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["secret", "source"]


def test_links_are_named_and_file_managers_leftovers_left_out(tmp_path):
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    (folder / ".DS_Store").write_text("x")
    assert list(tree_files(folder)) == ["a.txt"]
    (folder / "in").symlink_to(tmp_path)
    with pytest.raises(Problems, match="in: a link"):
        tree_files(folder)
    with pytest.raises(ScenarioError, match="not there, or a link"):
        copied(folder, "in/tree/a.txt")
    (tmp_path / "alias").symlink_to(folder)
    with pytest.raises(Problems, match="alias: a link"):
        tree_files(tmp_path / "alias")


def test_toml_keeps_any_text():
    title = 'Quotes " and \\ and \x7f and é and\nlines\t'
    text = task_toml({"title": title, "synthetic": False}, {"mode": "all_items"}, ["KEY"], ["/a", "/b"])
    found = tomllib.loads(text)
    assert (found["schema_version"], found["artifacts"]) == ("1.4", ["/a", "/b"])
    assert found["metadata"] == {"title": title, "synthetic": False, "judge": {"mode": "all_items"}}
    assert found["verifier"] == {"timeout_sec": 5100.0, "env": {"KEY": "${KEY:-}"}}
    assert (found["agent"], found["steps"]) == ({"timeout_sec": 3600.0}, [{"name": "answer"}])


def test_a_dockerfile_without_stages_or_users_gets_the_argument_once():
    text = with_staffbench("FROM a\nRUN b", Install("x==1"))
    assert text.startswith("FROM a\nRUN b\n\n# Added by")
    assert text.count('ARG STAFFBENCH="x==1"') == 1
    assert "USER" not in text
    assert with_staffbench(text, Install("x==2")) == text.replace("x==1", "x==2")
