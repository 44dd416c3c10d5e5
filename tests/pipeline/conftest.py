"""One Prefect server for all tests of this folder, and a small project for each."""

import os

import pytest

from flows.pipeline.orchestration.server import Server, configure
from tests.support.bench import Project, answer
from tests.support.scripted_server import ScriptedServer


@pytest.fixture(scope="session")
def prefect_environment(tmp_path_factory):
    """One Prefect server for the whole session: starting it takes ten seconds."""
    folder = tmp_path_factory.mktemp("prefect")
    before = dict(os.environ)
    os.environ.pop("PREFECT_API_URL", None)
    os.environ["PREFECT_HOME"] = str(folder)
    configure(folder, folder)
    os.environ.pop("PREFECT_LOCAL_STORAGE_PATH", None)
    server = Server(folder / "server.log")
    server.start()
    try:
        server.wait()
        yield {**os.environ}
    finally:
        server.stop()
        os.environ.clear()
        os.environ.update(before)


@pytest.fixture
def bench(tmp_path, project, prefect_environment):
    return Project(tmp_path, project / "conf", prefect_environment)


@pytest.fixture
def endpoint():
    with ScriptedServer(answer) as server:
        yield server


@pytest.fixture
def prefect_home(tmp_path, monkeypatch):
    """A folder for a server of this test's own, and nothing set that would name another."""
    home = tmp_path / "home"
    monkeypatch.setenv("PREFECT_HOME", str(home))
    monkeypatch.setenv("PREFECT_API_URL", "")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "")
    return home
