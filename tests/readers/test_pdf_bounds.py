"""PDF files that would never end, are nested or damaged; and that reading is the same each time."""

import base64
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flows.common.errors import ReadError
from flows.readers import read_document
from flows.readers.pdf import bounds
from flows.readers.read import read_bytes
from tests.readers.pdf_support import SEEN, line, made, pdf, stream, texts


def b85(data):
    return base64.a85encode(data) + b"~>"


def forms(depth, times):
    """Forms inside one another, each of which draws the next one several times."""
    for at in range(depth):
        body = b"/X Do " * times if at < depth - 1 else b"BT /F 12 Tf 50 700 Td (Deep) Tj ET"
        keys = "/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</Font<</F 5 0 R>>"
        keys += f"/XObject<</X {7 + at} 0 R>>>>"
        yield stream(body, keys.encode())


BIG = bytes(3_000_000)
BOMBS = {
    "forms": lambda: pdf(b"/X Do", resources="/XObject<</X 6 0 R>>", more=list(forms(12, 10))),
    "text": lambda: pdf(b"BT /F 1 Tf (" + b"a" * 2_000_000 + b") Tj ET"),
    "content": lambda: pdf(
        b"/X Do " * 2000,
        resources="/XObject<</X 6 0 R>>",
        more=[stream(b" " * 100_000, b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]")],
    ),
    "two layers": lambda: pdf(
        more=[stream(zlib.compress(zlib.compress(BIG)), b"/Filter[/FlateDecode/FlateDecode]")]
    ),
    "hex": lambda: pdf(
        more=[stream(zlib.compress(BIG).hex().encode(), b"/Filter[/ASCIIHexDecode/FlateDecode]")]
    ),
    "base 85": lambda: pdf(more=[stream(b85(zlib.compress(BIG)), b"/Filter[/ASCII85Decode/FlateDecode]")]),
    "runs": lambda: pdf(more=[stream(zlib.compress(b"\x81\0" * 30_000), b"/Filter[/Fl/RL]")]),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_would_never_end_is_refused_before_it_is_read(name, monkeypatch):
    monkeypatch.setattr(bounds, "MAX_UNPACKED", 2_500_000)
    with pytest.raises(ReadError, match="more than"):
        read_bytes(BOMBS[name](), Path("bomb.pdf"), "pdf")


def test_forms_that_draw_themselves_or_are_nested_are_read():
    own = stream(b"/X Do BT /F 12 Tf 50 700 Td (Once) Tj ET", b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]"
                 b"/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>")  # fmt: skip
    assert texts(made(b"/X Do", resources="/XObject<</X 6 0 R>>", more=[own])) == ["Once"]
    assert texts(made(b"/X Do", resources="/XObject<</X 6 0 R>>", more=list(forms(10, 1)))) == ["Deep"]


def test_a_file_whose_structure_is_damaged_is_read_with_a_notice():
    document = read_bytes(
        pdf(line("Kept")).replace(b"MediaBox[0 0 600 800]", b"MediaBox 9 0 R/MB[800]"),
        Path("made.pdf"),
        "pdf",
    )
    assert texts(document) == ["Kept"]
    assert [notice.kind for notice in document.notices] == ["unread_part"]


def test_equal_bytes_give_an_equal_document(tmp_path):
    path = tmp_path / "made.pdf"
    path.write_bytes(pdf(SEEN + line("Order 66", before="1 g")))
    assert read_document(path) == read_document(path)


def test_files_are_read_in_threads():
    data = pdf(SEEN + line("Order 66", before="1 g"))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: read_bytes(data, Path("made.pdf"), "pdf"), range(16)))
    assert found == found[:1] * 16
