# ruff: noqa: RUF001, ISC004 -- signs as printed in the paper; long blocks of text are wrapped
"""What a person sees on the pages of a PDF file, against what the reader gives."""

import io

from flows.readers import read_document
from flows.readers.pdf.layout.lines import Hyphens


def texts(document, *kinds, page=None):
    return [
        block.text
        for block in document.blocks
        if (not kinds or block.kind in kinds) and (page is None or block.place == f"page {page}")
    ]


def notices(document, kind):
    return [(notice.place, notice.detail) for notice in document.notices if notice.kind == kind]


def made(tmp_path, draw, name="made.pdf"):
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen import canvas

    target = io.BytesIO()
    page = canvas.Canvas(target, pagesize=A4, invariant=1)
    draw(page)
    page.save()
    path = tmp_path / name
    path.write_bytes(target.getvalue())
    return read_document(path)


def test_columns_come_one_after_the_other_around_a_table_across_them(fixture, build_pdf):
    blocks = texts(fixture("marked.pdf"), page=1)
    left, right = (
        " ".join(text.replace(build_pdf.CUT, "company").split()) for text in (build_pdf.LEFT, build_pdf.RIGHT)
    )
    assert blocks == [
        "# Order for the crossing",
        f"{left} {left}",
        f"{right} {right}",
        "| Unit | Boats | Start |\n| --- | --- | --- |\n| Alpha | 12 | 04:30 |\n| Bravo | 9 | 05:15 |",
        f"Below the table the left column goes on. {left}",
        f"Below the table the right column goes on. {right}",
    ]


def test_headers_and_footers_of_each_page_are_taken_once(fixture):
    document = fixture("marked.pdf")
    assert texts(document, "header") == ["[Header] EXERCISE SECRET"]
    assert texts(document, "footer") == ["[Footer] Page 1 of 5"]
    assert [b.place for b in document.blocks if b.kind == "header"] == ["pages 1-2"]


def test_table_without_rules_and_raised_digits_and_form_values(fixture):
    assert texts(fixture("marked.pdf"), page=2) == [
        "| Item | Held | Needed |\n| --- | --- | --- |\n| Rations | 400 | 950 |\n| Stretchers | 18 | 30 |\n"
        "| Maps | 25 | 25 |",
        "The area is 10⁶",
        "[Form field: Commander] Major Lindqvist",
        "[Form field: Approved] ☒",
    ]


def test_turned_pages_are_read_upright(fixture):
    document = fixture("marked.pdf")
    assert texts(document, page=3) == ["Turned page: the ferry runs hourly"]
    assert texts(document, page=4)[:2] == [
        "Sideways text begins here",
        "and holds the reserve at two hours notice until relieved by the corps",
    ]


def test_page_without_text_says_so_and_hidden_text_is_reported(fixture):
    document = fixture("marked.pdf")
    (note,) = texts(document, page=5)
    assert note.startswith("[Reader's note: page 5 has no text layer")
    assert "out of scope" in note
    assert notices(document, "no_text_layer") == [("page 5", "an image or drawing without text")]
    assert notices(document, "hidden_text") == [
        ("page 2", "the colour of its ground: White words in the file")
    ]


def test_white_text_on_a_dark_box_is_visible(tmp_path):
    def draw(page):
        page.setFillColorRGB(0, 0, 0.4)
        page.rect(50, 700, 300, 30, fill=1)
        page.setFillColorRGB(1, 1, 1)
        page.drawString(60, 710, "White on navy")

    document = made(tmp_path, draw)
    assert texts(document) == ["White on navy"]
    assert document.notices == ()


def test_text_off_the_page_and_of_one_point_is_reported(tmp_path):
    def draw(page):
        page.drawString(60, 700, "Seen")
        page.drawString(60, 2000, "Beyond")
        page.setFont("Helvetica", 1)
        page.drawString(60, 650, "tiny")

    document = made(tmp_path, draw)
    assert texts(document) == ["Seen"]
    assert sorted(detail for _, detail in notices(document, "hidden_text")) == [
        "one-point: tiny",
        "outside the page: Beyond",
    ]


