"""The tools of an attempt, where LibreOffice finds one page."""

import pytest

from flows.adapters.pages import Rendered
from flows.pipeline.native import renders
from tests.pipeline.native.helpers import FILES
from tests.pipeline.native.tools_support import Kit


@pytest.fixture
def kit(tmp_path, office):
    made = []

    def make(files=FILES, **given):
        made.append(Kit(tmp_path, files, **given))
        return made[-1]

    yield make
    for each in made:
        each.folder.__exit__()


@pytest.fixture
def office(monkeypatch):
    """LibreOffice finds one page, whatever it is given."""
    found = Rendered(1, (), None, "LibreOffice 7")
    monkeypatch.setattr(renders, "render", lambda path, *, images=0: found)
