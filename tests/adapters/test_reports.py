"""Reports by content: kept whole, found again, and the same one stored twice at once."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from flows.adapters.reports import ReportStore
from flows.common.errors import StoreError


def test_a_report_is_found_by_the_hash_of_its_bytes(tmp_path):
    store = ReportStore(tmp_path / "files")
    name = store.put(b"a report")
    assert name == hashlib.sha256(b"a report").hexdigest()
    assert store.path(name).read_bytes() == b"a report"
    assert store.has(name)


def test_equal_reports_may_be_stored_at_the_same_moment(tmp_path):
    store = ReportStore(tmp_path / "files")
    with ThreadPoolExecutor(16) as pool:
        names = set(pool.map(store.put, [b"x" * 200_000] * 64))
    (name,) = names
    assert store.has(name)
    assert [path.name for path in (tmp_path / "files").iterdir()] == [f"{name}.docx"]


def test_a_damaged_report_is_not_there_and_is_stored_again(tmp_path):
    store = ReportStore(tmp_path / "files")
    name = store.put(b"a report")
    store.path(name).write_bytes(b"a rep")
    assert not store.has(name)
    assert store.put(b"a report") == name
    assert store.has(name)


def test_what_is_no_hash_leads_nowhere(tmp_path):
    with pytest.raises(ValueError, match="no sha256"):
        ReportStore(tmp_path).path("../../etc/passwd")


def test_a_folder_that_can_not_be_made_is_one_sentence(tmp_path):
    (tmp_path / "files").write_text("in the way")
    with pytest.raises(StoreError, match="can't be written"):
        ReportStore(tmp_path / "files").put(b"a report")
