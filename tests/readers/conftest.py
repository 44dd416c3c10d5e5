"""Small documents made in the test, and the fixtures that are committed."""

import functools
import importlib.util
import io
from pathlib import Path

import pytest

from flows.readers import read_document
from tests.readers.drawn_support import HEIGHT, WIDTH
from tests.support.workbook import written

FIXTURES = Path(__file__).parents[1] / "fixtures" / "documents"


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, FIXTURES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def build():
    """The builder of the marked Word file, to make others with."""
    return loaded("build_marked")


@pytest.fixture(scope="session")
def build_pdf():
    """The builder of the marked PDF file: it has the words of its columns."""
    return loaded("build_marked_pdf")


@pytest.fixture(scope="session")
def fixture_path():
    return lambda name: FIXTURES / name


@pytest.fixture(scope="session")
def fixture(fixture_path):
    """Read a committed document, once a session."""
    known = {}

    def read(name):
        if name not in known:
            known[name] = read_document(fixture_path(name))
        return known[name]

    return read


@pytest.fixture
def word(build, tmp_path):
    """Read a Word file with this body; parts may be replaced or added."""

    def read(body="", name="test.docx", drop=(), **parts):
        content = build.word_parts(body)
        content.update({key.replace("__", "/").replace("_xml", ".xml"): text for key, text in parts.items()})
        for part in drop:
            del content[part]
        path = tmp_path / name
        build.zipped(path, content)
        return read_document(path)

    return read


@pytest.fixture
def excel(tmp_path):
    """Read a workbook with one sheet `S`; see `written`."""
    return functools.partial(written, tmp_path / "made.xlsx")


@pytest.fixture
def drawn(tmp_path):
    """Read a PDF file whose pages are drawn by these functions; lengths count from the top."""
    from reportlab.pdfgen.canvas import Canvas

    def read(*draws):
        target = io.BytesIO()
        canvas = Canvas(target, pagesize=(WIDTH, HEIGHT), bottomup=0, invariant=1)
        for draw in draws:
            canvas.setFont("Helvetica", 10)
            draw(canvas)
            canvas.showPage()
        canvas.save()
        path = tmp_path / "drawn.pdf"
        path.write_bytes(target.getvalue())
        return read_document(path)

    return read
