"""Bad files give one clear error each, and nothing of them is passed on."""

import io
import time
import zipfile
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flows.readers
from flows.common.errors import ReadError
from flows.readers import SUFFIXES, read_document
from flows.readers.read import read_bytes
from flows.schema.document import Document


def refused(path, *words):
    with pytest.raises(ReadError) as caught:
        read_document(path)
    error = caught.value
    assert error.where.startswith(str(path))
    for word in words:
        assert word in str(error)
    return error


def test_one_message_for_each_kind_of_name(tmp_path):
    refused(tmp_path / "missing.docx", "can't be opened")
    refused(tmp_path / "old.doc", "old binary format .doc", "save it as .docx")
    refused(tmp_path / "slides.pptx", "'.pptx'", "convert the file or leave it out".capitalize())
    refused(tmp_path / "noname", "without a suffix")
    (tmp_path / "folder.pdf").mkdir()
    refused(tmp_path / "folder.pdf", "not a file")


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
def test_empty_file(tmp_path, suffix):
    path = tmp_path / f"empty{suffix}"
    path.write_bytes(b"")
    refused(path, "the file is empty")


def test_committed_bad_files(fixture_path):
    refused(fixture_path("empty.pdf"), "the file is empty")
    refused(fixture_path("password.pdf"), "protected with a password")
    refused(fixture_path("password_protected.xlsx"), "protected with a password", "save it as .xlsx")


@pytest.mark.parametrize("source", ["marked.docx", "marked.xlsx", "marked.pdf"])
@pytest.mark.parametrize("share", [0.3, 0.9, 0.99])
def test_truncated_file(fixture_path, tmp_path, source, share):
    data = fixture_path(source).read_bytes()
    path = tmp_path / source
    path.write_bytes(data[: int(len(data) * share)])
    refused(path, "cut short")


@pytest.mark.parametrize(
    ("source", "name", "words"),
    [
        ("marked.pdf", "a.docx", "a PDF file, named .docx"),
        ("marked.docx", "a.pdf", "a zip package"),
        ("marked.docx", "a.xlsx", "an Office file of another kind"),
        ("marked.xlsx", "a.docx", "an Office file of another kind"),
        ("marked.docx", "a.txt", "a zip package"),
        ("README.md", "a.docx", "no Office file inside"),
        ("README.md", "a.pdf", "no PDF file inside"),
        ("password_protected.xlsx", "a.md", "an old Office file"),
    ],
)
def test_wrong_extension(fixture_path, tmp_path, source, name, words):
    path = tmp_path / name
    path.write_bytes(fixture_path(source).read_bytes())
    refused(path, words)


def test_old_word_file_under_a_new_name(tmp_path):
    path = tmp_path / "a.docx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    refused(path, "Office 97 to 2003", "save it as .docx")


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\x89\x00\x01\x02" * 50)
    refused(path, "no text")


ENTITY = (
    '<?xml version="1.0"?><!DOCTYPE w [{}]><w:document {}><w:body>'
    "<w:p><w:r><w:t>&e;</w:t></w:r></w:p></w:body>"
    "</w:document>"
)
LAUGHS = "<!ENTITY a 'lol'>" + "".join(
    f"<!ENTITY {outer} '{f'&{inner};' * 10}'>" for inner, outer in zip("abcdefgh", "bcdefghe", strict=True)
)


@pytest.mark.parametrize("declared", ['<!ENTITY e SYSTEM "file:///etc/hostname">', LAUGHS])
def test_entities_in_a_package(build, tmp_path, declared):
    parts = build.word_parts()
    parts["word/document.xml"] = ENTITY.format(declared, build.W)
    path = tmp_path / "a.docx"
    build.zipped(path, parts)
    start = time.perf_counter()
    refused(path, "declares a document type")
    assert time.perf_counter() - start < 60


def test_entities_in_a_sheet(fixture_path, tmp_path):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(fixture_path("stanley-cups.xlsx")) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                data = data.replace(b"<worksheet", b"<!DOCTYPE w [<!ENTITY e 'x'>]><worksheet", 1)
            new.writestr(name, data)
    refused(path, "declares a document type")


def test_zip_bomb(build, tmp_path):
    parts = build.word_parts()
    parts["word/document.xml"] = "<a>" + " " * 60_000_000 + "</a>"
    path = tmp_path / "a.docx"
    build.zipped(path, parts)
    assert path.stat().st_size < 100_000
    refused(path, "zip bomb")


def test_bomb_in_a_pdf(tmp_path):
    packed = zlib.compress(bytes(600 * 1024 * 1024), 1)
    path = tmp_path / "a.pdf"
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Filter/FlateDecode>>stream\n" + packed + b"\nendstream endobj\n%%EOF"
    )
    refused(path, "decompression bomb")


