"""Exports: tables, card, what the check finds, and what is never replaced."""

import json
import shutil

import docx
import pyarrow.parquet as pq
import pytest
import yaml

from flows.common.errors import ConfigError, Problems, StaffbenchError
from flows.pipeline.publish.export import Publication, export
from flows.pipeline.publish.findings import find_private
from tests.support.bench import Project


class Heard:
    """A screen that keeps what it is told."""

    def __init__(self):
        self.lines = []

    def _keep(self, text):
        self.lines.append(text)

    say = fault = note = bullet = _keep

    def table(self, title, rows, **_):
        self.lines += [": ".join(row) for row in rows[1:]]

    @property
    def text(self):
        return "\n".join(self.lines)


@pytest.fixture
def small(tmp_path, project):
    return Project(tmp_path, project / "conf", {})


def exported(small, *, folder="out", **options):
    heard = Heard()
    code = export(small.folder, ["benchmark=ma_bench"], small.folder / folder, heard, **options)
    return code, heard


def rows(small, name):
    return pq.read_table(small.folder / "out" / "data" / f"{name}.parquet").to_pylist()


def test_a_benchmark_is_exported_whole(small):
    code, heard = exported(small, publication=Publication("Somebody", "https://example.org/x"))
    assert code == 0, heard.text
    assert [row["item_id"] for row in rows(small, "items")] == ["strength", "bridge", "cholera"] * 2
    assert [row["wrong_move"] for row in rows(small, "items")] == [False, False, True] * 2
    assert rows(small, "evidence")[0]["quote"] == "at most 30 tonnes"
    assert {row["text"] for row in rows(small, "packets")} >= {
        "The bridge at Kerrin carries vehicles of at most 30 tonnes."
    }
    described = json.loads((small.folder / "out" / "croissant.json").read_text())
    assert (described["creator"]["name"], described["url"]) == ("Somebody", "https://example.org/x")
    assert [one["@id"] for one in described["distribution"]] == [
        f"data/{name}.parquet" for name in ("items", "evidence", "scenarios", "packets")
    ]
    head = yaml.safe_load((small.folder / "out" / "README.md").read_text().split("---")[1])
    assert head["license"] == "cc-by-4.0"
    assert [one["config_name"] for one in head["configs"]] == ["items", "evidence", "scenarios", "packets"]


def test_only_what_croissant_json_lacks_is_named(small):
    creator, url = "who made it: --creator would.", "where it will be found: --url would."
    _, neither = exported(small)
    assert (creator in neither.text, url in neither.text) == (True, True)
    _, named = exported(small, publication=Publication("Somebody", None))
    assert (creator in named.text, url in named.text) == (False, True)


def test_every_file_has_the_canary_and_another_export_keeps_it(small):
    exported(small)
    canary = rows(small, "items")[0]["canary"]
    files = [path for path in (small.folder / "out").rglob("*") if path.is_file()]
    assert len(files) == 7
    assert all(canary.encode() in path.read_bytes() for path in files)
    rubric = small.folder / "data/ma_bench/alder/rubric.yaml"
    rubric.write_text(rubric.read_text().replace("States the strength", "Says the strength"))
    code, heard = exported(small)
    assert code == 0, heard.text
    assert rows(small, "items")[0]["requirement"].startswith("Says")
    assert rows(small, "items")[0]["canary"] == canary
    assert sorted(path.name for path in small.folder.iterdir()) == ["conf", "data", "out"]


@pytest.mark.parametrize("name", ["notes.txt", ".git", "data/mine.csv"])
def test_a_folder_with_anything_else_is_never_touched(small, name):
    exported(small)
    (small.folder / "out" / name).write_text("mine")
    before = (small.folder / "out" / "README.md").stat()
    with pytest.raises(ConfigError, match="which no export has"):
        exported(small)
    assert (small.folder / "out" / "README.md").stat() == before


