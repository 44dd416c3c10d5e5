"""A record is taken as our own tasks write it, or not at all: nothing in it is unpickled or imported."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flows.common.errors import StoreError
from flows.pipeline.orchestration.records import RecordFolder

ADDRESS = "d2" * 32
SERIALIZER = {
    "type": "json",
    "jsonlib": "json",
    "object_encoder": "prefect.serializers.prefect_json_object_encoder",
    "object_decoder": "prefect.serializers.prefect_json_object_decoder",
    "dumps_kwargs": {},
    "loads_kwargs": {},
}


def record(result=f'"{ADDRESS}"', expiration=None, **serializer):
    metadata = {
        "storage_key": "/results/.cache/prefect/k",
        "expiration": expiration,
        "serializer": {**SERIALIZER, **serializer},
        "prefect_version": "3.9.1",
        "storage_block_id": None,
    }
    return json.dumps({"metadata": metadata, "result": result}).encode()


@pytest.fixture
def folder(tmp_path):
    return RecordFolder(basepath=str(tmp_path))


def read(folder, content):
    """What we read, and whether Prefect is given anything to read."""
    (Path(folder.basepath) / "k").write_bytes(content)
    result = folder.result("k")
    try:
        given_on = [asyncio.run(folder.aread_path("k")), folder.read_path("k")]
    except ValueError:
        given_on = []
    assert bool(given_on) == (result is not None)
    for each in given_on:
        assert json.loads(each)["metadata"]["serializer"] == SERIALIZER
    return result


def test_a_record_of_ours_is_read(folder):
    assert read(folder, record()) == ADDRESS


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'"x"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"metadata":null,"result":1}',
        b'{"data":"gASVAAAA","serializer":{"type":"pickle"}}',
        record(type="pickle"),
        record(type="compressed/json"),
        record(type="nonsense"),
        record(type=None),
        record(jsonlib="os"),
        record(object_decoder="os.system"),
        record(loads_kwargs={"parse_int": "os.system"}),
        record(more=1),
        record(result="12"),
        record(result="null"),
        record(result="@@@"),
        record(result=None),
        record(result=[ADDRESS]),
        record(expiration="2001-01-01T00:00:00Z"),
        record()[:-1],
    ],
)
def test_any_other_record_is_none(folder, content):
    assert read(folder, content) is None


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, len(record()) - 1), st.integers(0, 255)), min_size=1, max_size=4))
def test_flipped_bytes_are_never_more_than_another_text(folder, flips):
    content = bytearray(record())
    for place, value in flips:
        content[place] = value
    result = read(folder, bytes(content))
    assert result is None or isinstance(result, str)


def test_a_record_that_is_not_there_is_none(folder):
    assert folder.result("gone") is None
    with pytest.raises(ValueError, match="no record"):
        asyncio.run(folder.aread_path("gone"))


@pytest.mark.usefixtures("full_disk")
def test_on_a_full_disk_no_half_record_stays(folder, tmp_path):
    with pytest.raises(StoreError, match="No space left"):
        asyncio.run(folder.awrite_path("k", record()))
    assert list(tmp_path.iterdir()) == []