@pytest.mark.parametrize("name", ["../../etc/x.xml", "word/../../x.xml", "C:\\x.xml"])
def test_path_out_of_a_package(build, tmp_path, name):
    path = tmp_path / "a.docx"
    build.zipped(path, {**build.word_parts(), name: "<a/>"})
    refused(path, "leads out of it")


def test_relationship_out_of_a_package(build, tmp_path):
    parts = build.word_parts()
    parts["word/_rels/document.xml.rels"] = parts["word/_rels/document.xml.rels"].replace(
        "styles.xml", "../../../etc/passwd"
    )
    path = tmp_path / "a.docx"
    build.zipped(path, parts)
    refused(path, "leads out of the package")


@pytest.mark.parametrize("name", ["word/vbaProject.bin", "word/VBAPROJECT.BIN"])
def test_macro_under_a_name_that_may_have_none(build, tmp_path, name):
    path = tmp_path / "a.docx"
    build.zipped(path, {**build.word_parts(), name: "code"})
    refused(path, "macro", "name it .docm")


def test_missing_part_and_broken_xml(build, tmp_path):
    parts = build.word_parts()
    parts["word/document.xml"] = parts["word/document.xml"][:-30]
    path = tmp_path / "a.docx"
    build.zipped(path, parts)
    refused(path, "not well-formed")
    del parts["word/document.xml"]
    build.zipped(path, parts)
    refused(path, "'word/document.xml' is missing")


@pytest.mark.parametrize("depth", [60, 5000])
def test_nesting_without_end(build, tmp_path, depth):
    inside = "<w:tbl><w:tr><w:tc>" * depth + build.para(build.run("x")) + "</w:tc></w:tr></w:tbl>" * depth
    path = tmp_path / "a.docx"
    build.zipped(path, build.word_parts(inside))
    if depth == 60:
        assert read_document(path).text.count("[Table inside ") == 59
    else:
        refused(path)


def test_span_that_claims_millions_of_columns(build, tmp_path):
    path = tmp_path / "a.docx"
    build.zipped(
        path, build.word_parts(build.table(build.row(build.cell("x", '<w:gridSpan w:val="9999999"/>'))))
    )
    assert read_document(path).blocks[0].text.startswith("| x [spans 63 columns] |")


def test_pages_that_the_file_counts_but_does_not_hold(fixture_path, tmp_path):
    data = fixture_path("marked.pdf").read_bytes()
    assert data.count(b"/Count 5") == 1
    path = tmp_path / "a.pdf"
    path.write_bytes(data.replace(b"/Count 5", b"/Count 7"))
    refused(path, "5 of 7 pages")


def test_an_attachment_that_cannot_be_read_fails_the_mail(tmp_path, fixture_path):
    from email.message import EmailMessage

    message = EmailMessage()
    message["From"] = "a@example.org"
    message.set_content("Words.")
    message.add_attachment(
        fixture_path("password.pdf").read_bytes(), maintype="application", subtype="pdf", filename="p.pdf"
    )
    path = tmp_path / "a.eml"
    path.write_bytes(message.as_bytes())
    refused(path, "a.eml!p.pdf", "password")


def attempt(data, path):
    """The document, or the error that says why there is none; anything else is a fault of the reader."""
    try:
        return read_bytes(data, path, SUFFIXES[path.suffix])
    except ReadError as error:
        return error


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
@pytest.mark.parametrize("name", ["docx_lists.docx", "stanley-cups.xlsx", "fake-memo.pdf"])
def test_damaged_bytes_give_a_document_or_an_error(fixture_path, name, data):
    path = fixture_path(name)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    result = attempt(bytes(content), path)
    assert result.blocks if isinstance(result, Document) else path.name in result.where


def test_damaged_xml_inside_a_package_gives_a_document_or_an_error(build, fixture_path):
    path = fixture_path("marked.docx")
    parts = build.word_parts()
    names = [name for name in parts if name.endswith(".xml")]

    @settings(max_examples=50, deadline=None)
    @given(
        st.sampled_from(names),
        st.integers(0, 10**6),
        st.sampled_from(["", "0", "-1", "x", "99999999999", "<w:p/>"]),
    )
    def run(name, at, text):
        source = parts[name]
        at %= len(source)
        target = io.BytesIO()
        build.zipped(target, {**parts, name: source[:at] + text + source[at + 1 :]})
        result = attempt(target.getvalue(), path)
        assert result.blocks if isinstance(result, Document) else "marked.docx" in result.where

    run()


def test_equal_bytes_give_an_equal_document(fixture_path):
    for name in ("marked.docx", "marked.pdf", "marked.xlsx"):
        assert read_document(fixture_path(name)) == read_document(fixture_path(name))


def test_public_names():
    assert set(flows.readers.READER_VERSIONS) == {"docx", "pdf", "xlsx", "csv", "md", "txt", "eml"}
    assert set(SUFFIXES.values()) == set(flows.readers.READER_VERSIONS)
