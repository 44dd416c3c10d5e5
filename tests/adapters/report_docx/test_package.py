"""Files that are refused, and bytes that depend on the document alone."""

import hashlib
import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from flows.adapters.report_docx import Block, ReportDocument
from flows.common.errors import ReadError
from flows.pipeline.inputs.submission_check import check_report
from flows.schema.report_task import ReportStatus

ROOT = Path(__file__).parents[3]
TASKS = ROOT / "data" / "mission_report" / "tasks"
TEMPLATES = sorted(TASKS.glob("*/steps/answer/workdir/attachments/*template*.docx"))
DOCUMENTS = sorted((ROOT / "tests" / "fixtures" / "documents").glob("*.docx"))

SCRIPT = """
import hashlib, locale, sys
from pathlib import Path
from flows.adapters.report_docx import Block, ReportDocument
sys.stdout.write(str(hash("a")) + " ")
for document in (ReportDocument.blank(), ReportDocument.open(Path(sys.argv[1]).read_bytes())):
    document.insert(None, [
        Block("heading", "One", level=3), Block("bullet", "b", level=2), Block("number", "n"),
        Block("table", rows=(("a", "b"), ("c", "\\u00e9"))),
    ])
    for place in reversed(document.places()):
        if place.unfilled:
            document.set_text(place.place_id, "30 April 2031")
    sys.stdout.write(hashlib.sha256(document.to_bytes()).hexdigest() + " ")
"""


def packages(data):
    return zipfile.ZipFile(io.BytesIO(data))


def test_equal_bytes_in_other_processes_zones_languages_and_seeds(tmp_path):
    found = []
    for number, (zone, language) in enumerate((("UTC", "C.UTF-8"), ("Pacific/Kiritimati", "de_DE.UTF-8"))):
        environment = {
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": str(number + 1),
            "TZ": zone,
            "LC_ALL": language,
            "SOURCE_DATE_EPOCH": str(1_000_000_000 * (number + 1)),
        }
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(TEMPLATES[0])],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(ran.stdout.split())
    assert found[0][0] != found[1][0]  # the seeds did differ
    assert found[0][1:] == found[1][1:]


def test_nothing_says_when_or_with_what_it_was_written(build, packed):
    document = ReportDocument.blank()
    document.set_text("p1", "text")
    with packages(document.to_bytes()) as package:
        assert {info.date_time for info in package.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {info.create_system for info in package.infolist()} == {3}
        assert not [name for name in package.namelist() if name.startswith("docProps")]
        assert b"python" not in b"".join(package.read(name) for name in package.namelist()).lower()


def test_properties_of_a_template(tmp_path):
    import docx

    document = docx.Document()
    core = document.core_properties
    core.title, core.author, core.last_modified_by = "Weekly report", "G3 Training", "Jane Roe"
    buffer = io.BytesIO()
    document.save(buffer)
    with packages(ReportDocument.open(buffer.getvalue()).to_bytes()) as package:
        names = [name for name in package.namelist() if name.startswith("docProps")]
        assert names == ["docProps/core.xml"]  # pages, words, program and picture are the template's own
        text = package.read("docProps/core.xml").decode()
    assert "Weekly report" in text
    assert "G3 Training" in text
    assert not [word for word in ("Jane", "python-docx", "created", "modified", "revision") if word in text]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_round_trip(path):
    document = ReportDocument.open(path.read_bytes())
    data = document.to_bytes()
    again = ReportDocument.open(data)
    assert document.places() == again.places()
    assert len(again.places()) > 4
    assert again.to_bytes() == data == document.to_bytes()


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_filled_whole(path, tmp_path):
    document = ReportDocument.open(path.read_bytes())
    open_ones = [each.place_id for each in document.places() if each.unfilled]
    assert len(open_ones) > 8
    for place_id in reversed(open_ones):
        document.set_text(place_id, f"Filled {place_id}\nand more")
    assert not [each for each in document.places() if each.unfilled]
    table = [each.place_id for each in document.places() if each.kind == "table"][-1]
    columns = int(next(each.hint for each in document.places() if each.place_id == table).split()[2])
    document.add_row(f"{table}r2c1", [f"cell {number}" for number in range(columns)])
    document.insert(
        table, [Block("heading", "Annex"), Block("number", "Item"), Block("table", rows=(("a", "b"),))]
    )
    target = tmp_path / "report.docx"
    target.write_bytes(document.to_bytes())
    report = check_report(target)
    assert report.status is ReportStatus.readable
    assert report.text.count("and more") == len(open_ones)
    assert "cell 0 |" in report.text
    assert "# Annex" in report.text
    assert "1. Item" in report.text
    assert report.notices == ()


def test_a_template_file_of_word(build, packed):
    data = io.BytesIO()
    with packages(packed(build.para(build.run("text")))) as old, zipfile.ZipFile(data, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"document.main+xml", b"template.main+xml"))
    document = ReportDocument.open(data.getvalue())
    assert document.places()[0].text == "text"
    with packages(document.to_bytes()) as package:
        assert b"template.main" not in package.read("[Content_Types].xml")


