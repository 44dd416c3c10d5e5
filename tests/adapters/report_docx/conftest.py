"""Small Word files made in the test, and what a saved document holds."""

import importlib.util
import io
import zipfile
from pathlib import Path

import pytest
from lxml import etree

from flows.adapters.report_docx import ReportDocument

FIXTURES = Path(__file__).parents[2] / "fixtures" / "documents"
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
W14 = "http://schemas.microsoft.com/office/word/2010/wordml"


@pytest.fixture(scope="session")
def build():
    """The builder of the marked Word file, to make others with."""
    spec = importlib.util.spec_from_file_location("build_marked", FIXTURES / "build_marked.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def packed(build):
    """Bytes of a Word file with this body; parts may be replaced by name."""

    def pack(body, **parts):
        content = build.word_parts(body)
        content.update(
            {name.replace("__", "/").replace("_xml", ".xml"): text for name, text in parts.items()}
        )
        buffer = io.BytesIO()
        build.zipped(buffer, content)
        return buffer.getvalue()

    return pack


@pytest.fixture
def word(packed):
    """An opened Word file with this body."""
    return lambda body, **parts: ReportDocument.open(packed(body, **parts))


@pytest.fixture
def control():
    """A content control: its properties, and its content."""

    def make(properties, content, title="Unit"):
        named = f'<w:alias w:val="{title}"/><w:tag w:val="{title.lower()}"/>' if title else ""
        return f"<w:sdt><w:sdtPr>{named}{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"

    return make


class Saved:
    """What a document holds once it is written."""

    def __init__(self, document):
        with zipfile.ZipFile(io.BytesIO(document.to_bytes())) as package:
            self.parts = {name: package.read(name) for name in package.namelist()}
        self.root = etree.fromstring(self.parts["word/document.xml"])

    def all(self, name):
        return list(self.root.iter(W + name))

    def texts(self, name="t"):
        return [each.text for each in self.all(name)]

    def paragraphs(self):
        """Text, style and look of each paragraph: the names of the run properties of each run."""
        found = []
        for paragraph in self.all("p"):
            style = paragraph.find(f"{W}pPr/{W}pStyle")
            runs = [
                (
                    "".join(text.text for text in run.iter(W + "t")),
                    [each.tag.removeprefix(W) for each in run.findall(f"{W}rPr/*")],
                )
                for run in paragraph.iter(W + "r")
            ]
            found.append(("" if style is None else style.get(W + "val"), runs))
        return found

    def xml(self, name):
        return etree.fromstring(self.parts[name])


@pytest.fixture
def saved():
    """The saved form of a document."""
    return Saved


@pytest.fixture
def told():
    """Places of a document in short: id, kind, text."""
    return lambda document: [(each.place_id, each.kind, each.text) for each in document.places()]


@pytest.fixture
def place():
    """One place of a document."""
    return lambda document, place_id: next(each for each in document.places() if each.place_id == place_id)
