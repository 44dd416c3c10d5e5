"""LibreOffice is slow to start, so that each test converts as little as it can."""

import http.server
import io
import os
import shutil
import stat
import subprocess
import threading
import time
import zipfile

import docx
import pytest
from docx.enum.text import WD_BREAK
from PIL import Image

from flows.adapters.pages import Fonts, find_converter, render
from flows.adapters.pages.fonts import named_fonts
from tests.support.rendered import render_all

needs_office = pytest.mark.skipif(find_converter() is None, reason="LibreOffice is not installed")


def has_font(name):
    listed = shutil.which("fc-list")
    if listed is None:
        return False
    return name in subprocess.run([listed, ":", "family"], capture_output=True, text=True, check=True).stdout


def write(path, pages=1, font="Liberation Sans"):
    """A file of so many pages, each with one line."""
    document = docx.Document()
    document.styles["Normal"].font.name = font
    for number in range(1, pages + 1):
        run = document.add_paragraph().add_run(f"Page {number}")
        if number < pages:
            run.add_break(WD_BREAK.PAGE)
    document.save(path)
    return path


def rewrite(path, change):
    with zipfile.ZipFile(path) as source:
        parts = {name: change(name, source.read(name)) for name in source.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in parts.items():
            target.writestr(name, data)
    return path


@needs_office
@pytest.mark.skipif(not has_font("Liberation Sans"), reason="the font Liberation Sans is not installed")
def test_pages_images_and_fonts_of_one_file(tmp_path):
    found = render(write(tmp_path / "report.docx", pages=3), images=2)
    assert (found.pages, found.reason) == (3, "")
    assert found.renderer.startswith("LibreOffice ")
    sizes = [Image.open(io.BytesIO(data)).size for data in found.images]
    assert sizes == [(850, 1100), (850, 1100)]  # 8.5 x 11 inches at 100 dots
    assert found.fonts == Fonts(("Liberation Sans",), ("LiberationSans",), ())
    assert str(found) == f"3 pages ({found.renderer}; fonts drawn: LiberationSans)"


@needs_office
def test_a_font_that_is_not_installed_is_named(tmp_path):
    found = render(write(tmp_path / "report.docx", font="No Such Grotesk"))
    assert found.pages == 1
    assert found.images == ()
    assert found.fonts.named == found.fonts.replaced == ("No Such Grotesk",)
    assert "not installed and replaced: No Such Grotesk" in str(found)


@needs_office
def test_parallel_conversions_lose_no_document_and_keep_their_order(tmp_path):
    paths = [write(tmp_path / f"{number}.docx", pages=number) for number in (3, 1, 2, 4)]
    assert [each.pages for each in render_all(paths, workers=4)] == [3, 1, 2, 4]


@needs_office
def test_tracked_deletions_take_no_room(tmp_path):
    gone = b"".join(
        b'<w:p><w:pPr><w:rPr><w:del w:id="%d" w:author="x"/></w:rPr></w:pPr>'
        b'<w:del w:id="9%d" w:author="x"><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>' % (n, n)
        for n in range(120)
    )
    path = rewrite(
        write(tmp_path / "report.docx"),
        lambda name, data: (
            data.replace(b"<w:sectPr", gone + b"<w:sectPr", 1) if name == "word/document.xml" else data
        ),
    )
    assert render(path).pages == 1


@needs_office
def test_no_address_that_a_file_names_is_asked(tmp_path):
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def do_OPTIONS(self):  # LibreOffice asks by this method first
            self.do_GET()

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_port}/x.png".encode()
        Image.new("RGB", (4, 4)).save(tmp_path / "i.png")
        document = docx.Document()
        document.add_picture(str(tmp_path / "i.png"))
        document.save(tmp_path / "report.docx")

        def link(name, data):
            if name == "word/_rels/document.xml.rels":
                return data.replace(
                    b'Target="media/image1.png"', b'Target="%s" TargetMode="External"' % address
                )
            return data.replace(b"r:embed=", b"r:link=") if name == "word/document.xml" else data

        assert render(rewrite(tmp_path / "report.docx", link)).pages == 1
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert asked == []


@needs_office
def test_a_damaged_file_is_not_measured(tmp_path):
    path = tmp_path / "report.docx"
    path.write_bytes(b"PK nonsense")
    found = render(path)
    assert found.pages is None
    assert found.reason.startswith("it can't be converted (BadZipFile")


