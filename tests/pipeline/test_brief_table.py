"""Tables of briefs: CSV and JSON Lines, files by pattern, texts, and every fault at once."""

import json

import pytest

from flows.common.errors import ConfigError, Problems, ScenarioError
from flows.pipeline.inputs.brief_table import REPORT_SUFFIXES, find_table, read_brief_table

KNOWN = ["alder", "birch"]


@pytest.fixture
def folder(tmp_path):
    for name in ("Alder run 1.md", "Alder run 2.docx", "a_[x]_3.txt", "notes.odt", "Ü 7.md"):
        (tmp_path / name).write_text("x", encoding="utf-8")
    (tmp_path / "birch").mkdir()
    (tmp_path / "birch" / "4.pdf").write_text("x")
    return tmp_path


def table(folder, text, name="briefs.csv", encoding="utf-8"):
    (folder / name).write_text(text, encoding=encoding)
    return folder / name


def files(found):
    return {key: brief.file.name for key, brief in found.items()}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("Alder run 1.md,alder,1", {("alder", 1): "Alder run 1.md"}),
        (
            "Alder run {seed}.*,alder,",
            {("alder", 1): "Alder run 1.md", ("alder", 2): "Alder run 2.docx"},
        ),
        ("a_[x]_{seed}.txt,birch,", {("birch", 3): "a_[x]_3.txt"}),
        ("{scenario}/{seed}.pdf,,", {("birch", 4): "4.pdf"}),
        ("{scenario}/?.pdf,birch,9", {("birch", 9): "4.pdf"}),
        ("birch\\4.pdf,birch,4", {("birch", 4): "4.pdf"}),
        ("Ü 7.md,alder,7", {("alder", 7): "Ü 7.md"}),
    ],
)
def test_a_row_names_files(folder, rows, expected):
    assert files(read_brief_table(table(folder, f"file,scenario,seed\n{rows}\n"), KNOWN)) == expected


def test_a_spreadsheet_may_write_a_mark_semicolons_and_more_columns(folder):
    text = "who;Seed;scenario;file\nx;1;alder;Alder run 1.md\n;;;\n"
    found = read_brief_table(table(folder, text, encoding="utf-8-sig"), KNOWN)
    assert files(found) == {("alder", 1): "Alder run 1.md"}


def test_texts_are_taken_as_they_are(folder):
    long = "word " * 40_000
    csv_text = f'scenario,seed,text\nalder,1,"a ""q"",\r\nline"\nalder,2,{long}\n'
    found = read_brief_table(table(folder, csv_text), KNOWN)
    assert [found["alder", seed].text for seed in (1, 2)] == ['a "q",\nline', long]
    rows = [{"scenario": "birch", "seed": 1, "text": ""}, {"scenario": "birch", "seed": "2", "text": "ß"}]
    lines = "\n".join(json.dumps(row) for row in rows)
    found = read_brief_table(table(folder, lines, "b.jsonl"), KNOWN)
    assert [found["birch", seed].text for seed in (1, 2)] == ["", "ß"]


def test_every_faulty_row_is_named_at_once(folder):
    rows = [
        "gone.md,alder,1",
        "Alder run 1.md,aldre,1",
        "Alder run 1.md,alder,0",
        "notes.odt,alder,2",
        "Alder run 1.md,,1",
        "Alder run 1.md,alder,4",
        "a_[x]_3.txt,alder,4",
        "*run*,alder,5",
        ",alder,6",
        "{scenario}/9.md,,",
        "x{seed}.md,alder,",
    ]
    with pytest.raises(Problems) as caught:
        read_brief_table(table(folder, "file,scenario,seed\n" + "\n".join(rows)), KNOWN)
    assert [line.split("; expected")[0] for line in caught.value.lines] == [
        "briefs.csv row 2: file: no file 'gone.md'",
        "briefs.csv row 3: scenario: no 'aldre'",
        "briefs.csv row 4: seed: '0'",
        "briefs.csv row 5: file: 'notes.odt'",
        "briefs.csv row 6: scenario: missing",
        "briefs.csv row 8: seed 4 of alder again, as in briefs.csv row 7",
        "briefs.csv row 9: seed 5 of alder from two files",
        "briefs.csv row 10: no brief in it",
        "briefs.csv row 11: seed: missing",
        "briefs.csv row 12: file: no file matches 'x{seed}.md'",
    ]


