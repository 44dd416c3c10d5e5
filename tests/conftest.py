"""What holds for every test: the project's folder, and no network but loopback."""

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
