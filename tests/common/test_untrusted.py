import errno
import os

import pytest

from flows.common.untrusted import PathRefused, first_link, inside, is_file, open_inside, plain_name


@pytest.mark.parametrize(
    ("name", "base", "path"),
    [
        ("a/b", "", "a/b"),
        ("./a//b", "", "a/b"),
        ("../a", "b", "a"),
        ("../a", "", None),
        ("a/../../b", "", None),
        ("/a", "", None),
        ("C:a", "", None),
        ("a\\b", "", None),
        ("a\0b", "", None),
        ("a\u202eb", "", None),
        ("", "", None),
        (".", "", None),
    ],
)
def test_a_path_is_kept_inside_its_root(name, base, path):
    assert inside(name, base) == path


def test_a_plain_name_is_one_component():
    assert plain_name("a b.txt")
    assert not any(map(plain_name, ["", " ", ".", "..", "a/b", "a/", "a\\b", "a\n"]))


def test_only_regular_files_inside_are_opened(tmp_path):
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    (root / "folder" / "file").write_bytes(b"x")
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "linked").symlink_to(root / "folder")
    os.mkfifo(root / "pipe")
    with os.fdopen(open_inside(root, "folder/file"), "rb") as file:
        assert file.read() == b"x"
    for name in ("../secret", "link", "folder", "pipe", "/etc/hostname"):
        with pytest.raises(PathRefused):
            open_inside(root, name)
    with pytest.raises(OSError, match="symbolic links") as caught:
        open_inside(root, "linked/file")
    assert caught.value.errno == errno.ELOOP
    with pytest.raises(FileNotFoundError):
        open_inside(root, "gone")
    assert is_file(root, "folder/file")
    assert not is_file(root, "linked/file")
    assert first_link(root, "linked/file") == root / "linked"


def test_names_are_compared_by_their_bytes(tmp_path):
    (tmp_path / "e\u0301").mkdir()
    (tmp_path / "e\u0301" / "x").write_bytes(b"x")
    with pytest.raises(FileNotFoundError):
        open_inside(tmp_path, "\u00e9/x")