def test_a_kill_between_the_two_renames_loses_nothing_and_leaves_nothing(small):
    assert exported(small)[0] == 0
    out = small.folder / "out"
    before = {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    out.rename(out.with_name(".out.0123.old"))  # killed before the new one took its place
    assert exported(small)[0] == 0
    assert {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    shutil.copytree(out, out.with_name(".out.4567.old"))  # killed before the earlier one was deleted
    assert exported(small)[0] == 0
    assert not list(out.parent.glob(".out.*"))


def test_a_file_or_an_imitation_is_no_export(small):
    (small.folder / "out").write_text("x")
    with pytest.raises(ConfigError, match="a file"):
        exported(small)
    (small.folder / "other").mkdir()
    (small.folder / "other" / "README.md").write_text("mine")
    with pytest.raises(ConfigError, match="no earlier export"):
        exported(small, folder="other")
    assert (small.folder / "other" / "README.md").read_text() == "mine"


def with_document(small, name="02-memo.docx", *, author="Ann Author", text="Plain text."):
    folder = small.folder / "data/ma_bench/alder"
    document = docx.Document()
    document.add_paragraph(text)
    document.add_comment(
        document.add_paragraph("Another paragraph.").runs, text="Check this.", author="Rita Reviewer"
    )
    document.core_properties.author = author
    document.save(folder / "documents" / name)
    head = yaml.safe_load((folder / "scenario.yaml").read_text())
    head["documents"].append(name)
    (folder / "scenario.yaml").write_text(yaml.safe_dump(head))


def test_what_nobody_means_to_publish_is_found_and_refused(small, monkeypatch):
    monkeypatch.setenv("MY_SERVICE_TOKEN", "abcd1234efgh")
    home = "/home/" + "jdoe/draft.docx"
    key = "sk-" + "a1b2c3d4e5f6g7h8i9"
    with_document(small, text=f"{home} {key} abcd1234efgh jane@agency.gov hq@force.example Ann Author")
    heard = Heard()
    with pytest.raises(StaffbenchError, match="6 findings; nothing was written") as caught:
        export(small.folder, ["benchmark=ma_bench"], small.folder / "out", heard)
    assert caught.value.exit_code == 1
    place = "packets: alder/02-memo.docx, paragraph 1"
    comment = "packets: alder/02-memo.docx, comment at paragraph 2"
    assert sorted(heard.lines) == sorted(
        [
            f"key: sk-a... (21 characters): {place}: 1",
            f"key: the value of MY_SERVICE_TOKEN: {place}: 1",
            f"machine: /home/jdoe: {place}: 1",
            f"mail address: jane@agency.gov: {place}: 1",
            f"author: Ann Author (alder/02-memo.docx, docprops/core.xml, creator): {place}: 1",
            f"author: Rita Reviewer (alder/02-memo.docx, word/comments.xml, comment): {comment}: 1",
        ]
    )
    assert sorted(path.name for path in small.folder.iterdir()) == ["conf", "data"]
    code, _ = exported(small, allow=True)
    assert code == 0
    card = (small.folder / "out" / "README.md").read_text()
    assert "allowed what was found: author (2), key (2), machine (1), mail address (1)" in card


def test_an_author_that_the_export_does_not_name_is_a_note(small):
    with_document(small)
    code, heard = exported(small, allow=True)
    assert code == 0
    assert "the export does not: Ann Author (alder/02-memo.docx, docprops/core.xml, creator)" in heard.text


def test_a_licence_that_is_not_stated_is_a_finding(small):
    path = small.folder / "data/ma_bench/alder/scenario.yaml"
    path.write_text(path.read_text().replace("CC-BY-4.0", "not stated"))
    with pytest.raises(StaffbenchError, match="1 finding; nothing"):
        exported(small)
    code, heard = exported(small, allow=True)
    assert (code, heard.lines[0]) == (0, "licence: not stated: alder: 1")
    card = (small.folder / "out" / "README.md").read_text()
    assert 'license: other\nlicense_name: "CC-BY-4.0, not stated"' in card


def test_an_invalid_scenario_is_no_part_of_an_export(small):
    (small.folder / "data/ma_bench/birch/rubric.yaml").write_text("- 1\n")
    with pytest.raises(Problems):
        exported(small)
    assert not (small.folder / "out").exists()


def test_results_are_exported_and_what_does_not_fit_the_rubric_is_left_out(bench):
    assert bench("run", "-m", "model=strong,weak", "tracking=none", "seeds=1").code == 0
    done = bench("export", "ma_bench", "out")
    assert done.code == 0, done.err
    tables = {
        name: pq.read_table(bench.folder / "out" / "data" / f"{name}.parquet").to_pylist()
        for name in ("briefs", "verdicts", "scores")
    }
    assert [len(tables[name]) for name in ("briefs", "verdicts", "scores")] == [4, 12, 4]
    strong = [row for row in tables["scores"] if row["condition"].startswith("strong")]
    assert [row["score"] for row in strong] == [1.0, 1.0]
    assert "The judge offline follows rules" in (bench.folder / "out" / "README.md").read_text()
    rubric = bench.folder / "data/ma_bench/alder/rubric.yaml"
    rubric.write_text(rubric.read_text().replace("States the strength", "Says the strength"))
    done = bench("export", "ma_bench", "out")
    assert done.code == 1
    assert "left out of the export" in done.err
    assert not (bench.folder / "out" / "data" / "scores.parquet").exists()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("pk_" + "a1" * 10, "key"),
        ("ghp_" + "a1" * 16, "key"),
        ("github_pat_" + "a1" * 16, "key"),
        ("hf_" + "a1" * 12, "key"),
        ("AKIA" + "A1" * 8, "key"),
        ("xoxb-" + "a1" * 8, "key"),
        ("-----BEGIN RSA " + "PRIVATE KEY-----", "key"),
        ("Bearer " + "a1" * 12, "key"),
        ("C:\\Users\\jdoe\\x.docx", "machine"),
        ("a.b@c-d.org", "mail address"),
        ("Comment by J4", "author"),
        ("J4 and 30 tonnes, sk-1, a@b, @home, hq@x.test, task-force-of-the-coalition", None),
    ],
)
def test_each_kind_is_found(text, kind, tmp_path):
    found = find_private([("here", f"x {text} y")], {"J4": ["a.docx"], "python-docx": ["b"]}, tmp_path)
    assert [(one.kind, one.places) for one in found] == ([] if kind is None else [(kind, ("here",))])