def test_faulty_lines_of_json_are_named_in_their_order(folder):
    lines = [
        '{"scenario": "alder", "seed": true, "text": "x"}',
        "[1]",
        "{bad",
        '{"scenario": "alder", "seed": 1}',
    ]
    lines += ['{"scenario": "alder", "seed": 1, "text": 4}', '{"scenario": "alder", "text": "x"}']
    with pytest.raises(Problems) as caught:
        read_brief_table(table(folder, "\n".join(lines), "b.jsonl"), KNOWN)
    found = [line.split(":")[0:2] for line in caught.value.lines]
    assert [where for where, _ in found] == [f"b.jsonl line {number}" for number in range(1, 7)]
    assert [what.split(";")[0].strip() for _, what in found] == [
        "seed",
        "a list",
        "not JSON",
        "no brief in it",
        "text",
        "seed",
    ]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("sceanrio,seed,text\nalder,1,x", ConfigError, "no column scenario among sceanrio, seed, text"),
        ("scenario,seed,text,file\nalder,1,x,", ConfigError, "a column file and a column text"),
        ("scenario,seed,seed,text\n", ConfigError, "column seed twice"),
        ("file,scenario,seed\n", ScenarioError, "no row"),
        ('scenario,seed,text\nalder,1,"x', ScenarioError, "not CSV"),
    ],
)
def test_a_table_that_is_none_is_refused(folder, text, kind, message):
    with pytest.raises(kind, match=message):
        read_brief_table(table(folder, text), KNOWN)


def test_a_changed_table_is_read_again(folder):
    path = table(folder, "scenario,seed,text\nalder,1,one")
    assert read_brief_table(path)["alder", 1].text == "one"
    table(folder, "scenario,seed,text\nalder,1,two")
    assert read_brief_table(path)["alder", 1].text == "two"


def test_a_report_is_a_word_file(folder):
    rows = "Alder run 1.md,alder,1\nAlder run 2.docx,alder,2\n"
    with pytest.raises(Problems, match=r"'Alder run 1.md'; expected a file in .docx"):
        read_brief_table(table(folder, f"file,scenario,seed\n{rows}"), KNOWN, suffixes=REPORT_SUFFIXES)
    with pytest.raises(Problems, match="a report is a Word file"):
        read_brief_table(table(folder, "scenario,seed,text\nalder,1,x"), KNOWN, suffixes=REPORT_SUFFIXES)


def test_a_table_is_named_itself_or_lies_in_the_folder(folder):
    assert find_table(folder) is None
    assert find_table(folder / "gone.csv") is None
    path = table(folder, "x")
    assert find_table(folder) == find_table(path) == path


def test_graded_files_and_texts_have_the_scores_of_their_texts(bench):
    """The command: scenarios and seeds are those of the table; a row that is missing is an error, no 0."""
    strong = (bench.folder / "data/ma_bench/alder/controls/strong.md").read_text()
    (bench.folder / "Alder, first.txt").write_text(strong)
    path = table(bench.folder, "file,scenario,seed\n*first.txt,alder,1\n*first.txt,alder,3\n", "mine.csv")
    done = bench("grade", str(path), "tracking=none")
    assert (done.code, "alder" in done.out + done.err) == (4, True), done.err
    (row,) = bench.board()
    assert (row["n_briefs"], row["n_briefs_all"]) == (2, 3)
    rows = [{"scenario": name, "seed": 1, "text": strong} for name in ("alder", "birch")]
    path = table(bench.folder, "\n".join(map(json.dumps, rows)), "mine.jsonl")
    done = bench("grade", str(path), "model.label=texts", "tracking=none")
    assert done.code == 0, done.err
    scores = {row["model"]: row["score"] for row in bench.board()}
    assert scores["texts"] < 1.0  # birch has another strength
    path = table(bench.folder, "scenario,seed,text\nalder,1,x\nelm,1,x\n", "mine.csv")
    done = bench("run", "model=files", f"model.folder={path.name}", "benchmark.scenarios=[alder]", "seeds=1")
    assert done.code == 1
    assert "mine.csv row 3: scenario: no 'elm'; expected one of alder, birch" in done.err
