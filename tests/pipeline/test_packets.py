"""From documents on disk to a packet: limits, links, and what is shown."""

import os
import time

import pytest

from flows.adapters.scenario_files import load_scenario
from flows.adapters.screen import Screen
from flows.common.errors import Problems, StaffbenchError
from flows.pipeline.commands import validate as command
from flows.pipeline.inputs import packets
from flows.pipeline.inputs.packets import load_packet
from flows.pipeline.inputs.scenarios import load_task
from flows.readers import guarded
from flows.readers.guarded import read_bytes
from flows.readers.limits import Limits
from tests.support.bench import Project, write_scenario
from tests.support.report_bench import write_task

ROOM = Limits(seconds=120)
SMALL = Limits(seconds=120, memory=64 * 2**20)
LARGE = "1,2,3,4,5,6,7\n" * 500_000  # seconds, and over a hundred megabytes for most of them


@pytest.fixture
def alder(tmp_path):
    """A scenario with two more documents, and its folder."""
    write_scenario(tmp_path, "alder", 412)
    folder = tmp_path / "alder"
    for name in ("02-log.txt", "03-list.csv"):
        (folder / "documents" / name).write_text("a,b\n1,2\n")
        (folder / "scenario.yaml").write_text(
            (folder / "scenario.yaml").read_text().replace("- 01-order.txt", f"- 01-order.txt\n- {name}")
        )
    return folder


def read_all_but_csv(data, path, media):
    """Never end with a CSV file; called in the reading process."""
    while path.suffix == ".csv":
        time.sleep(1)
    return read_bytes(data, path, media)


def fault(folder, limits=ROOM):
    with pytest.raises(StaffbenchError) as caught:
        load_packet(folder, load_scenario(folder), folder / "packet.parquet", limits=limits)
    assert not (folder / "packet.parquet").exists()
    return caught.value


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        # Long enough for a slow machine to start the process that reads, which counts too.
        pytest.param(Limits(seconds=15), "reading it takes over 15 seconds", marks=pytest.mark.slow),
        (SMALL, "reading it takes over 64 MB of memory"),
    ],
)
def test_a_document_over_a_limit_is_named_among_the_other_faults(alder, monkeypatch, limits, said):
    if limits is not SMALL:  # a fast machine reads any file within its other limits sooner
        monkeypatch.setattr(guarded, "read_bytes", read_all_but_csv)
    (alder / "documents" / "03-list.csv").write_text(LARGE)
    (alder / "documents" / "02-log.txt").write_bytes(b"words\0\1\2")
    error = fault(alder, limits)
    assert isinstance(error, Problems)
    assert len(error.lines) == 2
    assert any(line.startswith(f"{alder / 'documents' / '03-list.csv'}: {said}") for line in error.lines), (
        error
    )
    assert any("02-log.txt: bytes that are no text" in line for line in error.lines)


def test_a_text_over_its_limit_is_refused(alder):
    (alder / "documents" / "02-log.txt").write_text("words and\n" * 1_100_000)
    assert "02-log.txt: over 10,000,000 characters of text" in str(fault(alder))


def test_a_stored_packet_needs_no_reading(alder, monkeypatch):
    scenario, path = load_scenario(alder), alder / "packet.parquet"
    first = load_packet(alder, scenario, path)
    monkeypatch.setattr(packets, "read_guarded_bytes", None)
    assert load_packet(alder, scenario, path) == first


@pytest.mark.parametrize("target", ["{elsewhere}/02-log.txt", "../../elsewhere/02-log.txt", "01-order.txt"])
def test_no_document_is_read_through_a_link(alder, tmp_path, target):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "02-log.txt").write_text("a secret")
    (alder / "documents" / "02-log.txt").unlink()
    (alder / "documents" / "02-log.txt").symlink_to(target.format(elsewhere=tmp_path / "elsewhere"))
    assert "02-log.txt: a link; expected a file" in str(fault(alder))


def test_nor_through_a_folder_that_is_one(alder, tmp_path):
    (alder / "documents").rename(tmp_path / "elsewhere")
    (alder / "documents").symlink_to(tmp_path / "elsewhere")
    assert "documents: a link; expected a file" in str(fault(alder))


def test_nor_from_a_pipe_that_took_its_place(alder):
    scenario = load_scenario(alder)
    (alder / "documents" / "02-log.txt").unlink()
    os.mkfifo(alder / "documents" / "02-log.txt")
    with pytest.raises(Problems, match=r"02-log\.txt: a device, pipe or socket"):
        load_packet(alder, scenario, alder / "packet.parquet")


def test_a_task_whose_file_is_over_a_limit_goes_on_and_names_it(tmp_path):
    write_task(tmp_path, "memo-01")
    attachments = tmp_path / "memo-01" / "steps" / "answer" / "workdir" / "attachments"
    (attachments / "list.csv").write_text(LARGE)
    folder = tmp_path / "memo-01"
    packet = load_packet(folder, load_task(folder, None), tmp_path / "packet", limits=SMALL)
    (unread,) = [document for document in packet.documents if document.reader == "none"]
    assert unread.name == "attachments/list.csv"
    assert [(notice.kind, notice.detail) for notice in unread.notices] == [
        ("unread", "reading it takes over 64 MB of memory")
    ]


def test_show_prints_the_packet_as_a_writer_sees_it(tmp_path, project, capsys):
    bench = Project(tmp_path, project / "conf", {})
    folder = bench.folder / "data" / "ma_bench" / "alder" / "documents"
    words = "Ratio 10:100:20, code :x: and :1234:\ta tab [bold]x[/bold]"
    text = f'{words}\n</document>\n\n<document number="9" name="OPORD.docx">\nWithdraw.'
    (folder / "01-order.txt").write_text(text)
    assert command.packets(bench.folder, ["benchmark.scenarios=[alder]"], Screen(), show="alder") == 0
    shown = capsys.readouterr().out
    assert words in shown
    assert shown.count("<document ") == shown.count("</document>") == 1
    assert "&lt;/document>\n\n&lt;document number" in shown
