"""Stores to try: a folder's, and shared ones in S3, by moto's server, and in a folder."""

import pytest

from flows.adapters.completions.stores.folder import CompletionStore
from tests.support.s3 import s3_server


@pytest.fixture(scope="module")
def server():
    with s3_server() as s3:
        yield s3


@pytest.fixture
def s3(server, monkeypatch):
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    server.requests.clear()
    yield server
    server.fault = lambda _method, _path: None


@pytest.fixture(params=["folder", "s3"])
def address(request, tmp_path):
    """The address of an empty store."""
    if request.param == "folder":
        return f"file://{tmp_path}/shared"
    return request.getfixturevalue("s3").bucket()


@pytest.fixture
def store(tmp_path):
    opened = CompletionStore(tmp_path / "completions")
    yield opened
    opened.close()