def test_text_printed_twice_for_bold_counts_once(tmp_path):
    def draw(page):
        page.drawString(60, 700, "Doubled 44 words")
        page.drawString(60.3, 700, "Doubled 44 words")

    assert texts(made(tmp_path, draw)) == ["Doubled 44 words"]


def test_bullets_and_numbers_are_no_column_of_their_own(tmp_path):
    def draw(page):
        for at, (mark, text) in enumerate(
            [("1.", "First duty"), ("2.", "Second duty"), ("3.", "Third duty"), ("4.", "Last")]
        ):
            page.drawString(60, 700 - 18 * at, mark)
            page.drawString(100, 700 - 18 * at, text)

    document = made(tmp_path, draw)
    assert [text.replace("\t", " ") for text in texts(document, "list_item")] == [
        "1. First duty",
        "2. Second duty",
        "3. Third duty",
        "4. Last",
    ]


def test_line_ends_are_joined_by_what_the_document_says_elsewhere():
    hyphens = Hyphens(["self-reliant", "ammunition", "long", "term"])
    assert hyphens.joined("is self-", "reliant") == "is self-reliant"
    assert hyphens.joined("the ammu-", "nition") == "the ammunition"
    assert hyphens.joined("a long-", "term plan") == "a long-term plan"
    assert hyphens.joined("ex-", "Navy") == "ex-Navy"
    assert hyphens.joined("rate of 5-", "10") == "rate of 5-10"
    assert hyphens.joined("pre-", "and post-war") == "pre- and post-war"
    assert hyphens.joined("two", "words") == "two words"
    assert hyphens.joined("soft\u00ad", "ened") == "softened"


def test_two_column_paper(fixture):
    document = fixture("multi-column-2p.pdf")
    text = document.text
    first = "Retrieval in open-domain QA is usually implemented using TF-IDF or BM25"
    assert text.index("∗Equal contribution") < text.index(first)
    assert text.index("Facebook AI\t†University of Washington") < text.index("### Abstract")
    assert "Barlas Oğuz∗" in text
    assert (
        "Open-domain question answering relies on efficient passage retrieval to select candidate contexts, "
        "where traditional sparse vector space models, such as TF-IDF or BM25, are the de facto method."
    ) in text
    assert "[Sideways] arXiv:2004.04906v3 [cs.CL] 30 Sep 2020" in text
    assert not notices(document, "uncertain_layout")
    assert notices(document, "mended_encoding") == [("page 1", "1 accent set onto letters")]
    assert notices(document, "broken_encoding") == [
        ("page 2", "1 character without a known meaning, shown as \ufffd")
    ]


def test_sideways_statistics_with_rows_stacked_five_in_a_cell(fixture):
    document = fixture("nics-background-checks-2015-11-rotated.pdf")
    (table,) = texts(document, "table")
    lines = table.split("\n")
    rows = {line.split(" | ")[0].strip("| "): line for line in lines}
    assert rows["Alabama"].startswith("| Alabama | 18,870 | 23,022 | 22,650 | 859 | 1,178 | 0 | 14 | 15 |")
    assert rows["Alabama"].endswith("| 71,137 |")
    assert rows["District of Columbia"].endswith("| 64 |")
    assert rows["Totals"].startswith("| Totals | 804,006 | 671,330 | 636,903 | 26,597 |")
    assert "Pre-Pawn [spans 3 columns]<br>Handgun | Long Gun | *Other |" in lines[2]
    assert "Page 1 of 205" in texts(document)


