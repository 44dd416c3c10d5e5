"""What was measured once is what everybody is told, whatever this machine would measure now."""

import asyncio
import io
import json

import pytest
from PIL import Image

from flows.adapters.pages import Rendered, find_converter
from flows.adapters.pages.draw import Drawn, draw_page
from flows.adapters.shared_store import open_blobs
from flows.common.blobs import Mirror
from flows.common.errors import StoreError
from flows.pipeline.native import renders
from flows.pipeline.native.renders import Layout, Renders
from flows.schema.store_address import StoreAddress
from tests.pipeline.native.helpers import a_docx, a_pdf

PDF = a_pdf("one", "two", "three")


@pytest.fixture
def office(monkeypatch):
    """In the place of LibreOffice; counts how often it is asked, and says what it is told to."""

    class Office:
        found = Rendered(2, (b"first", b"second"), None, "LibreOffice 7")
        asked = 0

        def render(self, path, *, images=0):
            self.asked += 1
            assert path.suffix == ".docx"
            found = self.found
            return Rendered(found.pages, found.images[:images], found.fonts, found.renderer, found.reason)

    made = Office()
    monkeypatch.setattr(renders, "render", made.render)
    monkeypatch.setattr(renders, "find_converter", lambda: "soffice")
    return made


def layout(folder, *args, **kwargs):
    return asyncio.run(Renders(folder).layout(*args, **kwargs))


def page(folder, *args, **kwargs):
    return asyncio.run(Renders(folder).page(*args, **kwargs))


def test_a_document_is_laid_out_once(tmp_path, office):
    first = layout(tmp_path, b"document", ".docx")
    office.found = Rendered(3, (), None, "LibreOffice 8")
    assert layout(tmp_path, b"document", ".DOCX") == first
    assert first == Layout(2, (), "2 pages (LibreOffice 7; None)")
    assert office.asked == 1
    assert layout(tmp_path, b"another document", ".docx").pages == 3


def test_its_pages_are_drawn_once(tmp_path, office):
    assert layout(tmp_path, b"document", ".docx", images=True).images == (b"first", b"second")
    office.found = Rendered(2, (b"other", b"pictures"), None, "LibreOffice 8")
    assert page(tmp_path, b"document", ".docx", 2).images == (b"second",)
    assert page(tmp_path, b"document", ".docx", 3) == Layout(2, (), "2 pages (LibreOffice 7; None)")
    assert page(tmp_path, b"document", ".docx", 0).images == ()
    assert office.asked == 1


def test_what_could_not_be_measured_stays_so_for_the_call_that_was_told(tmp_path, office, monkeypatch):
    sound, office.found = office.found, Rendered(None, reason="/home/somebody: no such file")
    told = layout(tmp_path, b"document", ".docx", caller="key 1")
    office.found = sound
    assert told == Layout(None, (), "pages are not measured: the document could not be laid out")
    assert layout(tmp_path, b"document", ".docx", caller="key 1") == told
    assert layout(tmp_path, b"document", ".docx", caller="key 2").pages == 2
    assert layout(tmp_path, b"document", ".docx", caller="key 1") == told


def test_without_libreoffice_the_answer_names_no_folder_of_the_machine(tmp_path, office, monkeypatch):
    monkeypatch.setattr(renders, "find_converter", lambda: None)
    office.found = Rendered(None, reason="no soffice in /usr/bin")
    assert layout(tmp_path, b"d", ".docx").said == "pages are not measured here: LibreOffice is not installed"
    assert list(tmp_path.rglob("*")) == []  # nobody who must be told the same again


def test_a_damaged_store_is_mended(tmp_path, office):
    layout(tmp_path, b"document", ".docx", images=True)
    for path in tmp_path.rglob("*.*"):
        path.write_bytes(b"{")
    assert layout(tmp_path, b"document", ".docx", images=True).images == (b"first", b"second")
    office.found = Rendered(2, (b"other", b"second"), None, "LibreOffice 7")
    assert layout(tmp_path, b"document", ".docx", images=True).images == (b"first", b"second")
    assert office.asked == 2


