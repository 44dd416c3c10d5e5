"""What is on a PDF page: watermarks, strikes, check boxes, annotations, fonts, the order of signs."""

import io
from pathlib import Path

import pytest

from flows.readers.read import read_bytes
from tests.readers.pdf_support import SEEN, line, made, stream, texts


def drawn(draw):
    from reportlab.pdfgen import canvas

    target = io.BytesIO()
    page = canvas.Canvas(target, pagesize=(600, 800), invariant=1)
    draw(page)
    page.save()
    return read_bytes(target.getvalue(), Path("made.pdf"), "pdf")


def test_watermark_is_a_line_of_its_own():
    def draw(page):
        for at in range(20):
            page.drawString(60, 700 - 14 * at, "The brigade holds the eastern bank of the river.")
        page.translate(150, 450)
        page.rotate(45)
        page.setFont("Helvetica-Bold", 60)
        page.setFillGray(0.8)
        page.drawString(0, 0, "DRAFT ONLY")

    found = texts(drawn(draw))
    assert found[-1] == "[Watermark] DRAFT ONLY"
    assert "The brigade holds the eastern bank of the river." in found[0]
    assert sum(text.count("brigade") for text in found) == 20


def test_a_level_watermark_and_a_tilted_stamp_are_lines_of_their_own():
    def draw(page):
        for at in range(20):
            page.drawString(60, 700 - 14 * at, "The brigade holds the eastern bank of the river.")
        page.setFont("Helvetica-Bold", 60)
        page.setFillGray(0.9)
        page.drawString(80, 560, "COPY NO 7")
        page.setFillGray(0)
        page.setFont("Helvetica-Bold", 14)
        page.translate(150, 480)
        page.rotate(7)
        page.drawString(0, 0, "RECEIVED 17 MAR")

    found = texts(drawn(draw))
    assert found[-2:] == ["[Slanting] RECEIVED 17 MAR", "[Watermark] COPY NO 7"]
    assert " ".join(found[:-2]) == " ".join(["The brigade holds the eastern bank of the river."] * 20)


def test_struck_words_are_marked():
    def draw(page):
        page.drawString(60, 700, "H hour is 0400 Zulu 0600 local.")
        start = 60 + page.stringWidth("H hour is ", "Helvetica", 12)
        page.line(start, 703.5, start + page.stringWidth("0400 Zulu", "Helvetica", 12), 703.5)
        page.drawString(60, 650, "Underlined words stay")
        page.line(60, 648, 180, 648)
        page.drawString(60, 600, "A bar is a line, too")
        page.rect(60, 603, page.stringWidth("A bar", "Helvetica", 12), 0.8, fill=1)

    assert texts(drawn(draw)) == [
        "H hour is ~~0400 Zulu~~ 0600 local.",
        "Underlined words stay",
        "~~A bar~~ is a line, too",
    ]


def test_drawn_check_boxes_have_their_ticks():
    def draw(page):
        for at, (text, ticked) in enumerate([("Approved", False), ("Rejected", True)]):
            y = 700 - 40 * at
            page.rect(60, y, 10, 10)
            page.drawString(76, y + 1, text)
            if ticked:
                page.line(61, y + 1, 69, y + 9)
                page.line(61, y + 9, 69, y + 1)
        page.grid([60, 74, 88], [500, 514, 528])

    assert texts(drawn(draw)) == ["☐ Approved", "☒ Rejected"]


ANNOTATIONS = [
    ("/Subtype/StrikeOut/Rect[50 695 90 715]/QuadPoints[50 712 80 712 50 697 80 697]", ["~~Base~~"]),
    (
        "/Subtype/Link/Rect[50 695 90 715]/A<</S/URI/URI(https://example.org/b)>>",
        ["Base (https://example.org/b)"],
    ),
    (
        "/Subtype/Link/Rect[50 295 90 315]/A<</S/URI/URI(https://example.org/b)>>",
        ["Base", "[Link] https://example.org/b"],
    ),
    (
        "/Subtype/Ink/Rect[50 395 90 415]/T(Reyes)/Contents(sign here)",
        ["Base", "[Comment by Reyes] sign here"],
    ),
    ("/Subtype/Stamp/Rect[50 395 90 415]/Name/Approved", ["Base", "[Stamp] Approved"]),
    ("/Subtype/Stamp/Rect[50 395 250 415]/AP<</N 6 0 R>>", ["Base", "[Stamp] CANCELLED"]),
    ("/Subtype/FreeText/Rect[50 395 90 415]/Contents(Moved to 0600)", ["Base", "[Text box] Moved to 0600"]),
    (
        "/Subtype/Widget/FT/Sig/T(Commander)/Rect[50 395 90 415]/V<</Type/Sig/Name(Reyes)/Contents<00>>>",
        ["Base", "[Form field: Commander] signed by Reyes"],
    ),
    ("/Subtype/Text/F 2/Rect[50 395 90 415]/Contents(nobody sees it)", ["Base"]),
    (
        "/Subtype/FileAttachment/Rect[50 395 90 415]/FS<</F(annex.txt)>>/Contents(Annex B)",
        ["Base", "[Attached file, not read] annex.txt Annex B"],
    ),
]


@pytest.mark.parametrize(("annotation", "expected"), ANNOTATIONS)
def test_annotations(annotation, expected):
    keys = b"/Type/XObject/Subtype/Form/BBox[0 0 200 20]/Resources<</Font<</F 5 0 R>>>>"
    appearance = stream(b"BT /F 12 Tf 2 4 Td (CANCELLED) Tj ET", keys)
    document = made(line("Base"), page=f"/Annots[<</Type/Annot {annotation}>>]", more=[appearance])
    assert texts(document) == expected
    if "FileAttachment" in annotation:
        assert ("embedded_file", "annex.txt is not read") in [(n.kind, n.detail) for n in document.notices]


