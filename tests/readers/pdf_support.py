"""PDF files of one page, written out, and what is read of them."""

from pathlib import Path

from flows.readers.read import read_bytes


def texts(document):
    return [block.text for block in document.blocks]


def pdf(content=b"", *, page="", resources="", catalog="", more=()):
    """A file of one page, written out: what a library would not write can stand in it."""
    objects = [
        f"<</Type/Catalog/Pages 2 0 R {catalog}>>".encode(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R {page}"
            f"/Resources<</Font<</F 5 0 R>>{resources}>>>>"
        ).encode(),
        stream(content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        *more,
    ]
    data, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start, count = len(data), len(objects) + 1
    return data + (
        b"xref\n0 %d\n0000000000 65535 f \n" % count
        + table
        + b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (count, start)
    )


def stream(data, keys=b""):
    return b"<</Length %d %s>>\nstream\n" % (len(data), keys) + data + b"\nendstream"


def line(text, y=700, before="", size=12, x=50):
    return f"q {before} BT /F {size} Tf {x} {y} Td ({text}) Tj ET Q\n".encode()


def made(content=b"", **parts):
    return read_bytes(pdf(content, **parts), Path("made.pdf"), "pdf")


SEEN = line("Seen", 750)