def test_a_record_whose_picture_is_lost_is_made_anew(tmp_path, office):
    layout(tmp_path, b"document", ".docx", images=True)
    next(iter(tmp_path.rglob("*.png"))).unlink()
    office.found = Rendered(2, (b"other", b"pictures"), None, "LibreOffice 8")
    assert layout(tmp_path, b"document", ".docx", images=True).images == (b"other", b"pictures")
    assert layout(tmp_path, b"document", ".docx", images=True).images == (b"other", b"pictures")


def test_several_askers_at_once_wait_for_one_conversion(tmp_path, office):
    async def go():
        kept = Renders(tmp_path)
        return await asyncio.gather(*(kept.layout(b"document", ".docx") for _ in range(8)))

    assert {found.pages for found in asyncio.run(go())} == {2}
    assert office.asked == 1


def test_of_two_processes_the_quicker_one_counts(tmp_path, office, monkeypatch):
    slower = Rendered(5, (), None, "LibreOffice 8")

    def render(path, *, images=0):
        layout_by_another = office.render(path)
        monkeypatch.setattr(renders, "render", lambda *_, **__: layout_by_another)
        layout(tmp_path, b"document", ".docx")
        return slower

    monkeypatch.setattr(renders, "render", render)
    assert layout(tmp_path, b"document", ".docx").pages == 2


def test_a_folder_that_cannot_be_written_ends_the_run(tmp_path, office):
    (tmp_path / "renders").write_text("a file")
    with pytest.raises(StoreError, match="can't be written"):
        layout(tmp_path / "renders", b"document", ".docx")


def test_a_page_of_a_pdf_is_drawn_alone(tmp_path):
    found = page(tmp_path, PDF, ".pdf", 2)
    assert (found.pages, found.said) == (3, "3 pages (PDFium)")
    with Image.open(io.BytesIO(found.images[0])) as picture:
        assert picture.size == (827, 1170)  # A4 at 100 dots per inch, rounded up
    assert page(tmp_path, PDF, ".pdf", 2) == found
    assert page(tmp_path, PDF, ".pdf", 4) == Layout(3, (), "3 pages (PDFium)")
    assert [json.loads(path.read_text())["pages"] for path in tmp_path.rglob("*.json")] == [3, 3]


def test_no_pdf(tmp_path):
    assert draw_page(b"%PDF-1.4 nothing", 1) == Drawn(None, None)
    assert page(tmp_path, b"%PDF-1.4 nothing", ".pdf", 1, caller="k") == Layout(
        None, (), "the page can't be drawn"
    )


@pytest.mark.skipif(find_converter() is None, reason="LibreOffice is not installed")
def test_libreoffice_itself(tmp_path):
    found = layout(tmp_path, a_docx("One page."), ".docx", images=True)
    assert found.pages == 1
    assert found.said.startswith("1 page (LibreOffice ")
    assert found.images[0].startswith(b"\x89PNG")


def test_of_two_machines_the_first_layout_counts(tmp_path, monkeypatch):
    """A page count is part of later requests: another machine must not send its own."""
    blobs = open_blobs(StoreAddress.of(f"file://{tmp_path}/shared"))
    laid = iter([(2, (b"one",), "2 pages"), (3, (b"two",), "3 pages")])
    monkeypatch.setattr(renders, "_laid", lambda *_: next(laid))

    def here(name):
        return Renders(tmp_path / name, mirror=Mirror(tmp_path / name, blobs, "files/x/renders/"))

    first = asyncio.run(here("one").layout(b"data", ".docx", images=True))
    assert asyncio.run(here("two").layout(b"data", ".docx", images=True)) == first
    other = Renders(tmp_path / "three")
    assert asyncio.run(other.layout(b"data", ".docx", images=True)).pages == 3
    # A machine that had its own before takes the first one too.
    assert asyncio.run(here("three").layout(b"data", ".docx", images=True)) == first
