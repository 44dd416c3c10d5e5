"""Files and stage values of a shared store: what one machine stores, another finds."""

from pathlib import Path

import pytest

from flows.adapters.completions.batches.ledger import Ledger
from flows.adapters.objects import ObjectStore
from flows.adapters.reports import ReportStore
from flows.adapters.shared_store import open_blobs
from flows.common.blobs import Mirror
from flows.schema.store_address import StoreAddress


@pytest.fixture
def blobs(tmp_path):
    return open_blobs(StoreAddress.of(f"file://{tmp_path}/shared"))


def test_a_stage_value_is_found_by_its_key_on_another_machine(blobs, tmp_path):
    one, two = ObjectStore(tmp_path / "one", blobs), ObjectStore(tmp_path / "two", blobs)
    address = one.put("judge", "k1", {"a": [1, None]})
    assert two.find("judge", "k1") == (address, {"a": [1, None]})
    assert ObjectStore(tmp_path / "three", blobs).get("judge", "k1", address) == {"a": [1, None]}
    assert two.find("judge", "k2") is None
    assert ObjectStore(tmp_path / "one").find("judge", "k1") is None
    newer = two.put("judge", "k1", {"a": []})
    assert one.find("judge", "k1") == (newer, {"a": []})
    assert one.get("judge", "k1", address) == {"a": [1, None]}  # what was used stays
    assert ObjectStore(tmp_path / "four", blobs).get("judge", "k1", address) is None


@pytest.mark.parametrize("damage", [b"", b"no zlib", None])
def test_a_damaged_stage_value_is_computed_again(blobs, tmp_path, damage):
    one = ObjectStore(tmp_path / "one", blobs)
    one.put("judge", "k1", 1)
    blobs.put("stages/judge/k2", blobs.get("stages/judge/k1") if damage is None else damage)
    assert ObjectStore(tmp_path / "two", blobs).find("judge", "k2") is None


def test_a_report_is_fetched_and_a_damaged_one_is_not_used(blobs, tmp_path):
    def store(name):
        folder = tmp_path / name
        return ReportStore(folder, Mirror(folder, blobs, "files/x/reports/files/"))

    name = store("one").put(b"a report")
    two = store("two")
    assert two.has(name)
    assert two.path(name).read_bytes() == b"a report"
    assert not two.has("0" * 64)
    blobs.put(f"files/x/reports/files/{name}.docx", b"cut")
    assert two.has(name)
    assert not store("three").has(name)


def test_a_batch_of_a_machine_that_is_gone_is_waited_for_by_another(blobs, tmp_path):
    def ledger(name):
        return Ledger(
            tmp_path / name, Mirror(tmp_path / name / "batches", blobs, "files/completions/batches/")
        )

    one = ledger("one")
    entry = one.intend(["1" * 64, "2" * 64], model="m", api_base=None, api_key_env=None)
    two = ledger("two")
    found = two.find("1" * 64)
    assert found is not None
    assert found.marker == entry.marker
    one.submitted(entry, "batch-1")
    assert two.reload(found).batch_id == "batch-1"
    two.mark_done(found, ["1" * 64])
    three = ledger("three")
    assert three.find("1" * 64) is None
    assert three.find("2" * 64) is not None
    assert Path(two.path(entry)).is_file()
