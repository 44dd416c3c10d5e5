"""What a converter is expected to keep of each feature of tests/fixtures/documents/marked.*."""

import re


def has(*patterns):
    return lambda text: all(re.search(pattern, text, re.MULTILINE | re.DOTALL) for pattern in patterns)


def times(word, least=1, most=1):
    return lambda text: least <= text.count(word) <= most


def gone(word, report):
    """Left out of the text, and reported."""
    return lambda text: word not in text.split("@@notices")[0] and re.search(report, text) is not None


def live(word):
    return lambda text: word in text.split("@@notices")[0]


def never(_):
    return False


# feature: (kept if, else wrong if); what is neither is lost.
CHECKS = {
    "docx": {
        "heading with its level": (has(r"^#+ \**Situation heading"), never),
        "list numbers as shown, three levels": (
            has(r"1\. +Execution", r"b\. +Tasks to units", r"\(2\) +Second task"),
            has(r"\b(?:2|ii)[.)] +Second task|[1-9]\. +Tasks to units"),
        ),
        "list restarted": (has(r"\b1[.)] +Restarted list"), has(r"[2-9][.)] +Restarted list")),
        "legal numbering": (
            has(r"1\.1\.? +Legal paragraph"),
            has(r"(?:I\.1|\bI|\b[ai1]\.?\)?) +Legal paragraph"),
        ),
        "table as a table": (has(r"Middle[ \t]*\|"), never),
        "merged cell once": (times("Merged head"), times("Merged head", 2, 9)),
        "nested table": (has(r"nested one", r"nested two"), never),
        "header": (times("Header of all pages"), times("Header of all pages", 2, 9)),
        "first-page and even headers": (has("Header of the first page", "Header of even pages"), never),
        "footer": (times("Footer of all pages"), times("Footer of all pages", 2, 9)),
        "footnote": (has("Footnote words"), never),
        "endnote": (has("Endnote words"), never),
        "text box, once": (times("Text box words"), times("Text box words", 2, 9)),
        "content controls": (has("Inline control", "Block control"), never),
        "smart tag": (has("Smart tag"), never),
        "link with its target": (has("annex", r"example\.org/annex"), never),
        "field's result": (has("seven boats"), has("REF x")),
        "symbol": (has("Sign[ \\\\]*[✓✔☑]"), has("Sign[ \\\\]*[\uf0fcü]")),
        "check box of a form": (has(r"[☒☑✓x]\]?\\?\]? *Box ticked"), has(r"[☐]\s*Box ticked")),
        "tab and line break": (has(r"Tab\s+stop[\\ ]*\s+next line"), has("Tabstop|stopnext")),
        "no-break hyphen": (has("No[-\u2011]break"), has("Nobreak")),
        "tracked insertion": (has("carries .{0,4}twelve"), never),
        "tracked deletion left out": (
            lambda text: "twelve" in text and not live("forty")(text),
            live("forty"),
        ),
        "moved text once": (times("Moved words"), times("Moved words", 2, 9)),
        "said that revisions exist": (has("[Tt]racked changes|revision"), never),
        "comment with author": (has("Comment words", r"J\. Moss"), never),
        "hidden text left out and reported": (
            gone("Vanished words", "hidden: Vanished"),
            live("Vanished words"),
        ),
        "white text left out and reported": (gone("White words", "White words"), live("White words")),
        "one-point text left out and reported": (gone("Tiny words", "Tiny words"), live("Tiny words")),
        "white on a dark cell shown": (has("Visible on navy"), never),
        "struck text marked": (has(r"(?:~~|<s>|<del>).{0,3}Cancelled order"), has("(?<!~~)Cancelled order")),
        "raised digit": (has(r"10\s?(?:⁶|\^\{?6|<sup>6)"), has("10 ?6")),
        "equation": (has(r"a\s?\+\s?b"), never),
        "image's description": (has("Map of the northern sector"), never),
    },
    "pdf": {
        "columns in reading order": (
            lambda text: -1 < text.find("until the reserve has passed") < text.find("Civilian traffic"),
            has("Civilian traffic"),
        ),
        "table across the columns": (has(r"Alpha[ \t]*\|[ \t]*12[ \t]*\|[ \t]*04:30"), never),
        "rows of a table without rules": (has(r"Stretchers[ \t|]*18[ \t|]*30"), never),
        "header of each page once": (times("EXERCISE SECRET", 1, 2), times("EXERCISE SECRET", 3, 9)),
        "hyphen at a line end": (has("support company"), has(r"com-\s+pany")),
        "raised digit": (has(r"10\s?(?:⁶|\^6|<sup>6|\[6\])"), has("10\\s?6")),
        "turned page": (has("Turned page: the ferry runs hourly"), never),
        "sideways text": (has("until relieved by the corps"), never),
        "form's value": (has("Major Lindqvist"), never),
        "hidden text left out and reported": (
            gone("White words", "White words"),
            live("White words in the file"),
        ),
        "page without text said to be one": (has("no text layer"), never),
    },
    "xlsx": {
        "date, without a time of its own": (
            has(r"2026-03-01(?! 00:00)|1 Mar 2026"),
            has("2026-03-01[ T]00:00|46082"),
        ),
        "percent": (has(r"25\.6 ?%"), has(r"0\.256")),
        "currency": (has(r"\$1,234\.50?"), has(r"1234\.5")),
        "leading zeros": (has("00042"), has(r"\b42\b")),
        "formula's value": (has(r"1,?135\.5"), never),
        "formula never calculated": (has(r"SUM\(E4:E6\)"), never),
        "merged range filled": (has(r"North.*\n?.*North"), never),
        "hidden row included and marked": (has("hidden row.{0,3}South"), has("South")),
        "hidden column included and marked": (has("hidden column"), has("00042|\\b42\\b")),
        "hidden sheet included and marked": (has("Reserve.{0,4}hidden"), has("Hidden reserve")),
        "comment with author and cell": (
            has(r"Q\. Ames.{0,9}C4.{0,3}Counted by hand"),
            has("Counted by hand"),
        ),
        "chart sheet named": (has("Crew chart"), never),
        "two tables kept apart": (has(r"\| Boat \| Crew \|"), has("Cost.{0,60}Boat")),
        "link with its target": (has(r"example\.org/south"), never),
    },
}


def plain(text):
    """Without the marks by which Markdown escapes and sets off text, white space as it is."""
    text = re.sub(r"\\([^\w\s])", r"\1", text).replace("\u00a0", " ")
    return text.replace("&gt;", ">").replace("**", "")


def verdicts(media, text):
    for feature, (kept, wrong) in CHECKS[media].items():
        yield feature, "kept" if kept(text) else "wrong" if wrong(text) else "lost"