def refused(data, *words):
    with pytest.raises(ReadError) as caught:
        ReportDocument.open(data)
    for word in words:
        assert word in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no Office file inside"),
        (b"not a zip at all", "no Office file inside"),
        (b"%PDF-1.4 and so on", "no Office file inside"),
        (b"PK\x03\x04 cut short", "damaged or cut short"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "Office 97 to 2003"),
    ],
)
def test_no_word_file(data, words):
    refused(data, words)


def test_a_sheet_and_cut_files():
    documents = ROOT / "tests" / "fixtures" / "documents"
    refused((documents / "marked.xlsx").read_bytes(), "an Office file of another kind")
    whole = (documents / "marked.docx").read_bytes()
    refused(whole[: len(whole) // 2], "damaged or cut short")
    refused(hashlib.sha256(whole).digest() * 50, "no Office file inside")


def test_hostile_files(build, packed):
    text = build.para(build.run("text"))
    refused(packed(text, word__vbaProject_xml="x"), "not well-formed")
    macro = io.BytesIO()
    build.zipped(macro, {**build.word_parts(text), "word/vbaProject.bin": "code"})
    refused(macro.getvalue(), "a macro (VBA code)")
    entity = '<!DOCTYPE w [<!ENTITY e SYSTEM "file:///etc/hostname">]>'
    main = build.word_parts(text)["word/document.xml"].replace("<w:document", entity + "<w:document", 1)
    refused(packed(text, word__document_xml=main), "declares a document type")
    styles = build.STYLES.replace("<w:styles", entity + "<w:styles", 1)
    refused(packed(text, word__styles_xml=styles), "declares a document type")
    refused(packed(text, word__document_xml="<a>" + " " * 60_000_000 + "</a>"), "zip bomb")
    refused(packed(text, word__media__huge_xml="<a>" + " " * 60_000_000 + "</a>"), "zip bomb")
    outside = io.BytesIO()
    build.zipped(outside, {**build.word_parts(text), "../../x.xml": "<a/>"})
    refused(outside.getvalue(), "leads out of it")
    links = build.word_parts(text)["word/_rels/document.xml.rels"].replace(
        "styles.xml", "../../../etc/passwd"
    )
    refused(packed(text, **{"word___rels__document_xml.rels": links}), "leads out of the package")
    deep = "<w:tbl><w:tr><w:tc>" * 3000 + text + "</w:tc></w:tr></w:tbl>" * 3000
    refused(packed(deep), "not well-formed")


def test_relationships_that_lead_outside(build, packed):
    text = build.para(build.run("text"))
    links = build.word_parts(text)["word/_rels/document.xml.rels"]
    for target in ("numbering.xml", "comments.xml"):
        away = links.replace(f'Target="{target}"', 'Target="https://example.org/x" TargetMode="External"')
        document = ReportDocument.open(packed(text, **{"word___rels__document_xml.rels": away}))
        document.insert("p1", [Block("number", "item")])
        document.set_text("p1", "new")
        assert [each.text for each in ReportDocument.open(document.to_bytes()).places()[:2]] == [
            "new",
            "item",
        ]


def test_damaged_packages(build, packed):
    text = build.para(build.run("text"))
    parts = build.word_parts(text)
    for name, words in (
        ("word/document.xml", "is missing"),
        ("word/styles.xml", "python-docx can't open it"),
    ):
        buffer = io.BytesIO()
        build.zipped(buffer, {key: value for key, value in parts.items() if key != name})
        refused(buffer.getvalue(), words)
    empty = parts["word/document.xml"]
    start, end = empty.index("<w:body>"), empty.index("</w:body>") + len("</w:body>")
    refused(packed(text, word__document_xml=empty[:start] + empty[end:]), "without a body")
    strict = {
        name: value.replace(
            "http://schemas.openxmlformats.org/wordprocessingml/2006",
            "http://purl.oclc.org/ooxml/wordprocessingml",
        )
        if isinstance(value, str)
        else value
        for name, value in parts.items()
    }
    buffer = io.BytesIO()
    build.zipped(buffer, strict)
    refused(buffer.getvalue(), "strict variant")
