"""Which text of a PDF page nobody sees: its colour, what covers it, clips and layers."""

import pytest

from tests.readers.pdf_support import SEEN, line, made, texts


def hidden(document):
    return [notice.detail for notice in document.notices if notice.kind == "hidden_text"]


BOX = "45 695 200 20 re"

TINTS = (
    "/ColorSpace<</Spot[/Separation/Black/DeviceCMYK"
    "<</FunctionType 2/Domain[0 1]/N 1/C0[0 0 0 0]/C1[0 0 0 1]>>]"
    "/Ink[/DeviceN[/Black]/DeviceCMYK<</FunctionType 2/Domain[0 1]/N 1/C0[0 0 0 0]/C1[0 0 0 1]>>]"
    "/Lab[/Lab<</WhitePoint[0.95 1 1.09]/Range[-100 100 -100 100]>>]"
    "/Few[/Indexed/DeviceRGB 1<FFFFFF000000>]>>"
)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("1 g", "the colour of its ground"),
        ("0.995 g", "the colour of its ground"),
        ("0.95 g", ""),
        ("1 1 0 rg", ""),
        ("0 0 0 0 k", "the colour of its ground"),
        ("0 0 0 1 k", ""),
        ("/Spot cs 1 scn", ""),
        ("/Spot cs 0 scn", "the colour of its ground"),
        ("/Ink cs 1 scn", ""),
        ("/Lab cs 20 0 0 scn", ""),
        ("/Few cs 1 sc", ""),
        ("/Few cs 0 sc", "the colour of its ground"),
        (f"0 0 0.4 rg {BOX} f 1 g", ""),
        (f"0 g {BOX} f 1 g", ""),
        (f"0 g {BOX} f", "the colour of its ground"),
        (f"1 1 0 rg {BOX} f 1 1 0 rg", "the colour of its ground"),
        (f"1 1 0 rg {BOX} f 0 g", ""),
        ("3 Tr", "invisible"),
        ("/Clear gs", "invisible"),
        ("300 600 100 20 re W n", "outside its clip"),
        (f"{BOX} W n", ""),
        ("/OC /Off BDC", "a layer that is switched off"),
        ("/OC /On BDC", ""),
    ],
)
def test_text_is_hidden_only_if_nobody_can_see_it(before, reason):
    end = b"EMC\n" if "BDC" in before else b""
    document = made(
        SEEN + line("Order 66", before=before) + end,
        resources=f"{TINTS}/ExtGState<</Clear<</ca 0>>>>/Properties<</Off 6 0 R/On 7 0 R>>",
        catalog="/OCProperties<</OCGs[6 0 R 7 0 R]/D<</OFF[6 0 R]>>>>",
        more=[b"<</Type/OCG/Name(Old)>>", b"<</Type/OCG/Name(New)>>"],
    )
    assert texts(document) == (["Seen"] if reason else ["Seen", "Order 66"])
    assert hidden(document) == ([f"{reason}: Order 66"] if reason else [])


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (f"1 g {BOX} f".encode(), ["Seen"]),
        (f"q 1 g {BOX} f Q\n".encode() + line("New 77"), ["Seen", "New 77"]),
        (f"/Half gs 1 g {BOX} f".encode(), ["Seen", "Order 66"]),
        (f"/Times gs 1 1 0 rg {BOX} f".encode(), ["Seen", "Order 66"]),
        (b"q 200 0 0 20 45 695 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q", ["Seen"]),
    ],
)
def test_text_is_hidden_by_what_is_painted_over_it(after, expected):
    states = "/ExtGState<</Half<</ca 0.5>>/Times<</BM/Multiply>>>>"
    document = made(SEEN + line("Order 66") + after, resources=states)
    assert texts(document) == expected
    assert hidden(document) == ([] if "Order 66" in expected else ["covered: Order 66"])


def test_white_text_on_a_picture_or_a_gradient_is_visible():
    picture = b"q 200 0 0 20 45 695 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x40 EI Q\n"
    shade = b"q 45 595 200 20 re W n /Sh sh Q\n"
    axis = "/Shading<</Sh<</ShadingType 2/ColorSpace/DeviceGray/Coords[0 0 600 0]/Extend[true true]/Function"
    axis += "<</FunctionType 2/Domain[0 1]/N 1/C0[0]/C1[0.5]>>>>>>"
    content = picture + line("On a picture", before="1 g") + shade + line("On a gradient", 600, "1 g")
    document = made(content, resources=axis)
    assert texts(document) == ["On a picture", "On a gradient"]
    assert hidden(document) == []


def test_text_recognised_on_a_scan_is_its_text_with_a_notice():
    scan = b"q 600 0 0 800 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \xf0 EI Q\n"
    document = made(scan + line("Recognised words", before="3 Tr"))
    assert texts(document)[-1] == "Recognised words"
    assert "recognised_text" in [notice.kind for notice in document.notices]
    assert hidden(document) == []


def test_a_few_recognised_characters_are_named_as_recognised():
    scan = b"q 600 0 0 800 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \xf0 EI Q\n"
    document = made(scan + line("Recognised words", before="3 Tr"))
    counted = "15 characters from its text recognition"
    assert [notice.detail for notice in document.notices] == [
        "the page is an image; its text is that of a text recognition",
        f"an image over 100% of the page, {counted}",
    ]
    note = f"an image covers most of page 1; text in it is not read, only the {counted}"
    assert texts(document) == [f"[Reader's note: {note}]", "Recognised words"]


def test_clipped_text_is_not_mixed_into_its_neighbour():
    clipped = line("bill no. 138, 143, 140, 142, 141", before="45 690 64 20 re W n")
    document = made(clipped + line("26406576", x=140))
    assert "\t".join(texts(document)).split() == ["bill", "no.", "138,", "26406576"]
    assert hidden(document) == ["outside its clip: 143, 140, 142, 141"]
