"""Real Word files that other projects' users reported, held to what a person sees in them."""


def texts(document, *kinds):
    return [block.text for block in document.blocks if not kinds or block.kind in kinds]


def seen(document, kind):
    return [(notice.place, notice.detail) for notice in document.notices if notice.kind == kind]


def test_vertical_merge_text_that_word_covers_is_reported(fixture):
    document = fixture("docx-hdrftr.docx")
    assert seen(document, "hidden_text") == [
        (
            "table in table in footer, section 1, row 1, column 2",
            "covered by a merged cell: I should not be included",
        )
    ]
    assert document.blocks[0].text == (
        "[Header] First header para\n| Table cell1 | Table cell2 |\n| --- | --- |\nLast header para"
    )


def test_shapes_of_docx_shapes(fixture):
    assert texts(fixture("docx-shapes.docx"), "textbox") == [
        "[Text box] <inline-image>",
        "[Text box] <inline-image1>",
        "[Text box] <inline-image2>",
        "[Text box] <floating-shape>",
    ]


def test_numbered_headings_as_word_and_libreoffice_show_them(fixture):
    headings = texts(fixture("unit_test_headers_numbered.docx"), "heading")
    assert headings == [
        "# Test Document",
        "# 1. Section 1",
        "## 1.1. Section 1.1",
        "## 1.2. Section 1.2",
        "### 1.2.1. Section 1.2.3",
        "# 2. Section 2",
        "### 2.1.1. Section 2.1.1",
        "## 2.2. Section 2.1",
        "## REFERENCES",
    ]
    items = [text.split()[0] for text in texts(fixture("unit_test_headers_numbered.docx"), "list_item")]
    assert items == [
        *["1.", "1.1.", "1.1.1.", "2.3.1.", "2.3.2.", "2.3.3.", "2.3.4.", "2.3.5.", "2.3.6.", "2.3.7."],
        *["2.3.8.", "2.3.8.1.", "2.3.8.2.", "2.3.8.3."],
    ]


def test_lists_of_docx_lists(fixture):
    items = texts(fixture("docx_lists.docx"), "list_item")
    assert items[3:6] == ["1. List item a", "2. List item b", "3. List item c"]
    assert items[25:31] == [
        "1. First item with numId 2",
        "2. Second item with numId 2",
        "3. Third item with numId 2",
        "4. Fourth item with numId 2",
        "1. Single item of a new list",
        "1. Single item of a new list",
    ]
    assert items[-7:] == [
        "  2.1 Market Stops",
        "    - Buy fresh bread from the corner bakery",
        "    - Pick up citrus and green onions",
        "    - Return the borrowed library novels",
        "  2.2 Kitchen Tasks",
        "3. WORKSHOP AND TOOL SHED",
        "  3.1 Bench Setup",
    ]


def test_comments_of_docx_comments(fixture):
    comments = texts(fixture("docx_comments.docx"), "comment")
    assert [comment.partition("] ")[2] for comment in comments] == [
        "This is a sample reviewer comment on the first paragraph.",
        "Another comment by a different reviewer.",
        "Anonymous feedback on this paragraph.",
    ]
    assert comments[1].startswith("[Comment by Jane Editor, 2026-01-04 05:48, on ")


def test_text_boxes_of_a_flow_chart(fixture):
    boxes = texts(fixture("textbox.docx"), "textbox")
    assert len(boxes) == 16
    assert boxes[0] == "[Text box] Student falls ill"
    assert "1. If necessary, provide health education" in boxes[5]
    assert sum("Case closed." in box for box in boxes) == 1


def test_rows_that_start_late_or_end_early(fixture):
    tables = texts(fixture("tables-with-incomplete-rows.docx"), "table")
    assert tables[1] == "| a |  |\n| --- | --- |\n| b | c |"
    assert tables[3] == "| a [spans 2 rows] | b |  |\n| --- | --- | --- |\n|  | c | d |"
    assert texts(fixture("word_tables.docx"), "table")[5] == (
        "| Header 0.0 | Header 0.1 |\n| --- | --- |\n|  | Cell 1.1 |"
    )


def test_rich_cells_keep_lists_images_and_inner_tables(fixture):
    tables = texts(fixture("docx_rich_cells.docx"), "table")
    assert "1. Number one<br>2. Number two<br>3. Number three" in tables[0]
    assert (
        "This is simple text with bold, ~~strikethrough~~ and italic formatting with x² and H₂O" in tables[0]
    )
    assert tables[2].startswith("[Table inside table 2, row 3, column 1]\n| A | B | C |")
    assert "| Text and picture<br>[Image: Owner avatar] |  |" in tables[4]


def test_word_sample_and_nested_tables(fixture):
    sample = fixture("word_sample.docx")
    assert texts(sample, "image") == [
        "[Image: A cartoon duck holding a paper Description automatically generated]"
    ]
    assert texts(sample, "footer") == ["[Footer] 2"]
    tables = texts(fixture("docx-tables.docx"), "table")
    assert tables[0].endswith("| Lorem ipsum | A link example (https://tabul.com/) |")
    assert tables[2] == ("[Table inside table 2, row 2, column 2]\n| e | f |\n| --- | --- |\n| g&t | h |")
