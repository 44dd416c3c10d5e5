# ruff: noqa: ISC004 -- long blocks of text are wrapped
"""HTML mail as it is seen."""

import pytest

from tests.support.mails import body, hidden, read, single


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("10<sup>6</sup> H<sub>2</sub>O 1<sup>st</sup>", ["10⁶ H₂O 1st"]),
        ('10<sup>-<b>6</b></sup> 2<span style="vertical-align:super">10</span>', ["10⁻⁶ 2¹⁰"]),
        ("2<sup>1/2</sup>", ["2^(1/2)"]),
        ("10<span style='position:relative;top:-4.0pt;mso-text-raise:4.0pt'>6</span>", ["10⁶"]),
        (
            "10<span style='vertical-align:30%'>6</span> H<span style='vertical-align:-2pt'>2</span>",
            ["10⁶ H₂"],
        ),
        ("at <s>0400</s> <strike>a <b>b</b> </strike>0600", ["at ~~0400 a b~~ 0600"]),
        ('at <span style="text-decoration: line-through red">0400</span> 0600', ["at ~~0400~~ 0600"]),
        ("<del><p>one<p>two</del>three", ["~~one~~", "~~two~~", "three"]),
        ('<s style="text-decoration:none">live</s>', ["live"]),
        ("<ol type=a start=2><li>x<li value=27>y</ol>", ["b. x", "aa. y"]),
        ("<ol reversed><li>x<li>y</ol>", ["2. x", "1. y"]),
        ("<ol><li><ol type=a><li>x<li>y</ol><li>z</ol>", ["  1. a. x", "  b. y", "2. z"]),
        (
            "<ol><li><table><tr><td>x<td>y</table></ol>",
            ["1. [table below]", "| x | y |\n| --- | --- |"],
        ),
        (
            '<ol style="list-style-type:upper-roman"><li>x<ul><li>z</ul>more</ol>',
            ["I. x", "  - z", "   more"],
        ),
        (
            "<table><caption>Strength</caption><tr><th>Bde<th>Unit<th>Men<tr><td rowspan=2>1<td>A<td>9"
            "<tr><td>B<td>8<tr><td colspan=2>All<td>17</table>",
            [
                "Strength",
                "| Bde | Unit | Men |\n| --- | --- | --- |\n| 1 [spans 2 rows] | A | 9 |\n|  | B | 8 |\n"
                "| All [spans 2 columns] |  | 17 |",
            ],
        ),
        (
            "<table><tr><th><h3># of vehicles</h3><th>Unit<tr><td>14<td>A</table>",
            ["| # of vehicles | Unit |\n| --- | --- |\n| 14 | A |"],
        ),
        (
            "<table><tfoot><tr><td>f<td>g</tfoot><tr><td rowspan=0>a<td>b<tr><td>c</table>",
            ["| a [spans 2 rows] | b |\n| --- | --- |\n|  | c |\n| f | g |"],
        ),
        (
            "<table><tr><td colspan=1000>T<tr><td>a<td>b</table>",
            ["| T [spans 2 columns] |  |\n| --- | --- |\n| a | b |"],
        ),
        (
            "<table><tr><th>A<th>B<tr><td>1<td><table><tr><td>x<td>y</table></table>",
            [
                "| A | B |\n| --- | --- |\n| 1 | [table below] |",
                "[Table inside row 2, column 2]\n| x | y |\n| --- | --- |",
            ],
        ),
        (
            "<table><tr><td><table><tr><td>x<td>y</table><td>side</table>",
            ["| x | y |\n| --- | --- |", "side"],
        ),
        ("<table>stray<form><tr><td>a<td>b</form></table>", ["stray", "| a | b |\n| --- | --- |"]),
        (
            "Name: <input value=SMITH> <input type=checkbox checked>Go <input type=radio>Stay <select>"
            "<option>red<option selected>green</select> <select multiple><option>a<option selected>b",
            ["Name: SMITH ☒ Go ☐ Stay green ☐ a, ☒ b"],
        ),
        ("Remarks: <textarea>two\n  lines</textarea>", ["Remarks:", "two\n  lines"]),
        ("<select><option>first<option>other</select> <input placeholder=When>", ["first [empty: When]"]),
        (
            '<a href="https://x.org/a"><p>annex</a> <a href="https://x.org/b"></a>',
            ["annex (https://x.org/a)"],
        ),
        ('<a href="https://x.org/m"><img alt=Map src=m></a>', ["[Image: Map] (https://x.org/m)"]),
        ("<pre>a   b\n  c</pre><p style='white-space:pre-wrap'>x  y</p>", ["a   b\n  c", "x  y"]),
        ("q&amp;r&nbsp;s<br>t <q>u</q>", ["q&r s\nt “u”"]),
        ("<ruby>漢<rp>(</rp><rt>kan</rt></ruby>", ["漢 (kan)"]),
        (
            "<details><summary>More</summary>inside</details><noscript>plain</noscript>",
            ["More", "inside", "plain"],
        ),
        ('<?xml version="1.0" encoding="iso-8859-1"?><p>ü', ["ü"]),
        ("<!-- nothing -->", []),
        ("<div>" * 300 + "deep" + "</div>" * 300, ["deep"]),
    ],
)
def test_html_is_read_as_it_is_seen(tmp_path, html, expected):
    document = read(tmp_path, "a.eml", single("text/html; charset=utf-8", html.encode()))
    assert body(document) == expected
    assert hidden(document) == []