def fake(tmp_path, script):
    """A program in the place of LibreOffice."""
    path = tmp_path / "soffice"
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_without_libreoffice_pages_are_not_measured(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("flows.adapters.pages.convert._NAMES", ("soffice",))
    found = render(write(tmp_path / "report.docx"))
    assert (found.pages, found.fonts) == (None, None)
    assert str(found) == "pages not measured: LibreOffice is not installed (no soffice on the path)"


def test_a_conversion_that_hangs_is_ended_with_its_children(tmp_path):
    script = f'[ "$2" = --version ] && exit 0\nsleep 600 & echo $! > {tmp_path}/child\nwait\n'
    begun = time.monotonic()
    found = render(write(tmp_path / "report.docx"), seconds=1, converter=fake(tmp_path, script))
    assert time.monotonic() - begun < 200
    assert (found.pages, found.reason) == (None, "LibreOffice took over 1 s")
    child = (tmp_path / "child").read_text().strip()
    state = subprocess.run(["ps", "-o", "stat=", "-p", child], capture_output=True, text=True, check=False)
    assert state.stdout.strip()[:1] in ("", "Z")  # gone, or ended and not yet waited for


def test_a_conversion_that_writes_nothing_is_not_measured(tmp_path):
    converter = fake(tmp_path, 'echo "source file could not be loaded"\n')
    found = render(write(tmp_path / "report.docx"), converter=converter)
    assert found.pages is None
    assert found.reason == "LibreOffice wrote no PDF (exit 0: source file could not be loaded)"


@pytest.mark.parametrize(
    ("crashes", "found"), [(1, "soffice wrote it"), (2, "LibreOffice wrote no PDF (exit 134: aborted)")]
)
def test_a_conversion_that_crashed_is_tried_once_more(tmp_path, crashes, found):
    """A reply that is no PDF says that the second try wrote it."""
    script = f"""
case "$*" in *--version*) exit;; esac
echo x >> {tmp_path}/tries
if [ "$(wc -l < {tmp_path}/tries)" -le {crashes} ]; then echo aborted; exit 134; fi
for last; do :; done
echo "no PDF" > "${{last%.*}}.pdf"
"""
    rendered = render(write(tmp_path / "report.docx"), converter=fake(tmp_path, script))
    said = found if crashes == 2 else "the PDF can't be opened"
    assert said in rendered.reason
    assert (tmp_path / "tries").read_text() == "x\n" * 2


def test_keys_and_the_home_folder_are_not_handed_on(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "planted")
    render(write(tmp_path / "report.docx"), converter=fake(tmp_path, f"env > {tmp_path}/env\n"))
    seen = (tmp_path / "env").read_text()
    assert "planted" not in seen
    assert f"HOME={os.environ.get('HOME')}\n" not in seen


def test_a_pdf_needs_no_libreoffice(project, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = render(project / "tests/fixtures/documents/multi-column-2p.pdf", images=5)
    assert (found.pages, len(found.images), found.renderer) == (2, 2, "PDFium")
    locked = render(project / "tests/fixtures/documents/password.pdf")
    assert locked.pages is None
    assert locked.reason.startswith("the PDF can't be opened")


def test_a_link_or_a_missing_file_is_no_file(tmp_path):
    (tmp_path / "link.docx").symlink_to(write(tmp_path / "report.docx"))
    assert render(tmp_path / "link.docx").reason == "link.docx is no file"
    assert render(tmp_path / "gone.docx").reason == "gone.docx is no file"


def test_fonts_follow_run_style_paragraph_and_theme(tmp_path):
    document = docx.Document()  # its text is set in the theme's minor font, its headings in the major one
    document.add_heading("12345678", level=1)  # 8 characters of Calibri
    document.add_paragraph("1234")  # 4 of Cambria
    document.add_paragraph().add_run("123456").font.name = "Georgia"  # 6 of Georgia
    document.save(tmp_path / "report.docx")
    assert named_fonts(tmp_path / "report.docx") == ("Calibri", "Georgia", "Cambria")
    (tmp_path / "x.docx").write_bytes(b"x")
    assert named_fonts(tmp_path / "x.docx") is None


def test_what_is_drawn_is_held_against_what_is_asked_for():
    fonts = Fonts.of(
        ("Arial", "Georgia", "Liberation Serif"),
        ["BAAAAA+LiberationSans-Bold", "LiberationSans", "CAAAAA+LiberationSerif-BoldItalic"],
    )
    assert fonts.replaced == ("Arial", "Georgia")
    assert str(fonts) == (
        "fonts drawn: LiberationSans, LiberationSans-Bold, LiberationSerif-BoldItalic; "
        "not installed and replaced: Arial (by Liberation Sans, of equal widths), Georgia"
    )
    assert Fonts.of(None, []).replaced is None
    assert str(Fonts.of(None, [])) == "fonts drawn: none; fonts asked for: not known"