def test_a_link_whose_words_say_its_address_is_left_alone():
    link = "/Annots[<</Type/Annot/Subtype/Link/Rect[50 695 200 715]/A<</S/URI/URI(https://example.org/)>>>>]"
    assert texts(made(line("See example.org"), page=link)) == ["See example.org"]


def test_embedded_files_are_reported():
    document = made(
        line("Base"),
        catalog="/Names<</EmbeddedFiles<</Names[(a)<</Type/Filespec/F(annex.txt)/EF<</F 6 0 R>>>>]>>>>",
        more=[stream(b"annex", b"/Type/EmbeddedFile")],
    )
    assert [(n.kind, n.detail) for n in document.notices] == [("embedded_file", "annex.txt is not read")]


def unicode_font(signs):
    """A font whose codes from 33 on mean these signs, and 32 a space."""
    pairs = "\n".join(f"<{33 + at:02X}> <{ord(sign):04X}>" for at, sign in enumerate(signs))
    return [
        f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/FirstChar 33/LastChar {32 + len(signs)}"
        f"/Widths[{' 600' * len(signs)}]/ToUnicode 7 0 R>>".encode(),
        stream(
            b"begincmap 1 begincodespacerange <00> <FF> endcodespacerange\n"
            + f"{len(signs)} beginbfchar\n{pairs}\nendbfchar endcmap".encode()
        ),
    ]


def test_right_to_left_text_is_in_the_order_of_reading_and_its_digits_left_to_right():
    one, two = "سلام", "لنا"
    signs = sorted(set(one + two + "12.5"))
    codes = {sign: 33 + at for at, sign in enumerate(signs)}
    # As printed: words run leftwards, the number between them rightwards.
    shown = [(two[::-1], 50), ("12.5", 74), (one[::-1], 104)]
    content = b""
    for text, x in shown:
        written = "".join(f"{codes[sign]:02X}" for sign in text)
        content += f"BT /A 10 Tf {x} 700 Td <{written}> Tj ET\n".encode()
    document = made(content, resources="/Font<</A 6 0 R>>", more=unicode_font("".join(signs)))
    assert "\t".join(texts(document)).split() == [one, "12.5", two]


def test_embedded_cmaps_give_the_text():
    cmap = (
        b"/CIDInit /ProcSet findresource begin begincmap /CMapName /Own def /WMode 0 def\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n1 begincidrange <41> <5A> 1 endcidrange\nendcmap"
    )
    font = (
        b"<</Type/Font/Subtype/Type0/BaseFont/Helvetica/Encoding 7 0 R/ToUnicode 8 0 R/DescendantFonts"
        b"[<</Type/Font/Subtype/CIDFontType2/BaseFont/Helvetica/DW 700/CIDSystemInfo<</Registry(Adobe)"
        b"/Ordering(Identity)/Supplement 0>>>>]>>"
    )
    meaning = b"begincmap 1 begincodespacerange <00> <FF> endcodespacerange\n"
    meaning += b"1 beginbfrange <41> <5A> <0041> endbfrange endcmap"
    content = line("Base") + b"BT /A 12 Tf 50 600 Td (ORDER) Tj ET"
    document = made(
        content,
        resources="/Font<</F 5 0 R/A 6 0 R>>",
        more=[font, stream(cmap, b"/Type/CMap/CMapName/Own"), stream(meaning)],
    )
    assert texts(document) == ["Base", "ORDER"]


@pytest.mark.parametrize(
    ("encoding", "expected"), [("/Encoding/WinAnsiEncoding", "ABBA"), ("", "\ufffd\ufffd\ufffd\ufffd")]
)
def test_a_drawn_font_in_an_encoding_of_latin_text_says_what_its_letters_are(encoding, expected):
    glyphs = f"/CharProcs<</A 7 0 R/B 7 0 R>>/FirstChar 65/LastChar 66/Widths[600 600]{encoding}"
    font = f"<</Type/Font/Subtype/Type3/FontBBox[0 0 600 700]/FontMatrix[0.001 0 0 0.001 0 0]{glyphs}>>"
    document = made(
        b"BT /G 12 Tf 50 700 Td (ABBA) Tj ET " + SEEN,
        resources="/Font<</F 5 0 R/G 6 0 R>>",
        more=[font.encode(), stream(b"600 0 d0 0 0 500 700 re f")],
    )
    assert expected in document.text


@pytest.mark.parametrize("apart", [0.3, 0.9])
def test_text_with_its_shadow_is_read_once_and_narrow_letters_one_by_one(apart):
    signs = [(sign, 50 + 2.7 * at) for at, sign in enumerate("1lllI1")]
    shadow = [line(sign, 700 - apart, "0.8 g", x=x + apart) for sign, x in signs]
    assert texts(made(b"".join(shadow + [line(sign, x=x) for sign, x in signs]))) == ["1lllI1"]


def test_signs_beyond_the_first_plane_are_one_character():
    font = unicode_font("A")
    font[1] = font[1].replace(b"<0041>", b"<D835DC5D>")
    document = made(b"BT /A 12 Tf 50 700 Td (!) Tj ET", resources="/Font<</A 6 0 R>>", more=font)
    assert texts(document) == ["\N{MATHEMATICAL ITALIC SMALL P}"]