def test_account_of_expenditures_keeps_each_row_together(fixture):
    text = fixture("senate-expenditures.pdf").text
    assert (
        "| DOCUMENT NO. | DATE POSTED | PAYEE NAME | OBLIGATION/SERVICE DATES | DESCRIPTION | AMOUNT ($) |"
        in text
    )
    assert "| BAIN, J MATTHEW | DISTRICT DIRECTOR | 37,499.96 |" in text
    assert (
        "| DHAW20190001 | 05/03/2019 | CITIBANK - TRAVEL CBA CARD | 03/04/2019 | 03/06/2019 | STAFF "
        "TRANSPORTATION AIRFARE FOR E JOHNSON KANSAS CITY TO WASHINGTON DC AND RETURN | 920.68 |"
    ) in text


def test_two_columns_of_lists_in_a_frame(fixture):
    items = texts(fixture("list-item-example.pdf"), "list_item")
    assert len(items) == 30
    assert items[0] == "- What are product types?"
    assert items[2] == "- What is product development and quality assurance, and who is involved?"
    assert items[7] == "- The role of the design team"
    assert items[-1] == "- Technology and tools selection"


def test_election_bulletin_keeps_names_and_votes_together(fixture):
    text = fixture("la-precinct-bulletin-2014-p1.pdf").text
    for row in ("| NEEL KASHKARI | REP | 247 |", "| TOM LACKEY | REP | 249 |", "| DAYAN MATHAI | 175 |"):
        assert row in text
    assert "YES\t90" in text
    assert text.index("| TOM LACKEY") < text.index("AJ-SUPREME CT-G. LIU")


def test_transcript_keeps_its_line_numbers(fixture):
    text = fixture("scotus-transcript-p1.pdf").text
    assert text.startswith(
        "Official - Subject to Final Review\n\n| 1 | IN THE SUPREME COURT OF THE UNITED STATES |"
    )
    assert "| 13 | argument before the Supreme Court of the United States |" in text


def test_short_memos(fixture):
    assert texts(fixture("fake-memo.pdf")) == [
        "May 5, 2023",
        "To Whom it May Concern:",
        "There were 20,000 bottles of water, 10,000 blankets, and 200 laptops delivered on January 23, 2023. "
        "A total of 3 trucks were used for 15 hours.",
        "Best Regards,",
        "Mallori",
    ]
    assert texts(fixture("header-test-doc.pdf")) == [
        "I Am A Header",
        "### Title",
        "Here is a lovely sentences.",
        "I Am A Footer",
    ]


def test_images_of_text_are_said_to_be_images(fixture):
    for name in ("table-multi-row-column-cells.pdf", "malformed-from-issue-932.pdf"):
        assert fixture(name).blocks[0].kind == "note"
        assert len(notices(fixture(name), "no_text_layer")) == 1


def test_image_between_paragraphs_is_marked_in_its_place(tmp_path):
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    def draw(page):
        page.drawString(60, 760, "Above the sketch")
        page.drawImage(ImageReader(Image.new("L", (60, 40), 90)), 60, 500, 240, 160)
        page.drawString(60, 440, "Below the sketch")

    assert texts(made(tmp_path, draw)) == [
        "Above the sketch",
        "[Image without description]",
        "Below the sketch",
    ]


def test_short_columns_at_different_heights_are_not_interleaved(tmp_path):
    def draw(page):
        for at in range(6):
            page.drawString(60, 700 - 20 * at, f"left {at}")
            page.drawString(110, 694 - 20 * at, f"right {at}")

    expected = [f"left {at}" for at in range(6)] + [f"right {at}" for at in range(6)]
    assert texts(made(tmp_path, draw)) == expected


def test_columns_too_short_to_be_told_apart_are_noted(tmp_path):
    def draw(page):
        for at in range(2):
            page.drawString(60, 700 - 18 * at, f"left {at}")
            page.drawString(110, 691 - 18 * at, f"right {at}")

    document = made(tmp_path, draw)
    assert document.blocks[0].text == (
        "[Reader's note: columns may be mixed up in what follows; it is read line by line]"
    )
    assert [notice.kind for notice in document.notices] == ["uncertain_layout"]
