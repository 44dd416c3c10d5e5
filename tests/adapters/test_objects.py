"""A damaged, swapped or missing object is never taken for the answer."""

import pytest

from flows.adapters.objects import ObjectStore
from flows.common.errors import StoreError


@pytest.fixture
def store(tmp_path):
    return ObjectStore(tmp_path / "objects")


def path_of(tmp_path, address):
    return tmp_path / "objects" / address[:2] / address


def test_what_was_stored_comes_back(store):
    address = store.put("judge", "k", {"a": [1, None, "ü\u202e"]})
    assert store.get("judge", "k", address) == {"a": [1, None, "ü\u202e"]}
    assert store.put("judge", "k", {"a": [1, None, "ü\u202e"]}) == address


@pytest.mark.parametrize("damage", [b"", b"x", None])
def test_a_damaged_object_is_gone_and_is_written_again(store, tmp_path, damage):
    address = store.put("judge", "k", 1)
    path = path_of(tmp_path, address)
    path.write_bytes(path.read_bytes()[:-3] if damage is None else damage)
    assert store.get("judge", "k", address) is None
    assert store.put("judge", "k", 1) == address
    assert store.get("judge", "k", address) == 1


def test_an_object_of_another_stage_or_key_is_not_the_answer(store):
    address = store.put("judge", "k", 1)
    assert store.get("score", "k", address) is None
    assert store.get("judge", "other", address) is None


@pytest.mark.parametrize("address", ["", "../../etc/passwd", None, 3, "0" * 64])
def test_an_address_that_is_none_leads_nowhere(store, address):
    assert store.get("judge", "k", address) is None


def test_swapped_files_are_noticed(store, tmp_path):
    one, two = store.put("judge", "k", 1), store.put("judge", "k", 2)
    path_of(tmp_path, one).write_bytes(path_of(tmp_path, two).read_bytes())
    assert store.get("judge", "k", one) is None


def test_what_is_remembered_is_found_by_its_key(store, tmp_path):
    assert store.recall("agreement", "k") is None
    store.remember("agreement", "k", [1])
    assert store.recall("agreement", "k") == [1]
    (tmp_path / "objects" / "agreement" / "k").write_bytes(b"\xff\xfe")
    assert store.recall("agreement", "k") is None


def test_a_value_that_is_no_json_is_refused(store):
    with pytest.raises(ValueError, match="JSON compliant"):
        store.put("score", "k", float("nan"))


def test_a_folder_that_can_not_be_written_is_said_to_be_one(tmp_path):
    (tmp_path / "objects").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="can't be written"):
        ObjectStore(tmp_path / "objects").put("score", "k", 1)


@pytest.mark.usefixtures("full_disk")
def test_on_a_full_disk_no_half_object_stays(store, tmp_path):
    with pytest.raises(StoreError, match="No space left"):
        store.remember("score", "k", 1)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
