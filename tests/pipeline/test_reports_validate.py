"""`validate` and `packets` on report tasks: every fault is named, and no call is made."""

import json
import re

import pytest

from flows.adapters.screen import Screen
from flows.common.errors import StaffbenchError
from flows.pipeline.commands.validate import packets, validate
from tests.pipeline.reports_support import REPORTS, cells
from tests.support.plain_flow import run_here
from tests.support.report_bench import expert, project_here


@pytest.fixture
def here(tmp_path, project, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "judge_pairs").symlink_to(project / "data" / "judge_pairs")
    return project_here(tmp_path, project / "conf", monkeypatch)


@pytest.fixture
def no_options(monkeypatch):
    """Every option of conf/ is checked elsewhere; it takes seconds."""
    monkeypatch.setattr("flows.pipeline.commands.validate.check_options", lambda *_: (0, []))


def test_validate_prints_the_table_and_names_every_fault(here, capsys, no_options):
    assert validate(here.folder, REPORTS, Screen()) == 0
    out = capsys.readouterr().out
    assert [row for row in cells(out) if row[0] == "memo-01"] == [
        [
            "memo-01",
            "Closure of Route",
            "Weekly activity",
            "Army",
            "the commander",
            "20 words",
            "2",
            "4 (2)",
            "5 (-6)",
            "unknown",
        ]
    ]
    assert (
        "2 tasks, 4 source files (2 .txt, 2 Word), 4 required criteria worth 10 points and 4 penalties worth "
        "12 points." in " ".join(out.split())
    )
    assert "memo-02: controls oracle, fair, weak" in out
    tests = here.tasks / "memo-01" / "tests"
    rubric = json.loads((tests / "fixtures" / "rubric.json").read_text())
    rubric["criteria"][2]["points"] = 2
    (tests / "fixtures" / "rubric.json").write_text(json.dumps(rubric))
    (here.tasks / "memo-02" / "tests" / "golden" / "report.docx").write_bytes(b"no Word file")
    assert validate(here.folder, REPORTS, Screen()) == 1
    err = " ".join(capsys.readouterr().err.split())
    assert re.search(r"memo-01\S*/rubric\.json\S* .*P1.*", err)
    assert re.search(r"memo-02\S*/golden/report\.docx: ", err)


def test_a_label_that_is_missing_or_odd_is_a_fault(here, capsys, no_options):
    labels = here.folder / "data" / "mission_report" / "controls" / "memo-01" / "labels.csv"
    labels.write_text("criterion_id,weak,fair\nC1,fail,maybe\nC2,fail,fail\nP1,fail,pass\n")
    assert validate(here.folder, REPORTS, Screen()) == 1
    err = " ".join(capsys.readouterr().err.split())
    assert "labels differ in P2" in err
    assert "fair of C1" in err
    with pytest.raises(StaffbenchError, match="labels differ in P2"):
        run_here(here.folder, *REPORTS, "model=oracle")


def test_the_index_is_written_read_and_held_against_the_trees(here, capsys, no_options):
    index = here.folder / "data" / "mission_report" / "tasks.parquet"
    assert validate(here.folder, REPORTS, Screen(), index=True) == 0
    assert "Index of 2 tasks written" in capsys.readouterr().out
    first = index.read_bytes()
    assert validate(here.folder, REPORTS, Screen()) == 0
    toml = here.tasks / "memo-01" / "task.toml"
    toml.write_text(toml.read_text().replace("20 words", "30 words"))
    capsys.readouterr()
    assert validate(here.folder, REPORTS, Screen()) == 1
    assert re.search(r"memo-01.*length_limit.*20 words", " ".join(capsys.readouterr().err.split()))
    assert index.read_bytes() == first
    assert validate(here.folder, REPORTS, Screen(), index=True) == 0
    assert index.read_bytes() != first
    (here.tasks / "memo-02" / "solution" / "solve.sh").unlink()
    kept = index.read_bytes()
    assert validate(here.folder, REPORTS, Screen(), index=True) == 1
    assert index.read_bytes() == kept  # no index of what has faults
    with pytest.raises(StaffbenchError, match="--index"):
        validate(here.folder, [], Screen(), index=True)


def test_packets_name_a_file_that_no_reader_takes_and_the_task_runs(here, capsys):
    folder = here.tasks / "memo-01" / "steps" / "answer" / "workdir" / "attachments"
    (folder / "scan.pdf").write_bytes(b"%PDF-1.4 broken")
    (folder / "plan.dwg").write_bytes(b"AC1032")
    assert packets(here.folder, REPORTS, Screen()) == 0
    out = capsys.readouterr().out
    rows = {row[0]: row[1:] for row in cells(out) if row[0].startswith("memo")}
    assert (rows["memo-01"][0], rows["memo-02"][0]) == ("4", "2")
    assert rows["memo-01"][1] == rows["memo-02"][1]  # blocks: nothing is made up for them
    assert int(rows["memo-01"][3]) == int(rows["memo-02"][3]) + 2
    for name in ("scan.pdf", "plan.dwg"):
        assert f"memo-01/attachments/{name}, document: unread: " in out
    # From the packet's file too.
    assert packets(here.folder, REPORTS, Screen()) == 0
    assert "memo-01/attachments/plan.dwg, document: unread: " in capsys.readouterr().out
    assert packets(here.folder, REPORTS, Screen(), show="memo-01") == 0
    shown = capsys.readouterr().out
    assert "Route Amber is closed until 21 May. Nobody knows why." in shown
    assert expert("memo-01") not in shown
    assert run_here(here.folder, *REPORTS, "model=extractive", "seeds=1") == 0
