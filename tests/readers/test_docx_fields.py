"""Fields of a Word file: their stored results are read, and what has none is reported."""

import pytest

from tests.support.documents import seen, texts


def test_field_without_an_end_swallows_nothing(word, build):
    begin = '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r>'
    document = word(build.para(begin + build.run("Still here.")) + build.para(build.run("And here.")))
    assert texts(document, "paragraph") == ["Still here.", "And here."]


def test_field_in_a_field_and_across_paragraphs(word, build):
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    code = "<w:r><w:instrText>{}</w:instrText></w:r>".format
    body = build.para(
        mark("begin")
        + code(" TOC ")
        + mark("separate")
        + build.run("First ")
        + build.field(" PAGEREF a ", "7")
    ) + build.para(build.run("Second 9") + mark("end") + build.run(" after."))
    assert texts(word(body), "paragraph") == ["First 7", "Second 9 after."]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ('"https://example.org/a"', "annex (https://example.org/a)"),
        ('"http://annex/"', "annex"),
        ('\\h "https://example.org/a b" \\o "a tip"', "annex (https://example.org/a b)"),
        ('\\o "a tip" "https://example.org/a"', "annex (https://example.org/a)"),
        ('"https://example.org/a" \\l "part"', "annex (https://example.org/a)"),
        ('\\l "_Toc123" \\h', "annex"),  # a bookmark is no address
    ],
)
def test_hyperlink_field_names_its_address_unless_shown(word, build, code, shown):
    body = build.para(build.field(f" HYPERLINK {code} ", "annex"))
    assert texts(word(body), "paragraph") == [shown]
    simple = build.run("annex").join([f"<w:fldSimple w:instr='HYPERLINK {code}'>", "</w:fldSimple>"])
    assert texts(word(build.para(simple)), "paragraph") == [shown]


def bare(code):
    """A field without a stored result, as programs other than Word write them."""
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    return f"{mark('begin')}<w:r><w:instrText>{code}</w:instrText></w:r>{mark('end')}"


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (" DATE \\@ dd.MM.yyyy ", "On ."),
        (" SEQ Figure ", "On ."),
        (" REF bridge \\h ", "On ."),
        (" bridge ", "On ."),  # the name of a bookmark is a reference to it
        (" NUMPAGES ", "On ."),
        (" EQ \\f(1,2) ", "On [EQ \\f(1,2)]."),
        (" AUTONUMLGL ", "On [AUTONUMLGL]."),
    ],
)
def test_field_without_a_result_is_reported(word, build, code, shown):
    simple = f"<w:fldSimple w:instr='{code}'/>"
    for field in (bare(code), simple):
        document = word(build.para(build.run("On ") + field + build.run(".")))
        assert texts(document, "paragraph") == [shown]
        assert seen(document, "unread_field") == [("paragraph 1", code.strip())]


@pytest.mark.parametrize("code", [" MACROBUTTON Fill day six ", " GOTOBUTTON annex day six "])
def test_a_button_shows_its_text(word, build, code):
    document = word(build.para(build.run("On ") + bare(code) + build.run(".")))
    assert (texts(document, "paragraph"), seen(document, "unread_field")) == (["On day six."], [])


@pytest.mark.parametrize("code", [" XE bridge ", " TC Annex ", " SET a 5 ", " FORMTEXT ", " HYPERLINK ", " "])
def test_field_that_shows_nothing_is_not_reported(word, build, code):
    for field in (bare(code), f"<w:fldSimple w:instr='{code}'/>"):
        assert seen(word(build.para(build.run("On.") + field)), "unread_field") == []


def test_field_in_the_code_of_another_is_not_reported(word, build):
    mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'.format
    outer = mark("begin") + bare(" DATE ") + mark("separate") + build.run("Monday") + mark("end")
    document = word(build.para(outer))
    assert (texts(document, "paragraph"), seen(document, "unread_field")) == (["Monday"], [])


def test_an_empty_stored_result_is_a_result(word, build):
    assert seen(word(build.para(build.run("On.") + build.field(" IF 1 = 2 yes ", ""))), "unread_field") == []


def test_page_number_without_a_result_is_reported_in_the_body_alone(word, build):
    footer = f"<w:ftr {build.W}>{build.para(build.run('Page ') + bare(' PAGE '))}</w:ftr>"
    section = '<w:sectPr><w:footerReference w:type="default" r:id="rFoot"/></w:sectPr>'
    document = word(build.para(build.run("On.")) + section, word__footer1_xml=footer)
    assert "Page" in document.text
    assert seen(document, "unread_field") == []
