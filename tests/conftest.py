"""What holds for every test: the project's folder, and no network but loopback."""

import errno
from pathlib import Path

import pytest
from pytest_socket import socket_allow_hosts

LOOPBACK = ["127.0.0.1", "::1"]


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup():
    # pytest-socket lifts it again when the test is over. Event loops need their unix socket pairs.
    socket_allow_hosts(LOOPBACK, allow_unix_socket=True)


@pytest.fixture(scope="session")
def project():
    """The project's folder."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def no_width(monkeypatch):
    """No width from outside, so that tables are shown whole."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def full_disk(monkeypatch):
    """A disk that takes five bytes of every file and no more."""
    whole = Path.write_bytes

    def full(self, content):
        whole(self, content[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