@pytest.mark.parametrize(
    "html",
    [
        '<p style="color:rgb(255,255,255)">X',
        '<p style="color:#FEFEFE">X',
        '<p style="color:white !important;color:red">X',
        '<p style="color:rgba(0,0,0,0)">X',
        "<font color=white>X</font>",
        "<p hidden>X",
        '<p style="visibility:hidden">X',
        '<p style="font-size:0">X',
        '<p style="font:0/0 a">X',
        '<p style="font-size:1%">X',
        '<p style="opacity:0">X',
        '<p style="max-height:0;overflow:hidden">X',
        '<p style="position:absolute;left:-9999px">X',
        "<style>.a{display:none}</style><p class='b a'>X",
        "<style>@media screen{#i{display:none}}</style><p id=i>X",
        "<style>td > span, div p.c{color:#fff}</style><div><p class=c>X</div>",
        "<style>[data-k='1']{display:none}</style><p data-k=1>X",
        "<style>p{color:#fff !important}</style><p style='color:red'>X",
        '<body bgcolor=navy><p style="color:rgb(0 0 128)">X',
        '<table style="background:hsl(240,100%,25%)"><tr><td style="color:#000080">X</table>',
        '<table><tr style="display:none"><td>X</table>',
        '<table><tr><td style="display:none">X</table>',
        "<table style='display:none'><tr><td>X</table>",
        "<input type=hidden value=X>",
        "<template>X</template>",
    ],
)
def test_what_html_hides_is_reported_with_its_text(tmp_path, html):
    document = read(tmp_path, "a.eml", single("text/html", html.encode()))
    assert body(document) == []
    assert hidden(document) == ["not visible: X"]


@pytest.mark.parametrize(
    "html",
    [
        '<p style="color:yellow">X',
        '<p style="color:#FAFAFA">X',
        '<table><tr bgcolor="#1F3864"><td><font color="#FFFFFF">X</font></table>',
        '<table><tr><td style="background:#1F3864"><p><span style="color:white">X</table>',
        '<table bgcolor=navy><tr><td style="color:white">X</table>',
        '<div style="background-color:rgba(0,0,0,.8)"><p style="color:#fff">X</div>',
        '<body style="background:#abc none repeat 0 0;color:white">X',
        '<div style="background:linear-gradient(#fff,#fff)"><p style="color:#fff">X</div>',
        '<div style="background:#fff url(x.png)"><p style="color:#fff">X</div>',
        '<table background=x.png><tr><td style="color:#fff">X</table>',
        '<p style="color:var(--ink)">X',
        "<style>p:first-child{background:navy} p{color:#fff}</style><p>X",
        "<style>@media print{p{display:none}} p:hover{display:none}</style><p>X",
        "<style>:root{color-scheme:light}</style><p>X",
        '<p style="visibility:hidden"><span style="visibility:visible">X</span>',
        '<p style="font-size:0"><span style="font-size:12px">X</span>',
        '<table><tr><td style="height:0;overflow:hidden">X</table>',
        "<mark style='color:#fff'>X</mark>",
    ],
)
def test_html_that_may_be_seen_is_kept(tmp_path, html):
    document = read(tmp_path, "a.eml", single("text/html", html.encode()))
    assert body(document) == ["X"]
    assert hidden(document) == []


def test_style_rules_without_end_are_left_out_and_reported(tmp_path):
    rules = "".join(f"#i{at}{{display:none}}" for at in range(1002)) + "p{color:#fff}"
    document = read(tmp_path, "a.eml", single("text/html", f"<style>{rules}</style><p>X".encode()))
    assert hidden(document) == ["not visible: X"]
    assert [notice.detail for notice in document.notices] == ["3 style rules of too many", "not visible: X"]


def test_a_hidden_item_takes_no_number(tmp_path):
    html = b"<ol><li style='display:none'>x<li>y</ol>"
    document = read(tmp_path, "a.eml", single("text/html", html))
    assert body(document) == ["1. y"]
    assert hidden(document) == ["not visible: x"]


def test_a_link_in_white_text_has_a_colour_of_its_own(tmp_path):
    html = b'<p style="color:#fff">see <a href="https://x.org/a">annex</a></p>'
    document = read(tmp_path, "a.eml", single("text/html", html))
    assert body(document) == ["annex (https://x.org/a)"]
    assert hidden(document) == ["not visible: see"]
